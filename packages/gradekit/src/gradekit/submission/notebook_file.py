"""Reads the notebook file that a student submitted, which may be anything."""

import filecmp
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from gradekit.course import Assignment
from gradekit.course.cells import grade_id
from gradekit.course.files import OPEN_SAFELY, notebooks_in
from gradekit.course.printing import printable
from gradekit.submission.notebook_json import HAND_IN_AGAIN, Refused, SubmittedNotebook, parse_submitted
from gradekit.submission.renamed import expected_in, recognize

MAX_FILE_BYTES = 100 * 2**20
_NAMED_AT_MOST = 5
#: notebooks in a folder that are read to find one of another name
_READ_AT_MOST = 10


def read_submitted(path: Path, assignment: Assignment | None = None) -> SubmittedNotebook:
    """Read a submitted notebook: sources, grade_ids and cell ids, without outputs or any other metadata.

    If there is no such file, this looks for the notebook under another name. Given the assignment, it tells its
    notebooks apart. Nothing is raised for a file that can't be read: the result has a `problem` instead of a notebook.
    """
    name = printable(path.name)
    try:
        if path.parent.is_symlink():
            what = "is in a folder that is a link to another one, and links are not followed. A person decides about it."
            return SubmittedNotebook(None, f"{name} {what}")
        if path.is_symlink():
            return SubmittedNotebook(
                None, f"{name} is a link to something else. Hand in the notebook itself."
            )
        if not path.exists():
            return _read_another_name(path, assignment)
        data = _content(path)
    except Refused as refused:
        return SubmittedNotebook(None, f"{name} {refused}")
    except OSError as error:
        problem = f"{name} can't be read ({error.strerror}). Hand it in again as an ordinary file."
        return SubmittedNotebook(None, problem)
    return _noting_others(parse_submitted(data, name), path, path, assignment)


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise Refused("isn't a file. Hand in the notebook itself.")
    with open(os.open(path, OPEN_SAFELY), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Refused("isn't a file. Hand in the notebook itself.")
        if found.st_size > MAX_FILE_BYTES:
            raise Refused(
                f"is {found.st_size // 2**20:,} MiB large, more than {MAX_FILE_BYTES // 2**20}. "
                f"Clear all outputs. {HAND_IN_AGAIN}"
            )
        return file.read(MAX_FILE_BYTES)


def grade_ids_in(path: Path) -> frozenset[str]:
    """The grade_ids in a submitted notebook; none if it can't be read."""
    notebook = read_submitted(path).notebook
    return frozenset(filter(None, map(grade_id, notebook.cells))) if notebook is not None else frozenset()


def _noting_others(
    submitted: SubmittedNotebook, path: Path, graded: Path, assignment: Assignment | None
) -> SubmittedNotebook:
    """Add notes about notebooks in the same folder that nothing grades, some of which may be other versions."""
    released = assignment.released_names() if assignment else []
    names = {f"{name}.ipynb" for name in released} | {graded.name}
    others = [other for other in notebooks_in(path.parent) if other.name not in names]
    if submitted.notebook is None or not assignment or not others:
        return submitted
    own = {name for cell in submitted.notebook.cells if (name := grade_id(cell))}
    every = frozenset[str]().union(*expected_in(assignment).values())
    rest = [] if len(others) <= _READ_AT_MOST else [printable(other.name) for other in others]
    for other in others if not rest else ():
        ids = grade_ids_in(other)
        if not ids & every:
            rest.append(printable(other.name))
        elif ids & own and not (
            other.is_file() and graded.is_file() and filecmp.cmp(other, graded, shallow=False)
        ):
            version = f"{printable(other.name)} is another version of {path.name}, and was not graded."
            again = f"If it is the one that counts, rename it to {path.name} and hand it in again."
            submitted.versions.append(version)
            submitted.notes.append(f"{version} {again}")
    if rest:
        submitted.notes.append(f"These notebooks were not graded: {_some(rest)}.")
    return submitted


def name_handed_in(path: Path, assignment: Assignment) -> Path:
    """The file that is graded as the notebook `path`: itself, or the one of another name that is recognized as it."""
    found = [] if path.exists() else _of_other_names(path, notebooks_in(path.parent), assignment)
    return found[0] if len(found) == 1 else path


def _of_other_names(path: Path, others: Sequence[Path], assignment: Assignment | None) -> list[Path]:
    """The files among `others` that may be the missing notebook `path`."""
    if len(others) > _READ_AT_MOST:
        return []
    ids = {other: grade_ids_in(other) for other in others}
    any_ids = {path.stem: frozenset[str]().union(*ids.values())}
    expected = expected_in(assignment) if assignment else any_ids
    known = recognize({other: other.name for other in others}, expected, ids.__getitem__)
    return known.notebooks.get(path.stem) or known.unclear.get(path.stem, [])


def _read_another_name(path: Path, assignment: Assignment | None) -> SubmittedNotebook:
    """Read the notebook in the folder whose grade_ids, or whose similar name, show that it is the missing one."""
    others = notebooks_in(path.parent)
    found = _of_other_names(path, others, assignment)
    if len(found) == 1:
        submitted = read_submitted(found[0])
        if submitted.notebook is not None:
            note = f"Handed in as {printable(found[0].name)}; it was graded as {path.name}."
            submitted.notes.insert(0, note)
            return _noting_others(submitted, path, found[0], assignment)
    names = [printable(other.name) for other in found or others]
    problem = f"{path.name} was not handed in"
    if len(found) > 1:
        problem = f"{problem}: rename the right one of {', '.join(names)} to {path.name}."
    else:
        problem = f"{problem} (found: {_some(names) or 'no notebook'})."
    return SubmittedNotebook(None, problem, missing=True)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED_AT_MOST:,} more" if len(names) > _NAMED_AT_MOST else ""
    return ", ".join(names[:_NAMED_AT_MOST]) + more
