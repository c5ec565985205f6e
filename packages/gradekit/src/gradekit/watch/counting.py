"""Puts the attempt that counts back into submitted/, autograded/ and the gradebook after a later one was graded."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from gradekit.attempts.records import AttemptRecord, Attempts
from gradekit.attempts.rules import attempt_that_counts
from gradekit.nbgrader_plugin.run_checks import RESULT
from gradekit.watch.arrivals import HandIn, time_of
from gradekit.watch.pipeline import NotGraded
from gradekit.watch.status import EventKind, Reports
from gradekit.watch.watched import WatchedCourse


class Counting:
    """Puts attempts that count back in place.

    No progress is stored: the records say which attempt counts, and the folders whether it is in place. So the next
    start finishes the work of a process that was killed.
    """

    def __init__(self, watched: WatchedCourse, reports: Reports) -> None:
        self._watched, self._reports = watched, reports
        self._known: Sequence[HandIn] = ()
        self._hand_ins: dict[tuple[str, str], list[HandIn]] = {}
        self._in_place: set[tuple[str, str]] = set()

    def graded(self, hand_in: HandIn) -> None:
        """Check again which attempt counts for this student."""
        self._in_place.discard((hand_in.student, hand_in.assignment))

    def settings_changed(self, watched: WatchedCourse) -> None:
        """Check again which attempts count for everybody."""
        self._watched = watched
        self._in_place.clear()

    def put_back(self, known: Sequence[HandIn], waits: Callable[[str, str], bool]) -> None:
        """Put the attempts that count in place.

        Args:
            known: the hand-ins, graded ones included; another list when something has arrived.
            waits: whether a student has a hand-in for an assignment that is not graded yet.
        """
        if known is not self._known:
            self._known, self._hand_ins = known, {}
            for hand_in in known:
                self._hand_ins.setdefault((hand_in.student, hand_in.assignment), []).append(hand_in)
        for student, assignment in sorted(self._hand_ins.keys() - self._in_place):
            if not waits(student, assignment):
                self._put_back(student, assignment)
                self._in_place.add((student, assignment))

    def _put_back(self, student: str, assignment: str) -> None:
        records = Attempts.load(self._watched.course.root, assignment, student).records
        counting = attempt_that_counts(self._watched.rules.of(assignment).counts, records)
        if counting is None or self._is_in_place(student, assignment, counting, records):
            return
        which = f"attempt {records.index(counting) + 1}, with {counting.score:g} points,"
        hand_ins = self._hand_ins[student, assignment]
        hand_in = next((found for found in hand_ins if found.handed_in == counting.handed_in), None)
        try:
            if hand_in is None:
                raise NotGraded("it is no longer in the exchange")
            self._watched.pipeline.put_back(hand_in)
        except NotGraded as reason:
            text = f"{which} counts, but is not in the gradebook: {reason}"
            self._reports.fail(EventKind.NOT_GRADED, text, student, assignment)
        else:
            self._reports.say(
                EventKind.RELEASED, f"{which} counts and is in the gradebook", student, assignment
            )

    def _is_in_place(
        self, student: str, assignment: str, counting: AttemptRecord, records: list[AttemptRecord]
    ) -> bool:
        """True also if the instructor has collected something else, which has no record."""
        course = self._watched.course
        times = {record.handed_in for record in records}
        submitted, autograded = course.submitted(student, assignment), course.autograded(student, assignment)
        collected, graded = time_of(submitted), time_of(autograded)
        if collected not in times or (graded is not None and graded not in times):
            return True
        if not collected == graded == counting.handed_in:
            return False
        if counting is records[-1]:  # its record was stored when it had been written
            return True
        names = course.assignment(assignment).released_names()
        return all(_was_graded(autograded / f"{name}.ipynb") for name in names)


def _was_graded(notebook: Path) -> bool:
    """Whether it was autograded completely, by any version."""
    try:
        return RESULT in json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
