"""Hand-ins and results on their way, in a folder in `.gradekit` of the course, for ways in other than nbgrader's exchange.

A hand-in is a folder that appears in one step, with its files and what is known about it. So a process that is killed
leaves all of it or nothing.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gradekit.attempts import file_name
from gradekit.course.files import LETTER, STATE_FOLDER, read_json, write_atomically, write_json
from gradekit.course.printing import printable, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import in_doubt, in_shell
from gradekit.submission.extra_files import SECRET, TIMESTAMP, is_notebook
from gradekit_watch.exchange import replacing
from gradekit_watch.ways import HandIn, Look, Refusal, Source

_STEP = timedelta(microseconds=1)
_NAME_BYTES = 255
SAME_NAME = "two files have the same name: rename one"


class Kept(Struct, frozen=True):
    """What is known of every hand-in.

    Args:
        size: of its files, in bytes.
    """

    student: str
    assignment: str
    handed_in: datetime
    size: int

    @property
    def content(self) -> object:
        """What two hand-ins of a student in a row don't share."""
        return None


class Problem(Struct, frozen=True):
    """Something without a hand-in, such as a repository or a page, and why."""

    name: str
    reason: str
    student: str = ""
    assignment: str = ""


class RequestRefused(Exception):
    """A request is refused, with the status of the answer and one sentence without its full stop."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


_Kept = TypeVar("_Kept", bound=Kept)
_Out = TypeVar("_Out")


class HandInStore(Generic[_Kept, _Out]):
    """The files of one way in.

    Args:
        kept: the type of what is known of a hand-in.
        out: the type of a result on its way.
    """

    def __init__(self, root: Path, name: str, kept: type[_Kept], out: type[_Out]) -> None:
        self.folder = root / STATE_FOLDER / name
        self.hand_ins = self.folder / "hand-ins"
        self.unfinished = self.folder / "unfinished"
        self.outbox = self.folder / "outbox"
        self.lock, self.log = self.folder / "lock", self.folder / "log"
        self._changed = self.folder / "changed"
        self._kept, self._out = kept, out
        self._taking = threading.Lock()
        self._read: dict[Path, _Kept] = {}
        self._problems: list[Problem] | None = None

    def records(self) -> list[Path]:
        """The files with what is known of each hand-in."""
        return list(self.hand_ins.glob("*/*/*/hand-in.json"))

    def all(self, records: Iterable[Path] | None = None) -> Iterator[tuple[Path, _Kept]]:
        """Every hand-in whose record can be read: the folder of its files, and what is known about it."""
        return self._in(self.records() if records is None else records)

    def of(self, student: str, assignment: str) -> list[tuple[Path, _Kept]]:
        """A student's hand-ins for an assignment, oldest first."""
        folder = self.hand_ins / file_name(student) / file_name(assignment)
        return list(self._in(sorted(folder.glob("*/hand-in.json"))))

    def at(self, student: str, assignment: str, handed_in: datetime) -> _Kept | None:
        """The hand-in of this time."""
        found = (kept for _, kept in self.of(student, assignment) if kept.handed_in == handed_in)
        return next(found, None)

    def size_of(self, student: str) -> int:
        """The bytes of all hand-ins of a student."""
        paths = (self.hand_ins / file_name(student)).glob("*/*/hand-in.json")
        return sum(kept.size for _, kept in self._in(paths))

    def take(self, kept: _Kept, files: Mapping[str, bytes], most: int, label: str) -> tuple[_Kept, bool]:
        """Store what was sent now, unless the last hand-in has the same content; returns it, and whether it is new.

        Raises:
            RequestRefused: all hand-ins of the student would be more than `most` bytes.
        """
        with self._taking:
            earlier = self.of(kept.student, kept.assignment)
            last = earlier[-1][1] if earlier else None
            if last is not None and last.content == kept.content:
                return last, False
            if self.size_of(kept.student) + kept.size > most:
                limit = f"{most / 10**6:g} MB"
                raise RequestRefused(
                    413, f"all hand-ins of a student may have {limit}: ask your instructor for more"
                )
            kept = replace(kept, handed_in=after(kept.handed_in, last))
            self.keep(kept, files.items(), label)
        return kept, True

    def keep(self, kept: _Kept, files: Iterable[tuple[str, bytes]], label: str) -> None:
        """Store a hand-in. The paths of its files must have been checked.

        Raises:
            OSError: it can't be written.
        """
        place = self.hand_ins / file_name(kept.student) / file_name(kept.assignment)
        with self.scratch() as scratch:
            (scratch / "files").mkdir()
            for name, content in files:
                path = scratch / "files" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            (scratch / "hand-in.json").write_bytes(msgspec.json.encode(kept))
            place.mkdir(parents=True, exist_ok=True)
            os.rename(scratch, place / f"{kept.handed_in.astimezone(UTC):%Y%m%dT%H%M%S.%f}-{label}")
        self.touch()

    def post(self, name: str, outgoing: _Out) -> None:
        """Put a result into the outbox; a newer one of the same name replaces it."""
        write_json(self.outbox / f"{digest(name)}.json", outgoing)

    def outgoing(self) -> list[tuple[Path, _Out]]:
        """The results that were not sent yet, oldest first."""
        return self.results_in(self.outbox)

    def results_in(self, folder: Path) -> list[tuple[Path, _Out]]:
        paths = sorted(folder.glob("[!.]*.json"), key=lambda path: path.stat().st_mtime)
        return [(path, found) for path in paths if (found := read_json(path, self._out))]

    @property
    def problems(self) -> list[Problem]:
        return read_json(self.folder / "problems.json", list[Problem]) or []

    def set_problems(self, problems: list[Problem]) -> None:
        if problems != self._problems:
            write_json(self.folder / "problems.json", problems)
            self._problems = problems
            self.touch()

    def show(self, files: Iterable[Path], place: Path) -> None:
        """Copy files into a folder, in one step, in place of those that are there."""
        place.parent.mkdir(parents=True, exist_ok=True)
        with self.scratch() as scratch:
            for path in files:
                shutil.copyfile(path, scratch / path.name)
            before = self.unfinished / f"{scratch.name}.before"
            if place.exists():
                os.rename(place, before)
            os.rename(scratch, place)
        shutil.rmtree(before, ignore_errors=True)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder on the same disk, which is removed at the end if it is still there."""
        folder = self.unfinished / f"{os.getpid()}-{secrets.token_hex(8)}"
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def clean(self, age: float = 0.0) -> None:
        """Remove what processes that were killed left half done; others may be at work now.

        Args:
            age: the seconds after which it is old enough, where others may be in other containers.
        """
        for path in self.unfinished.glob("*"):
            with contextlib.suppress(FileNotFoundError):
                old = path.stat().st_mtime <= time.time() - age
                if old and not Path("/proc", path.name.partition("-")[0]).exists():
                    shutil.rmtree(path, ignore_errors=True)

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

    def _in(self, paths: Iterable[Path]) -> Iterator[tuple[Path, _Kept]]:
        return ((path.parent / "files", kept) for path in paths if (kept := self._at(path)))

    def _at(self, path: Path) -> _Kept | None:
        if path not in self._read and (found := read_json(path, self._kept)):
            self._read[path] = found
        return self._read.get(path)


class StoredSource(Source, Generic[_Kept]):
    """What the sources of all ways have in common: the hand-ins are in a store, and stay there."""

    #: what to do after a wrong name was corrected, if the store has the only copy
    corrected = (
        ", have it handed in again (if it is late by then, `gradekit deadline ASSIGNMENT TIME --student STUDENT`), and run {} "
        "only after that, since this is the only copy"
    )

    def __init__(self, course: RunningCourse, store: HandInStore[_Kept, Any]) -> None:
        self._course, self._in_store, self.place = course, store, store.hand_ins
        self._stamp: object = None
        self._look_again = True

    def changed(self) -> bool:
        return self._look_again or self._in_store.stamp() != self._stamp

    def look(self) -> Look:
        self._stamp, self._look_again = self._in_store.stamp(), False
        look, records = Look(), self._in_store.records()
        found = dict(self._in_store.all(records))
        with self._course.gradebook() as book:
            doubtful = in_doubt({kept.student for kept in found.values()}, book)
        for folder, kept in found.items():
            if kept.student not in doubtful:
                look.add(folder, self._hand_in(folder, kept))
        for student in sorted(doubtful):
            place = self._in_store.hand_ins / file_name(student)
            reason = (
                "is like a name in the gradebook, which doesn't have this one: if they are one student, correct the name where "
                f"this one comes from{self.corrected.format(f'`rm -r {quoted(place)}`')}; if not, "
                f"`nbgrader db student add {in_shell(student)}`"
            )
            look.refused.append(Refusal(place, reason, student, name=ascii(student)))
        for path in (each for each in records if each.parent / "files" not in found and each.exists()):
            student, assignment = (folder.name for folder in (path.parents[2], path.parents[1]))
            reason = f"can't be read: restore it from a backup, or run `rm -r {quoted(path.parent)}` and have it handed in again"
            look.refused.append(Refusal(path.parent, reason, student, assignment, str(path)))
        return look

    def _hand_in(self, folder: Path, kept: _Kept) -> HandIn:
        return HandIn(kept.student, kept.assignment, kept.handed_in, folder)

    def collect(self, hand_in: HandIn) -> None:
        collected = self._course.submitted(hand_in.student, hand_in.assignment)
        with replacing(collected):
            shutil.copytree(hand_in.folder, collected)
            (collected / TIMESTAMP).write_text(self.timestamp(hand_in), encoding="utf-8")

    def timestamp(self, hand_in: HandIn) -> str:
        """The text of its timestamp.txt."""
        return f"{hand_in.handed_in:%Y-%m-%d %H:%M:%S.%f} UTC"

    def accepting(self, hand_in: HandIn) -> str:
        return (
            "to accept it, set a later deadline for this student: "
            f"`gradekit deadline {quoted(hand_in.assignment)} TIME --student {quoted(hand_in.student)}`"
        )


def after(time: datetime, last: Kept | None) -> datetime:
    """The time of a new hand-in, later than that of the last one even if the clock was put back."""
    return time if last is None else max(time, last.handed_in + _STEP)


def is_untouched(release: Path, contents: dict[str, bytes]) -> bool:
    """Whether all notebooks are those in the released assignment, to the byte."""
    notebooks = {name: content for name, content in contents.items() if is_notebook(name)}
    return all(content_of(release / name) == content for name, content in notebooks.items())


def require_files(files: Mapping[str, bytes], most_files: int, most_bytes: int) -> int:
    """The bytes of all files that were sent.

    Raises:
        RequestRefused: they can't be a hand-in.
    """
    if len(files) > most_files:
        raise RequestRefused(
            400, f"there are more than {most_files} files: send the notebook, and what it needs"
        )
    for name in files:
        if reason := wrong_name(name):
            raise RequestRefused(400, f"{printable(name, 80)} {reason}")
    if len({name.casefold() for name in files}) < len(files):
        raise RequestRefused(400, SAME_NAME)
    if not any(map(is_notebook, files)):
        raise RequestRefused(400, "there is no notebook: send the .ipynb file")
    if (size := sum(map(len, files.values()))) > most_bytes:
        raise RequestRefused(413, f"the files have more than {most_bytes / 10**6:g} MB: send less")
    return size


def files_digest(files: Mapping[str, bytes]) -> str:
    """By which equal files are recognized."""
    names = sorted((name, hashlib.sha256(content).hexdigest()) for name, content in files.items())
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()


def letter_in(names: Iterable[str]) -> str:
    """The first of these files that has requests about checks; empty if none has."""
    return next((name for name in names if LETTER.fullmatch(name)), "")


def wrong_name(name: str) -> str:
    """Why a file that was sent can't have this name, as the end of a sentence; empty if it can."""
    if not name or {"/", "\\"} & set(name) or name in (".", ".."):
        return "is a path: send files by their names only"
    if not name.isprintable() or len(name.encode()) > _NAME_BYTES or name[0] == ".":
        return "has a name that can't be stored: rename it"
    return "has a name that nbgrader uses itself: rename it" if name.casefold() in (TIMESTAMP, SECRET) else ""


def in_utc(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def log_line(text: str) -> None:
    """Tell the person who runs the process."""
    print(f"{in_utc(datetime.now(UTC))} {printable(text, None)}", file=sys.stderr, flush=True)


def digest(name: str) -> str:
    """A file name for a text of any length."""
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:32]


def content_of(path: Path) -> bytes | None:
    """What is in a file; None if it can't be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None
