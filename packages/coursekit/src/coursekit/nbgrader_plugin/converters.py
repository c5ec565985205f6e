"""nbgrader's converters: what must be in order before they start, and one for a single submission.

They read time stamps before they call any hook, and look for notebooks by patterns, so submissions are made ready when
they make their exporter, which comes first.
"""

import contextlib
import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter

from coursekit.nbgrader_plugin.folders import beside_of, rename_students
from coursekit.printing import printable
from coursekit.student.extra_files import StuckError


def find_folders(converter: BaseConverter, step: str) -> None:
    """Have a command for everybody find the folders whose names nbgrader takes for patterns, such as `[ab]`."""
    folders = converter.coursedir
    if folders.student_id == "*" and not isinstance(converter, AutogradeOne):
        pattern = folders.format_path(step, "*", folders.assignment_id)
        notebooks = f"{folders.notebook_id}.ipynb"
        found = {path: sorted(map(str, Path(path).glob(notebooks))) for path in glob.glob(pattern)}
        converter.assignments = {path: names for path, names in found.items() if names}


def make_ready(converter: BaseConverter) -> None:
    """Rename what nbgrader can't name, and set aside what it can't read, of all that it is about to autograde."""
    folders = converter.coursedir
    assignment = folders.assignment_id
    if folders.student_id == "*" and not isinstance(converter, AutogradeOne):
        for sentence in rename_students(folders, assignment):
            converter.log.warning(sentence)
    find_folders(converter, folders.submitted_directory)
    for path in list(converter.assignments):
        try:
            for sentence in beside_of(folders, Path(path), assignment).set_aside():
                converter.log.warning("%s: %s", path, sentence)
        except (StuckError, OSError) as error:
            converter.log.error("%s is not graded: %s", path, error)
            del converter.assignments[path]


class AutogradeOne(Autograde):
    """`nbgrader autograde` for one folder. nbgrader takes its name for a pattern, and so misses `[ab]`.

    A file is written at once or not at all. `failure` is what went wrong, of which nbgrader itself only logs a
    traceback.
    """

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(**options)
        self._folder = folder
        self.failure: BaseException | None = None

    def init_notebooks(self) -> None:
        self.notebooks = []
        self.assignments = {str(self._folder): sorted(map(str, self._folder.glob("*.ipynb")))}

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        with self._remembered():
            return super().init_destination(assignment_id, student_id)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with self._remembered():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        with self._remembered():
            super().convert_single_notebook(notebook_filename)

    def write_single_notebook(self, output: str, resources: ResourcesDict) -> None:
        names = resources["nbgrader"]
        folder = Path(self._format_dest(names["assignment"], names["student"]))
        self.writer.build_directory = str(folder)  # where the second step looks for what the first one wrote
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f".{resources['unique_key']}.unfinished"
        try:
            unfinished.write_text(output, encoding="utf-8")
            os.replace(unfinished, folder / f"{resources['unique_key']}{resources['output_extension']}")
        finally:
            unfinished.unlink(missing_ok=True)

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        with self._remembered():
            super().set_permissions(assignment_id, student_id)

    @contextlib.contextmanager
    def _remembered(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            raise


def reason_of(error: BaseException) -> str:
    """What went wrong, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return printable(f"{error.strerror}: {error.filename}" if error.filename else error.strerror)
    lines = str(error).splitlines() or [""]
    return printable(f"{type(error).__name__}: {lines[0]}")
