"""Files of a course: gradekit's folder, atomic writes, the contents of folders, and stamps that show changes."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeVar

import msgspec

from gradekit.course.operating_system import open_safely

#: errors that would affect every other student, too
FOR_EVERYBODY = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
#: the folder of a course for gradekit's own files, which people needn't read
STATE_FOLDER = ".gradekit"
#: bytes of a text that somebody else wrote
SMALL_TEXT = 200_000
#: what browsers and editors make of `defense.json`
_DEFENSE = re.compile(r"defense.*\.(?:json|txt)", re.IGNORECASE | re.DOTALL)
#: what browsers, Canvas and editors make of `requests.txt`, in which students say what they think is wrong about a check
LETTER = re.compile(r"requests?[ _]*(?:-\d+|\(\d+\))?(?:\.txt|\.md)*", re.IGNORECASE)
_ABOUT_A_CHECK = re.compile(r"[\s*#`-]*[\w/ ]+::\w+`?\s*:")
_Value = TypeVar("_Value")


def write_atomically(path: Path, text: str) -> None:
    """Write a file, or leave it as it is, so that a killed command leaves no partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # another process may write the same file
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_json(path: Path, value: object) -> None:
    """Write a value of msgspec's types, as `write_atomically` does."""
    write_atomically(path, msgspec.json.encode(value).decode())


def read_json(path: Path, kind: type[_Value]) -> _Value | None:
    """The value in a file; None if there is none, or another version wrote it.

    Raises:
        OSError: it is there, but can't be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def handed_in_text(path: Path) -> str:
    """The text of a file; empty if it is large, is a link or no file, or can't be read."""
    return _small(path).decode(errors="replace")


def handed_in_letter(path: Path) -> str:
    """The same of a text that people write in any editor: it may be in UTF-16, or in the encoding of Western Windows."""
    content = _small(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def is_letter(path: Path) -> bool:
    """True for files that belong to no exercise: answers to a page of gradekit-integrity's `defend`, and requests about checks.

    A text of such a name may be an answer.
    """
    if _DEFENSE.fullmatch(path.name):
        text = handed_in_letter(path)
        return text.lstrip().startswith("{") and "sheet" in text
    # a person reads the rest of it as well, in `gradekit requests`
    return bool(LETTER.fullmatch(path.name) and _ABOUT_A_CHECK.match(handed_in_letter(path)))


def _small(path: Path) -> bytes:
    try:
        content = read_safely(path, SMALL_TEXT)
    except OSError:
        return b""
    return content if len(content) <= SMALL_TEXT else b""


def read_safely(path: str | Path, most: int, folder: int | None = None) -> bytes:
    """The beginning of a file of somebody else's: as many bytes, and one more if there are more.

    Args:
        folder: a descriptor of the folder that it is in.

    Raises:
        OSError: it is a link, or no file, or can't be read.
    """
    with open_safely(path, folder) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        return file.read(most + 1)


def written_at(found: os.stat_result) -> float:
    """When a file was written, in seconds; its own time may be in the future, if it came from another time zone."""
    return min(found.st_mtime, found.st_ctime)


#: the time, size and number of a file
FileStamp = tuple[int, int, int]


def file_stamp(path: Path) -> FileStamp | None:
    """A stamp that changes when the file changes; None if it doesn't exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


#: the path, time, size and inode number of each file
Stamp = tuple[tuple[str, int, int, int], ...]


def files_stamp(paths: Iterable[Path]) -> Stamp:
    """A stamp that changes when one of the files changes; files that don't exist are left out."""
    return tuple(sorted((str(path), *stamp) for path in paths if (stamp := file_stamp(path))))


def files_in(path: Path, left_out: Sequence[str] = ()) -> Iterator[Path]:
    """The file itself, or those in the folder whose paths below it match none of the patterns, sorted."""
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file() and not _match(file.relative_to(path).parts, left_out):
            yield file


def folders_in(path: Path, left_out: Sequence[str] = ()) -> Iterator[Path]:
    """The folder itself and those in it, empty ones too, whose paths below it match none of the patterns, sorted."""
    if path.is_dir():
        yield path
        for found in sorted(path.rglob("*")):
            if found.is_dir() and not _match(found.relative_to(path).parts, left_out):
                yield found


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks in a folder, sorted, without hidden ones, which editors and operating systems write."""
    return sorted(path for path in folder.glob("*.ipynb") if path.name[0] != ".")


def beside_notebooks(folder: Path, left_out: Sequence[str]) -> list[Path]:
    """The files and folders in a folder, sorted, except for notebooks, hidden files, and those that match a pattern."""
    found = folder.iterdir() if folder.is_dir() else ()
    kept = (path for path in found if path.suffix != ".ipynb" and path.name[0] != ".")
    return sorted(path for path in kept if not _match([path.name], left_out))


def _match(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for name in names for pattern in patterns)
