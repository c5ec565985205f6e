"""Checks of exercise 7: the student's test is tried on functions that are causal and on others.

Every check also needs the causal ones to be accepted, so a test that rejects everything earns nothing.
"""

import causal_functions

from gradekit.checks import judge, points

rejects = judge("check_causal", "f", causal_functions.RIGHT, wrong=causal_functions.wrong)


@points(2)
def test_everything(rejects):
    """It accepts causal functions, and rejects those in which every position sees later tokens."""
    rejects()


@points(2)
def test_one_ahead(rejects):
    """It accepts causal functions, and rejects those that see only the next token, or the one after it."""
    rejects()


@points(2)
def test_some_places(rejects):
    """It accepts causal functions, and rejects those that aren't causal only at some positions."""
    rejects()


@points(2)
def test_detail(rejects):
    """It accepts causal functions, and rejects those in which the future shows only in some of the numbers."""
    rejects()


@points(2)
def test_total(rejects):
    """It accepts causal functions, and rejects those that compute something over the whole sequence."""
    rejects()


@points(2)
def test_batch(rejects):
    """It accepts causal functions, and rejects those that mix the sequences of a batch."""
    rejects()
