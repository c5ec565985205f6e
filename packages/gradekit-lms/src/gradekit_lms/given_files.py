"""Files that instructors write for the ways in and out: tables about students, and secrets."""

import csv
import os
import stat
from pathlib import Path
from typing import Any, TextIO

from gradekit.course import CourseError
from gradekit.course.printing import quoted


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
            table = csv.DictReader(file, strict=True)
            columns = [name.strip() for name in table.fieldnames or ()]
            table.fieldnames = columns
            return columns, [(table.line_num, row) for row in table]
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path} isn't a CSV file in UTF-8: {error}") from error


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
