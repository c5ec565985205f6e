"""Doubts about values that a cell below the test cell changed: checks run after the last cell, so a person decides.

The agent notes the changes. In Jupyter, the test cell ran before. The answer may have been right until then, or have used something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from gradekit.course.cells import Doubt, decided_by_a_person
from gradekit.inside.messages import MessageError
from gradekit.session.replies import Answer, ShortText
from gradekit.session.session import CallTimeout, KernelDied, Session
from gradekit.submission.submission import Submission
from gradekit.verdict.results import ExerciseResult


class How(StrEnum):
    """How the value of a name changed."""

    ASSIGNED = "assigned"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True)
class NameChange:
    """A name that was changed in the `cell` with this index. `asked` is the same name, or the one that uses it."""

    asked: str
    name: str
    how: How
    cell: int


def changes_below(session: Session, index: int, asked: Sequence[str]) -> list[NameChange] | None:
    """What the cells below the one with this index changed; None if the kernel doesn't say.

    The kernel is the student's: the changes are those that it reports.
    """
    after = max((count for place, count in session.counts.items() if place <= index), default=0)
    below = {count: place for place, count in session.counts.items() if place > index}
    if not session.alive or not below:
        return []
    request = {"do": "changes", "names": list(asked), "after": after}
    with session.off_the_record():
        try:
            reply = session.exchange(
                [request], lambda item: None, lambda value: None, session.limits.call_seconds
            )
            value = reply.value if isinstance(reply, Answer) else []
            found = msgspec.convert(value, list[tuple[ShortText, ShortText, How, int]])
        except (KernelDied, CallTimeout, MessageError, msgspec.ValidationError):
            return None
    return [
        NameChange(start, name, how, below[count])
        for start, name, how, count in found
        if start in asked and name.isidentifier() and count in below
    ]


_DONE = {How.ASSIGNED: "assigned again", How.CHANGED: "changed", How.DELETED: "deleted"}


class ChangedBelow:
    """Finds out, for each exercise with a failed check, what a later cell changed of what the check asked for."""

    def __init__(self, session: Session, submission: Submission) -> None:
        self._session = session
        self._submission = submission
        self._found: dict[str, NameChange] = {}
        self._given_up = False

    def look(self, test: str, asked: list[str]) -> None:
        """Note the first change that may be why a check of the test cell `test` failed, after it `asked` for names."""
        submission = self._submission
        places = submission.place_of(submission.answer_to(test)), submission.place_of(test)
        if self._given_up or test in self._found or not asked or None in places:
            return
        changes = changes_below(self._session, max(place for place in places if place is not None), asked)
        self._given_up = changes is None  # code that hangs here, say, must not do so at every check
        above, below = submission.released_names(test)
        for change in changes or []:
            # the check was written with what the handed-out cells do with these names in mind
            known = change.name in above or change.name in asked
            meant = change.name in asked and change.name in below
            if not known or (submission.is_student_s(change.cell) and not meant):
                self._found[test] = change
                return

    def doubt_about(self, exercise: ExerciseResult) -> Doubt | None:
        """A doubt about an exercise that lost points to a check that may have failed because of a later cell."""
        change = self._found.get(exercise.grade_id)
        if change is None or exercise.right or exercise.unanswered:
            return None
        user = f"`{change.asked}` uses " if change.name != change.asked else ""
        name = f"{user}`{change.name}`{', which' if user else ''}"
        cell = self._submission.label(change.cell)
        what = f"{name} was {_DONE[change.how]} in the cell `{cell}` below its test cell, and the checks ran after that"
        return Doubt(exercise.grade_id, decided_by_a_person(what))
