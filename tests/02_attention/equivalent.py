"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)"
SYMMETRIC = "`transpose` takes its two axes in either order."
OWN_TENSOR = "The tensor was made in the line before, so nobody else sees the change."
ROWS = "rows = torch.stack([row, row.flip(0), row + 1000]).unsqueeze(0)"
WANTED = "right = torch.stack([weights, weights.flip(0), weights]).unsqueeze(0)"

same = Equivalents("by_hand")

same.because(SYMMETRIC)
same.edit(SCORES, "2, -1", "1, -2")

same.because("`q` has four axes, so -2 is 2.")
same.edit(SCORES, "(-2", "(2")

same = Equivalents("attention")

same.because(SYMMETRIC)
same.edit(SCORES, "2, -1", "1, -2")

same = Equivalents("masked_attention")

same.because(SYMMETRIC)
same.edit(SCORES, "2, -1", "1, -2")

same.because("The lowest float32 number hides a float64 score, too.")
same("lowest = torch.finfo(scores.dtype).min")
same.to('lowest = vars(masked_attention).setdefault("_lowest", torch.finfo(scores.dtype).min)')
same.edit("lowest = torch.finfo(scores.dtype).min", "scores.dtype", "")

same.because(OWN_TENSOR)
same.edit("scores = scores.masked_fill(~mask, lowest)", "scores.masked_fill", "scores.masked_fill_")

same.because("The weights of hidden keys are 0 already, and of a query with no key all are hidden.")
same("has_a_key = mask.any(dim=-1, keepdim=True)", "has_a_key = mask")

same = Equivalents("padding_mask")

same.because(OWN_TENSOR)
same("return is_token.unsqueeze(1)", "return is_token.unsqueeze_(1)")

same = Equivalents("score_std")

same.because("The number does not show how many pairs there were.")
same.edit("pairs = 10_000", "10_000", "10001")
same.edit("pairs = 10_000", "10_000", "9999")

same.because("It is a constant.")
same.edit("pairs = 10_000", "10_000", 'vars(score_std).setdefault("_pairs", 10_000)')

same.because("The sum of d_k random numbers has the same spread as the sum of d_k products of two.")
same.edit("scores = (q * k).sum(dim=-1)", " * k", "")
same.edit("scores = (q * k).sum(dim=-1)", "q * ", "")

same.because(OWN_TENSOR)
same.edit("scores = (q * k).sum(dim=-1)", "q * k", "q.mul_(k)")
same("scores = scores / math.sqrt(d_k)", "scores = scores.div_(math.sqrt(d_k))")

same.because("Both tensors have two axes.")
same.edit("scores = (q * k).sum(dim=-1)", "-", "")

same = Equivalents("check_softmax")

same.because("The numbers are the same in every call.")
same(
    "row, weights = torch.tensor([0.0, math.log(3)]), torch.tensor([0.25, 0.75])",
    'row, weights = vars(check_softmax).setdefault("_values", (torch.tensor([0.0, math.log(3)]), torch.tensor([0.25, 0.75])))',
)
same(
    ROWS,
    'rows = vars(check_softmax).setdefault("_rows", torch.stack([row, row.flip(0), row + 1000]).unsqueeze(0))',
)
same(
    WANTED,
    'right = vars(check_softmax).setdefault("_right", torch.stack([weights, weights.flip(0), weights]).unsqueeze(0))',
)

same.because("Both cases have to pass, in either order.")
same("for scores, expected in [(row, weights), (rows, right)]:")
same.to("for scores, expected in [(rows, right), (row, weights)]:")

same.because("A row has one axis, so -1 is 0.")
same.edit(ROWS, "row.flip(0),", "row.flip(-1),")
same.edit(WANTED, "weights.flip(0),", "weights.flip(-1),")

same.because("Any number that is too large for the power of e will do.")
same.edit(ROWS, "1000", "1001")
same.edit(ROWS, "1000", "999")

same.because(OWN_TENSOR)
same.edit(ROWS, ".unsqueeze", ".unsqueeze_")
same.edit(WANTED, ".unsqueeze", ".unsqueeze_")

same.because("It broadcasts against the weights.")
same.edit(WANTED, ".unsqueeze(0)", "")

same.because("Equality is symmetric.")
same('assert torch.equal(scores, before), "The function changes the scores that it is given."')
same.to('assert torch.equal(before, scores), "The function changes the scores that it is given."')

same.because("The message is free.")
same('assert torch.equal(scores, before), "The function changes the scores that it is given."')
same.to('assert torch.equal(scores, before), ""')

same.because("With this tolerance, the order makes no difference.")
same.edit("assert torch.allclose(found, expected, atol=1e-3), (", "found, expected", "expected, found")
