"""Stamps that show whether files have changed since they were read."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from gradekit.course import Assignment
from gradekit.course.files import file_stamp

#: the path, time, size and inode number of each file
Stamp = tuple[tuple[str, int, int, int], ...]


def stamp_of(assignment: Assignment) -> Stamp:
    """A stamp that changes when a check, the source or the release of an assignment changes."""
    folders = (assignment.checks, assignment.source_folder, assignment.release_folder)
    return files_stamp([*(path for folder in folders for path in _files(folder)), *assignment.conftests])


def files_stamp(paths: Iterable[Path]) -> Stamp:
    """A stamp that changes when one of the files changes; files that don't exist are left out."""
    return tuple(sorted((str(path), *stamp) for path in paths if (stamp := file_stamp(path))))


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        yield from (Path(place, name) for name in files)
