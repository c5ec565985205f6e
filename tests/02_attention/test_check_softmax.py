"""Checks of exercise 6: the student's test is tried on right and on wrong implementations.

Every check also needs the right ones to be accepted, so a test that rejects everything earns nothing.
"""

import softmaxes

from gradekit.checks import forbid, forbid_in, judge, points

no_other_softmax = forbid(
    "softmax", "log_softmax", "_softmax", "Softmax*", "LogSoftmax", "softmin", "logsumexp"
)

#: the softmax in it is forbidden, too
no_attention = forbid_in(["check_softmax"], "attention", "masked_attention")

rejects = judge("check_softmax", "softmax", softmaxes.RIGHT, wrong=softmaxes.wrong)


@points(2)
def test_other_functions(rejects):
    """It accepts correct functions, and rejects those that compute something quite different."""
    rejects()


@points(2)
def test_nearly_right(rejects):
    """It accepts correct functions, and rejects those whose weights are positive, in the right order and sum to 1, but are wrong."""
    rejects()


@points(2)
def test_other_axes(rejects):
    """It accepts correct functions, and rejects those that mix up rows and columns."""
    rejects()


@points(2)
def test_three_axes(rejects):
    """It accepts correct functions, and rejects those that are right only up to two axes, or fail for a single row."""
    rejects()


@points(2)
def test_large_scores(rejects):
    """It accepts correct functions, and rejects those that fail for scores of about 1000, alone or beside others."""
    rejects()


@points(2)
def test_in_place(rejects):
    """It accepts correct functions, and rejects one that changes the scores that it is given."""
    rejects()
