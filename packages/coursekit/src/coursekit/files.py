"""Files of a course: coursekit's folder, atomic writes, and the contents of folders."""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

#: the folder of a course for coursekit's own files, which people needn't read
FOLDER = ".coursekit"


def write_atomically(path: Path, text: str) -> None:
    """Write a file, or leave it as it is, so that a killed command leaves no partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(
        f".{path.name}.{os.getpid()}.unfinished"
    )  # another process may write the same file
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def written_at(found: os.stat_result) -> float:
    """When a file was written, in seconds; its own time may be in the future, if it came from another time zone."""
    return min(found.st_mtime, found.st_ctime)


def files_in(path: Path, left_out: Sequence[str] = ()) -> Iterator[Path]:
    """The file itself, or those in the folder whose paths below it match none of the patterns, sorted."""
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file() and not _match(file.relative_to(path).parts, left_out):
            yield file


def beside_notebooks(folder: Path, left_out: Sequence[str]) -> list[Path]:
    """The files and folders in a folder, sorted, except for notebooks, hidden files, and those that match a pattern."""
    found = folder.iterdir() if folder.is_dir() else ()
    kept = (path for path in found if path.suffix != ".ipynb" and path.name[0] != ".")
    return sorted(path for path in kept if not _match([path.name], left_out))


def _match(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for name in names for pattern in patterns)
