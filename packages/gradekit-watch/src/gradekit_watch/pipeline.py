"""Takes one hand-in through all steps: collects it, writes its results into the gradebook, and releases its page.

Which hand-ins are done, the records of attempts and the pages that were released or are held say.
"""

import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace as replaced
from nbgrader.api import SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from sqlalchemy.exc import InterfaceError, OperationalError

from gradekit.attempts import (
    AttemptRecord,
    AttemptRules,
    Attempts,
    Page,
    Shows,
    file_name,
    is_in_time,
    outcomes_of,
    time_in_words,
    turns,
)
from gradekit.course import CourseError
from gradekit.course.files import FOR_EVERYBODY, STATE_FOLDER, notebooks_in, read_json, write_json
from gradekit.course.printing import printable
from gradekit.grading.autograde import SubmissionProgress
from gradekit.grading.running_course import GradebookAway, RunningCourse
from gradekit.grading.write import NoSpace, Writer
from gradekit.nbgrader_plugin.converters import FeedbackOne, reason_of
from gradekit.nbgrader_plugin.course_folders import beside_of
from gradekit.nbgrader_plugin.late import second_chance_of
from gradekit.page.check_table import deadline_of
from gradekit.submission.extra_files import is_notebook, move_up, put_endings_right
from gradekit.verdict.grade import points_of
from gradekit_watch.arrivals import time_of
from gradekit_watch.ways import HandIn, PageOf, Sink, Way


class NotGraded(Exception):
    """One hand-in can't be graded; the message says why."""

    what = "not graded"


class NoPage(NotGraded):
    """It is graded and in the gradebook, but its page can't be written or released."""

    what = "graded, but without a page"


class Blocked(Exception):
    """Nothing can be graded until something changes; the message says what."""


def no_space(error: BaseException) -> str:
    """A sentence about a disk that can't be written to."""
    return f"{reason_of(error)}. Free some space or make it writable; nothing is lost, and grading then continues"


def away(error: BaseException) -> str:
    """A sentence about a gradebook that can't be reached."""
    reason = str(error) if isinstance(error, CourseError) else reason_of(error)
    return f"{reason}. Nothing is lost, and grading continues when the gradebook can be reached"


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
        if record is None or self._has_changed(hand_in):
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
            names = read_json(path, list[str])
            if names is None:
                names = [_key(hand_in) for hand_in in hand_ins if self._was_graded(hand_in)]
                write_json(path, names)
            self._left_alone[assignment] = frozenset(names)
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


@dataclass
class GradedHandIn:
    """The outcome of a hand-in, and sentences about anything that a person has to look at."""

    hand_in: HandIn
    record: AttemptRecord
    problems: list[str] = field(default_factory=list)


