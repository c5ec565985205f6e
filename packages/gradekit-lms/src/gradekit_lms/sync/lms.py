"""What `gradekit lms sync` needs from an LMS, in terms of neither Canvas nor Moodle, and its settings, `c.LmsSync`."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec
from traitlets import Bool, Dict, Enum, Integer, Unicode
from traitlets.config import Configurable

from gradekit.attempts import file_name
from gradekit.course import Assignment, CourseError
from gradekit.course.files import STATE_FOLDER, read_json, write_json
from gradekit.course.printing import did_you_mean
from gradekit.grading.running_course import RunningCourse
from gradekit_lms.sync import LMS_TOKEN
from gradekit_watch.course_settings import secret_in, settings_of

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

    @classmethod
    def told(cls, number: object, name: object, size: object, url: object) -> "RemoteFile":
        """The file as the LMS tells it, without an address if it is kept back: locked, or still to be checked for viruses."""
        if not (isinstance(size, int) and isinstance(url, str)):
            size, url = 0, ""
        return cls(str(number), str(name), size, url)


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


class LmsSync(Configurable):
    """Which course in Canvas or Moodle belongs to this one, and what is exchanged."""

    product = Enum(("", "canvas", "moodle"), "", help="the LMS").tag(config=True)
    address = Unicode(
        "", help="its address, such as https://canvas.example.edu; the token is sent nowhere else"
    ).tag(config=True)
    course = Integer(0, help="the course's number, in the address of its page").tag(config=True)
    assignments = Dict(
        value_trait=Integer(),
        help="the number of each assignment that is exchanged, in the address of its page",
    ).tag(config=True)
    token_file = Unicode("", help=f"file with the token, unless ${LMS_TOKEN} has it").tag(config=True)
    max_megabytes = Integer(100, min=1, help="size of a file that is downloaded").tag(config=True)
    pages = Bool(True, help="send the feedback page with the score").tag(config=True)
    scale = Bool(False, help="convert scores, where the LMS has other maximum points").tag(config=True)

    @classmethod
    def of(cls, course: RunningCourse) -> "LmsSync":
        """The settings of a course.

        Raises:
            CourseError: one is unknown, missing, or names an assignment that there isn't.
        """
        settings = settings_of(cls, course)
        for name, example in {
            "product": '"canvas"',
            "address": '"https://canvas.example.edu"',
            "course": "123",
            "assignments": '{"01_intro": 456}',
        }.items():
            if not getattr(settings, name):
                raise CourseError(
                    f"{course.last_file} must say where to exchange: c.LmsSync.{name} = {example}"
                )
        if not settings.address.startswith(("https://", "http://127.0.0.1:")):
            raise CourseError(f"{course.last_file}: c.LmsSync.address must begin with https://")
        names = [assignment.name for assignment in course.layout.assignments()]
        for name in settings.assignments:
            if name not in names:
                raise CourseError(
                    f"{course.last_file}: c.LmsSync.assignments has {name}, which the course doesn't have"
                    f"{did_you_mean(name, names)}"
                )
        return settings

    def token(self, course: RunningCourse, given: str) -> str:
        """The token that was given in the environment, or that of the file.

        Raises:
            CourseError: there is none, or others can read its file.
        """
        token = given.strip() or secret_in(course.root, self.token_file)
        if not token:
            raise CourseError(
                f"{self.product.title()} needs a token: in ${LMS_TOKEN}, or in a file that only you can read, "
                'c.LmsSync.token_file = "token.txt"'
            )
        return token

    def number_of(self, assignment: Assignment) -> int:
        """The number of an assignment in the LMS.

        Raises:
            CourseError: it has none.
        """
        if assignment.name not in self.assignments:
            raise CourseError(
                f"c.LmsSync.assignments has no {assignment.name}: add its number, from the address of its page"
            )
        return int(self.assignments[assignment.name])
