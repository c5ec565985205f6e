"""Checks of exercise 9: the student's test is tried on right and on wrong readers.

Every check also needs the right ones to be accepted, so a test that rejects everything earns nothing.
"""

import readers

from gradekit.checks import judge, points

rejects = judge("check_reader", "new_reader", readers.RIGHT, "a reader", wrong=readers.wrong)


@points(3)
def test_forgetting(rejects):
    """It accepts correct readers, and rejects those that forget what they have read."""
    rejects()


@points(4)
def test_positions(rejects):
    """It accepts correct readers, and rejects those that miscount positions."""
    rejects()


@points(4)
def test_pieces_of_several_tokens(rejects):
    """It accepts correct readers, and rejects those that are wrong for pieces of several tokens."""
    rejects()


@points(3)
def test_short_memory(rejects):
    """It accepts correct readers, and rejects those that remember only some of the pieces or tokens."""
    rejects()


@points(4)
def test_mixing(rejects):
    """It accepts correct readers, and rejects those that mix up texts, or the sequences of a batch."""
    rejects()


@points(3)
def test_decay(rejects):
    """It accepts correct readers, and rejects those whose memory changes with time, or is not exact."""
    rejects()
