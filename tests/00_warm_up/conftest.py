"""Shared by the checks: the ban on torch's softmax."""

from gradekit.checks import forbid

no_other_softmax = forbid(
    "softmax", "log_softmax", "_softmax", "Softmax*", "LogSoftmax", "softmin", "Softmin"
)
