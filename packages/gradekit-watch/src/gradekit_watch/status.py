"""Reports of `gradekit watch`: events as they happen, the file that `gradekit watch --status` reads, and the lock."""

import contextlib
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from gradekit.attempts import time_in_words
from gradekit.course import CourseError
from gradekit.course.files import STATE_FOLDER, read_json, write_json
from gradekit.course.operating_system import lock_for_this_process
from gradekit.course.printing import counted, printable

_HOUR = 3600.0
_SIGN_OF_LIFE = 60.0
_NAMED_AT_MOST = 50
#: longer than `is_watched` takes
_ASKING_SECONDS = 0.2


class EventKind(StrEnum):
    STARTED = "started"
    RELEASED = "released"
    HELD = "held"
    REFUSED = "refused"
    NOT_GRADED = "not graded"
    WAITING = "waiting"
    PROBLEM = "problem"
    RELOADED = "reloaded"
    ENDED = "ended"


class Event(Struct, frozen=True, omit_defaults=True):
    """Something that has happened; `text` says what, and the names whose hand-in it was."""

    kind: EventKind
    text: str
    student: str = ""
    assignment: str = ""
    points: float | None = None
    max_points: float | None = None
    seconds: float | None = None
    due: datetime | None = None

    def line(self) -> str:
        """The event as a line for people."""
        names = " ".join(filter(None, [self.student, self.assignment]))
        return printable(f"{time.strftime('%H:%M:%S')} {names}{': ' if names else ''}{self.text}", None)

    def as_json(self) -> str:
        fields = {"time": datetime.now(UTC), "kind": self.kind} | msgspec.to_builtins(self)
        return msgspec.json.encode(fields).decode()


class ListedHandIn(Struct, frozen=True, omit_defaults=True):
    """A hand-in with something about it, such as why it was refused; `handed_in` tells those of one name apart."""

    name: str
    reason: str
    handed_in: datetime | None = None


class WatchStatus(Struct):
    """The state of the loop.

    Args:
        blocked: why nothing can be graded now; empty if it can.
        waiting: hand-ins that wait for their turn.
        on_hold: why the hand-ins of an assignment wait, by its name.
        backdated: hand-ins that arrived much later than their times say, the last ones of all commands.
        late: how many hand-ins after the deadline are left to the instructor, `late_ones` all of them.
        held: how many pages are not due yet, `held_ones` the last of them.
        hour: seconds from hand-in to page, and when each was released, in the last hour.
    """

    pid: int = 0
    started: datetime | None = None
    updated: datetime | None = None
    blocked: str = ""
    waiting: int = 0
    incomplete: int = 0
    on_hold: dict[str, str] = {}
    backdated: list[ListedHandIn] = []
    late: int = 0
    late_ones: list[ListedHandIn] = []
    held: int = 0
    held_ones: list[ListedHandIn] = []
    next_due: datetime | None = None
    refused: list[ListedHandIn] = []
    not_graded: list[ListedHandIn] = []
    hour: list[tuple[float, float]] = []


def status_path(root: Path) -> Path:
    return root / STATE_FOLDER / "watch.json"


def read_status(root: Path) -> WatchStatus:
    """The stored status; an empty one if there is none, or another version wrote it."""
    with contextlib.suppress(OSError):
        return read_json(status_path(root), WatchStatus) or WatchStatus()
    return WatchStatus()


