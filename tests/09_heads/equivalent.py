"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

CHOICE = 'changed[:, head] = alone.mean(dim=(0, 1)) if kind == "mean" else 0.0'

NO_DOUBLE = "The text doesn't promise double precision."
AT_MOST_1 = "Weights are between 0 and 1."

same = Equivalents("previous_token_score")

same.because(NO_DOUBLE)
same("", "`previous_token_score` loses the digits of double precision")

same.because(AT_MOST_1)
same("", "`previous_token_score` is wrong for numbers above 30")

same = Equivalents("induction_score")

same.because(NO_DOUBLE)
same("", "`induction_score` loses the digits of double precision")

same.because(AT_MOST_1)
same("", "`induction_score` is wrong for numbers above 30")

same.because("The weights have as many queries as keys.")
same.edit("length = weights.shape[-1]", "1", "2")

same = Equivalents("position_losses")

same.because("`transpose` takes its two axes in either order.")
same.edit('losses = F.cross_entropy(predictions.transpose(1, 2), targets, reduction="none")', "1, 2", "2, 1")

same.because(NO_DOUBLE)
same("", "`position_losses` loses the digits of double precision")

same.because("The shortest period is 2, which has three losses.")
same("", "`half_losses` is wrong for an axis of size 1")

same = Equivalents("ablate")

same.because(NO_DOUBLE)
same("", "`ablate` loses the digits of double precision")

same.because("The order of the kinds makes no difference.")
same.edit('if kind not in ("zero", "mean"):', 'zero", "mean', 'mean", "zero')

same.because('The only other kind is "zero", which comes after "mean".')
same.edit(CHOICE, " ==", " <=")

same.because("A mean over two axes takes them in either order.")
same.edit(CHOICE, "0, 1", "1, 0")
