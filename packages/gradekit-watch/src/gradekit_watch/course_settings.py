"""What the settings of all ways have in common: a misspelt one, or one that can't be used, gets a sentence.

Also the files that instructors write for these ways: tables about students, and secrets.
"""

import csv
import os
import stat
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar

import msgspec
from msgspec import Struct
from traitlets import TraitError
from traitlets.config import Configurable

from gradekit.course import CourseError
from gradekit.course.operating_system import ending_signals
from gradekit.course.printing import did_you_mean, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import usable_name
from gradekit_watch.hand_in_store import log_line

_Job = TypeVar("_Job")
_Settings = TypeVar("_Settings", bound=Configurable)


class WayJob(Struct, frozen=True):
    """What a process that takes hand-ins needs to know; the paths are absolute.

    Args:
        roster: the file that says who may hand in.
        source: the folder of assignments.
        release: the folder of their released notebooks.
        parent: the process with which it ends.
    """

    root: str
    roster: str
    source: str
    release: str
    parent: int
    max_bytes: int
    max_total_bytes: int


def job_values(course: RunningCourse, settings: Any, roster: Path) -> dict[str, Any]:
    """The values of a `WayJob`."""
    folders = course.folders
    return {
        "root": str(course.root),
        "roster": str(roster),
        "source": str(course.root / folders.source_directory),
        "release": str(course.root / folders.release_directory),
        "parent": os.getpid(),
        "max_bytes": settings.max_megabytes * 10**6,
        "max_total_bytes": settings.max_total_megabytes * 10**6,
    }


def run_job(kind: type[_Job], do: Callable[[_Job], int]) -> NoReturn:
    """Do the job that is on the standard input, and end this process, whatever its threads still wait for."""
    with ending_signals(partial(os._exit, 0)):
        try:
            code = do(msgspec.json.decode(sys.stdin.buffer.read(), type=kind))
        except (CourseError, OSError, ValueError) as error:
            log_line(str(error))
            code = 1
        sys.stderr.flush()
        os._exit(code)


def settings_of(cls: type[_Settings], course: RunningCourse) -> _Settings:
    """The settings of a course for this class.

    Raises:
        CourseError: one is unknown, or has a wrong value.
    """
    known = cls.class_trait_names(config=True)
    for name in course.config.get(cls.__name__, {}):
        if name not in known:
            raise CourseError(
                f"{course.last_file}: there is no setting c.{cls.__name__}.{name}{did_you_mean(name, known)}"
            )
    try:
        return cls(config=course.config)
    except TraitError as error:
        raise CourseError(f"{course.last_file}, c.{cls.__name__}: {error}") from error


def require_listen(cls: type[Configurable], course: RunningCourse, name: str, value: str) -> None:
    """Raise CourseError if a setting isn't an address and a port."""
    host, _, port = value.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise CourseError(
            f'{course.last_file}: c.{cls.__name__}.{name} must be an address and a port, such as "127.0.0.1:8766"'
        )


def require_inside(cls: type[Configurable], course: RunningCourse, name: str) -> None:
    """Raise CourseError if the folder for results isn't one of the course."""
    returned = Path(name)
    if returned.is_absolute() or ".." in returned.parts or returned == Path("."):
        raise CourseError(f"{course.last_file}: c.{cls.__name__}.returned must be a folder of the course")


def read_table(path: Path, *, private: bool = False) -> tuple[list[str], list[tuple[int, dict[str, Any]]]]:
    """The columns of a CSV file, and its rows with the numbers of their lines.

    Args:
        private: whether only its owner may be able to read it.

    Raises:
        CourseError: it can't be read, or others can read it.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if private:
                _require_private(file, path)
            table: csv.DictReader[str] = csv.DictReader(file, strict=True)
            columns = [name.strip() for name in table.fieldnames or ()]
            table.fieldnames = columns
            return columns, [(table.line_num, row) for row in table]
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} isn't a CSV file in UTF-8: {error}") from error
    except csv.Error as error:
        where = f"{path}, line {table.line_num + 1}"
        raise CourseError(f"{where}: {error}: each quotation mark there needs its pair") from error


def is_student_id(name: str) -> bool:
    """Whether a table can name a student so."""
    return bool(name) and usable_name(name) == name and name[0] != "." and not {"/", "\\", "\0"} & set(name)


def secret_in(root: Path, name: str) -> str:
    """The content of a file that only its owner can read; empty without a name."""
    if not name:
        return ""
    path = root / Path(name).expanduser()
    try:
        with path.open(encoding="utf-8") as file:
            _require_private(file, path)
            text = file.read(10_000).strip()
    except (OSError, ValueError) as error:
        raise CourseError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from error
    if not text or not text.isprintable() or " " in text:
        raise CourseError(f"{path} must have the token in one line, and nothing else")
    return text


def _require_private(file: TextIO, path: Path) -> None:
    if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
        raise CourseError(
            f"others can read {path}: run `chmod 600 {quoted(path)}`, and replace what is secret in it"
        )
