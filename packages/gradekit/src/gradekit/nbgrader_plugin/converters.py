"""Adapters for nbgrader's converters: how they find folders, converters for one submission, and their logs.

Converters read timestamps before they call any hook, and find notebooks by glob patterns. Their exporter is made first,
so it is the exporters that call `find_folders` and `make_ready`.
"""

import contextlib
import copy
import glob
import logging
import shutil
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import BaseConverter
from tornado.log import LogFormatter

from gradekit.course import CourseError
from gradekit.course.files import notebooks_in, write_atomically
from gradekit.course.printing import printable, quoted
from gradekit.nbgrader_plugin.course_folders import (
    Stop,
    beside_of,
    handed_in,
    in_doubt,
    rename_students,
    require_gradebook,
    stop,
    student_of,
    url_in,
)
from gradekit.nbgrader_plugin.late import refusal
from gradekit.submission.extra_files import SECRET, TIMESTAMP, StuckError


def find_folders(converter: BaseConverter, step: str) -> None:
    """Make a command for all students find folders such as `[ab]`, whose names nbgrader takes for patterns."""
    folders = converter.coursedir
    if folders.student_id == "*":
        pattern = folders.format_path(step, "*", folders.assignment_id)
        found = {path: _notebooks(Path(path), folders.notebook_id) for path in glob.glob(pattern)}
        converter.assignments = {path: names for path, names in found.items() if names}


def _notebooks(folder: Path, pattern: str) -> list[str]:
    """The notebooks that nbgrader converts: those that match, without hidden ones, as in its own search."""
    return [str(path) for path in notebooks_in(folder) if path.match(f"{pattern}.ipynb")]


def make_ready(converter: BaseConverter) -> None:
    """Prepare the submissions that are about to be autograded: rename folders, and set aside unreadable files."""
    if isinstance(converter, OneFolder):
        return  # the command has done so
    folders = converter.coursedir
    assignment = folders.assignment_id
    left_out: set[str] = set()
    require_gradebook(converter.log, folders, writing=True)
    if folders.student_id == "*":
        with Gradebook(url_in(folders), folders.course_id) as gradebook:
            for sentence in rename_students(folders, assignment, gradebook):
                converter.log.warning(sentence)
            left_out = in_doubt(handed_in(folders, assignment), gradebook)
    find_folders(converter, folders.submitted_directory)
    for path in list(converter.assignments):
        student = student_of(folders, folders.submitted_directory, path)
        if student in left_out:
            del converter.assignments[path]
            continue
        try:
            for sentence in beside_of(folders, Path(path), assignment).set_aside():
                converter.log.warning("%s: %s", path, sentence)
        except (StuckError, OSError) as error:
            converter.log.error("%s is not graded: %s", path, error)
            del converter.assignments[path]
            continue
        try:
            refused = student and refusal(converter.config, folders, assignment, student, path)
        except CourseError as error:
            stop(converter.log, str(error))
        if refused:
            converter.log.error("%s, %s: %s", assignment, printable(student or ""), refused)
            del converter.assignments[path]


@contextlib.contextmanager
def removing_unfinished(converter: BaseConverter, names: Mapping[str, str]) -> Iterator[None]:
    """If `stop` ends the command, remove what it has made of a submission, so that the next command makes it again.

    nbgrader does so for exceptions, but not for SystemExit.
    """
    try:
        yield
    except Stop:
        folder = Path(converter._format_dest(names["assignment"], names["student"]))
        if converter.coursedir.notebook_id == "*":
            shutil.rmtree(folder, ignore_errors=True)
        for notebook in converter.notebooks:
            (folder / Path(notebook).name).with_suffix(converter.exporter.file_extension).unlink(
                missing_ok=True
            )
        raise


def copy_nothing(converter: BaseConverter) -> None:
    """Keep generate_feedback from copying files: code may have written pages, and folders with the names of pages."""
    folders = copy.copy(converter.coursedir)  # formgrader uses its own again
    odd = [escaped for path in converter.assignments if (escaped := glob.escape(path)) != path]
    folders.ignore = ["*", *odd]  # nbgrader looks for "*" in a folder whose name it takes for a pattern
    converter.coursedir = folders


