"""What follows when hand-ins have been graded: the attempt that counts is put back, and pages are released later.

A held page is released when it is due, and after the deadline those follow that had to show less before it.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gradekit.attempts.records import AttemptRecord, Attempts, Page
from gradekit.attempts.rules import Shows, attempt_that_counts, is_in_time, time_in_words
from gradekit.course.printing import printable
from gradekit.nbgrader_plugin.run_checks import RESULT
from gradekit.watch.arrivals import HandIn, time_of
from gradekit.watch.history import Deadlines
from gradekit.watch.pipeline import NotGraded
from gradekit.watch.status import EventKind, Reports, last_listed
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
        """True also if the instructor has collected something else, which has no record and isn't known here."""
        course = self._watched.course
        times = {record.handed_in for record in records}
        submitted, autograded = course.submitted(student, assignment), course.autograded(student, assignment)
        collected, graded = time_of(submitted), time_of(autograded)
        if graded is not None and graded not in times:
            return True
        if collected not in times:
            known = {hand_in.handed_in for hand_in in self._hand_ins[student, assignment]}
            return collected not in known or graded == counting.handed_in
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


class DuePages:
    """The pages that are still to be released."""

    def __init__(self, watched: WatchedCourse, reports: Reports) -> None:
        self._watched, self._reports = watched, reports
        self._held: dict[tuple[str, str, datetime], AttemptRecord] = {}
        self._final: set[tuple[str, str]] = set()

    def find(self) -> None:
        """Find the pages that an earlier command held, and remove the remains of an interrupted release."""
        for name in self._watched.assignments():
            for student in self._watched.course.handed_in(name):
                for record in self._attempts(student, name).records:
                    held = self._watched.history.held_folder(student, name, record.handed_in)
                    if record.page == Page.HELD and held.is_dir():
                        self._held[student, name, record.handed_in] = record
                    elif held.is_dir():
                        shutil.rmtree(held)
        self._count()

    def settings_changed(self, watched: WatchedCourse) -> None:
        self._watched = watched

    def graded(self, student: str, assignment: str) -> None:
        """Expect a final page again: there is another attempt."""
        self._final.discard((student, assignment))

    def hold(self, student: str, assignment: str, record: AttemptRecord) -> None:
        self._held[student, assignment, record.handed_in] = record
        self._count()

    def release_due(self) -> None:
        """Release the held pages that are due, oldest first."""
        now = datetime.now(UTC)
        due = [(key, record) for key, record in self._held.items() if record.due <= now]
        for key, record in sorted(due, key=lambda item: item[0][2]):
            student, assignment, _ = key
            try:
                self._watched.pipeline.release(student, assignment, record)
            except NotGraded as reason:
                text = f"the held page was not released: {reason}"
                self._reports.fail(EventKind.NOT_GRADED, text, student, assignment)
            else:
                self._reports.say(EventKind.RELEASED, "the held page was released", student, assignment)
            del self._held[key]
            self._count()

    def write_final(self, deadlines: Mapping[str, Deadlines], waits: Callable[[str, str], bool]) -> None:
        """Rewrite the pages whose deadline has passed, in full.

        Args:
            waits: whether a student has a hand-in for an assignment that is not graded yet.
        """
        now = datetime.now(UTC)
        for name, deadline_of in deadlines.items():
            rule = self._watched.rules.of(name)
            # the last page of a course with second chances offers one
            if rule.shows is Shows.EVERYTHING and self._watched.chance is None:
                continue
            for student in self._watched.course.handed_in(name):
                deadline = deadline_of.of(student)
                over = not is_in_time(rule, now, deadline)
                if over and (student, name) not in self._final and not waits(student, name):
                    self._write_final(student, name)

    def _write_final(self, student: str, assignment: str) -> None:
        records = self._attempts(student, assignment).records
        graded = time_of(self._watched.course.autograded(student, assignment))
        # the attempt that counts is the one in autograded/, unless the instructor has collected another
        found = [r for r in records if graded is None or r.handed_in == graded]
        if found and found[-1].page == Page.HELD:
            return  # until it has been released
        if found and not found[-1].final:
            try:
                self._watched.pipeline.rewrite(student, assignment, found[-1])
            except NotGraded as reason:
                text = f"the page after the deadline was not written: {reason}"
                self._reports.fail(EventKind.NOT_GRADED, text, student, assignment)
            else:
                text = "after the deadline, the page was written again in full"
                self._reports.say(EventKind.RELEASED, text, student, assignment)
        self._final.add((student, assignment))

    def _attempts(self, student: str, assignment: str) -> Attempts:
        return Attempts.load(self._watched.course.root, assignment, student)

    def _count(self) -> None:
        status = self._reports.status
        status.held = len(self._held)
        status.held_ones = last_listed(
            (printable(f"{student} {assignment}"), f"due at {time_in_words(record.due)}")
            for (student, assignment, _), record in self._held.items()
        )
        status.next_due = min((record.due for record in self._held.values()), default=None)
