"""Checks of exercise 9: the student's test is tried on right and on wrong implementations.

Every check also needs the right ones to be accepted, so a test that rejects everything earns nothing.
"""

import splits

from gradekit.checks import in_kernel, judge, points

functions = in_kernel(splits.RIGHT[0].source)
rejects = judge("check_split", "split", splits.RIGHT, wrong=splits.wrong)


@points(4)
def test_apart(rejects):
    """It accepts correct functions, and rejects those that put a sequence on both sides."""
    rejects()


@points(4)
def test_complete(rejects):
    """It accepts correct functions, and rejects those that lose rows, or make more of them."""
    rejects()


@points(4)
def test_unaltered(rejects):
    """It accepts correct functions, and rejects those that return altered rows."""
    rejects()


@points(4)
def test_counted(rejects):
    """It accepts correct functions, and rejects those that hold out too few or too many sequences."""
    rejects()


@points(4)
def test_random(rejects, functions, assert_sets_no_seed):
    """It accepts correct functions, and rejects those that hold out the same sequences in every call, or never hold out some of them; it sets no seed."""
    rejects()
    assert_sets_no_seed("check_split", functions.get("split"))


@points(4)
def test_no_trace(rejects):
    """It accepts correct functions, and rejects those that change the rows that they are given."""
    rejects()
