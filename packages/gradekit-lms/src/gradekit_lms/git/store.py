"""What was fetched, in `.gradekit/git` of the course: hand-ins, what was seen of each repository, results to be sent.

A hand-in is a folder that appears in one step, with its files and what is known about it. So a process that is killed
leaves all of it or nothing, and the same commit is never taken twice.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from gradekit.attempts.records import file_name
from gradekit.course.files import STATE_FOLDER, write_atomically
from gradekit_lms.git.roster import Repository

_T = TypeVar("_T")


class Fetched(Struct, frozen=True):
    """A hand-in.

    Args:
        handed_in: when its commit was first seen at the remote.
        not_before: when the remote was last seen without it; None if it was never seen before.
        tree: the id of its files, by which equal ones are recognized.
        size: of its files, in bytes.
        left_out: names of files that were not fetched, with reasons that continue the names.
    """

    student: str
    assignment: str
    handed_in: datetime
    not_before: datetime | None
    commit: str
    tree: str
    remote: str
    branch: str
    size: int
    left_out: list[tuple[str, str]] = []


class Seen(Struct):
    """What is known of a repository.

    Args:
        commit: the newest one that was seen, `first` when that was.
        done: whether nothing is left to do with it, under the limits and for the assignments in `under`.
        looked: the last successful look.
        problem: why something in this commit is no hand-in; empty if all is well.
        unreached: why the last look failed; empty if it didn't.
        note: why there is nothing to hand in, though nothing is wrong.
    """

    commit: str = ""
    first: datetime | None = None
    done: bool = False
    under: str = ""
    looked: datetime | None = None
    problem: str = ""
    unreached: str = ""
    note: str = ""


class Problem(Struct, frozen=True):
    """A repository or a row of the roster without hand-ins, and why."""

    name: str
    reason: str
    student: str = ""
    assignment: str = ""


class Outgoing(Struct, frozen=True):
    """A result that is to be sent to the host of a repository."""

    remote: str
    commit: str
    assignment: str
    score: float
    max_points: float
    text: str


class GitStore:
    """The files in `.gradekit/git`."""

    def __init__(self, root: Path) -> None:
        self.folder = root / STATE_FOLDER / "git"
        self.hand_ins = self.folder / "hand-ins"
        self.unfinished = self.folder / "unfinished"
        self.outbox = self.folder / "outbox"
        self.not_sent = self.folder / "not-sent"
        self.lock = self.folder / "lock"
        self.log = self.folder / "fetching.log"
        self._changed = self.folder / "changed"
        self._read: dict[Path, Fetched] = {}
        self._problems: list[Problem] | None = None

    def all(self) -> Iterator[tuple[Path, Fetched]]:
        """Every hand-in: the folder of its files, and what is known about it."""
        for path in self.hand_ins.glob("*/*/*/hand-in.json"):
            yield path.parent / "files", self._at(path)

    def of(self, student: str, assignment: str) -> list[tuple[Path, Fetched]]:
        """A student's hand-ins for an assignment, oldest first."""
        folder = self.hand_ins / file_name(student) / file_name(assignment)
        return [(path.parent / "files", self._at(path)) for path in sorted(folder.glob("*/hand-in.json"))]

    def size_of(self, student: str) -> int:
        """The bytes of all hand-ins of a student."""
        paths = (self.hand_ins / file_name(student)).glob("*/*/hand-in.json")
        return sum(self._at(path).size for path in paths)

    def add(self, fetched: Fetched, files: Iterable[tuple[str, bytes]]) -> None:
        """GitStore a hand-in. The paths of its files must have been checked.

        Raises:
            OSError: it can't be written.
        """
        place = self.hand_ins / file_name(fetched.student) / file_name(fetched.assignment)
        with self.scratch() as scratch:
            for name, content in files:
                path = scratch / "files" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            (scratch / "hand-in.json").write_bytes(msgspec.json.encode(fetched))
            place.mkdir(parents=True, exist_ok=True)
            # a new folder, even for the same commit: the branch may have been moved back to it
            name = f"{fetched.handed_in.astimezone(UTC):%Y%m%dT%H%M%S.%f}-{fetched.commit[:12]}"
            os.rename(scratch, place / name)
        self.touch()

    def seen(self, repository: Repository) -> Seen:
        return _decoded(self._seen_path(repository), Seen) or Seen()

    def see(self, repository: Repository, seen: Seen) -> None:
        write_atomically(self._seen_path(repository), msgspec.json.encode(seen).decode())

    @property
    def problems(self) -> list[Problem]:
        return _decoded(self.folder / "problems.json", list[Problem]) or []

    def set_problems(self, problems: list[Problem]) -> None:
        if problems != self._problems:
            write_atomically(self.folder / "problems.json", msgspec.json.encode(problems).decode())
            self._problems = problems
            self.touch()

    def post(self, name: str, outgoing: Outgoing) -> None:
        """Put a result into the outbox; a newer one of the same name replaces it."""
        write_atomically(self.outbox / f"{_digest(name)}.json", msgspec.json.encode(outgoing).decode())

    def outgoing(self) -> list[tuple[Path, Outgoing]]:
        """The results that were not sent yet, oldest first."""
        paths = sorted(self.outbox.glob("[!.]*.json"), key=lambda path: path.stat().st_mtime)
        return [(path, found) for path in paths if (found := _decoded(path, Outgoing))]

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder on the same disk, which is removed at the end if it is still there."""
        folder = self.unfinished / secrets.token_hex(8)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def clean(self) -> None:
        """Remove what a process that was killed left half done."""
        shutil.rmtree(self.unfinished, ignore_errors=True)

    def touch(self) -> None:
        """Tell the process that grades that there is something new."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._changed, secrets.token_hex(8))

    def stamp(self) -> object:
        """Changes when there is something new."""
        try:
            found = self._changed.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino

    def _at(self, path: Path) -> Fetched:
        if path not in self._read:
            self._read[path] = msgspec.json.decode(path.read_bytes(), type=Fetched)
        return self._read[path]

    def _seen_path(self, repository: Repository) -> Path:
        names = (
            repository.student,
            repository.remote,
            repository.assignment,
            repository.branch,
            repository.folder,
        )
        return self.folder / "seen" / f"{_digest(chr(0).join(names))}.json"


def _decoded(path: Path, kind: type[_T]) -> _T | None:
    """The content of a file; None if there is none, or another version wrote it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _digest(name: str) -> str:
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
