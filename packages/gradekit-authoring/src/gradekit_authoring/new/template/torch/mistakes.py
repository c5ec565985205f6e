"""Known wrong answers to this assignment, each an edit of the instructor's solution cell.

`gradekit audit` verifies that each is caught by one of the checks that it is about.
"""

from gradekit.checks import Mistakes

VARIANCE = "(x - mean).square().mean(dim=-1, keepdim=True)"
OUTPUT = "return (x - mean) / torch.sqrt(variance + eps)"

wrong = Mistakes(cell="normalized")

wrong.about("test_equals_the_formula")
wrong("one_less", VARIANCE, "x.var(dim=-1, keepdim=True)")
wrong.says("Your variance divides by the width minus 1. Divide by the width: `correction=0`.")
wrong("no_root", "torch.sqrt(variance + eps)", "(variance + eps)")
wrong.says("You divided by the variance itself. Divide by its square root.")
wrong("mean_kept", OUTPUT, "return x / torch.sqrt(variance + eps)")
wrong.says("You divided, but did not subtract the mean first.")

wrong.about("test_equals_the_formula", "test_leading_axes")
wrong("over_the_length", "x.mean(dim=-1", "x.mean(dim=-2")
wrong.edit("square().mean(dim=-1", "square().mean(dim=-2")
wrong.says("You took the mean and the variance over the positions. Take them over the last axis, the width.")
wrong.costs("Everything is computed along the wrong axis.")

wrong.about("test_eps")
wrong("no_eps", "variance + eps", "variance")
wrong.says("You left out `eps`, so equal entries give 0 divided by 0.")
wrong("eps_outside", "torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)")
wrong.says("You added `eps` to the square root. Add it to the variance, under the square root.")

wrong.about("test_unchanged")
wrong("in_place", OUTPUT, "x -= mean\n    return x / torch.sqrt(variance + eps)")
wrong.says("You subtracted the mean from `x` itself. Make a new tensor: `x - mean`.")
