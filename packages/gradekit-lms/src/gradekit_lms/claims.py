"""Who handed in which file of a download, which files are collected beside notebooks, and the report's headings.

The names in a download are kept until pages are returned under the same names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path, PurePath

from gradekit.course.files import STATE_FOLDER, read_json, write_json
from gradekit.course.printing import printable
from gradekit.submission.extra_files import MAX_FOLDER_DEPTH, SECRET, TIMESTAMP, stem_and_copy
from gradekit_lms.archives import archive_of

#: lines below a heading that are printed
_PRINTED = 20
_FOLDER = "downloads"
#: written by operating systems and editors
_BY_PROGRAMS = (".*", "*~", "~$*", "#*#", "Thumbs.db", "desktop.ini", "__pycache__", "*.pyc", "__MACOSX")


class Report(StrEnum):
    """The headings of the command's report, in this order."""

    NEW_COURSE = (
        "The gradebook has no students yet, so everybody in the download becomes one, with an id made from the file "
        "names. For other ids, run `nbgrader db student import students.csv` first. New students"
    )
    STRANGER = (
        "Not collected, since the gradebook has no such student. Add them with `nbgrader db student add ID`, or collect "
        "from everybody with --Collector.add_students=True. Students with another id in the gradebook need their "
        "lms_user_id, name and email there; groups need a list of members, --Collector.groups=groups.csv"
    )
    NO_NOTEBOOK = (
        "Handed in no notebook, so nothing was collected. Of archives, only zip and tar.gz are unpacked; unpack others "
        "yourself, next to the download"
    )
    NAMESAKES = "Not collected, since each may be several people. Copy the files into submitted/ yourself"
    UNCLEAR = "Not collected, since it isn't clear which file counts. Copy it into submitted/ yourself"
    OLDER = "Not collected, since there is a newer file"
    OTHER = "Collected, but not graded, since these are not notebooks of the assignment"
    LEFT = "Files next to the notebooks that were not collected"
    NUMBERED = "Collected twice, also without the number, which the LMS or a browser may have added"
    RENAMED = "Collected under the name of the assignment's notebook"
    GROUP = "Collected from a group, for each member"
    ALIAS = (
        "The gradebook has other names for these students. If the names are those of groups, list the members in a "
        "CSV file, and collect with --Collector.groups=groups.csv"
    )
    LATE = (
        "Late, but the download doesn't say how much. For a penalty, write the time into "
        "submitted/<student>/<assignment>/timestamp.txt"
    )
    COLLECTED = "Collected"
    AGAIN = "Run the same command again, with --force: these copies were made for it"


def lines_of_report(notes: Mapping[str, list[str]], whole: Path | None = None) -> Iterator[str]:
    """Each heading with the lines below it, without repetitions.

    Args:
        whole: a file with all lines; if given, long lists are cut.
    """
    for what, found in notes.items():
        lines = [f"  {printable(line, None)}" for line in dict.fromkeys(found)]
        more = len(lines) - _PRINTED
        if whole and more > 1:
            lines[_PRINTED:] = [f"  and {more} more, listed in {whole}"]
        if lines:
            yield "\n".join([f"{what} ({len(found)}):", *lines])


@dataclass(frozen=True)
class Claim:
    """A file and the students who handed it in.

    Args:
        top: the file or folder in whose name the product says whose it is; the file may be below it.
        owner: distinguishes people with the same name; empty for a group.
        name: the student's name for the file.
        number: increases from one file of a person to the next.
        timestamp: in UTC; empty if the product doesn't provide it.
        late: the product marks it as late.
        alias: the product's name for the student, if it is unlike the name in the gradebook.
        returned_as: what the name of a file begins with that is to be returned through the product; empty if it can't be.
    """

    path: Path
    top: Path
    students: tuple[str, ...]
    owner: str
    name: str
    number: int = 0
    timestamp: str = ""
    late: bool = False
    alias: str = ""
    returned_as: str = ""
    #: the folder that the student handed in or packed, the file's path in it, and the archives that hold the file
    packed_in: Path = field(init=False)
    inside: PurePath = field(init=False)
    archives: frozenset[Path] = field(init=False)

    def __post_init__(self) -> None:
        above = [folder for folder in self.path.parents if folder.is_relative_to(self.top)]
        packed = next((folder for folder in above if archive_of(folder) or folder == self.top), None)
        inside = self.path.relative_to(packed) if packed else PurePath(self.name)
        object.__setattr__(self, "packed_in", packed or self.top.parent)
        object.__setattr__(self, "inside", inside)
        object.__setattr__(self, "archives", frozenset(filter(None, map(archive_of, above))))


