"""Shared by the checks: the ban on torch's softmax, and a comparison that every exercise makes."""

import torch

from gradekit.checks import assert_full_precision, fail, for_checks, forbid

no_other_softmax = forbid(
    "softmax", "log_softmax", "_softmax", "Softmax*", "LogSoftmax", "softmin", "Softmin"
)


#: far below the digits of float32; different for each column, since the same one everywhere may cancel
SMALL = 1e-13 * torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)


@for_checks
def assert_double(student, assert_precise, /, name, *args, output, right):
    """Fail unless float64 inputs give a float64 output at full precision, in which a very small change of the first input shows.

    An output that is far from the right one passes, so that a wrong formula doesn't cost these points, too.
    """
    before, after = student.call(name, *args).value, student.call(name, args[0] + SMALL, *args[1:]).value
    assert_precise(before, after, output)
    assert_full_precision(before, right, name=output)


@for_checks
def assert_precise(before, after, output):
    """Fail unless both outputs are float64 and differ."""
    if before.dtype != torch.float64:
        fail(f"The inputs are float64, but `{output}` is {before.dtype}.")
    if not (before - after).abs().max() > 0:  # nor if it is NaN
        fail(f"The inputs are float64, but a change in their 13th digit is lost: `{output}` stays the same.")
