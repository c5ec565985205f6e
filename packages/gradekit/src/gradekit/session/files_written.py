"""Files that a notebook wrote while it ran, such as a figure that it saved: read from its kernel's home folder.

Everything is opened by its folder's descriptor, without following links: the student's code may still change any name.
"""

import os
import stat
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path, PurePosixPath

from gradekit.course.files import read_safely
from gradekit.course.operating_system import open_folder
from gradekit.course.printing import listed, printable
from gradekit.submission.extra_files import SECRET, TIMESTAMP

#: what is kept of one notebook: files, bytes in all of them
MAX_WRITTEN_FILES, MAX_WRITTEN_BYTES = 100, 10_000_000
#: what is looked at: entries of a folder, folders in one another
_MAX_ENTRIES, _MAX_FOLDERS, _MAX_DEPTH = 1_000, 100, 5
_NAMED_AT_MOST = 5


@dataclass
class WrittenFiles:
    """The contents of the files by their paths in the working folder, and the paths of those that aren't kept.

    Those in `odd` have names with line breaks or other characters that can't be printed.
    """

    contents: dict[str, bytes] = field(default_factory=dict)
    too_much: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        """Sentences that name the files that aren't kept, if there are any."""
        sentences = {
            "The notebook wrote more than is kept for graders": self.too_much,
            "The notebook wrote files whose names can't be printed, so they aren't kept for graders": self.odd,
        }
        return [f"{what}: {_some(names)}." for what, names in sentences.items() if names]

    def put_into(self, folder: Path, handed_in: Path, handed_out: Path) -> None:
        """Write the files into a folder of autograded/; those that were handed in or handed out stay as they are."""
        for name, content in self.contents.items():
            path = folder / name
            if any(os.path.lexists(place / name) for place in (handed_in, handed_out)):
                continue
            if path.is_dir() or not all(
                above.is_dir() or not os.path.lexists(above) for above in path.parents
            ):
                continue  # another notebook wrote a file where this one made a folder
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # nbgrader makes the files of an earlier run read-only
            path.write_bytes(content)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_AT_MOST
    named = listed(printable(name, 80) for name in names[:_NAMED_AT_MOST])
    return f"{named} and {more:,} more" if more > 0 else named


def read_written(home: int, known: Container[str], left_out: Sequence[str]) -> WrittenFiles:
    """Read what is in a kernel's home folder.

    Left out are hidden files, where libraries keep settings, links, notebooks, and what nbgrader itself writes there.

    Args:
        home: a descriptor of the folder.
        known: the paths of the files that the kernel started with.
        left_out: patterns of names that nbgrader doesn't copy either.
    """
    found = WrittenFiles()
    room = MAX_WRITTEN_BYTES
    for folder, name, path in _regular_files(home, known, left_out, found):
        content = _content(folder, name, room) if len(found.contents) < MAX_WRITTEN_FILES else None
        if content is None:
            found.too_much.append(path)
        else:
            found.contents[path] = content
            room -= len(content)
    return found


def _regular_files(
    home: int, known: Container[str], left_out: Sequence[str], written: WrittenFiles
) -> Iterator[tuple[int, str, str]]:
    """Yield a descriptor of the folder, the name and the path of each file; names what it doesn't look at."""
    folders = [""]
    for count, place in enumerate(folders):
        descriptor = _open_folder(home, place)
        if descriptor is None:
            continue
        try:
            with os.scandir(descriptor) as entries:
                names = sorted(entry.name for entry in islice(entries, _MAX_ENTRIES + 1))
            if len(names) > _MAX_ENTRIES or count >= _MAX_FOLDERS:
                written.too_much.append(f"{place or '.'}/")
                continue
            for name in names:
                path = str(PurePosixPath(place, name))
                if path in known or any(fnmatch(name, one) for one in left_out):
                    continue
                if not place and (name[0] == "." or name.endswith(".ipynb") or name in (TIMESTAMP, SECRET)):
                    continue
                mode = _mode(descriptor, name)
                if not name.isprintable():
                    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                        written.odd.append(path)
                elif stat.S_ISREG(mode):
                    yield descriptor, name, path
                elif stat.S_ISDIR(mode) and path.count("/") < _MAX_DEPTH:
                    folders.append(path)
                elif stat.S_ISDIR(mode):
                    written.too_much.append(f"{path}/")
        finally:
            os.close(descriptor)


def _open_folder(home: int, place: str) -> int | None:
    """A descriptor of a folder below `home`; None if it is no longer one."""
    descriptor = os.dup(home)
    for name in PurePosixPath(place).parts:
        above = descriptor
        try:
            descriptor = open_folder(name, above)
        except OSError:
            return None
        finally:
            os.close(above)
    return descriptor


def _mode(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _content(folder: int, name: str, room: int) -> bytes | None:
    """The content of a regular file; None if it has more than `room` bytes, or can't be read."""
    try:
        content = read_safely(name, room, folder)
    except OSError:
        return None
    return content if len(content) <= room else None
