"""A course in nbgrader: its folders, settings and gradebook."""

import contextlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from gradekit.course import Assignment, Course, CourseError
from gradekit.course.configuration import course_in, read_configuration
from gradekit.course.files import STATE_FOLDER, files_in, notebooks_in, written_at
from gradekit.course.operating_system import locked_file
from gradekit.course.printing import did_you_mean, quoted
from gradekit.grading.grades import RecordedScores, is_done
from gradekit.nbgrader_plugin.course_folders import (
    beside_of,
    gradebook_problem,
    handed_in,
    in_doubt,
    rename_students,
    shown_url,
    sqlite_file,
    url_in,
    usable_name,
)
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.submission.extra_files import own_files, time_handed_in
from gradekit.verdict.results import SubmissionResult

if TYPE_CHECKING:  # it imports all of nbgrader's commands
    from nbgrader.apps import NbGrader

#: our classes that have settings, each with the sections that it inherits
_OURS = (
    ("gradekit.nbgrader_plugin.steps.RunChecks", "Execute"),
    ("gradekit.nbgrader_plugin.late.LatePenalty",),
    ("gradekit.nbgrader_plugin.late.SecondChance",),
    ("gradekit.nbgrader_plugin.rubric.ShowRubric",),
    ("gradekit.nbgrader_plugin.generating.SolutionPasses",),
    ("gradekit.attempts.AttemptRules",),
    ("gradekit.course.language.FeedbackPage",),
    ("gradekit.course.course_time.CourseTime",),
)
#: the folder for state from when this program had another name, before it was published
_EARLIER_STATE = ".coursekit"


class GradebookAway(CourseError):
    """The gradebook can't be reached; it may be later."""


