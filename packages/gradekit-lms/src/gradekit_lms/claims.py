"""Who handed in which file of a download, and the headings of the collector's report."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePath

from gradekit.course.printing import printable
from gradekit.nbgrader_plugin.archives import archive_of

#: lines below a heading that are printed
_PRINTED = 20


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
