"""Writing results into the gradebook and autograded/ with nbgrader's own steps."""

import errno
import os
import time
import warnings
from copy import deepcopy
from fnmatch import fnmatchcase
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader
from sqlalchemy.exc import InterfaceError, OperationalError, SAWarning

from gradekit.course import CourseError
from gradekit.course.files import FOR_EVERYBODY, notebooks_in
from gradekit.course.printing import printable
from gradekit.grading.autograde import SubmissionProgress
from gradekit.grading.converter import AutogradeOne
from gradekit.grading.running_course import GradebookAway, RunningCourse
from gradekit.nbgrader_plugin import own_hook
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit.nbgrader_plugin.late import refusal
from gradekit.nbgrader_plugin.steps import before_autograde

#: before a second try after an error of the database, which may have restarted
_AGAIN_SECONDS = 1.0


class NoSpace(CourseError):
    """Nothing can be written for anybody."""


class RefusedHandIn(str):
    """A line about a hand-in that the rules of the course don't accept: nothing has failed."""

    __slots__ = ()


class Writer:
    """Does what `nbgrader autograde` does for one student at a time, with results that have been computed before."""

    def __init__(self, course: RunningCourse) -> None:
        self._course = course
        _require_writable(course.autograded(".", "."))
        config = deepcopy(course.config)  # `Config(…)` would share its sections
        config.RunChecks.fresh = False
        config.Autograde.pop("pre_convert_hook", None)
        if own := own_hook(course.config, before_autograde):
            config.Autograde.pre_convert_hook = own
        NbGrader.clear_instance()
        NbGrader.instance(config=config)  # a course's own steps may take their settings from it
        self._converter = AutogradeOne(coursedir=course.folders, config=config, log=course.log)

    def write(self, submission: SubmissionProgress, assignment: str) -> list[str]:
        """Write one student's results; returns a line about what went wrong, if anything did.

        An error of the database gets a second try.

        Raises:
            NoSpace, GradebookAway: nothing can be written for anybody.
        """
        try:
            return self._written(submission, assignment)
        except GradebookAway:
            time.sleep(_AGAIN_SECONDS)
            return self._written(submission, assignment)

    def _written(self, submission: SubmissionProgress, assignment: str) -> list[str]:
        student, folders, converter = submission.student, self._course.folders, self._converter
        folder = self._course.submitted(student, assignment)
        if not notebooks_in(folder):
            return []  # nbgrader skips such a folder, and the table shows it as missing
        folders.student_id, folders.assignment_id = student, assignment
        graded = {notebook.name: notebook for notebook in submission.notebooks}
        expected = self._course.assignment(assignment).released_names()
        names = dict.fromkeys([*expected, *(path.stem for path in notebooks_in(folder))])
        with self._course.alone(), warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own queries
            try:
                if refused := refusal(self._course.config, folders, assignment, student, str(folder)):
                    return [RefusedHandIn(f"{printable(student)}: {refused}")]
                self._course.set_aside(student, assignment)
                converter.convert(
                    folder, [name for name in names if fnmatchcase(name, folders.notebook_id)], graded
                )
            except SystemExit as stopped:  # raised by one of gradekit's steps
                reason = str(stopped).splitlines()[0]
            except Exception as error:  # it must not cost the others their grades
                reason = reason_of(converter.failure or error)
                _require_writing(converter.failure or error, reason)
            else:
                return []
        return [f"{printable(student)}: not written: {reason}"]


def _require_writing(error: BaseException, reason: str) -> None:
    """Raise an error if the failure would repeat for everybody else."""
    again = "then run the same command again; it continues from here."
    if isinstance(error, OperationalError) and "disk is full" in str(error):
        raise NoSpace(f"{reason}. Free some space or make it writable, {again}") from error
    if isinstance(error, OSError) and error.errno in FOR_EVERYBODY:
        raise NoSpace(f"{reason}. Free some space or make it writable, {again}") from error
    if isinstance(error, OperationalError | InterfaceError):
        raise GradebookAway(
            f"the gradebook can't be written ({reason}). Wait until it can, {again}"
        ) from error


def _require_writable(folder: Path) -> None:
    """Raise CourseError if the folder, or the one in which it would be created, can't be written to."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise CourseError(f"{existing} can't be written: {os.strerror(errno.EEXIST)}")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise CourseError(f"{existing} can't be written: change its permissions")
