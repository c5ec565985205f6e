"""What is uncertain goes to a person, never to 0: the graded cells that a person has to look at, and why.

A 0 is given by a check that failed, or because there is nothing to grade. A repair that may be wrong, an answer in an
odd place, or two tries that disagree are doubts.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Doubt:
    """Why a person has to look at the score of the graded cell `grade_id`, in a sentence for student and TA.

    Until then the cell has the points that are certain, and none rather than 0. If the doubt `stands_by` the score, as
    for full marks that nbgrader's own rule awards, the cell does not wait for manual grading.
    """

    grade_id: str
    why: str
    stands_by: bool = False


def certain_score(earned: float | None, doubted: bool) -> float | None:
    """The automatic score to store: None, so that formgrader asks for one, if an earned 0 is in doubt."""
    return earned or None if doubted else earned


def decided_by_a_person(what: str) -> str:
    """A sentence about something uncertain, and what follows from it."""
    return f"{what}. A person will decide how many points this gets."
