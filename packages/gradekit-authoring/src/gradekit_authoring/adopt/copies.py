"""Temporary copies of a course: one graded by plain nbgrader, one by gradekit. The course itself isn't written to."""

import os
import shutil
import sqlite3
import warnings
from collections.abc import Sequence
from contextlib import chdir, closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SAWarning

from gradekit.course import CourseError
from gradekit.grading.running_course import RunningCourse
from gradekit_authoring.adopt.config_file import FUNCTION, IMPORT, NAME, ConfigFile, json_config

_STEPS = ("source", "release", "submitted", "autograded", "feedback", "solution", "source_with_tests")
#: other folders of the course that are larger are left out
_MAX_MEBIBYTES = 200
_GRADEBOOK = "gradebook.db"


@dataclass(frozen=True)
class CourseCopy:
    """A copy of a course with its source, submissions and gradebook; folders that were too large are `left_out`."""

    root: Path
    left_out: tuple[str, ...] = ()

    @cached_property
    def course(self) -> RunningCourse:
        # nbgrader also reads the configuration in the working directory, which may be another course's
        with chdir(self.root):
            return RunningCourse.open(self.root)

    @property
    def gradebook_url(self) -> str:
        return f"sqlite:///{self.root / _GRADEBOOK}"

    def plug_in(self, root: Path) -> "CourseCopy":
        """A copy of this copy in the folder `root`, with gradekit plugged in."""
        shutil.copytree(self.root, root, symlinks=True)
        with (root / NAME).open("ab") as file:
            file.write(f"{IMPORT}\n{FUNCTION}(get_config())\n".encode())
        return CourseCopy(root, self.left_out)


def plain_copy(course: RunningCourse, root: Path, assignments: Sequence[str]) -> CourseCopy:
    """Copy a course into the new folder `root`, without gradekit and without what grading has written.

    Raises:
        CourseError: its configuration is in several files.
    """
    if path := json_config(course.root):
        raise CourseError(f"{path} overrides {NAME}: move its settings into {NAME}, then run this again")
    root.mkdir()
    names = {step: _folder_name(course, step) for step in _STEPS}
    written = [names[step] for step in _STEPS if step not in ("source", "release")]
    left_out = []
    for path in sorted(course.root.iterdir()):
        if path.is_file() and path.suffix != ".db" and not path.name.startswith("gradebook.db"):
            shutil.copy(path, root / path.name)
        elif path.is_dir() and path.name not in written and not _is_hidden(path):
            if path.name not in names.values() and _is_large(path):
                left_out.append(path.name)
            else:
                _copy_folder(path, root / path.name)
    for step in ("source", "release"):
        folder = Path(course.root, getattr(course.folders, f"{step}_directory"))
        if folder.parent != course.root and folder.is_dir():
            _copy_folder(folder, root / names[step])
    copy = CourseCopy(root, tuple(left_out))
    _write_config(course.root / NAME, copy, names)
    for assignment in assignments:
        for student in course.gradable(course.handed_in(assignment)):
            _copy_folder(
                course.submitted(student, assignment), root / names["submitted"] / student / assignment
            )
    _copy_gradebook(course, copy)
    _forget_submissions(copy, course.folders.course_id, assignments)
    settings = copy.course.config.get("Autograde", {})
    if str(settings.get("pre_convert_hook", "")).startswith("gradekit."):
        raise CourseError(
            f"{course.root} is configured for gradekit in a file other than {NAME}, so plain nbgrader can't be "
            "run for comparison: remove that line first"
        )
    return copy


def generated(copy: CourseCopy, assignment: str, course_id: str) -> bool:
    """True if an assignment has been generated: it is in the gradebook, and its released notebooks are there."""
    release = copy.course.assignment(assignment).release_folder
    if not any(release.glob("*.ipynb")):
        return False
    with Gradebook(copy.gradebook_url, course_id) as gradebook:
        return any(entry.name == assignment and entry.notebooks for entry in gradebook.assignments)


def _folder_name(course: RunningCourse, step: str) -> str:
    """The name of a step's folder in the copy, where none is outside."""
    folder = str(getattr(course.folders, f"{step}_directory"))
    return step if os.path.isabs(folder) or ".." in Path(folder).parts else folder


def _write_config(original: Path, copy: CourseCopy, names: dict[str, str]) -> None:
    """Write the course's configuration without gradekit, and with the folders of wherever the copy is."""
    file = ConfigFile.read(original)
    folders = [
        "import os.path",
        "root = os.path.dirname(os.path.abspath(__file__))",
        "get_config().CourseDirectory.root = root",
        f"get_config().CourseDirectory.db_url = f'sqlite:///{{root}}/{_GRADEBOOK}'",
        *(f"get_config().CourseDirectory.{step}_directory = {name!a}" for step, name in names.items()),
        "get_config().CourseDirectory.directory_structure = '{nbgrader_step}/{student_id}/{assignment_id}'",
    ]
    lines = [*_without_calls(file), *folders]
    (copy.root / NAME).write_bytes("".join(f"{line}\n" for line in lines).encode(file.encoding))


def _without_calls(file: ConfigFile) -> list[str]:
    """The lines of a configuration, with `None` in place of the calls that plug gradekit in."""
    lines = file.text.splitlines()
    for call in file.configure_calls:
        end = call.end_lineno or call.lineno
        first, last = lines[call.lineno - 1].encode(), lines[end - 1].encode()
        whole = first[: call.col_offset] + b"None" + last[call.end_col_offset :]
        lines[call.lineno - 1 : end] = [whole.decode(), *[""] * (end - call.lineno)]
    return lines


def _copy_gradebook(course: RunningCourse, copy: CourseCopy) -> None:
    """Copy the gradebook if it is a file of SQLite; from any other, nothing is taken."""
    try:
        url = make_url(course.folders.db_url)
    except ArgumentError as error:
        raise CourseError(f"c.CourseDirectory.db_url can't be read ({error}): correct it") from error
    if not url.drivername.startswith("sqlite") or not url.database:
        return
    path = Path(course.root, url.database)
    if not path.exists():
        return
    try:
        with (
            closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy.root / _GRADEBOOK)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as error:
        raise CourseError(f"the gradebook {path} can't be read: {error}") from error


def _forget_submissions(copy: CourseCopy, course_id: str, assignments: Sequence[str]) -> None:
    """Remove earlier scores from the copied gradebook, so that they aren't taken for new ones."""
    with Gradebook(copy.gradebook_url, course_id) as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own queries
        for entry in list(gradebook.assignments):
            if entry.name in assignments:
                for student in [submission.student.id for submission in entry.submissions]:
                    gradebook.remove_submission(entry.name, student)


def _copy_folder(source: Path, target: Path) -> None:
    """Copy a folder with its links as links, and without pipes and the like."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        paths = [Path(folder, name) for name in names]
        return [path.name for path in paths if not (path.is_symlink() or path.is_file() or path.is_dir())]

    try:
        shutil.copytree(source, target, symlinks=True, ignore=left_out, dirs_exist_ok=True)
    except shutil.Error as error:
        place, _, reason = error.args[0][0]
        raise CourseError(f"{place} can't be copied: {reason}") from error


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".") or path.name == "__pycache__" or (path / "pyvenv.cfg").exists()


def _is_large(folder: Path) -> bool:
    return sum(path.lstat().st_size for path in folder.rglob("*")) > _MAX_MEBIBYTES * 2**20
