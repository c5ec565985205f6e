"""Checks of exercise 7: the student's test is tried on functions that are causal and on others.

Every check also needs the causal ones to be accepted, so a test that rejects everything earns nothing.
"""

import causal_functions

from gradekit.checks import judge, points

WRONG = [
    causal_functions.EVERYTHING,
    causal_functions.ONE_AHEAD,
    causal_functions.SOME_PLACES,
    causal_functions.DETAIL,
    causal_functions.TOTAL,
    causal_functions.BATCH,
]
rejects = judge("check_causal", "f", causal_functions.RIGHT, wrong=WRONG)


@points(1)
def test_everything(rejects):
    """It accepts causal functions, and rejects those in which every position sees later tokens."""
    rejects(causal_functions.EVERYTHING)


@points(1)
def test_one_ahead(rejects):
    """It accepts causal functions, and rejects those that see only the next token, or the one after it."""
    rejects(causal_functions.ONE_AHEAD)


@points(1)
def test_some_places(rejects):
    """It accepts causal functions, and rejects those that aren't causal only at some positions."""
    rejects(causal_functions.SOME_PLACES)


@points(1)
def test_detail(rejects):
    """It accepts causal functions, and rejects those in which the future shows only in some of the numbers."""
    rejects(causal_functions.DETAIL)


@points(1)
def test_total(rejects):
    """It accepts causal functions, and rejects those that compute something over the whole sequence."""
    rejects(causal_functions.TOTAL)


@points(1)
def test_batch(rejects):
    """It accepts causal functions, and rejects those that mix the sequences of a batch."""
    rejects(causal_functions.BATCH)
