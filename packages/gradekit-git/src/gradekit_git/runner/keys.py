"""The keys that hand-ins by HTTP are signed with: `python -m gradekit_git.runner.keys keys.csv ada ben` makes them."""

import csv
import os
import secrets
import sys
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from gradekit.course import CourseError
from gradekit.course.printing import counted, printable
from gradekit_watch.course_settings import is_student_id, read_table

_COLUMNS = ("student", "key", "assignment")
_SHORTEST, _LONGEST = 32, 200


@dataclass(frozen=True)
class SigningKey:
    """A key, and whose it is; without an `assignment`, it is good for all of them."""

    student: str
    key: str
    assignment: str = ""

    def __repr__(self) -> str:  # a log must not have it
        return f"SigningKey({self.student!r})"


def read_keys(path: Path, assignments: Container[str]) -> tuple[list[SigningKey], list[tuple[int, str, str]]]:
    """The keys in a CSV file, and the rows that can't be used: their lines, students, and why.

    Raises:
        CourseError: it can't be read, others can read it, or it has no such columns.
    """
    columns, rows = read_table(path, private=True)
    _require_columns(path, columns)
    found: list[tuple[int, SigningKey]] = []
    bad: list[tuple[int, str, str]] = []
    for line, row in rows:
        key = SigningKey(*((row.get(name) or "").strip() for name in _COLUMNS))
        if reason := "has more fields than columns" if None in row else _problem(key, assignments):
            bad.append((line, key.student, reason))
        elif any(cell for cell in row.values()):
            found.append((line, key))
    owners: dict[str, set[str]] = {}
    for _, key in found:
        owners.setdefault(key.key, set()).add(key.student)
    bad += [
        (line, key.student, "has the key of another student, so nobody can use it: make new ones")
        for line, key in found
        if len(owners[key.key]) > 1
    ]
    return [key for _, key in found if len(owners[key.key]) == 1], bad


def _require_columns(path: Path, columns: list[str]) -> None:
    """Raise CourseError if it isn't a file with keys."""
    if not {"student", "key"} <= set(columns) <= set(_COLUMNS):
        raise CourseError(f"the first line of {path} must be `student,key` or `student,key,assignment`")


def _problem(key: SigningKey, assignments: Container[str]) -> str:
    if not (key.student or key.key or key.assignment):
        return ""
    if not is_student_id(key.student):
        return "has no student's name that nbgrader can handle"
    if not _SHORTEST <= len(key.key) <= _LONGEST or not key.key.isascii() or " " in key.key:
        return f"has a key that isn't {_SHORTEST} to {_LONGEST} characters without spaces"
    if key.assignment and key.assignment not in assignments:
        return f"is for {printable(key.assignment)}, which is no assignment of the course"
    return ""


def make_keys(path: Path, students: list[str]) -> int:
    """Add a key for each of these students, for all assignments; returns how many are new. Only the owner can read it.

    Raises:
        CourseError: it isn't a file with keys, or can't be read.
    """
    if wrong := [name for name in students if not is_student_id(name)]:
        raise CourseError(f"nbgrader can't handle a student named {printable(wrong[0]) or 'with nothing'}")
    with os.fdopen(
        os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+", encoding="utf-8"
    ) as file:
        text = file.read()
        if not text:
            file.write(",".join(_COLUMNS[:2]) + "\n")
        elif not text.endswith("\n"):
            file.write("\n")
        file.flush()
        columns, rows = read_table(path, private=True)
        _require_columns(path, columns)
        known = {row["student"] for _, row in rows}
        new = [name for name in dict.fromkeys(students) if name not in known]
        out = csv.DictWriter(file, columns, lineterminator="\n")
        out.writerows({"student": name, "key": secrets.token_urlsafe(32)} for name in new)
    return len(new)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("usage: python -m gradekit_git.runner.keys keys.csv STUDENT ...")
    try:
        print(f"{counted(make_keys(Path(sys.argv[1]), sys.argv[2:]), 'new key')} in {sys.argv[1]}")
    except (CourseError, OSError, ValueError) as error:
        raise SystemExit(str(error)) from None
