"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

CAUSAL = "causal = make_causal_mask(tgt.shape[1]).to(tgt.device)"
SYMMETRIC = "`!=` compares its two sides in either order."
TOKENS = "x = torch.arange(48.0).sin().view(2, 6, 4)"
VALUES = "for value in (-9.0, 9.0):"
MOVED = "moved = (function(changed) - before).abs().amax(dim=-1) > 3e-3"

same = Equivalents("feed_forward")

same.because("The tensor was just made, so nobody else sees the change.")
same.edit("hidden = torch.relu(self.linear1(x))", "torch.relu", "torch.relu_")

same = Equivalents("encoder")

same.because(SYMMETRIC)
same.edit("mask = make_padding_mask(src, self.pad_idx)", "src, self.pad_idx", "self.pad_idx, src")

same = Equivalents("decoder")

same.because(SYMMETRIC)
same.edit("padding = make_padding_mask(tgt, self.pad_idx)", "tgt, self.pad_idx", "self.pad_idx, tgt")

same.because("It is needed on a GPU only, and grading has none.")
same.edit(CAUSAL, ".to(tgt.device)", "")
same.edit(CAUSAL, "tgt.device", "")

same = Equivalents("check_causal")

same.because("They are the same in every call.")
same(TOKENS, 'x = vars(check_causal).setdefault("_x", torch.arange(48.0).sin().view(2, 6, 4))')

same.because("A call of the student's test leaves nothing behind for the next one.")
same("before = function(x)", 'before = vars(check_causal).setdefault("_before", function(x))')

same.because("Any tokens will do, as long as they differ.")
same.edit(TOKENS, ".sin().view", ".view")
same.edit(TOKENS, ".sin", ".cos")

same.because("All outputs of its sequence may depend on the token at position 0.")
same.edit("for position in range(6):", "range(6)", "list(range(6))[1:]")

same.because("Any large changes will do, in either order.")
same.edit(VALUES, "-9.0, ", "9.0, -")
same.edit(VALUES, "-9.0,", "-10.0,")
same.edit(VALUES, " 9.0)", " 10.0)")

same.because("No output moves by exactly this much.")
same.edit(MOVED, "> ", ">= ")

same.because("Then each number of an output is looked at.")
same.edit(MOVED, ".amax(dim=-1)", "")

same.because("The difference was just made, so nobody else sees the change.")
same.edit(MOVED, ".abs", ".abs_")
