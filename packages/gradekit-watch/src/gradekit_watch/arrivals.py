"""Hand-ins as they arrive in nbgrader's exchange or in submitted/: which are complete, and which are refused."""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from gradekit.course.files import handed_in_text, written_at
from gradekit.course.operating_system import name_of_owner
from gradekit.course.printing import printable
from gradekit.nbgrader_plugin.course_folders import usable_name
from gradekit.submission.extra_files import SECRET, TIMESTAMP, NotATime, is_notebook, time_handed_in, time_in
from gradekit_watch.ways import HandIn, Look, Refusal, Source

#: a hand-in by an old nbgrader, which writes no secret, is complete after this many seconds without a change
OLD_CLIENT_SECONDS = 10.0
#: a hand-in that is still incomplete then was abandoned
ABANDONED_SECONDS = 600.0
#: clocks of machines differ by this much
_CLOCKS = timedelta(minutes=2)
#: the most files of a hand-in in the exchange that are looked at
_MOST_FILES = 1_000
#: a submission in submitted/ is complete after this many seconds without a change
FOLDER_SECONDS = 5.0
#: the clock of a file server may differ by this much
CLOCK_SECONDS = 60.0
#: looking at submitted/ may take this share of the time
_SHARE = 0.01
_SHORTEST, _LONGEST = 1.0, 30.0
#: the most files in the folders of a submission that are looked at
_MOST_BELOW = 2_000


class Inbound(Source):
    """The folder of the exchange that `nbgrader submit` copies to: one folder for each hand-in.

    nbgrader copies the files, then writes timestamp.txt, then submission_secret.txt. What has been read once is
    remembered. Polling finds new folders by the time of the inbound folder, which network file systems may report
    late, so it has to be looked at from time to time anyway.
    """

    def __init__(self, folder: Path, check_owner: bool) -> None:
        self.place, self._check_owner = folder, check_owner
        self._read: dict[str, HandIn | Refusal] = {}
        self._incomplete: dict[str, Still] = {}
        self._time: int | None = None
        self._look_again = True

    def changed(self) -> bool:
        """Whether to look again; cheap enough to ask twice a second."""
        waiting = any(still.seconds < ABANDONED_SECONDS for still in self._incomplete.values())
        return waiting or self._look_again or self.place.stat().st_mtime_ns != self._time

    def look(self) -> Look:
        """Return everything that is there.

        Raises:
            OSError: the folder can't be read.
        """
        before = self.place.stat().st_mtime_ns
        # twice after each change, since a second one within the clock's resolution can't be seen
        self._look_again, self._time = before != self._time, before
        names = set(os.listdir(self.place))
        self._read = {name: found for name, found in self._read.items() if name in names}
        self._incomplete = {name: still for name, still in self._incomplete.items() if name in names}
        look = Look()
        for name in sorted(names):
            look.add(self.place / name, self._read.get(name) or self._found(name))
        return look

    def _found(self, name: str) -> HandIn | Refusal | None:
        """Read a folder; None if it is incomplete."""
        folder = self.place / name
        try:
            found = self._complete(name)
        except FileNotFoundError:  # deleted since it was listed
            return None
        except OSError as error:
            return Refusal(folder, f"can't be read ({error.strerror})")
        if found is None:
            if self._incomplete.setdefault(name, Still()).seconds < ABANDONED_SECONDS:
                return None
            since = f"has been incomplete for {ABANDONED_SECONDS / 60:g} minutes, without {TIMESTAMP}"
            return Refusal(folder, f"{since}: ask for a new hand-in")
        if isinstance(found, HandIn):
            self._incomplete.pop(name, None)
            if found.handed_in > datetime.now(UTC) + _CLOCKS:  # not remembered: the clock may be wrong
                reason = f"was handed in at {found.handed_in:%Y-%m-%d %H:%M} UTC, which is in the future"
                return Refusal(folder, reason, found.student, found.assignment)
        self._read[name] = found
        return found

    def _complete(self, name: str) -> HandIn | Refusal | None:
        """The hand-in in a folder, or why it must not be graded; None if it is incomplete."""
        folder = self.place / name
        place = folder.lstat()
        if not stat.S_ISDIR(place.st_mode):
            return Refusal(folder, "isn't a folder")
        parts = _parts(name)
        if parts is None:
            return Refusal(folder, "isn't named <student>+<assignment>+<time>, as nbgrader names a hand-in")
        student, assignment, named = parts
        if usable_name(student) != student or student.strip() != student or student.startswith("."):
            return Refusal(folder, "has a student's name that nbgrader can't handle")
        text, secret = (handed_in_text(folder / file).strip() for file in (TIMESTAMP, SECRET))
        if not text:
            return None
        if not secret:  # an old nbgrader wrote this, if it doesn't change for a while
            still = self._incomplete.setdefault(name, Still())
            if still.since((folder / TIMESTAMP).lstat().st_mtime_ns) < OLD_CLIENT_SECONDS:
                return None
        if self._check_owner and (owner := name_of_owner(place.st_uid)) != student:
            reason = f"is in the name of {printable(student)} but belongs to {printable(owner)}"
            return Refusal(folder, reason, student, assignment)
        try:
            reason = f"has a different time in {TIMESTAMP} than in its name" if time_in(text) != named else ""
        except NotATime:
            reason = f"has a {TIMESTAMP} that isn't a time"
        if reason:
            return Refusal(folder, reason, student, assignment)
        with os.scandir(folder) as entries:  # a change of a file may not change the folder
            changes = [entry.stat(follow_symlinks=False).st_ctime for entry in islice(entries, _MOST_FILES)]
        arrived = datetime.fromtimestamp(max(place.st_ctime, *changes), UTC)
        return HandIn(student, assignment, named.replace(tzinfo=UTC), folder, secret, arrived=arrived)


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


