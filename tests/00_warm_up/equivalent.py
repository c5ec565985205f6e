"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

OWN_TENSOR = "The tensor was just made, so nobody else sees the change."

same = Equivalents("differences")

same.because("Broadcasting adds a missing axis on the left.")
same.edit("return a.unsqueeze(1) - b.unsqueeze(0)", ".unsqueeze(0)", "")

same = Equivalents("stable_softmax")

same.because(OWN_TENSOR)
same.edit("powers = torch.exp(x - largest)", "exp(", "exp_(")

same = Equivalents("masked_mean")

same.because(OWN_TENSOR)
same.edit("return tokens.sum(dim=1) / count.clamp(min=1)", "clamp(", "clamp_(")

same = Equivalents("affine")

same.because("The module has no dropout, so its mode changes nothing.")
same("", "self.train()")
same("", "self.eval()")
