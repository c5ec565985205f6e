"""Scores, comments and pages to the LMS."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from gradekit.course import Assignment
from gradekit.course.printing import quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import locked_class_table
from gradekit.verdict.results import score_in_words
from gradekit_lms.exports import StudentScore, remark
from gradekit_lms.returning import pages_of
from gradekit_lms.sync.lms import Lms, Notes, Remote, Result, Sent, State
from gradekit_lms.sync.sync_settings import LmsSync

#: below this, two scores are the same: Moodle keeps five decimals
_CLOSE = 1e-4


class OutgoingResult:
    """Sends the results of an assignment.

    Args:
        numbers: of the students in the LMS.
    """

    def __init__(
        self,
        course: RunningCourse,
        lms: Lms,
        assignment: Assignment,
        numbers: dict[str, str],
        settings: LmsSync,
    ) -> None:
        self._course, self._lms, self._assignment = course, lms, assignment
        self._numbers, self._settings = numbers, settings

    def wanted(self, remote: Remote, state: State, notes: Notes) -> list[tuple[str, Result]]:
        """The results that the LMS doesn't have yet, by student."""
        found = []
        for student, result in self._results(remote, notes):
            number, sent = self._numbers[student], state.sent.get(student)
            there = remote.scores.get(number)
            same = there is not None and abs(there - result.score) < _CLOSE
            ours = there is None or (sent is not None and abs(there - sent.score) < _CLOSE)
            if number in remote.excused:
                notes[f"Not sent, since they are excused in {self._lms.product}"].append(student)
            elif not (same or ours):
                notes[
                    f"Not sent, since {self._lms.product} has a score that didn't come from here. To send ours, delete it there"
                ].append(f"{student} has {there:g} there, {result.score:g} here")
            elif same and result.mark in remote.comments.get(number, ""):
                state.sent[student] = Sent(
                    result.mark, result.score
                )  # the command was killed when this was sent
            elif not (same and sent is not None and sent.mark == result.mark):
                found.append((student, result))
        return found

    def send(self, student: str, result: Result, state: State) -> None:
        """Send one result, and keep in mind that this was done."""
        taken = state.taken.get(student)
        number = self._settings.number_of(self._assignment)
        self._lms.send(number, self._numbers[student], taken.attempt if taken else 0, result)
        state.sent[student] = Sent(result.mark, result.score)
        state.save(self._course.root, self._assignment.name)

    def _results(self, remote: Remote, notes: Notes) -> Iterator[tuple[str, Result]]:
        name = self._assignment.name
        table = locked_class_table(self._course, self._assignment)
        maximum = sum(table.maximum.values())
        factor = 1.0
        if abs(maximum - remote.maximum) > _CLOSE and any(row.total is not None for row in table.rows):
            if not (self._settings.scale and maximum and remote.maximum):
                notes["No scores sent"].append(
                    f"{name} has {maximum:g} points here and {remote.maximum:g} in {self._lms.product}: change them "
                    "there, or set c.LmsSync.scale = True"
                )
                return
            factor = remote.maximum / maximum
        with self._course.gradebook() as gradebook:
            students = {student.id: student for student in gradebook.students}
        for row in table.rows:
            if row.total is None or not row.in_gradebook:
                continue
            pages: list[Path] = []
            reason = ""
            if self._settings.pages:
                pages, reason = pages_of(self._course, row.student, self._assignment, row.notebooks)
            if row.student not in self._numbers:
                reason = f"no student of the course in {self._lms.product}"
            elif self._course.is_newer(row.student, name):
                reason = f"handed in again since: `gradekit autograde {quoted(name)}`"
            elif row.waiting:
                reason = "awaiting manual grading"
            if reason:
                notes[f"Not sent: {reason}"].append(row.student)
                continue
            score = StudentScore(students[row.student], row, maximum, table.titles, table.penalty_name)
            text = "; ".join(filter(None, [score_in_words(row.total, maximum), remark(score)]))
            sent = round(row.total * factor, 5)
            digest = hashlib.sha256(f"{sent:.5f} {text}".encode())
            for page in pages:
                digest.update(page.read_bytes())
            mark = f"[gradekit {digest.hexdigest()[:10]}]"
            yield row.student, Result(sent, f"{text} {mark}", mark, pages)
