"""Hand-ins as they arrive in nbgrader's exchange: which are complete, and which are refused."""

import os
import pwd
import stat
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Protocol

from gradekit.course.files import OPEN_SAFELY
from gradekit.course.printing import printable
from gradekit.nbgrader_plugin.course_folders import usable_name
from gradekit.submission.extra_files import SECRET, TIMESTAMP, NotATime, time_in

#: a hand-in by an old nbgrader, which writes no secret, is complete after this many seconds without a change
OLD_CLIENT_SECONDS = 10.0
#: a hand-in that is still incomplete then was abandoned
ABANDONED_SECONDS = 600.0
#: clocks of machines differ by this much
_CLOCKS = timedelta(minutes=2)
#: the longest that `nbgrader submit` takes to copy a hand-in
_ON_ITS_WAY = timedelta(minutes=10)
_SMALL = 1024
#: the most files of a hand-in that are looked at
_MOST_FILES = 1_000


@dataclass(frozen=True)
class HandIn:
    """A complete submission as a student handed it in.

    Args:
        handed_in: its time, in UTC.
        secret: names its pages in the exchange; empty if there is none.
        state: changes with the files, if these can change.
        arrived: when its folder, or a file in it, was last changed in the exchange, a time that the student can't choose.
        has_timestamp: False if the time is that of a file, which says when it was copied.
        copied: where `arrived` isn't known, when something in its folder was last changed.
    """

    student: str
    assignment: str
    handed_in: datetime
    folder: Path
    secret: str = ""
    state: object = None
    arrived: datetime | None = field(default=None, compare=False)
    has_timestamp: bool = field(default=True, compare=False)
    copied: datetime | None = field(default=None, compare=False)

    def waited(self, now: datetime) -> float:
        """The seconds since it could have been graded: since it is here, whatever time the student wrote."""
        times = (self.handed_in, self.arrived, self.copied)
        began = max((time for time in times if time is not None and time <= now), default=now)
        return (now - began).total_seconds()

    def is_backdated(self, since: datetime) -> bool:
        """Whether it arrived after `since`, and much later than its time says."""
        return self.arrived is not None and self.arrived > max(since, self.handed_in + _ON_ITS_WAY)


@dataclass(frozen=True)
class Refusal:
    """A hand-in that is not graded, and why. The names are empty if they can't be read from its folder's name."""

    folder: Path
    reason: str
    student: str = ""
    assignment: str = ""


@dataclass
class Look:
    """The hand-ins found: complete ones, refused ones, and the folders of those that are not complete yet."""

    hand_ins: list[HandIn] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    incomplete: list[Path] = field(default_factory=list)


class Arrivals(Protocol):
    """A place where hand-ins arrive."""

    def changed(self) -> bool:
        """Whether to look again; cheap enough to ask twice a second."""

    def look(self) -> Look:
        """Return everything that is there.

        Raises:
            OSError: the place can't be read.
        """


