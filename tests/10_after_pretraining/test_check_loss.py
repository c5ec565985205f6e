"""Checks of exercise 8: the student's test is tried on right and on wrong losses.

Every check also needs the right ones to be accepted, so a test that rejects everything earns nothing.
"""

import losses

from gradekit.checks import judge, points

rejects = judge("check_loss", "loss", losses.RIGHT, "a loss", wrong=losses.wrong)


@points(2)
def test_prompt(rejects):
    """It accepts correct losses, and rejects those for which tokens of the prompt count."""
    rejects()


@points(2)
def test_padding(rejects):
    """It accepts correct losses, and rejects those for which tokens after the answer count."""
    rejects()


@points(2)
def test_shift(rejects):
    """It accepts correct losses, and rejects those that compare logits with the token at a wrong place."""
    rejects()


@points(2)
def test_ends(rejects):
    """It accepts correct losses, and rejects those for which not all tokens of an answer count."""
    rejects()


@points(2)
def test_rows(rejects):
    """It accepts correct losses, and rejects those that mix up the rows of a batch or leave some out."""
    rejects()


@points(2)
def test_edges(rejects):
    """It accepts correct losses, and rejects those that are wrong at the first or the last position."""
    rejects()