def _parts(name: str) -> tuple[str, str, datetime] | None:
    """Student, assignment and time in a folder's name, if it has them. A student's name may contain a plus."""
    for splits in (3, 2):
        parts = name.rsplit("+", splits)
        try:
            if len(parts) > 2 and parts[0] and parts[1]:
                return parts[0], parts[1], time_in(parts[2])
        except NotATime:
            continue
    return None


class Submitted(Source):
    """The folder submitted/ of the course, for those without an exchange.

    A hand-in is a folder that has stopped changing. Its time is that of timestamp.txt, or of the newest notebook.
    """

    keeps_all = False

    def __init__(
        self,
        folders: Callable[[], Iterator[tuple[str, str, Path]]],
        clock: Callable[[], float] = time.monotonic,
        place: Path = Path("submitted"),
    ) -> None:
        self._folders, self._clock, self.place = folders, clock, place
        self._still: dict[tuple[str, str], Still] = {}
        self._next = 0.0

    def accepting(self, hand_in: HandIn) -> str:
        return "autograde it, or grant an extension"

    def changed(self) -> bool:
        """True as often as possible while looking takes less than a hundredth of the time."""
        return self._clock() >= self._next

    def look(self) -> Look:
        begun = self._clock()
        look, with_notebooks = Look(), set()
        for student, assignment, folder in self._folders():
            try:
                state = _state_of(folder)
            except FileNotFoundError:  # something is being copied there
                look.add(folder, None)
            except OSError as error:
                refusal = Refusal(folder, f"can't be read ({error.strerror})", student, assignment)
                look.add(folder, refusal)
            else:
                if state.notebook:
                    with_notebooks.add((student, assignment))
                    look.add(folder, self._found(student, assignment, folder, state))
        self._still = {names: still for names, still in self._still.items() if names in with_notebooks}
        took = self._clock() - begun
        # what isn't complete yet will be soon, and `--once` doesn't wait for long
        longest = FOLDER_SECONDS if look.incomplete else _LONGEST
        self._next = self._clock() + min(longest, max(_SHORTEST, took / _SHARE))
        return look

    def _found(self, student: str, assignment: str, folder: Path, state: "_State") -> HandIn | Refusal | None:
        """What a folder with a notebook is; None if it is incomplete."""
        if usable_name(student) != student:
            reason = "has a name that nbgrader can't handle: rename the folder"
            return Refusal(folder, reason, student, assignment)
        still = self._still.setdefault((student, assignment), Still())
        if max(still.since(state.stamp), time.time() - state.changed - CLOCK_SECONDS) < FOLDER_SECONDS:
            return None
        stamped = time_of(folder)
        return HandIn(
            student,
            assignment,
            stamped or datetime.fromtimestamp(state.notebook, UTC),
            folder,
            state=state.stamp,
            has_timestamp=stamped is not None,
            copied=datetime.fromtimestamp(state.changed, UTC),
        )


@dataclass(frozen=True)
class _State:
    """The state of a submission folder: the time of its newest notebook, or 0; when it last changed; and a stamp."""

    notebook: float
    changed: float
    stamp: tuple[object, ...]


def _below(top: Sequence["os.DirEntry[str]"]) -> Iterator["os.DirEntry[str]"]:
    """Everything in these folders, at any depth, except for folders that can't be read."""
    todo = list(top)
    while todo:
        entry = todo.pop()
        if entry.is_dir(follow_symlinks=False):
            with contextlib.suppress(PermissionError), os.scandir(entry.path) as entries:
                found = list(entries)
                yield from found
                todo += found


def _state_of(folder: Path) -> _State:
    notebook = changed = 0.0
    stamps = []
    with os.scandir(folder) as entries:
        top = list(entries)
    for number, entry in enumerate([*top, *islice(_below(top), _MOST_BELOW)]):
        found = entry.stat(follow_symlinks=False)
        stamps.append((entry.path, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino))
        changed = max(changed, found.st_ctime)
        if number < len(top) and is_notebook(entry.name):
            notebook = max(notebook, written_at(found))
    return _State(notebook, changed, tuple(sorted(stamps)))


def time_of(folder: Path) -> datetime | None:
    """The time in the timestamp of a folder, with time zone UTC; None if there is none, or it can't be read."""
    time = time_handed_in(folder)
    return time.replace(tzinfo=UTC) if time else None
