"""Runs nbgrader's generate_assignment in this process."""

import logging
from copy import deepcopy
from importlib import import_module

from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from gradekit.course import Assignment, CourseError
from gradekit.grading.running_course import RunningCourse


def generate(course: RunningCourse, assignment: Assignment, step: str = "") -> None:
    """`nbgrader generate_assignment --force`; with `step`, into the folder of this name, and not into the gradebook.

    Raises:
        CourseError: it fails; nothing has been written then.
    """
    config = deepcopy(course.config)
    config.CourseDirectory.root = str(course.root)
    config.GenerateAssignment.force = True
    if step:
        config.SaveCells.enabled, config.GenerateAssignment.no_database = False, True
        config.SolutionPasses.enabled = False  # checked when it is released
    folders = CourseDirectory(config=config)
    folders.db_url = course.folders.db_url
    folders.release_directory = step or course.folders.release_directory
    folders.assignment_id, folders.notebook_id = assignment.name, "*"
    import_module("gradekit.verdict.grade")  # its steps do so; where it needs Linux, they couldn't say so
    log, heard = logging.getLogger(f"{__name__}.nbgrader"), _LastError()
    log.handlers, log.propagate = [heard], False
    try:
        GenerateAssignment(coursedir=folders, config=config, log=log).start()
    except SystemExit as stopped:  # by one of gradekit's steps
        raise CourseError(str(stopped.args[0]) if stopped.args else heard.text) from stopped
    except NbGraderException as error:
        raise CourseError(f"nbgrader can't generate {assignment.name}: {heard.text or error}") from error


class _LastError(logging.Handler):
    """Remembers the last line of the first traceback that nbgrader logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage().strip()
        if not self.text or "Traceback" in message:
            self.text = message.splitlines()[-1] if message else ""
