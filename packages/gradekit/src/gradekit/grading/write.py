"""Writing results into the gradebook and autograded/ with nbgrader's own converter."""

import errno
import os
import time
import warnings
from copy import deepcopy
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader
from nbgrader.preprocessors import CheckCellMetadata
from sqlalchemy.exc import InterfaceError, OperationalError, SAWarning

from gradekit.course import CourseError
from gradekit.course.files import FOR_EVERYBODY, notebooks_in
from gradekit.course.printing import printable
from gradekit.grading.autograde import SubmissionProgress
from gradekit.grading.check_metadata import CheckMetadata
from gradekit.grading.running_course import GradebookAway, RunningCourse
from gradekit.grading.shared_queries import sharing_queries
from gradekit.nbgrader_plugin.bind import take_as_bound
from gradekit.nbgrader_plugin.converters import AutogradeOne, reason_of
from gradekit.nbgrader_plugin.course_folders import NotAccepted

#: before a second try after an error of the database, which may have restarted
_AGAIN_SECONDS = 1.0


class NoSpace(CourseError):
    """Nothing can be written for anybody."""


class RefusedHandIn(str):
    """A line about a hand-in that the rules of the course don't accept: nothing has failed."""

    __slots__ = ()


class Writer:
    """Runs `nbgrader autograde` for one student at a time, with results that have been computed before.

    Writers in several processes take turns for one student: nbgrader does not add a student to the gradebook, or
    replace a folder, in one step. The first submission is written with no other writer at work, since it may add
    rows that all students share.
    """

    def __init__(self, course: RunningCourse) -> None:
        self._course, self._shared_rows_exist = course, False
        self._known: set[str] = set()
        course.folders.db_url = sharing_queries(course.folders.db_url)
        _require_writable(course.autograded(".", "."))
        config = self._config = deepcopy(course.config)  # `Config(…)` would share its sections
        config.RunChecks.fresh = False
        config.Exporter.optimistic_validation = (
            True  # validate a notebook after the last step, not after each
        )
        config.Autograde.sanitize_preprocessors = [
            CheckMetadata if step is CheckCellMetadata else step
            for step in config.Autograde.sanitize_preprocessors
        ]
        config.Autograde.autograde_preprocessors = [
            step
            for step in config.Autograde.autograde_preprocessors
            if step is not CheckCellMetadata  # the steps before have just checked it
        ]
        NbGrader.clear_instance()
        NbGrader.instance(config=config)  # the hook before autograding takes the folders from it

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
        student, folders = submission.student, self._course.folders
        folder = self._course.submitted(student, assignment)
        if not notebooks_in(folder):
            return []  # nbgrader skips such a folder, and the table shows it as missing
        folders.student_id, folders.assignment_id = student, assignment
        if submission.notebooks and assignment not in self._known:
            take_as_bound(
                self._course.assignment(assignment)
            )  # the results, which may all be cached, show it
            self._known.add(assignment)
        kind = str
        lock = self._course.writing(student) if self._shared_rows_exist else self._course.alone()
        with lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own queries
            graded = {notebook.name: notebook for notebook in submission.notebooks}
            converter = AutogradeOne(
                folder, graded, coursedir=folders, config=self._config, log=self._course.log
            )
            try:
                self._course.set_aside(student, assignment)
                converter.start()
            except SystemExit as stopped:  # raised by one of gradekit's steps
                reason = str(stopped).splitlines()[0]
                kind = RefusedHandIn if isinstance(stopped, NotAccepted) else str
            except Exception as error:  # it must not cost the others their grades
                reason = reason_of(converter.failure or error)
                _require_writing(converter.failure or error, reason)
            else:
                self._shared_rows_exist = True
                return []
        return [kind(f"{printable(student)}: not written: {reason}")]


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
