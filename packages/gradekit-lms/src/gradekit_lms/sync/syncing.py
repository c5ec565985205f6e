"""One exchange with the LMS: students and submissions in, then scores, comments and pages out."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from gradekit.course import Assignment, CourseError
from gradekit.course.operating_system import locked_file
from gradekit.course.printing import quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import Row, locked_class_table
from gradekit.verdict.results import score_in_words
from gradekit_lms.claims import lines_of_report
from gradekit_lms.exports import StudentScore, remark
from gradekit_lms.returning import pages_of
from gradekit_lms.sync.connection import LmsAway, LmsError
from gradekit_lms.sync.incoming import OWN, Incoming, match_people, would_collect
from gradekit_lms.sync.lms import Lms, LmsSync, Notes, Remote, Result, Sent, State, Taken, folder_of_state

#: below this, two scores are the same: Moodle keeps five decimals
_CLOSE = 1e-4


@dataclass
class Synced:
    """What was done, or would be, and what has to be said about the rest, below headings.

    Args:
        failed: why it ended early.
    """

    done: list[str] = field(default_factory=list)
    notes: Notes = field(default_factory=lambda: defaultdict(list))
    failed: CourseError | OSError | None = None

    def lines(self) -> Iterator[str]:
        yield from self.done
        yield from lines_of_report(self.notes)


def lms_of(settings: LmsSync, token: str) -> Lms:
    """The LMS of the settings.

    Raises:
        CourseError: a package that it needs is not installed.
    """
    if settings.product == "moodle":
        from gradekit_lms.sync.moodle import Moodle

        return Moodle(settings.address, token, settings.course)
    try:
        from gradekit_lms.sync.canvas import Canvas
    except ImportError as error:
        raise CourseError(f"Canvas needs the package canvasapi ({error}): `pip install canvasapi`") from None
    return Canvas(settings.address, token, settings.course)


def synchronize(
    course: RunningCourse, assignments: Sequence[Assignment], token: str, dry_run: bool = False
) -> Synced:
    """Exchange what is new. What is done stays done if this ends early, and is not done again.

    Args:
        token: from the environment; empty if it is in a file.
        dry_run: only say what would be done.

    Raises:
        CourseError: a setting is wrong, or another process does this.
    """
    settings = LmsSync.of(course)
    if not assignments:
        assignments = [course.assignment(name) for name in settings.assignments]
    for assignment in assignments:
        settings.number_of(assignment)
    lms = lms_of(settings, settings.token(course, token))
    synced = Synced()
    course.require_gradebook(writing=not dry_run)
    lock: AbstractContextManager[object] = nullcontext()
    if not dry_run:
        folder_of_state(course.root).mkdir(parents=True, exist_ok=True)
        try:
            lock = locked_file(folder_of_state(course.root) / "lock", wait=False)
        except BlockingIOError:
            raise CourseError(
                "another `gradekit lms sync` works in this course: wait until it has ended"
            ) from None
    with lock:
        try:
            students, added = match_people(course, lms, lms.people(), synced.notes, dry_run)
            _say(synced, dry_run, "students", "added", added)
            for assignment in assignments:
                _exchange(course, lms, assignment, students, settings, synced, dry_run)
        except (CourseError, OSError) as error:
            synced.failed = error
    if not synced.done and not synced.failed:
        synced.done.append("nothing to do: all that can be exchanged was exchanged before")
    return synced


def _exchange(
    course: RunningCourse,
    lms: Lms,
    assignment: Assignment,
    students: dict[str, str],
    settings: LmsSync,
    synced: Synced,
    dry_run: bool,
) -> None:
    name, notes = assignment.name, synced.notes
    state = State.of(course.root, name)
    remote = lms.read(settings.number_of(assignment))
    incoming = Incoming(course, lms, assignment, students, settings.max_megabytes * 10**6)
    wanted = incoming.wanted(remote.submissions, state, notes)
    collected = would_collect(wanted) if dry_run else []
    try:
        if wanted and not dry_run:
            incoming.collect(wanted, state, notes, collected)
    finally:
        _say(synced, dry_run, name, "collected", collected)
    numbers = {student: number for number, student in students.items()}
    outgoing = OutgoingResult(course, lms, assignment, numbers, settings)
    sent: list[str] = []
    try:
        for student, result in outgoing.wanted(remote, state, notes):
            try:
                if not dry_run:
                    outgoing.send(student, result, state)
            except LmsAway:
                raise
            except LmsError as error:  # those of others may be taken
                notes[f"Not sent: {error}"].append(student)
                continue
            sent.append(f"{student} ({result.score:g})")
    finally:
        _say(synced, dry_run, name, "sent", sent)
    if not dry_run:
        state.save(course.root, name)


def _say(synced: Synced, dry_run: bool, what: str, verb: str, names: list[str]) -> None:
    if names:
        would = "would be " if dry_run else ""
        synced.done.append(f"{what}: {len(names)} {would}{verb}: {', '.join(names)}")


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
        for student, result in self._results(remote, state, notes):
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
                # the command was killed when this was sent
                state.sent[student] = Sent(result.mark, result.score)
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

    def _results(self, remote: Remote, state: State, notes: Notes) -> Iterator[tuple[str, Result]]:
        name, product = self._assignment.name, self._lms.product
        there = {number: each.stamp for each in remote.submissions for number in each.owners}
        table = locked_class_table(self._course, self._assignment)
        maximum = sum(table.maximum.values())
        factor = 1.0
        if abs(maximum - remote.maximum) > _CLOSE and any(row.total is not None for row in table.rows):
            if not (self._settings.scale and maximum and remote.maximum):
                scale = ", or set c.LmsSync.scale = True" if maximum and remote.maximum else ""
                notes["No scores sent"].append(
                    f"{name} has {maximum:g} points here and {remote.maximum:g} in {product}: change them there{scale}"
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
            reason = self._why_not(row, state.taken.get(row.student), there, notes) or reason
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

    def _why_not(self, row: Row, taken: Taken | None, there: Mapping[str, str], notes: Notes) -> str:
        """Why a student's result can't be sent, whether there is a page or not; empty if it can.

        Args:
            there: by number, the stamps of the newest attempts, to which a score would belong.
        """
        student, product = row.student, self._lms.product
        if student not in self._numbers:
            return f"no student of the course in {product}"
        if self._course.is_newer(student, self._assignment.name):
            return f"handed in again since: `gradekit autograde {quoted(self._assignment.name)}`"
        stamp = there.get(self._numbers[student])
        if taken and stamp != taken.stamp and student not in notes.get(OWN, []):
            if stamp:
                return f"{product} has a newer attempt, which was not collected"
            return f"{product} no longer has the submission that was collected"
        return "awaiting manual grading" if row.waiting else ""