class Pipeline:
    """Takes hand-ins from where they arrive to their pages, one after another, with the course's settings.

    Every step can be repeated: an interrupted step is done again from the start, and overwrites its remains. The
    record is stored when the gradebook is written, and says when the page has been released. A step that fails raises
    `NotGraded` if this is about one hand-in, `NoPage` if it is graded by then, and `Blocked` if it is about all of them.

    Args:
        warned: nbgrader's warnings, as they come.
    """

    def __init__(
        self, course: RunningCourse, way: Way, rules: AttemptRules, history: History, warned: list[str]
    ) -> None:
        self._course, self._rules, self._history, self._warned = course, rules, history, warned
        self._source, self._sink = way.source, way.sink
        self._writer = Writer(course)
        self._config = deepcopy(course.config)
        self._config.GenerateFeedback.force = True

    def collect(self, hand_in: HandIn) -> list[str]:
        """Put a hand-in into submitted/; returns sentences about files that were left out."""
        folders = self._course.folders
        folders.student_id, folders.assignment_id = hand_in.student, hand_in.assignment
        folder = self._course.submitted(hand_in.student, hand_in.assignment)
        sentences: list[str] = []
        with self._course.write_lock():
            if self._source.keeps_all:
                with self._failing_as(NotGraded, lambda: self._require_there(hand_in)):
                    self._require_unchanged(hand_in)
                    self._source.collect(hand_in)
            sentences += self._warned
            self._warned.clear()
            sentences += move_up(folder, self._course.assignment(hand_in.assignment).released_names())
            sentences += put_endings_right(str(folder), newest=not self._source.keeps_all)
            if hand_in.left_out:
                beside = beside_of(folders, folder, hand_in.assignment)
                sentences += beside.note(dict(hand_in.left_out))
        if not notebooks_in(folder):
            earlier = notebooks_in(self._course.autograded(hand_in.student, hand_in.assignment))
            time = f", handed in at {time_in_words(hand_in.handed_in)}" if earlier else ""
            stays = ", so the score of an earlier one stays" if earlier else ""
            raise NotGraded(f"it has no notebook{time}{stays}")
        return sentences

    def finish(self, submission: SubmissionProgress, hand_in: HandIn) -> GradedHandIn:
        """Write the results, and release the page, or hold it until it is due."""
        if failures := [notebook.failure for notebook in submission.notebooks if notebook.failure]:
            raise NotGraded(f"the grader failed on it: {failures[0]}")
        self._write(submission, hand_in)
        with self._failing_as(NoPage):
            record = record_of(self._course, self._rules, hand_in)
            self._store(record, hand_in)
            held = self._history.held_folder(hand_in.student, hand_in.assignment, hand_in.handed_in)
            self._write_page(hand_in.student, hand_in.assignment, record, held)
            if record.due <= datetime.now(UTC):
                record = self.release(hand_in.student, hand_in.assignment, record)
        return GradedHandIn(hand_in, record, submission.problems)

    def put_back(self, hand_in: HandIn) -> AttemptRecord:
        """Put an attempt that has been graded back into submitted/, autograded/ and the gradebook.

        Its page stays. If the checks have changed since, its points may have.
        """
        self.collect(hand_in)
        self._write(SubmissionProgress(hand_in.student), hand_in)  # with the results that are in the cache
        before = self._attempts(hand_in).at(hand_in.handed_in)
        now = record_of(self._course, self._rules, hand_in)
        if before is not None:
            now = replaced(now, due=before.due, page=before.page, final=before.final)
        if now != before:
            with self._failing_as(NotGraded):
                self._store(now, hand_in)
        return now

    def release(
        self, student: str, assignment: str, record: AttemptRecord, final: bool = False
    ) -> AttemptRecord:
        """Release a page that was held, and store and return its record."""
        held = self._history.held_folder(student, assignment, record.handed_in)
        folders = self._folders_in(held, student, assignment)
        page = Path(folders.format_path(folders.feedback_directory, student, assignment))
        own = self._course.folders
        shown = Path(own.format_path(own.feedback_directory, student, assignment))
        with self._failing_as(NoPage, self._require_sink), self._course.write_lock():
            if page.is_dir():  # otherwise, the process was killed after it had moved the page
                self._sink.release(PageOf(student, assignment, record, page, folders))
                shutil.rmtree(shown, ignore_errors=True)
                shown.parent.mkdir(parents=True, exist_ok=True)
                os.replace(page, shown)
            attempts = Attempts.load(self._course.root, assignment, student)
            record = attempts.at(record.handed_in) or record  # it may have been graded again
            record = replaced(record, page=Page.RELEASED, final=final or record.final)
            attempts.add(record)
            attempts.store()
            shutil.rmtree(held, ignore_errors=True)
        return record

    def rewrite(self, student: str, assignment: str, record: AttemptRecord) -> None:
        """Write the page of the attempt in autograded/ again and release it; it is final."""
        held = self._history.held_folder(student, assignment, record.handed_in)
        with self._failing_as(NoPage, self._require_sink):
            self._write_page(student, assignment, record, held)
        self.release(student, assignment, record, final=True)

    def _write_page(self, student: str, assignment: str, record: AttemptRecord, held: Path) -> None:
        unfinished = held.with_name(f"{held.name}.unfinished")
        folders = self._folders_in(unfinished, student, assignment)
        shutil.rmtree(unfinished, ignore_errors=True)
        autograded = self._course.autograded(student, assignment)
        converter = FeedbackOne(autograded, coursedir=folders, config=self._config, log=self._course.log)
        try:
            with self._course.write_lock():
                shows = self._shows(student, assignment)  # not later than the page is written, so never more
                converter.start()
                page = Path(folders.format_path(folders.feedback_directory, student, assignment))
                self._sink.complete(PageOf(student, assignment, record, page, folders, shows))
        except SystemExit as stopped:  # raised by one of gradekit's steps
            raise NoPage(str(stopped).splitlines()[0]) from stopped
        except Exception as error:
            raise (converter.failure or error) from error
        shutil.rmtree(held, ignore_errors=True)
        os.replace(unfinished, held)

    def _shows(self, student: str, assignment: str) -> Shows:
        """How much a page that is written now shows."""
        with self._course.gradebook() as book:
            deadline = deadline_of(book, assignment, student)
        return self._rules.of(assignment).shown(datetime.now(UTC), deadline)

    def _folders_in(self, place: Path, student: str, assignment: str) -> CourseDirectory:
        """The course's folders, with a different one for feedback."""
        below = str(place.relative_to(self._course.root))
        folders = CourseDirectory(
            config=self._course.config, root=str(self._course.root), feedback_directory=below
        )
        folders.db_url = self._course.folders.db_url
        folders.student_id, folders.assignment_id = student, assignment
        return folders

    def _write(self, submission: SubmissionProgress, hand_in: HandIn) -> None:
        try:
            failed = self._writer.write(submission, hand_in.assignment)
        except NoSpace as error:
            raise Blocked(no_space(error.__cause__ or error)) from error
        except GradebookAway as error:
            raise Blocked(away(error.__cause__ or error)) from error
        if failed:
            raise NotGraded(failed[0].removeprefix(f"{printable(hand_in.student)}: "))

    def _store(self, record: AttemptRecord, hand_in: HandIn) -> None:
        attempts = self._attempts(hand_in)
        attempts.add(record)
        attempts.store()

    def _attempts(self, hand_in: HandIn) -> Attempts:
        return Attempts.load(self._course.root, hand_in.assignment, hand_in.student)

    def _require_sink(self) -> None:
        if reason := self._sink.why_away():
            raise Blocked(reason)

    def _require_there(self, hand_in: HandIn) -> None:
        if reason := self._source.why_away():
            raise Blocked(reason)
        if not hand_in.folder.is_dir():
            raise NotGraded("it was deleted before it was collected")

    def _require_unchanged(self, hand_in: HandIn) -> None:
        """Raise NotGraded if an attempt has changed since it was graded: students can write to their hand-ins."""
        record = self._attempts(hand_in).at(hand_in.handed_in)
        if record is not None and record.digest and record.digest != digest_of(hand_in.folder):
            raise NotGraded(
                "its notebooks were changed in the exchange after they had been graded: ask the student why. "
                "The version that was graded last stays in the gradebook"
            )

    @contextmanager
    def _failing_as(
        self, kind: type[NotGraded], require: Callable[[], None] = lambda: None
    ) -> Iterator[None]:
        """Turn errors into one of this kind, or into Blocked if they would affect everybody else, too."""
        self._warned.clear()
        try:
            yield
        except (NotGraded, Blocked):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FOR_EVERYBODY:
                raise Blocked(no_space(error)) from error
            if isinstance(error, GradebookAway | OperationalError | InterfaceError):
                raise Blocked(away(error)) from error
            require()
            reason = str(error) if isinstance(error, ExchangeError | RuntimeError) else reason_of(error)
            raise kind(printable(reason)) from error


