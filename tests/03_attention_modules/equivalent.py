"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
NO_DROPOUT = "The module has no dropout, so its mode changes nothing."
SPLIT = "return parts.transpose(1, 2)"
MERGED = "merged = heads.transpose(1, 2).flatten(2)"
DIFFERENCE = "difference = (shuffled_before - shuffled_after).abs()"
ANOTHER_TOLERANCE = "Wrong implementations differ by more in other numbers, and right ones by less than the default tolerance."
LINE_1 = "ln3 = torch.tensor(3.0).log().item()"
LINE_2 = "q = torch.zeros(2, 3, 4)"
LINE_3 = "q[:, 1, 0] = -40000"
LINE_4 = "k = torch.zeros(2, 3, 4)"
LINE_5 = "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2)"
LINE_6 = "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()"
LINE_8 = (
    "plain = torch.tensor([[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]]).expand(2, 3, 3)"
)
LINE_12 = "assert torch.allclose(weights, expected, atol=1e-4), ("
LINE_13 = "assert torch.allclose(output, expected @ v, atol=1e-4), ("

same = Equivalents("self_attention")

same.because(NO_DROPOUT)
same("", "self.train()")
same("", "self.eval()")

same = Equivalents("cross_attention")

same.because(NO_DROPOUT)
same("", "self.train()")
same("", "self.eval()")

same = Equivalents("equivariance_gap")

same.because(OWN_TENSOR)
same.edit(DIFFERENCE, ".abs", ".abs_")
same(DIFFERENCE, "difference = (shuffled_before.sub_(shuffled_after)).abs()")

same = Equivalents("fused_attention")

same.because("The remainder is never negative.")
same.edit("if d_model % num_heads != 0:", "!=", ">")

same.because("It is the same for every input of a module.")
same("d_head = d_model // self.num_heads")
same.to('d_head = vars(self).setdefault("_d_head", d_model // self.num_heads)')

same.because("`transpose` takes its two axes in either order.")
same.edit(SPLIT, "1, 2", "2, 1")
same.edit(MERGED, "1, 2", "2, 1")

same.because(OWN_TENSOR)
same.edit(SPLIT, "parts.transpose", "parts.transpose_")
same.edit(MERGED, "heads.transpose", "heads.transpose_")

same = Equivalents("check_masked_attention")

same.because("The numbers are the same in every call.")
same(LINE_1, 'ln3 = vars(check_masked_attention).setdefault("_ln3", torch.tensor(3.0).log().item())')
same(LINE_2, 'q = vars(check_masked_attention).setdefault("_q", torch.zeros(2, 3, 4))')
same(LINE_4, 'k = vars(check_masked_attention).setdefault("_k", torch.zeros(2, 3, 4))')
same(
    LINE_5,
    'v = vars(check_masked_attention).setdefault("_v", torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2))',
)
same(
    LINE_6,
    'mask = vars(check_masked_attention).setdefault("_mask", torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool())',
)
same(
    "masked = torch.tensor([[[3, 0, 1], [4, 0, 0], [2, 2, 0]], [[0, 0, 0], [0, 2, 2], [0, 4, 0]]]) / 4",
    'masked = vars(check_masked_attention).setdefault("_masked", torch.tensor([[[3, 0, 1], [4, 0, 0], [2, 2, 0]], [[0, 0, 0], [0, 2, 2], [0, 4, 0]]]) / 4)',
)
same(
    LINE_8,
    'plain = vars(check_masked_attention).setdefault("_plain", torch.tensor([[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]]).expand(2, 3, 3))',
)

same.because("A tensor with one number can be used like a number.")
same.edit(LINE_1, ".item()", "")

same.because("It broadcasts over the batch.")
same.edit(LINE_2, "2", "1")
same.edit(LINE_4, "2", "1")
same.edit(LINE_8, ".expand(2, 3, 3)", "")
same.edit(LINE_8, "(2, 3", "(3")
same.edit(LINE_8, "(2,", "(1,")

same.because("Any very low score will do.")
same.edit(LINE_3, "40000", "40001")
same.edit(LINE_3, "40000", "39999")

same.because("Any values will do: the output is compared with the expected weights times v.")
same.edit(LINE_5, ".expand(2, 3, 2)", "")
same.edit(LINE_5, "2, ", "")
same.edit(LINE_5, "1.0, 0.0], [0.0, 2.0", "0.0, 2.0], [1.0, 0.0")
same.edit(LINE_5, "0.0, 2.0], [3.0, 5.0", "3.0, 5.0], [0.0, 2.0")
same.edit(LINE_5, "1.0, 0.0", "0.0, 1.0")
same.edit(LINE_5, "1.0", "2.0")
same.edit(LINE_5, "1.0", "0.0")
same.edit(LINE_5, " 0.0]", " 1.0]")
same.edit(LINE_5, "0.0, 2.0", "2.0, 0.0")
same.edit(LINE_5, "[0.0,", "[1.0,")
same.edit(LINE_5, "2.0", "3.0")
same.edit(LINE_5, "2.0", "0.0")
same.edit(LINE_5, "3.0, 5.0", "5.0, 3.0")
same.edit(LINE_5, "3.0", "4.0")
same.edit(LINE_5, "3.0", "0.0")
same.edit(LINE_5, "5.0", "6.0")
same.edit(LINE_5, "5.0", "0.0")
same.edit(LINE_5, "(2,", "(1,")

same.because("Any number but 0 is True.")
same.edit(LINE_6, "[[1, ", "[[2, ")
same.edit(LINE_6, "0, 1], ", "0, 2], ")
same.edit(LINE_6, ", [1, 0", ", [2, 0")
same.edit(LINE_6, ", [1, 1", ", [2, 1")
same.edit(LINE_6, "1, 1, 0", "1, 2, 0")
same.edit(LINE_6, "0, 1, 1", "0, 2, 1")
same.edit(LINE_6, "1, 1], ", "1, 2], ")
same.edit(LINE_6, "0, 1, 0", "0, 2, 0")

same.because("The score of this key is so low that its weight is 0 even if it may be seen.")
same.edit(LINE_6, "0], [0, 1, ", "0], [1, 1, ")
same.edit(LINE_6, "0], [0, 1, ", "0], [-1, 1, ")

same.because("The order of the two cases and the words of the message are free.")
same('("with a mask", function(q, k, v, mask), masked),\n("without a mask", function(q, k, v), plain),')
same.to('("without a mask", function(q, k, v), plain),\n("with a mask", function(q, k, v, mask), masked),')
same.edit('("with a mask", function(q, k, v, mask), masked),', "with a mask", "")
same.edit('("without a mask", function(q, k, v), plain),', "without a mask", "")

same.because("With these numbers, the order makes no difference.")
same.edit(LINE_12, "weights, expected", "expected, weights")
same.edit(LINE_13, "output, expected @ v", "expected @ v, output")

same.because(ANOTHER_TOLERANCE)
same.edit(LINE_12, ", atol=1e-4", "")
same.edit(LINE_12, "1e-4", "1.0001")
same.edit(LINE_12, "1e-4", "0.0")
same.edit(LINE_13, ", atol=1e-4", "")
same.edit(LINE_13, "1e-4", "1.0001")
same.edit(LINE_13, "1e-4", "0.0")

same = Equivalents("equivariance_gap")

same.because("An order has each place once.")
same("", "`equivariance_gap` is wrong for an id that occurs twice in a row")