@dataclass
class DownloadNames:
    """What a returned file's name begins with, by student and notebook, and the product that each student's file is from."""

    products: dict[str, str] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)


def keep_names(root: Path, assignment: str, product: str, names: dict[str, dict[str, str]]) -> None:
    """Record the names of the students who were collected; those of others stay, since they may be from another download.

    Args:
        root: the course's folder.
    """
    kept = kept_names(root, assignment)
    kept.products |= dict.fromkeys(names, product)
    kept.names |= names
    write_json(_path(root, assignment), kept)


def kept_names(root: Path, assignment: str) -> DownloadNames:
    """The names that were recorded; none if nothing was collected, or the record is damaged."""
    with suppress(OSError):
        return read_json(_path(root, assignment), DownloadNames) or DownloadNames()
    return DownloadNames()


def _path(root: Path, assignment: str) -> Path:
    return root / STATE_FOLDER / _FOLDER / f"{assignment}.json"


@dataclass
class OtherFiles:
    """The files of one student next to the notebooks.

    Args:
        notebooks: those that are collected, by their names.
        ignored: patterns of names that are left out.
        max_files, max_bytes: of all files together.
    """

    notebooks: dict[str, Claim]
    ignored: Sequence[str]
    max_files: int
    max_bytes: int
    #: by the path under which they are collected
    chosen: dict[PurePath, Claim] = field(default_factory=dict)
    #: with the reasons
    left: list[tuple[Claim, str]] = field(default_factory=list)
    #: the second names of files
    without_number: dict[PurePath, Claim] = field(default_factory=dict)

    def choose(self, claims: Iterable[Claim], age: Callable[[Claim], object]) -> None:
        """Choose among the student's other files; of two with the same name, the one packed with a notebook, or the newer."""
        folders = {claim.packed_in for claim in self.notebooks.values()}
        archives = {archive for claim in self.notebooks.values() for archive in claim.archives}
        names = {PurePath(name) for name in self.notebooks}
        newest_first = sorted(claims, key=age, reverse=True)  # type: ignore[arg-type]
        for claim in sorted(newest_first, key=lambda claim: claim.packed_in not in folders):
            if claim.path in archives:
                continue  # what it holds is collected
            place = self._place(claim)
            reason = self._reason(place, claim, names)
            if reason:
                self.left.append((claim, reason))
            else:
                self.chosen[place] = claim
                self.max_bytes -= claim.path.stat().st_size
                names.add(place)
        for place, claim in self._numbered():
            if not self._clashes(place, names):
                self.without_number[place] = claim

    def _place(self, claim: Claim) -> PurePath:
        """The path of a file from its notebook, or else as it was handed in."""
        for notebook in self.notebooks.values():
            folder = notebook.inside.parent
            if claim.packed_in == notebook.packed_in and claim.inside.is_relative_to(folder):
                return claim.inside.relative_to(folder)
        return claim.inside

    def _reason(self, place: PurePath, claim: Claim, names: set[PurePath]) -> str:
        """Why a file isn't collected; empty if it is."""
        patterns = (*_BY_PROGRAMS, *self.ignored)
        if any(fnmatch(part, pattern) for part in place.parts for pattern in patterns):
            return "hidden, or written by a program"
        if str(place).casefold() in (TIMESTAMP, SECRET):
            return "nbgrader has a file of its own with this name"
        if len(place.parts) > MAX_FOLDER_DEPTH:
            return f"more than {MAX_FOLDER_DEPTH} folders deep"
        if place in names:
            return f"another file is collected as {place}"
        if self._clashes(place, names):
            return "a folder has the same name"
        if len(self.chosen) >= self.max_files or claim.path.stat().st_size > self.max_bytes:
            return "beyond c.Collector.max_files or c.Collector.max_megabytes"
        return ""

    def _clashes(self, place: PurePath, names: set[PurePath]) -> bool:
        """True if the path can't be written next to those that are taken."""
        return place in names or any(place in taken.parents or taken in place.parents for taken in names)

    def _numbered(self) -> Iterator[tuple[PurePath, Claim]]:
        """Files such as `module-1.py`, outside of archives, and their paths without the number."""
        found = []
        for place, claim in self.chosen.items():
            stem, copy = stem_and_copy(place.stem, ())
            if copy and not archive_of(claim.packed_in):
                found.append((place.with_name(stem + place.suffix), claim))
        times = Counter(place for place, _ in found)
        yield from ((place, claim) for place, claim in found if times[place] == 1)
