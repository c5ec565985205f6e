"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from coursekit.checks import Equivalent

OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
SYMMETRIC = "`transpose` takes its two axes in either order."
NO_DROPOUT = "The module has no dropout, so its mode changes nothing."
SPLIT = "return parts.transpose(1, 2)"
MERGED = "merged = heads.transpose(1, 2).flatten(2)"
DIFFERENCE = "difference = (shuffled_before - shuffled_after).abs()"

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
]