def copy_for_release(source: Path, target: Path) -> None:
    """Copy to a page what nbgrader needs to release it. A page has its pictures inside."""
    target.mkdir(parents=True, exist_ok=True)
    for name in (TIMESTAMP, SECRET):
        if (source / name).is_file():
            (target / name).unlink(missing_ok=True)
            shutil.copy(source / name, target)


def leave_out_ungraded(converter: BaseConverter) -> None:
    """Name the students in autograded/ without grades, such as one who was removed from the gradebook, and go on.

    nbgrader itself ends with a traceback.
    """
    folders = converter.coursedir
    assignment = folders.assignment_id
    with Gradebook(url_in(folders), folders.course_id) as gradebook:
        try:
            graded = {found.student_id for found in gradebook.assignment_submissions(assignment)}
        except MissingEntry:
            return  # nbgrader says so
    for path in list(converter.assignments):
        student = student_of(folders, folders.autograded_directory, path)
        if student is not None and student not in graded:
            converter.log.warning(
                "%s: the gradebook has no grades, so there is no page. A student who has left needs none; for any other: "
                "`nbgrader db student add %s`, then `gradekit autograde %s --force`",
                *(printable(student), quoted(student), quoted(assignment)),
            )
            del converter.assignments[path]


class OneFolder(BaseConverter):
    """Makes a converter convert one folder, which may have a name such as `[ab]`. Files are written atomically.

    `failure` is the first exception; nbgrader itself only logs its traceback.
    """

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(**options)
        self._folder = folder
        self.failure: BaseException | None = None

    def init_notebooks(self) -> None:
        self.notebooks: list[str] = []
        self.assignments = {str(self._folder): _notebooks(self._folder, self.coursedir.notebook_id)}

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        with self.remembering_failure():
            return bool(super().init_destination(assignment_id, student_id))

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with self.remembering_failure():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        with self.remembering_failure():
            super().convert_single_notebook(notebook_filename)

    def write_single_notebook(self, output: str, resources: ResourcesDict) -> None:
        names = resources["nbgrader"]
        folder = Path(self._format_dest(names["assignment"], names["student"]))
        write_atomically(folder / f"{resources['unique_key']}{resources['output_extension']}", output)

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        with self.remembering_failure():
            super().set_permissions(assignment_id, student_id)

    @contextlib.contextmanager
    def remembering_failure(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            raise


class FeedbackOne(OneFolder, GenerateFeedback):
    """`nbgrader generate_feedback` for one autograded submission."""


#: where modules are that aren't the course's own, such as its plugins
_INSTALLED = ("<", *sysconfig.get_paths().values(), str(Path(__file__).parents[1]))


def reason_of(error: BaseException) -> str:
    """Describe an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return printable(f"{error.strerror}: {error.filename}" if error.filename else error.strerror)
    lines = str(error).splitlines() or [""]
    frames = traceback.extract_tb(error.__traceback__)
    own = [f" ({name}, line {line})" for name, line, *_ in frames if not name.startswith(_INSTALLED)]
    return printable(f"{type(error).__name__}: {lines[0]}{own[-1] if own else ''}")


class PrintableFormatter(LogFormatter):
    """nbgrader's log formatter, with the escape sequences in names of students and files made visible."""

    def format(self, record: logging.LogRecord) -> str:
        harmless = copy.copy(record)
        harmless.msg = "\n".join(printable(line, None) for line in record.getMessage().split("\n"))
        harmless.args = ()
        return super().format(harmless)


class OnlyMissingNotebooks(logging.Filter):
    """Drops nbgrader's warning that a folder such as `[ab]` has no notebooks; `find_folders` finds them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if (
            record.msg != "No notebooks were matched by '%s'"
            or not isinstance(record.args, tuple)
            or not record.args
        ):
            return True
        pattern = Path(str(record.args[0]))
        return not any(pattern.parent.glob(pattern.name))
