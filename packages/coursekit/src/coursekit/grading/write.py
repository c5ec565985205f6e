"""Writing results into the gradebook and autograded/, by nbgrader's own converter."""

import errno
import os
import warnings
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.apps.baseapp import NbGrader
from nbgrader.preprocessors import CheckCellMetadata
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from coursekit.attempt import FAILED
from coursekit.checks.results import KERNEL_DIED, SubmissionResult
from coursekit.course import CourseError
from coursekit.grading.autograde import Submission
from coursekit.grading.folders import RunningCourse
from coursekit.kept import Kept
from coursekit.nbgrader_plugin.converters import AutogradeOne, reason_of
from coursekit.nbgrader_plugin.run_checks import RunChecks
from coursekit.printing import printable

_FOR_EVERYBODY = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class Writer:
    """Runs `nbgrader autograde` for one student at a time, with results that are there already.

    Of all commands that grade in this folder, one writes at a time: nbgrader looks whether a student is in the
    gradebook and then adds them, and it removes a folder before it writes it anew.
    """

    def __init__(self, course: RunningCourse) -> None:
        failures: dict[tuple[str, str], str] = {}
        unconfirmed: dict[tuple[str, str], Kept] = {}
        self._failures, self._unconfirmed = failures, unconfirmed

        class TakeResult(RunChecks):
            """Takes results from those that are kept; what is not there is graded here and now."""

            def result_of(self, nb: NotebookNode, resources: ResourcesDict) -> SubmissionResult:
                names = resources["nbgrader"]
                which = names["student"], names["notebook"]
                if which in failures:
                    return SubmissionResult(KERNEL_DIED, notes=[FAILED.format(failures[which])])
                if which in unconfirmed:
                    unconfirmed[which].put_into(nb)
                    return unconfirmed[which].result
                return super().result_of(nb, resources)

            def regrades_stopped(self) -> bool:
                """False: `force`, which nbgrader needs to write a folder again, says nothing here."""
                return False

            def print_result(self, result: SubmissionResult, resources: ResourcesDict) -> None:
                """Say nothing: the progress bar does."""

        self._course = course
        _require_writable(Path(course.root, course.folders.autograded_directory))
        config = self._config = Config(course.config)
        config.RunChecks.fresh = False
        config.Autograde.force = True
        steps = config.Autograde.autograde_preprocessors
        config.Autograde.autograde_preprocessors = [
            TakeResult if step is RunChecks else step
            for step in steps
            if step is not CheckCellMetadata  # it has just been checked, in the steps before
        ]
        NbGrader.clear_instance()
        NbGrader.instance(config=config)  # from which the hook before autograding knows the folders

    def write(self, submission: Submission, assignment: str) -> list[str]:
        """Write one student's results; returns what went wrong, in one line, or nothing.

        Raises:
            CourseError: nothing more can be written, for anybody.
        """
        student, folders = submission.student, self._course.folders
        folder = self._course.submitted(student, assignment)
        if not any(folder.glob("*.ipynb")):
            return []  # nbgrader passes over such a folder, and the table calls it missing
        self._failures |= {(student, n.name): n.failure for n in submission.notebooks if n.failure}
        self._unconfirmed |= {
            (student, n.name): n.kept for n in submission.notebooks if n.kept.result.suspect and not n.failure
        }
        folders.student_id, folders.assignment_id = student, assignment
        with self._course.alone(), warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # SQLAlchemy's remarks about nbgrader's own queries
            converter = AutogradeOne(folder, coursedir=folders, config=self._config, log=self._course.log)
            try:
                self._course.set_aside(student, assignment)
                converter.start()
            except SystemExit as stopped:  # with which a step of coursekit's ends nbgrader
                reason = str(stopped).splitlines()[0]
            except Exception as error:  # whatever it is, it must not cost the others their grades
                reason = reason_of(converter.failure or error)
                _require_space(converter.failure or error, reason)
            else:
                return []
        return [f"{printable(student)}: not written: {reason}"]


def _require_space(error: BaseException, reason: str) -> None:
    """Raise CourseError for a failure that everybody else would meet, too."""
    if isinstance(error, OSError) and error.errno in _FOR_EVERYBODY:
        raise CourseError(
            f"{reason}. Free some space or make it writable, then run the same command again; it goes "
            "on from here."
        ) from error


def _require_writable(folder: Path) -> None:
    """Raise CourseError if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CourseError(f"{folder} can't be written: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CourseError(f"{folder} can't be written: change its permissions")
