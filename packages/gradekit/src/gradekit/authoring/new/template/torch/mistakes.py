"""Known wrong answers to this assignment, each an edit of the instructor's solution cell.

`gradekit audit` verifies that each is caught by one of the checks in its `about`.
"""

from gradekit.checks import Mistake

VARIANCE = "(x - mean).square().mean(dim=-1, keepdim=True)"
OUTPUT = "return (x - mean) / torch.sqrt(variance + eps)"

MISTAKES = [
    Mistake(
        "one_less",
        cell="normalized",
        edits=[(VARIANCE, "x.var(dim=-1, keepdim=True)")],
        about=["test_equals_the_formula"],
        sentence="Your variance divides by the width minus 1. Divide by the width: `correction=0`.",
    ),
    Mistake(
        "no_root",
        cell="normalized",
        edits=[("torch.sqrt(variance + eps)", "(variance + eps)")],
        about=["test_equals_the_formula"],
        sentence="You divided by the variance itself. Divide by its square root.",
    ),
    Mistake(
        "mean_kept",
        cell="normalized",
        edits=[(OUTPUT, "return x / torch.sqrt(variance + eps)")],
        about=["test_equals_the_formula"],
        sentence="You divided, but did not subtract the mean first.",
    ),
    Mistake(
        "over_the_length",
        cost="Everything is computed along the wrong axis.",
        cell="normalized",
        edits=[("x.mean(dim=-1", "x.mean(dim=-2"), ("square().mean(dim=-1", "square().mean(dim=-2")],
        about=["test_equals_the_formula", "test_leading_axes"],
        sentence="You took the mean and the variance over the positions. Take them over the last axis, the width.",
    ),
    Mistake(
        "no_eps",
        cell="normalized",
        edits=[("variance + eps", "variance")],
        about=["test_eps"],
        sentence="You left out `eps`, so equal entries give 0 divided by 0.",
    ),
    Mistake(
        "eps_outside",
        cell="normalized",
        edits=[("torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)")],
        about=["test_eps"],
        sentence="You added `eps` to the square root. Add it to the variance, under the square root.",
    ),
    Mistake(
        "in_place",
        cell="normalized",
        edits=[(OUTPUT, "x -= mean\n    return x / torch.sqrt(variance + eps)")],
        about=["test_unchanged"],
        sentence="You subtracted the mean from `x` itself. Make a new tensor: `x - mean`.",
    ),
]
