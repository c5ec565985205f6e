"""Which hand-ins are done, by the records of attempts and the pages that were released or are held."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from nbgrader.api import SubmittedAssignment

from gradekit.attempts.records import Attempts, Page, file_name
from gradekit.course.files import STATE_FOLDER, write_atomically
from gradekit.grading.running_course import RunningCourse
from gradekit.watch.arrivals import HandIn, time_of
from gradekit.watch.ways import Sink


class History:
    """Keeps track of which hand-ins of a course are done.

    A hand-in is done when it has a record, and its page is released or held. From a student's first one
    that is not done, all are done again in order, so that the last of them ends up in submitted/ and the gradebook.
    Results are in the cache, so this is quick.

    When an assignment is watched for the first time, hand-ins that the instructor has already graded are left alone.

    Args:
        keeps_all: whether hand-ins never change.
        sink: knows which pages were released.
    """

    def __init__(self, course: RunningCourse, keeps_all: bool, sink: Sink) -> None:
        self._course, self._keeps_all, self._sink = course, keeps_all, sink
        self._left_alone: dict[str, frozenset[str]] = {}
        self._done: set[HandIn] = set()

    def outstanding(self, hand_ins: Iterable[HandIn]) -> list[HandIn]:
        """The complete hand-ins that have to be graded."""
        found: list[HandIn] = []
        ordered = sorted(hand_ins, key=lambda h: (h.assignment, h.student, h.handed_in))
        for assignment, of_assignment in groupby(ordered, lambda h: h.assignment):
            group = list(of_assignment)
            left_alone = self._graded_before(assignment, group)
            group = [h for h in group if _key(h) not in left_alone or self._has_changed(h)]
            for _, of_student in groupby(group, lambda h: h.student):
                found += self._from_first_not_done(list(of_student))
        return found

    def held_folder(self, student: str, assignment: str, handed_in: datetime) -> Path:
        """The folder that holds the page of an attempt until it is due."""
        names = f"{student}\0{assignment}\0{handed_in.isoformat()}"
        return self._course.root / STATE_FOLDER / "held" / hashlib.sha256(os.fsencode(names)).hexdigest()[:32]

    def _from_first_not_done(self, hand_ins: Sequence[HandIn]) -> list[HandIn]:
        attempts: Attempts | None = None
        for number, hand_in in enumerate(hand_ins):
            if hand_in in self._done:
                continue
            attempts = attempts or Attempts.load(self._course.root, hand_in.assignment, hand_in.student)
            if not self._is_done(hand_in, attempts):
                return list(hand_ins[number:])
            self._done.add(hand_in)
        return []

    def _is_done(self, hand_in: HandIn, attempts: Attempts) -> bool:
        record = attempts.at(hand_in.handed_in)
        if record is None:
            return False
        if self._has_changed(hand_in):
            return False
        if record.page != Page.HELD:
            return True
        return self.held_folder(hand_in.student, hand_in.assignment, hand_in.handed_in).is_dir()

    def _has_changed(self, hand_in: HandIn) -> bool:
        """Whether files in submitted/ are newer than what was graded; other hand-ins never change."""
        return not self._keeps_all and self._course.is_newer(hand_in.student, hand_in.assignment)

    def _graded_before(self, assignment: str, hand_ins: Sequence[HandIn]) -> frozenset[str]:
        """The hand-ins that were there when the assignment was watched for the first time, and had been graded."""
        if assignment not in self._left_alone:
            path = self._course.root / STATE_FOLDER / "watch" / f"{file_name(assignment)}.json"
            try:
                names = json.loads(path.read_text(encoding="utf-8"))
            except (FileNotFoundError, ValueError):
                names = [_key(hand_in) for hand_in in hand_ins if self._was_graded(hand_in)]
                write_atomically(path, json.dumps(names))
            self._left_alone[assignment] = frozenset(map(str, names))
        return self._left_alone[assignment]

    def _was_graded(self, hand_in: HandIn) -> bool:
        student, assignment = hand_in.student, hand_in.assignment
        names = self._course.assignment(assignment).released_names()
        if self._sink.has_page(hand_in, names):
            return True
        if not all(self._course.result(student, assignment, name) for name in names):
            return False
        graded = time_of(self._course.autograded(student, assignment))
        if graded is None:
            return not self._keeps_all and not self._has_changed(hand_in)
        return hand_in.handed_in <= graded


class Deadlines:
    """The deadlines of an assignment in the gradebook, with the students' extensions."""

    def __init__(self, course: RunningCourse, assignment: str) -> None:
        with course.gradebook() as book:
            entry = book.find_assignment(assignment)
            self._deadline: datetime | None = entry.duedate and entry.duedate.replace(tzinfo=UTC)
            extended = book.db.query(SubmittedAssignment).filter(
                SubmittedAssignment.assignment_id == entry.id, SubmittedAssignment.extension.isnot(None)
            )
            self._extensions: dict[str, timedelta] = {found.student_id: found.extension for found in extended}

    def of(self, student: str) -> datetime | None:
        """The student's deadline; None if there is none."""
        if self._deadline is None:
            return None
        return self._deadline + self._extensions.get(student, timedelta())


def _key(hand_in: HandIn) -> str:
    return f"{hand_in.student}+{hand_in.handed_in.isoformat()}"
