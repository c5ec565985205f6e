"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from coursekit.checks import Equivalent

SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)"
SYMMETRIC = "`transpose` takes its two axes in either order."
OWN_TENSOR = "The tensor was made in the line before, so nobody else sees the change."

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
]
