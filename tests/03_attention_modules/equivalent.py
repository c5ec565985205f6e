"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
SYMMETRIC = "`transpose` takes its two axes in either order."
NO_DROPOUT = "The module has no dropout, so its mode changes nothing."
SPLIT = "return parts.transpose(1, 2)"
MERGED = "merged = heads.transpose(1, 2).flatten(2)"
DIFFERENCE = "difference = (shuffled_before - shuffled_after).abs()"

CHECK = "check_masked_attention"
SAME_IN_EVERY_CALL = "The numbers are the same in every call."
ANY_VALUES = "Any values will do: the output is compared with the expected weights times v."
LOW_ANYWAY = "The score of this key is so low that its weight is 0 even if it may be seen."
NOT_ZERO = "Any number but 0 is True."
BROADCASTS = "It broadcasts over the batch."
ANOTHER_LOW_SCORE = "Any very low score will do."
A_NUMBER_EITHER_WAY = "A tensor with one number can be used like a number."
EITHER_ORDER = "With these numbers, the order makes no difference."
ANOTHER_TOLERANCE = "Wrong implementations differ by more in other numbers, and right ones by less than the default tolerance."
ORDER_AND_NAMES = "The order of the two cases and the words of the message are free."
LINE_1 = "ln3 = torch.tensor(3.0).log().item()"
LINE_2 = "q = torch.zeros(2, 3, 4)"
LINE_3 = "q[:, 1, 0] = -200"
LINE_4 = "k = torch.zeros(2, 3, 4)"
LINE_5 = "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2)"
LINE_6 = "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()"
LINE_7 = "masked = torch.tensor([[[3, 0, 1], [4, 0, 0], [2, 2, 0]], [[0, 0, 0], [0, 2, 2], [0, 4, 0]]]) / 4"
LINE_8 = (
    "plain = torch.tensor([[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]]).expand(2, 3, 3)"
)
LINE_9 = '("with a mask", function(q, k, v, mask), masked),\n("without a mask", function(q, k, v), plain),'
LINE_10 = '("with a mask", function(q, k, v, mask), masked),'
LINE_11 = '("without a mask", function(q, k, v), plain),'
LINE_12 = "assert torch.allclose(weights, expected, atol=1e-4), ("
LINE_13 = "assert torch.allclose(output, expected @ v, atol=1e-4), ("
CHECKING = [
    Equivalent(
        CHECK,
        LINE_1,
        'ln3 = vars(check_masked_attention).setdefault("_ln3", torch.tensor(3.0).log().item())',
        SAME_IN_EVERY_CALL,
    ),
    Equivalent(CHECK, LINE_1, "ln3 = torch.tensor(3.0).log()", A_NUMBER_EITHER_WAY),
    Equivalent(
        CHECK,
        LINE_2,
        'q = vars(check_masked_attention).setdefault("_q", torch.zeros(2, 3, 4))',
        SAME_IN_EVERY_CALL,
    ),
    Equivalent(CHECK, LINE_2, "q = torch.zeros(1, 3, 4)", BROADCASTS),
    Equivalent(CHECK, LINE_3, "q[:, 1, 0] = -201", ANOTHER_LOW_SCORE),
    Equivalent(CHECK, LINE_3, "q[:, 1, 0] = -199", ANOTHER_LOW_SCORE),
    Equivalent(
        CHECK,
        LINE_4,
        'k = vars(check_masked_attention).setdefault("_k", torch.zeros(2, 3, 4))',
        SAME_IN_EVERY_CALL,
    ),
    Equivalent(CHECK, LINE_4, "k = torch.zeros(1, 3, 4)", BROADCASTS),
    Equivalent(
        CHECK,
        LINE_5,
        'v = vars(check_masked_attention).setdefault("_v", torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2))',
        SAME_IN_EVERY_CALL,
    ),
    Equivalent(CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 5.0]])", ANY_VALUES),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[0.0, 2.0], [1.0, 0.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [3.0, 5.0], [0.0, 2.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[0.0, 1.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[2.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[0.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 1.0], [0.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [1.0, 2.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 3.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 0.0], [3.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [5.0, 3.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [4.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 5.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 6.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]).expand(2, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK, LINE_5, "v = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 5.0]]).expand(1, 3, 2)", ANY_VALUES
    ),
    Equivalent(
        CHECK,
        LINE_6,
        'mask = vars(check_masked_attention).setdefault("_mask", torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool())',
        SAME_IN_EVERY_CALL,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[2, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 2], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [2, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [2, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 2, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 1], [0, 1, 0]]]).bool()",
        LOW_ANYWAY,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [-1, 1, 1], [0, 1, 0]]]).bool()",
        LOW_ANYWAY,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 2, 1], [0, 1, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 2], [0, 1, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_6,
        "mask = torch.tensor([[[1, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 1, 1], [0, 2, 0]]]).bool()",
        NOT_ZERO,
    ),
    Equivalent(
        CHECK,
        LINE_7,
        'masked = vars(check_masked_attention).setdefault("_masked", torch.tensor([[[3, 0, 1], [4, 0, 0], [2, 2, 0]], [[0, 0, 0], [0, 2, 2], [0, 4, 0]]]) / 4)',
        SAME_IN_EVERY_CALL,
    ),
    Equivalent(
        CHECK,
        LINE_8,
        'plain = vars(check_masked_attention).setdefault("_plain", torch.tensor([[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]]).expand(2, 3, 3))',
        SAME_IN_EVERY_CALL,
    ),
    Equivalent(
        CHECK,
        LINE_8,
        "plain = torch.tensor([[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]])",
        BROADCASTS,
    ),
    Equivalent(
        CHECK,
        LINE_8,
        "plain = torch.tensor([[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]]).expand(3, 3)",
        BROADCASTS,
    ),
    Equivalent(
        CHECK,
        LINE_8,
        "plain = torch.tensor([[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]]).expand(1, 3, 3)",
        BROADCASTS,
    ),
    Equivalent(
        CHECK,
        LINE_9,
        '("without a mask", function(q, k, v), plain),\n("with a mask", function(q, k, v, mask), masked),',
        ORDER_AND_NAMES,
    ),
    Equivalent(CHECK, LINE_10, '("", function(q, k, v, mask), masked),', ORDER_AND_NAMES),
    Equivalent(CHECK, LINE_11, '("", function(q, k, v), plain),', ORDER_AND_NAMES),
    Equivalent(CHECK, LINE_12, "assert torch.allclose(expected, weights, atol=1e-4), (", EITHER_ORDER),
    Equivalent(CHECK, LINE_12, "assert torch.allclose(weights, expected), (", ANOTHER_TOLERANCE),
    Equivalent(CHECK, LINE_12, "assert torch.allclose(weights, expected, atol=1.0001), (", ANOTHER_TOLERANCE),
    Equivalent(CHECK, LINE_13, "assert torch.allclose(expected @ v, output, atol=1e-4), (", EITHER_ORDER),
    Equivalent(CHECK, LINE_13, "assert torch.allclose(output, expected @ v), (", ANOTHER_TOLERANCE),
    Equivalent(
        CHECK, LINE_13, "assert torch.allclose(output, expected @ v, atol=1.0001), (", ANOTHER_TOLERANCE
    ),
    Equivalent(CHECK, LINE_13, "assert torch.allclose(output, expected @ v, atol=0.0), (", ANOTHER_TOLERANCE),
]

