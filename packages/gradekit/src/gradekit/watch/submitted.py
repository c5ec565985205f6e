"""Hand-ins as they arrive in submitted/, for courses without an exchange."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from gradekit.course.files import written_at
from gradekit.nbgrader_plugin.course_folders import usable_name
from gradekit.submission.extra_files import TIMESTAMP, NotATime, time_in
from gradekit.submission.renamed import is_notebook
from gradekit.watch.arrivals import HandIn, Look, Refusal, Still, small_text

#: a submission is complete after this many seconds without a change
FOLDER_SECONDS = 5.0
#: the clock of a file server may differ by this much
CLOCK_SECONDS = 60.0
#: looking may take this share of the time
_SHARE = 0.01
_SHORTEST, _LONGEST = 1.0, 30.0
#: the most files in the folders of a submission that are looked at
_MOST_BELOW = 2_000


class Submitted:
    """The folder submitted/ of the course, for those without an exchange.

    A hand-in is a folder that has stopped changing. Its time is that of timestamp.txt, or of the newest notebook.
    """

    def __init__(
        self,
        folders: Callable[[], Iterator[tuple[str, str, Path]]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folders, self._clock = folders, clock
        self._still: dict[tuple[str, str], Still] = {}
        self._next = 0.0

    def changed(self) -> bool:
        """True as often as possible while looking takes less than a hundredth of the time."""
        return self._clock() >= self._next

    def look(self) -> Look:
        begun = self._clock()
        look, still = Look(), {}
        for student, assignment, folder in self._folders():
            key = student, assignment
            try:
                state = _state_of(folder)
            except FileNotFoundError:  # something is being copied there
                look.incomplete.append(folder)
                continue
            except OSError as error:
                look.refused.append(Refusal(folder, f"can't be read ({error.strerror})", student, assignment))
                continue
            if not state.notebook:
                continue
            if usable_name(student) != student:
                reason = "has a name that nbgrader can't handle: rename the folder"
                look.refused.append(Refusal(folder, reason, student, assignment))
                continue
            still[key] = self._still.get(key, Still())
            unchanged = max(still[key].since(state.stamp), time.time() - state.changed - CLOCK_SECONDS)
            if unchanged < FOLDER_SECONDS:
                look.incomplete.append(folder)
                continue
            when, has_timestamp = datetime.fromtimestamp(state.notebook, UTC), False
            with contextlib.suppress(NotATime):
                when, has_timestamp = time_in(small_text(folder / TIMESTAMP)).replace(tzinfo=UTC), True
            look.hand_ins.append(
                HandIn(
                    *(student, assignment, when, folder),
                    state=state.stamp,
                    has_timestamp=has_timestamp,
                    copied=datetime.fromtimestamp(state.changed, UTC),
                )
            )
        self._still = still
        took = self._clock() - begun
        self._next = self._clock() + min(_LONGEST, max(_SHORTEST, took / _SHARE))
        return look


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