class Reports:
    """Passes on events, and writes the status: when it changes, at most once a second, and regularly as a sign of life.

    A status that can't be written is skipped; a full disk is reported where it affects hand-ins.
    """

    def __init__(self, root: Path, report: Callable[[Event], None]) -> None:
        self.report, self._path = report, status_path(root)
        self._written, self._last = b"", -_HOUR
        before = read_status(root)
        self._hour = deque(before.hour)
        #: what an earlier command has reported as refused
        self.refused_before = frozenset(before.refused)
        self.status = WatchStatus(os.getpid(), datetime.now(UTC), backdated=before.backdated)
        #: an earlier command has seen everything that arrived until then
        self.seen_until = before.updated or datetime.now(UTC)
        self.failed = False

    def say(self, kind: EventKind, text: str, student: str = "", assignment: str = "") -> None:
        self.report(Event(kind, printable(text, None), printable(student), printable(assignment)))

    def fail(self, kind: EventKind, text: str, student: str = "", assignment: str = "") -> None:
        """Report something that a person has to look at."""
        self.failed = True
        self.say(kind, text, student, assignment)

    def add_backdated(self, name: str, reason: str) -> None:
        """Note in the status that this hand-in arrived much later than its time says."""
        new = ListedHandIn(printable(name), reason)
        self.status.backdated = [*(one for one in self.status.backdated if one != new), new][-_NAMED_AT_MOST:]

    def add_latency(self, seconds: float) -> None:
        self._hour.append((time.time(), seconds))

    def write(self, now: bool = False) -> None:
        passed = time.monotonic() - self._last
        if passed < 1 and not now:
            return
        while self._hour and self._hour[0][0] < time.time() - _HOUR:
            self._hour.popleft()
        self.status.hour, self.status.updated = list(self._hour), None
        new = msgspec.json.encode(self.status)
        if new == self._written and passed < _SIGN_OF_LIFE and not now:
            return
        self.status.updated = datetime.now(UTC)
        self._written, self._last = new, time.monotonic()
        with contextlib.suppress(OSError):
            write_json(self._path, self.status)


def last_listed(found: Iterable[tuple[str, str]]) -> list[ListedHandIn]:
    """The last items of a list that may be long."""
    return [ListedHandIn(name, reason) for name, reason in list(found)[-_NAMED_AT_MOST:]]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the sorted values such that at least this share of them are not above it."""
    return values[max(0, -(-int(share * 1000) * len(values) // 1000) - 1)]


def status_lines(status: WatchStatus, running: bool) -> list[str]:
    since = f" since {_past(status.started)}" if status.started else ""
    lines = [f"running{since}, process {status.pid}" if running else "not running"]
    if status.updated:
        lines[0] += f"; {'last sign of life' if running else 'it last ran'} {_past(status.updated)}"
    if status.blocked:
        lines.append(f"nothing can be graded: {status.blocked}")
    lines.append(f"waiting: {status.waiting}; still being copied: {status.incomplete}")
    lines += [f"on hold: {name}: {reason}" for name, reason in status.on_hold.items()]
    values = sorted(seconds for when, seconds in status.hour if when >= time.time() - _HOUR)
    line = f"last hour: {counted(len(values), 'page')}"
    if values:
        line += f"; from hand-in to page {statistics.median(values):.1f} s (median), "
        line += f"{percentile(values, 0.99):.1f} s (99th percentile)"
    lines.append(line)
    if status.held and status.next_due:
        lines.append(f"held pages: {status.held}, the next is due at {time_in_words(status.next_due)}")
        lines += [f"  {found.name}: {found.reason}" for found in status.held_ones]
    lines += [f"{found.name}: {found.reason}" for found in status.backdated]
    if status.late:
        lines.append(f"after the deadline, left to you: {status.late}")
        lines += [f"  {found.name}: {found.reason}" for found in status.late_ones[-_NAMED_AT_MOST:]]
    lines += [f"refused: {found.name}: {found.reason}" for found in status.refused]
    lines += [f"{found.name}: {found.reason}" for found in status.not_graded[-_NAMED_AT_MOST:]]
    return [printable(line, None) for line in lines]


def _past(when: datetime) -> str:
    """A time that has passed, in whole minutes, so that it isn't in the future."""
    return time_in_words(when.replace(second=0, microsecond=0))


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Make sure that no other process watches this course. The lock ends with the process, and forks don't have it.

    Raises:
        CourseError: another process watches it.
    """
    path = root / STATE_FOLDER / "watch.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("a+") as file:
        for pause in (0.0, _ASKING_SECONDS):  # `is_watched` may have held it for a moment
            time.sleep(pause)
            if lock_for_this_process(file):
                break
        else:
            file.seek(0)
            raise CourseError(
                f"{root} is already watched by process {file.read().strip()}: end it first, or see what it is doing "
                "with `gradekit watch --status`"
            )
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def is_watched(root: Path) -> bool:
    try:
        with (root / STATE_FOLDER / "watch.lock").open() as file:
            return not lock_for_this_process(file, shared=True)
    except FileNotFoundError:
        return False
