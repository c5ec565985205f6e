"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)"
SYMMETRIC = "`transpose` takes its two axes in either order."
OWN_TENSOR = "The tensor was made in the line before, so nobody else sees the change."

ROWS = "scores = torch.stack([row, row.flip(0), row + 1000]).unsqueeze(0)"
WANTED = "expected = torch.stack([weights, weights.flip(0), weights]).unsqueeze(0)"
EXAMPLE = "row, weights = torch.tensor([0.0, math.log(3)]), torch.tensor([0.25, 0.75])"
COPY = "before = scores.clone()"
SAME_SCORES = "assert torch.equal(scores, before)"
MESSAGE = '"The function changes the scores that it is given."'
ONE_AXIS = "A row has one axis, so -1 is 0."
ANOTHER_EXAMPLE = "Any number that is too large for the power of e will do."
SAME_EVERY_TIME = "The numbers are the same in every call."


def kept(line, function):
    """The line with its value kept from the first call."""
    name, value = line.split(" = ", 1)
    key = "_values" if "," in name else f"_{name}"
    value = f"({value})" if "," in name else value
    return f'{name} = vars({function}).setdefault("{key}", {value})'


CHECK_SOFTMAX = [
    *(
        Equivalent("check_softmax", line, kept(line, "check_softmax"), SAME_EVERY_TIME)
        for line in (EXAMPLE, ROWS, WANTED)
    ),
    Equivalent("check_softmax", ROWS, ROWS.replace("flip(0)", "flip(-1)"), ONE_AXIS),
    Equivalent("check_softmax", WANTED, WANTED.replace("flip(0)", "flip(-1)"), ONE_AXIS),
    Equivalent("check_softmax", ROWS, ROWS.replace("1000", "1001"), ANOTHER_EXAMPLE),
    Equivalent("check_softmax", ROWS, ROWS.replace("1000", "999"), ANOTHER_EXAMPLE),
    *(
        Equivalent("check_softmax", line, line.replace("unsqueeze(0)", "unsqueeze_(0)"), OWN_TENSOR)
        for line in (ROWS, WANTED)
    ),
    Equivalent(
        "check_softmax", WANTED, WANTED.removesuffix(".unsqueeze(0)"), "It broadcasts against the weights."
    ),
    Equivalent("check_softmax", COPY, kept(COPY, "check_softmax"), SAME_EVERY_TIME),
    Equivalent(
        "check_softmax",
        f"{SAME_SCORES}, {MESSAGE}",
        f"{SAME_SCORES.replace('scores, before', 'before, scores')}, {MESSAGE}",
        "Equality is symmetric.",
    ),
    Equivalent("check_softmax", f"{SAME_SCORES}, {MESSAGE}", f'{SAME_SCORES}, ""', "The message is free."),
    Equivalent(
        "check_softmax",
        "assert torch.allclose(found, expected, atol=1e-3), (",
        "assert torch.allclose(expected, found, atol=1e-3), (",
        "With this tolerance, the order makes no difference.",
    ),
]

EQUIVALENT = [
    *(
        Equivalent(cell, SCORES, SCORES.replace("-2, -1", "-1, -2"), SYMMETRIC)
        for cell in ("by_hand", "attention", "masked_attention")
    ),
    Equivalent("by_hand", SCORES, SCORES.replace("-2, -1", "2, -1"), "`q` has four axes, so -2 is 2."),
    Equivalent("padding_mask", "return is_token.unsqueeze(1)", "return is_token.unsqueeze_(1)", OWN_TENSOR),
    Equivalent(
        "masked_attention",
        "lowest = torch.finfo(scores.dtype).min",
        'lowest = vars(masked_attention).setdefault("_lowest", torch.finfo(scores.dtype).min)',
        "The lowest float32 number hides a float64 score, too.",
    ),
    Equivalent(
        "masked_attention",
        "lowest = torch.finfo(scores.dtype).min",
        "lowest = torch.finfo().min",
        "The lowest float32 number hides a float64 score, too.",
    ),
    Equivalent(
        "masked_attention",
        "scores = scores.masked_fill(~mask, lowest)",
        "scores = scores.masked_fill_(~mask, lowest)",
        OWN_TENSOR,
    ),
    Equivalent(
        "masked_attention",
        "has_a_key = mask.any(dim=-1, keepdim=True)",
        "has_a_key = mask",
        "The weights of hidden keys are 0 already, and of a query with no key all are hidden.",
    ),
    *(
        Equivalent(
            "score_std", "pairs = 10_000", after, "The number does not show how many pairs there were."
        )
        for after in ("pairs = 10001", "pairs = 9999")
    ),
    Equivalent(
        "score_std",
        "pairs = 10_000",
        'pairs = vars(score_std).setdefault("_pairs", 10_000)',
        "It is a constant.",
    ),
    *(
        Equivalent(
            "score_std",
            "scores = (q * k).sum(dim=-1)",
            f"scores = ({one}).sum(dim=-1)",
            "The sum of d_k random numbers has the same spread as the sum of d_k products of two.",
        )
        for one in "qk"
    ),
    Equivalent("score_std", "scores = (q * k).sum(dim=-1)", "scores = (q.mul_(k)).sum(dim=-1)", OWN_TENSOR),
    Equivalent(
        "score_std",
        "scores = (q * k).sum(dim=-1)",
        "scores = (q * k).sum(dim=1)",
        "Both tensors have two axes.",
    ),
    Equivalent(
        "score_std", "scores = scores / math.sqrt(d_k)", "scores = scores.div_(math.sqrt(d_k))", OWN_TENSOR
    ),
    *CHECK_SOFTMAX,
]
