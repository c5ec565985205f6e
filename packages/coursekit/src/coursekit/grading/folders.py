"""A running course as nbgrader has it: folders, settings, gradebook."""

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
from traitlets.config import Config, PyFileConfigLoader

from coursekit.checks.results import SubmissionResult
from coursekit.course import Assignment, Course, CourseError
from coursekit.kept import FOLDER
from coursekit.nbgrader_plugin.course_folders import beside_of, handed_in, rename_students, usable_name
from coursekit.nbgrader_plugin.run_checks import RESULT, RunChecks
from coursekit.student.beside import time_handed_in

if TYPE_CHECKING:  # it imports all of nbgrader's commands
    from nbgrader.apps import NbGrader


@dataclass
class RunningCourse:
    """The course folder `root`, with what `nbgrader_config.py` says there."""

    root: Path
    folders: CourseDirectory
    config: Config
    log: logging.Logger

    @classmethod
    def open(cls, root: Path) -> "RunningCourse":
        """The course folder `root`.

        Raises:
            CourseError: its nbgrader_config.py stops with an error, or a setting has the wrong type.
        """
        config = _configuration(root / "nbgrader_config.py")
        log = logging.getLogger(__name__)
        log.setLevel(logging.CRITICAL)  # what nbgrader has to tell stands in its results
        try:
            RunChecks(config=config)  # which raises for a setting of the wrong type
            return cls(root, CourseDirectory(config=config, root=str(root)), config, log)
        except TraitError as error:
            raise CourseError(f"{root / 'nbgrader_config.py'}: {error}") from error

    @classmethod
    def of(cls, app: "NbGrader") -> "RunningCourse":
        """The course in which a command of nbgrader's runs."""
        return cls(Path(app.coursedir.root), app.coursedir, app.config, app.log)

    def assignment(self, name: str) -> Assignment:
        names = self.folders.source_directory, self.folders.release_directory
        return Course(self.root, *names).assignment(name)

    def gradebook(self) -> Gradebook:
        """nbgrader's database, to be used in a `with` statement."""
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
        """The assignments that the gradebook knows: those that were generated."""
        with self.gradebook() as gradebook:
            return {entry.name for entry in gradebook.assignments}

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other command of coursekit writes here. The lock goes with the process that holds it."""
        path = self.root / FOLDER / "writing"
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def submitted(self, student: str, assignment: str) -> Path:
        """The folder in which a student's submission lies, whether it is there or not."""
        return self._place(self.folders.submitted_directory, student, assignment)

    def autograded(self, student: str, assignment: str) -> Path:
        return self._place(self.folders.autograded_directory, student, assignment)

    def handed_in(self, assignment: str = "*") -> list[str]:
        """Everybody with a folder for the assignment among the submissions, or for any."""
        return handed_in(self.folders, assignment)

    def rename_students(self, assignment: str) -> list[str]:
        """Give submission folders names that the gradebook can keep, and a sentence for each."""
        return rename_students(self.folders, assignment)

    def gradable(self, students: list[str]) -> list[str]:
        """Those whose names the gradebook can keep, after `rename_students` has reported the others."""
        return [student for student in students if usable_name(student) == student]

    def set_aside(self, student: str, assignment: str) -> list[str]:
        """Move away what lies beside a student's notebook and can't be copied; a sentence for each thing.

        Raises:
            OSError: it can't be moved.
        """
        return beside_of(self.folders, self.submitted(student, assignment), assignment).set_aside()

    def result(self, student: str, assignment: str, notebook: str) -> SubmissionResult | None:
        """What was written into the autograded notebook; None if it is not there, or not complete."""
        path = self.autograded(student, assignment) / f"{notebook}.ipynb"
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))["metadata"][RESULT]
            return SubmissionResult.from_dict(kept)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_newer(self, student: str, assignment: str) -> bool:
        """True if the submission was handed in anew since it was autograded.

        nbgrader's time stamps say so or, where these are the same, the files': somebody put one there by hand.
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
        return PyFileConfigLoader(path.name, path=str(path.parent)).load_config()
    except Exception as error:  # whatever the instructor's own lines raise
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
        ]
        line = error.lineno if isinstance(error, SyntaxError) else next(reversed(lines), None)
        place = f"{path}, line {line}" if line else str(path)
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise CourseError(f"{place}: {type(error).__name__}: {what}") from error
