"""Reads the notebook file that a student submitted, which may be anything."""

import os
import stat
from pathlib import Path

from coursekit.course import grade_id
from coursekit.printing import printable
from coursekit.student.notebook_json import HAND_IN_AGAIN, Refused, SubmittedNotebook, parse_submitted

MAX_FILE_BYTES = 100 * 2**20
_NAMED_AT_MOST = 5
#: does not follow a link, and does not wait at a pipe
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_submitted(path: Path) -> SubmittedNotebook:
    """Read a submitted notebook: sources, grade_ids and cell ids, without outputs or any other metadata.

    Nothing is raised for a file that can't be read: the result has a `problem` instead of a notebook.
    """
    name = printable(path.name)
    try:
        if path.is_symlink() or path.parent.is_symlink():
            return SubmittedNotebook(
                None, f"{name} is a link to something else. Hand in the notebook itself."
            )
        if not path.exists():
            return _read_another_name(path)
        data = _content(path)
    except Refused as refused:
        return SubmittedNotebook(None, f"{name} {refused}")
    except OSError as error:
        problem = f"{name} can't be read ({error.strerror}). Hand it in again as an ordinary file."
        return SubmittedNotebook(None, problem)
    return parse_submitted(data, name)


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise Refused("isn't a file. Hand in the notebook itself.")
    with open(os.open(path, _OPEN), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Refused("isn't a file. Hand in the notebook itself.")
        if found.st_size > MAX_FILE_BYTES:
            raise Refused(
                f"is {found.st_size // 2**20:,} MiB large, more than {MAX_FILE_BYTES // 2**20}. "
                f"Clear all outputs. {HAND_IN_AGAIN}"
            )
        return file.read(MAX_FILE_BYTES)


def _read_another_name(path: Path) -> SubmittedNotebook:
    """Read the only notebook in the folder, under any name, if its cells have grade_ids."""
    others = sorted(path.parent.glob("*.ipynb"))
    if len(others) == 1:
        submitted = read_submitted(others[0])
        if submitted.notebook is not None and any(grade_id(cell) for cell in submitted.notebook.cells):
            note = f"Handed in as {printable(others[0].name)}; it was graded as {path.name}."
            submitted.notes.insert(0, note)
            return submitted
    found = ", ".join(printable(other.name) for other in others[:_NAMED_AT_MOST]) or "no notebook"
    more = f" and {len(others) - _NAMED_AT_MOST:,} more" if len(others) > _NAMED_AT_MOST else ""
    return SubmittedNotebook(None, f"{path.name} was not handed in (found: {found}{more}).", missing=True)
