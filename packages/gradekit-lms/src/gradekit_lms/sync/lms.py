"""What `gradekit lms sync` needs from an LMS, in terms of neither Canvas nor Moodle."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from gradekit.attempts.rules import file_name
from gradekit.course.files import STATE_FOLDER, read_json, write_json

#: what has to be said, below headings
Notes = defaultdict[str, list[str]]


@dataclass(frozen=True)
class LmsPerson:
    """A student of the LMS's course. `number` is the LMS's own; `id` is a login or an ID number, perhaps empty."""

    number: str
    id: str
    first: str
    last: str
    email: str

    @property
    def shown(self) -> str:
        return f"{self.first} {self.last} (number {self.number})"


@dataclass(frozen=True)
class RemoteFile:
    """A file of a submission; `name` is as the student chose it, perhaps with folders, and `size` is in bytes."""

    id: str
    name: str
    size: int
    url: str = field(repr=False)


@dataclass(frozen=True)
class LmsSubmission:
    """A hand-in of one student, or of the members of a group.

    Args:
        owners: the numbers of the students.
        time: when the LMS received it.
        without: why it has no files; empty if it has.
    """

    owners: tuple[str, ...]
    attempt: int
    time: datetime
    files: tuple[RemoteFile, ...]
    without: str = ""

    @property
    def stamp(self) -> str:
        """Differs between two hand-ins of a student."""
        files = ",".join(sorted(f"{file.id}:{file.size}" for file in self.files))
        return f"{self.attempt} {self.time.isoformat()} {files}"


@dataclass(frozen=True)
class Remote:
    """An assignment in the LMS: its maximum points, by the numbers of students their scores and comments, and who is excused."""

    maximum: float
    submissions: list[LmsSubmission]
    scores: dict[str, float]
    comments: dict[str, str]
    excused: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Result:
    """What a student gets. `mark` is a text in `comment` by which this very result is recognized."""

    score: float
    comment: str
    mark: str
    pages: Sequence[Path]


class Lms(Protocol):
    """An LMS. All methods raise `LmsError`, whose message says what to do."""

    product: str

    def people(self) -> list[LmsPerson]: ...

    def read(self, assignment: int) -> Remote: ...

    def download(self, file: RemoteFile, path: Path) -> None: ...

    def send(self, assignment: int, student: str, attempt: int, result: Result) -> None: ...


class Taken(msgspec.Struct):
    """A hand-in that was collected: its stamp, the digest of its folder, and what has to be said about it."""

    stamp: str
    attempt: int
    digest: str
    notes: list[tuple[str, str]] = []


class Sent(msgspec.Struct):
    """A result that the LMS has."""

    mark: str
    score: float


class State(msgspec.Struct):
    """What was exchanged for an assignment, by student; kept in `.gradekit/lms`."""

    taken: dict[str, Taken] = {}
    sent: dict[str, Sent] = {}

    @classmethod
    def of(cls, root: Path, assignment: str) -> "State":
        with suppress(OSError):
            return read_json(_path(root, assignment), cls) or cls()
        return cls()

    def save(self, root: Path, assignment: str) -> None:
        write_json(_path(root, assignment), self)


def folder_of_state(root: Path) -> Path:
    return root / STATE_FOLDER / "lms"


def _path(root: Path, assignment: str) -> Path:
    return folder_of_state(root) / f"{file_name(assignment)}.json"