class NbgraderWarnings(logging.Handler):
    """Collects nbgrader's warnings, as sentences."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.sentences: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.sentences.append(" ".join(record.getMessage().split()))


def record_of(course: RunningCourse, rules: AttemptRules, hand_in: HandIn) -> AttemptRecord:
    """The record of a hand-in that is in autograded/ and in the gradebook; its page is held at first."""
    assignment, rule = course.assignment(hand_in.assignment), rules.of(hand_in.assignment)
    results = {
        name: course.result(hand_in.student, hand_in.assignment, name) for name in assignment.released_names()
    }
    found = {name: result for name, result in results.items() if result is not None}
    with course.gradebook() as book:
        penalty = book.find_submission(hand_in.assignment, hand_in.student).late_submission_penalty
        deadline = deadline_of(book, hand_in.assignment, hand_in.student)
    late = not is_in_time(rule, hand_in.handed_in, deadline)
    second_chance = late and second_chance_of(course.config) is not None
    earlier = Attempts.load(course.root, hand_in.assignment, hand_in.student).records
    times = sorted({*(record.handed_in for record in earlier), hand_in.handed_in})
    turn = turns(rule, times, deadline)[times.index(hand_in.handed_in)]
    return AttemptRecord(
        handed_in=hand_in.handed_in,
        earned={name: result.earned for name, result in found.items()},
        max_points=sum(sum(points_of(assignment.released(name)).values()) for name in results),
        penalty=penalty or 0.0,
        notebooks={name: outcomes_of(result) for name, result in found.items()},
        due=hand_in.handed_in if second_chance else turn.due,
        second_chance=second_chance,
        digest=digest_of(course.submitted(hand_in.student, hand_in.assignment)),
    )


def digest_of(folder: Path) -> str:
    """A digest of the notebooks in a folder, whatever their names; links are left out.

    Raises:
        OSError: one can't be read.
    """
    notebooks = [file for file in folder.iterdir() if is_notebook(file.name)]
    contents = [file.read_bytes() for file in notebooks if file.is_file() and not file.is_symlink()]
    digests = sorted({hashlib.sha256(content).hexdigest() for content in contents})
    return hashlib.sha256("".join(digests).encode()).hexdigest()