class Inbound:
    """The folder of the exchange that `nbgrader submit` copies to: one folder for each hand-in.

    nbgrader copies the files, then writes timestamp.txt, then submission_secret.txt. What has been read once is
    remembered. Polling finds new folders by the time of the inbound folder, which network file systems may report
    late, so it has to be looked at from time to time anyway.
    """

    def __init__(self, folder: Path, check_owner: bool) -> None:
        self._folder, self._check_owner = folder, check_owner
        self._read: dict[str, HandIn | Refusal] = {}
        self._incomplete: dict[str, Still] = {}
        self._time: int | None = None
        self._look_again = True

    def changed(self) -> bool:
        waiting = any(still.seconds < ABANDONED_SECONDS for still in self._incomplete.values())
        return waiting or self._look_again or self._folder.stat().st_mtime_ns != self._time

    def look(self) -> Look:
        before = self._folder.stat().st_mtime_ns
        # twice after each change, since a second one within the clock's resolution can't be seen
        self._look_again, self._time = before != self._time, before
        names = set(os.listdir(self._folder))
        self._read = {name: found for name, found in self._read.items() if name in names}
        self._incomplete = {name: still for name, still in self._incomplete.items() if name in names}
        look = Look()
        for name in sorted(names):
            found = self._read.get(name) or self._found(name)
            if isinstance(found, HandIn):
                look.hand_ins.append(found)
            elif isinstance(found, Refusal):
                look.refused.append(found)
            else:
                look.incomplete.append(self._folder / name)
        return look

    def _found(self, name: str) -> HandIn | Refusal | None:
        """Read a folder; None if it is incomplete."""
        try:
            found = self._complete(name)
        except _Bad as bad:
            return self._remember(name, Refusal(self._folder / name, str(bad), *bad.names))
        except FileNotFoundError:  # deleted since it was listed
            return None
        except OSError as error:
            reason = f"can't be read ({error.strerror})"
            return Refusal(self._folder / name, reason)
        if found is None:
            still = self._incomplete.setdefault(name, Still())
            if still.seconds < ABANDONED_SECONDS:
                return None
            minutes = ABANDONED_SECONDS / 60
            reason = (
                f"has been incomplete for {minutes:g} minutes, without {TIMESTAMP}: ask for a new hand-in"
            )
            return Refusal(self._folder / name, reason)
        self._incomplete.pop(name, None)
        if found.handed_in > datetime.now(UTC) + _CLOCKS:  # not remembered: the clock may be wrong
            reason = f"was handed in at {found.handed_in:%Y-%m-%d %H:%M} UTC, which is in the future"
            return Refusal(found.folder, reason, found.student, found.assignment)
        return self._remember(name, found)

    def _remember(self, name: str, found: HandIn | Refusal) -> HandIn | Refusal:
        self._read[name] = found
        return found

    def _complete(self, name: str) -> HandIn | None:
        """The hand-in in a folder; None if it is incomplete.

        Raises:
            _Bad: it must not be graded.
        """
        folder = self._folder / name
        place = folder.lstat()
        if not stat.S_ISDIR(place.st_mode):
            raise _Bad("isn't a folder")
        student, assignment, named = _parts(name)
        if usable_name(student) != student or student.strip() != student or student.startswith("."):
            raise _Bad("has a student's name that nbgrader can't handle")
        text, secret = small_text(folder / TIMESTAMP), small_text(folder / SECRET)
        if not text or (not secret and not self._is_still(name, folder)):
            return None
        if self._check_owner and (owner := _owner(place.st_uid)) != student:
            raise _Bad(
                f"is in the name of {printable(student)} but belongs to {printable(owner)}",
                student,
                assignment,
            )
        try:
            written = time_in(text)
        except NotATime:
            raise _Bad(f"has a {TIMESTAMP} that isn't a time", student, assignment) from None
        if written != named:
            raise _Bad(f"has a different time in {TIMESTAMP} than in its name", student, assignment)
        arrived = datetime.fromtimestamp(max(place.st_ctime, *_changes(folder)), UTC)
        return HandIn(student, assignment, named.replace(tzinfo=UTC), folder, secret, arrived=arrived)

    def _is_still(self, name: str, folder: Path) -> bool:
        """Whether a hand-in without a secret has not changed for a while."""
        still = self._incomplete.setdefault(name, Still())
        return still.since((folder / TIMESTAMP).lstat().st_mtime_ns) >= OLD_CLIENT_SECONDS


class _Bad(Exception):
    """A hand-in that must not be graded."""

    def __init__(self, reason: str, *names: str) -> None:
        super().__init__(reason)
        self.names = names


class Still:
    """How long something has not changed."""

    def __init__(self) -> None:
        self._stamp: object = None
        self._first = self._last = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since this object was created."""
        return time.monotonic() - self._first

    def since(self, stamp: object) -> float:
        """Seconds since the stamp became this one."""
        if stamp != self._stamp:
            self._stamp, self._last = stamp, time.monotonic()
        return time.monotonic() - self._last


def _parts(name: str) -> tuple[str, str, datetime]:
    """Student, assignment and time in a folder's name. A student's name may contain a plus."""
    for splits in (3, 2):
        parts = name.rsplit("+", splits)
        try:
            if len(parts) > 2 and parts[0] and parts[1]:
                return parts[0], parts[1], time_in(parts[2])
        except NotATime:
            continue
    raise _Bad("isn't named <student>+<assignment>+<time>, as nbgrader names a hand-in")


def _changes(folder: Path) -> list[float]:
    """When the files in a folder were changed, even if this did not change the folder itself."""
    with os.scandir(folder) as entries:
        return [entry.stat(follow_symlinks=False).st_ctime for entry in islice(entries, _MOST_FILES)]


def _owner(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"the unknown user {user}"


def small_text(path: Path) -> str:
    """The text of a small file, without waiting for a pipe or following a link; empty if it isn't one."""
    try:
        descriptor = os.open(path, OPEN_SAFELY)
    except OSError:
        return ""
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _SMALL).decode("ascii", errors="replace").strip() if regular else ""
    finally:
        os.close(descriptor)