@dataclass
class RunningCourse:
    """A course with the settings that nbgrader would use for it.

    Args:
        files: the configuration files, the last of which counts.
    """

    root: Path
    folders: CourseDirectory
    config: Config
    log: logging.Logger
    files: tuple[Path, ...] = ()
    _student_patterns: Sequence[str] = ("*",)
    _usable: bool = False

    @classmethod
    def open(cls, root: Path | None = None) -> "RunningCourse":
        """The course that `nbgrader --course-dir ROOT` works in, or without `root` that `nbgrader` works in.

        Raises:
            CourseError: its configuration raises an error, or a setting is unknown or has the wrong type.
        """
        found = read_configuration(root)
        for ours in _OURS:
            found.require_valid(*ours)
        log = logging.getLogger(__name__)
        log.setLevel(logging.CRITICAL)  # nbgrader's messages are in its results
        course = cls(Path(found.folders.root), found.folders, found.config, log, found.files)
        if (course.root / _EARLIER_STATE).is_dir() and not (course.root / STATE_FOLDER).exists():
            raise CourseError(
                f"{course.root / _EARLIER_STATE} has the results and the attempts from when gradekit was called coursekit: "
                f"`mv {quoted(str(course.root / _EARLIER_STATE))} {quoted(str(course.root / STATE_FOLDER))}`"
            )
        course.folders.db_url = course._db_url
        course._student_patterns = [found.folders.student_id]  # grading sets it for each student
        return course

    @classmethod
    def of(cls, app: "NbGrader") -> "RunningCourse":
        """The course in which an nbgrader command runs."""
        return cls(Path(app.coursedir.root), app.coursedir, app.config, app.log)

    @property
    def last_file(self) -> Path:
        """The configuration file whose settings override all others."""
        return self.files[-1] if self.files else self.root / "nbgrader_config.py"

    @property
    def plugged_in(self) -> bool:
        """True if the configuration calls `configure`."""
        return "exporter_class" in self.config.get("Autograde", {})

    @cached_property
    def layout(self) -> Course:
        """Where the instructor's files are."""
        return course_in(self.folders)

    def assignment(self, name: str) -> Assignment:
        return self.layout.assignment(name)

    def gradebook(self) -> Gradebook:
        """nbgrader's database, for a `with` statement.

        Raises:
            GradebookAway: it can't be used now.
            CourseError: its driver is not installed.
        """
        path = self.gradebook_file
        if not self._usable or (path and not path.exists()):
            self.require_gradebook()
        try:
            return Gradebook(self._db_url, self.folders.course_id)
        except SQLAlchemyError as error:
            reason = str(error).splitlines()[0]
            raise GradebookAway(
                f"the gradebook {shown_url(self._db_url)} can't be opened: {reason}"
            ) from error

    def require_gradebook(self, writing: bool = False) -> None:
        """Make sure, before any work is done, that the gradebook can be read or, with `writing`, written.

        Raises:
            GradebookAway, CourseError: as `gradebook`.
        """
        path = self.gradebook_file
        if path is not None and not path.exists():
            raise GradebookAway(
                f"{path} does not exist: run `nbgrader generate_assignment NAME --force` for each assignment first"
            )
        if problem := gradebook_problem(self._db_url, writing):
            raise GradebookAway(problem)
        self._usable = True

    @property
    def gradebook_file(self) -> Path | None:
        """The file of an SQLite database, which may not exist; None for other databases."""
        return sqlite_file(self._db_url)

    @property
    def _db_url(self) -> str:
        return url_in(self.folders)

    def assignments(self) -> set[str]:
        """The assignments in the gradebook: those that were generated."""
        with self.gradebook() as gradebook:
            return {entry.name for entry in gradebook.assignments}

    @contextlib.contextmanager
    def write_lock(self) -> Iterator[None]:
        """Wait until no gradekit command writes here, and keep all others from writing in the block.

        Locks end with the process that holds them.
        """
        with contextlib.ExitStack() as held:
            # so a command that writes a class lets others in between two students
            with locked_file(self.root / STATE_FOLDER / "next"):
                held.enter_context(locked_file(self.root / STATE_FOLDER / "writing"))
            yield

    def submitted(self, student: str, assignment: str) -> Path:
        """The folder of a student's submission, which may not exist."""
        return Path(self.folders.format_path(self.folders.submitted_directory, student, assignment))

    def autograded(self, student: str, assignment: str) -> Path:
        return Path(self.folders.format_path(self.folders.autograded_directory, student, assignment))

    def handed_in(self, assignment: str | None = None) -> list[str]:
        """Students with a submission folder for the assignment, by default for any assignment."""
        return handed_in(self.folders, assignment)

    def rename_students(self, assignment: str) -> list[str]:
        """Rename submission folders whose names the gradebook can't store; returns a sentence for each."""
        with self.gradebook() as gradebook:
            return rename_students(self.folders, assignment, gradebook)

    def in_doubt(self, assignment: str) -> set[str]:
        """Students with a submission whose names look like another one's in the gradebook; `rename_students` names them."""
        with self.gradebook() as gradebook:
            return in_doubt(self.handed_in(assignment), gradebook)

    def choose(self, texts: Sequence[str]) -> None:
        """Choose the students to grade in place of those of nbgrader's settings.

        Args:
            texts: each is an id, a pattern such as `a*`, or several with commas between them.

        Raises:
            CourseError: one is nobody's.
        """
        with self.gradebook() as gradebook:
            known = {student.id for student in gradebook.students}.union(self.handed_in())

        def is_known(pattern: str) -> bool:
            return any(_matches(student, pattern) for student in known)

        # an id may have a comma, too
        split = ([text] if is_known(text) else map(str.strip, text.split(",")) for text in texts)
        patterns = [pattern for found in split for pattern in found]
        for pattern in patterns:
            if not is_known(pattern):
                raise CourseError(
                    f"no student {pattern or repr(pattern)} is in the gradebook, or in {self.folders.submitted_directory}/"
                    f"{did_you_mean(pattern, known)}"
                )
        self._student_patterns = patterns

    def is_chosen(self, student: str) -> bool:
        """Whether nbgrader's settings, or the choice of the command line, include the student."""
        return any(_matches(student, pattern) for pattern in self._student_patterns)

    def gradable(self, students: list[str]) -> list[str]:
        """The students whose names the gradebook can store, and whom nbgrader's settings don't leave out.

        `rename_students` reports names that can't be stored.
        """
        return [
            student
            for student in students
            if usable_name(student) == student and not self.is_left_out(student) and self.is_chosen(student)
        ]

    def is_left_out(self, student: str) -> bool:
        """Whether nbgrader's settings say that the student is not graded."""
        return student in self.folders.student_id_exclude.split(",")

    def notebooks_of(self, assignment: Assignment) -> list[str]:
        """The names of the released notebooks that are graded.

        Raises:
            CourseError: there are none, or the gradebook doesn't have the assignment.
        """
        generate = f"run `nbgrader generate_assignment {quoted(assignment.name)} --force` first"
        if assignment.name not in self.assignments():
            raise CourseError(f"the gradebook has no {assignment.name}: {generate}")
        wanted = self.folders.notebook_id
        found = [name for name in assignment.released_names() if fnmatchcase(name, wanted)]
        if not found:
            matching = "" if wanted == "*" else f" that c.CourseDirectory.notebook_id ({wanted}) matches"
            raise CourseError(f"{assignment.release_folder} has no notebook{matching}: {generate}")
        return found

    def to_do(self, assignment: Assignment) -> list[str]:
        """Students whose submission is new, or not completely autograded.

        Raises:
            CourseError: as `notebooks_of`.
        """
        name, notebooks = assignment.name, self.notebooks_of(assignment)
        with self.gradebook() as gradebook:
            recorded = RecordedScores(gradebook, name)

        def is_graded(student: str) -> bool:
            found = {notebook: self.result(student, name, notebook) for notebook in notebooks}
            if not any(found.values()) and self.graded_before(student, name):
                return all(recorded.automatic(student, notebook) for notebook in notebooks)
            return all(is_done(it) and recorded.agree(student, book, it) for book, it in found.items())

        return [
            found
            for found in self.handed_in(name)
            if self.is_newer(found, name) or not is_graded(found) or self._was_renamed(found, name)
        ]

    def set_aside(self, student: str, assignment: str) -> list[str]:
        """Move away files in a submission that can't be copied; returns a sentence for each.

        Raises:
            OSError: one can't be moved.
        """
        return beside_of(self.folders, self.submitted(student, assignment), assignment).set_aside()

    def result(self, student: str, assignment: str, notebook: str) -> SubmissionResult | None:
        """The result in the autograded notebook.

        None if there is none, or it is damaged or of another schema version.
        """
        try:
            stored = _metadata(self.autograded(student, assignment) / f"{notebook}.ipynb")[RESULT]
            return SubmissionResult.from_dict(stored)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def graded_before(self, student: str, assignment: str) -> bool:
        """Whether nbgrader has autograded the submission itself, as before gradekit was plugged in."""
        try:
            found = [_metadata(path) for path in notebooks_in(self.autograded(student, assignment))]
            return bool(found) and not any(RESULT in metadata for metadata in found)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return False

    def is_newer(self, student: str, assignment: str) -> bool:
        """True if the submission was handed in again after it was autograded.

        This compares nbgrader's time stamps or, if these are equal, the times of the files, which may have been
        copied there: of the notebooks and of the student's other files.
        """
        folders = self.submitted(student, assignment), self.autograded(student, assignment)
        new, old = map(time_handed_in, folders)
        if new is not None and old is not None and new != old:
            return new > old
        ignored = self.folders.ignore
        beside = (file for path in own_files(folders[0], ignored) for file in files_in(path, ignored))
        handed_in, graded = (
            max((written_at(path.lstat()) for path in paths if path.is_file()), default=0)
            for paths in ([*notebooks_in(folders[0]), *beside], notebooks_in(folders[1]))
        )
        return handed_in > graded

    def _was_renamed(self, student: str, assignment: str) -> bool:
        """True if a notebook may have got another name since it was autograded: it keeps its time, but its folder changes."""
        folders = self.submitted(student, assignment), self.autograded(student, assignment)
        graded = max((written_at(path.lstat()) for path in notebooks_in(folders[1])), default=0)
        changed = max((path.lstat().st_ctime for path in notebooks_in(folders[0])), default=0)
        return changed > graded and folders[0].lstat().st_mtime > graded


def _metadata(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["metadata"]
    return found


def _matches(student: str, pattern: str) -> bool:
    return student == pattern or fnmatchcase(student, pattern)
