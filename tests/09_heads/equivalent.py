"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

CHOICE = 'changed[:, head] = alone.mean(dim=(0, 1)) if kind == "mean" else 0.0'
KINDS = 'if kind not in ("zero", "mean"):'
LENGTH = "length = weights.shape[-1]"
LOSSES = 'losses = F.cross_entropy(predictions.transpose(1, 2), targets, reduction="none")'


def same(cell, before, old, new, reason):
    return Equivalent(cell, before, before.replace(old, new), reason)


EQUIVALENT = [
    same("induction_score", LENGTH, "[-1]", "[-2]", "The weights have as many queries as keys."),
    same(
        "position_losses",
        LOSSES,
        "transpose(1, 2)",
        "transpose(2, 1)",
        "`transpose` takes its two axes in either order.",
    ),
    same("ablate", KINDS, '"zero", "mean"', '"mean", "zero"', "The order of the kinds makes no difference."),
    same("ablate", CHOICE, "==", "<=", 'The only other kind is "zero", which comes after "mean".'),
    same("ablate", CHOICE, "(0, 1)", "(1, 0)", "A mean over two axes takes them in either order."),
    Equivalent(
        "losses_without", "", "model.eval()", "Evaluation mode is right, too: the exercise leaves it open."
    ),
    Equivalent("logit_lens", "x = x + added", "x = x.add_(added)", "The views before it have been computed."),
]
