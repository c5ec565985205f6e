"""Runs nbgrader's generate_assignment in this process, and brings a changed assignment into the gradebook."""

import contextlib
import logging
import os
import shutil
import sqlite3
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.files import STATE_FOLDER
from gradekit.grading.revise import Revision, revise
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.converters import reason_of


def revised(
    course: RunningCourse, assignment: Assignment, renamed: Mapping[str, str], commit: bool = False
) -> Revision:
    """What bringing the cells of the source into the gradebook changes; with `commit`, it is done.

    Raises:
        CourseError: the source can't be released, or the gradebook not be written.
    """
    notebooks = _as_released(course, assignment)
    with course.gradebook() as gradebook:
        try:
            found = revise(gradebook, assignment.name, notebooks, renamed)
            if commit:
                gradebook.db.commit()
        except SQLAlchemyError as error:
            raise CourseError(f"the gradebook was not changed: {reason_of(error)}") from error
        finally:
            gradebook.db.rollback()  # undoes what was not committed
    return found


def back_up(course: RunningCourse) -> Path | None:
    """Copy the gradebook, even while others use it; None if it isn't a file of SQLite."""
    path = course.gradebook_file
    if path is None:
        return None
    folder = course.root / STATE_FOLDER / "gradebooks"
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / f"{path.stem}-{datetime.now(UTC):%Y-%m-%d-%H%M%S}{path.suffix}"
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
    return copy


def generate(course: RunningCourse, assignment: Assignment) -> None:
    """`nbgrader generate_assignment --force`.

    Raises:
        CourseError: it fails; nothing has been written then.
    """
    _generate(course, assignment, course.folders.release_directory, in_gradebook=True)


def _as_released(course: RunningCourse, assignment: Assignment) -> dict[str, NotebookNode]:
    """The notebooks as they would be released, by name."""
    step = f"{course.folders.release_directory}.revised"
    folder = Path(course.folders.format_path(step, ".", assignment.name))
    try:
        _generate(course, assignment, step, in_gradebook=False)
        return {path.stem: read_notebook(path) for path in sorted(folder.glob("*.ipynb"))}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.removedirs(folder.parent)


def _generate(course: RunningCourse, assignment: Assignment, step: str, in_gradebook: bool) -> None:
    config = deepcopy(course.config)
    config.CourseDirectory.root = str(course.root)
    config.GenerateAssignment.force = True
    if not in_gradebook:
        config.SaveCells.enabled, config.GenerateAssignment.no_database = False, True
        config.SolutionPasses.enabled = False  # checked when it is released
    folders = CourseDirectory(config=config)
    folders.db_url = course.folders.db_url
    folders.release_directory, folders.assignment_id, folders.notebook_id = step, assignment.name, "*"
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
