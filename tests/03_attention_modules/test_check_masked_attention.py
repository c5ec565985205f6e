"""Checks of exercise 7: the student's test is tried on right and on wrong implementations.

Every check also needs the right ones to be accepted, so a test that rejects everything earns nothing.
"""

import attentions

from gradekit.checks import forbid, judge, points

no_other_attention = forbid("masked_attention", "earlier")

rejects = judge("check_masked_attention", "masked_attention", attentions.RIGHT, wrong=attentions.wrong)


@points(4)
def test_formula(rejects):
    """It accepts correct functions, and rejects those with a wrong formula or a wrong output."""
    rejects()


@points(3)
def test_direction(rejects):
    """It accepts correct functions, and rejects those that ignore or invert the mask."""
    rejects()


@points(4)
def test_leaks(rejects):
    """It accepts correct functions, and rejects those in which hidden keys still have an effect."""
    rejects()


@points(3)
def test_no_key(rejects):
    """It accepts correct functions, and rejects those that don't return zeros for a query that may see nothing."""
    rejects()


@points(4)
def test_batch(rejects):
    """It accepts correct functions, and rejects those that mix up the masks of a batch."""
    rejects()


@points(3)
def test_no_mask(rejects):
    """It accepts correct functions, and rejects those that need a mask, or add one of their own."""
    rejects()
