"""A course that is running in nbgrader: its folders, settings and gradebook."""

import contextlib
import fcntl
import json
import logging
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets import TraitError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from coursekit.checks.results import SubmissionResult
from coursekit.course import Assignment, Course, CourseError
from coursekit.nbgrader_plugin.course_folders import beside_of, handed_in, rename_students, usable_name
from coursekit.nbgrader_plugin.run_checks import RESULT, RunChecks
from coursekit.result_cache import FOLDER
from coursekit.student.extra_files import time_handed_in

if TYPE_CHECKING:  # it imports all of nbgrader's commands
    from nbgrader.apps import NbGrader


@dataclass
class RunningCourse:
    """A course folder with the settings of its `nbgrader_config.py`."""

    root: Path
    folders: CourseDirectory
    config: Config
    log: logging.Logger

    @classmethod
    def open(cls, root: Path) -> "RunningCourse":
        """The course in the folder `root`.

        Raises:
            CourseError: its nbgrader_config.py raises an error, or a setting has the wrong type.
        """
        config = _configuration(root / "nbgrader_config.py")
        log = logging.getLogger(__name__)
        log.setLevel(logging.CRITICAL)  # nbgrader's messages are in its results
        try:
            RunChecks(config=config)  # raises TraitError for a setting of the wrong type
            return cls(root, CourseDirectory(config=config, root=str(root)), config, log)
        except TraitError as error:
            raise CourseError(f"{root / 'nbgrader_config.py'}: {error}") from error

    @classmethod
    def of(cls, app: "NbGrader") -> "RunningCourse":
        """The course in which an nbgrader command runs."""
        return cls(Path(app.coursedir.root), app.coursedir, app.config, app.log)

    def assignment(self, name: str) -> Assignment:
        names = self.folders.source_directory, self.folders.release_directory
        return Course(self.root, *names).assignment(name)

    def gradebook(self) -> Gradebook:
        """nbgrader's database, for a `with` statement."""
        path = self.root / "gradebook.db"
        if self.folders.db_url == f"sqlite:///{path}" and not path.exists():
            raise CourseError(
                f"{path} does not exist: run `nbgrader generate_assignment --force` for its assignments first"
            )
        try:
            return Gradebook(self.folders.db_url, self.folders.course_id)
        except ImportError as error:
            raise CourseError(
                f"c.CourseDirectory.db_url needs a driver that is not installed ({error}): for "
                'postgresql+psycopg2://… `pip install "coursekit[postgres]"`'
            ) from error
        except SQLAlchemyError as error:
            reason = str(error).splitlines()[0]
            raise CourseError(f"the gradebook {self.folders.db_url} can't be opened: {reason}") from error

    def assignments(self) -> set[str]:
        """The assignments in the gradebook: those that were generated."""
        with self.gradebook() as gradebook:
            return {entry.name for entry in gradebook.assignments}

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other coursekit command writes here. The lock ends with the process that holds it."""
        path = self.root / FOLDER / "writing"
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def submitted(self, student: str, assignment: str) -> Path:
        """The folder of a student's submission, which may not exist."""
        return self._place(self.folders.submitted_directory, student, assignment)

    def autograded(self, student: str, assignment: str) -> Path:
        return self._place(self.folders.autograded_directory, student, assignment)

    def handed_in(self, assignment: str = "*") -> list[str]:
        """Students with a submission folder for the assignment, by default for any assignment."""
        return handed_in(self.folders, assignment)

    def rename_students(self, assignment: str) -> list[str]:
        """Rename submission folders whose names the gradebook can't store; returns a sentence for each."""
        return rename_students(self.folders, assignment)

    def gradable(self, students: list[str]) -> list[str]:
        """The students whose names the gradebook can store; `rename_students` reports the others."""
        return [student for student in students if usable_name(student) == student]

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
        path = self.autograded(student, assignment) / f"{notebook}.ipynb"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))["metadata"][RESULT]
            return SubmissionResult.from_dict(stored)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def is_newer(self, student: str, assignment: str) -> bool:
        """True if the submission was handed in again after it was autograded.

        This compares nbgrader's time stamps or, if these are equal, the times of the files, which may have been
        copied there.
        """
        folders = self.submitted(student, assignment), self.autograded(student, assignment)
        new, old = map(time_handed_in, folders)
        if new is not None and old is not None and new != old:
            return new > old
        handed_in, graded = (
            [path.lstat().st_mtime for path in folder.glob("*.ipynb") if path.is_file()] for folder in folders
        )
        return max(handed_in, default=0) > max(graded, default=0)

    def _place(self, step: str, student: str, assignment: str) -> Path:
        return Path(self.folders.format_path(step, student, assignment))


def _configuration(path: Path) -> Config:
    if not path.exists():
        return Config()
    try:
        config: Config = PyFileConfigLoader(path.name, path=str(path.parent)).load_config()
        return config
    except Exception as error:  # the instructor's lines may raise anything
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
        ]
        line = error.lineno if isinstance(error, SyntaxError) else next(reversed(lines), None)
        place = f"{path}, line {line}" if line else str(path)
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise CourseError(f"{place}: {type(error).__name__}: {what}") from error