EQUIVALENT = [
    *(
        Equivalent(cell, "", f"self.{mode}()", NO_DROPOUT)
        for cell in ("self_attention", "cross_attention")
        for mode in ("train", "eval")
    ),
    Equivalent(
        "equivariance_gap",
        "",
        "module.eval()",
        "The exercise does not ask for a mode, and dropout would only add noise to the gap.",
    ),
    Equivalent("equivariance_gap", DIFFERENCE, DIFFERENCE.replace("abs", "abs_"), OWN_TENSOR),
    Equivalent(
        "equivariance_gap",
        DIFFERENCE,
        "difference = (shuffled_before.sub_(shuffled_after)).abs()",
        OWN_TENSOR,
    ),
    Equivalent(
        "fused_attention",
        "if d_model % num_heads != 0:",
        "if d_model % num_heads > 0:",
        "The remainder is never negative.",
    ),
    Equivalent(
        "fused_attention",
        "d_head = d_model // self.num_heads",
        'd_head = vars(self).setdefault("_d_head", d_model // self.num_heads)',
        "It is the same for every input of a module.",
    ),
    Equivalent("fused_attention", SPLIT, SPLIT.replace("1, 2", "2, 1"), SYMMETRIC),
    Equivalent("fused_attention", SPLIT, SPLIT.replace("transpose", "transpose_"), OWN_TENSOR),
    Equivalent("fused_attention", MERGED, MERGED.replace("1, 2", "2, 1"), SYMMETRIC),
    Equivalent("fused_attention", MERGED, MERGED.replace("transpose", "transpose_"), OWN_TENSOR),
    *CHECKING,
]
