"""The process of a way, which takes hand-ins and stores them, so that grading goes on whatever happens there."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from gradekit.course.operating_system import kill_session, locked_file
from gradekit.grading.running_course import RunningCourse
from gradekit_watch.hand_in_store import HandInStore, Kept, StoredSource
from gradekit_watch.ways import Look, Refusal

#: a process that ends is started again after this many seconds
AGAIN_SECONDS = 30.0
#: an earlier process needs this long to notice that its parent was killed, and to end
_LOCK_SECONDS = 90.0
_END_SECONDS = 5.0
_TICK = 0.1

_Kept = TypeVar("_Kept", bound=Kept)


class ProcessSource(StoredSource[_Kept]):
    """Hand-ins that a process stores. `what` is not taken if it ends, which `ended` says.

    Args:
        jobs: what `module` reads from its standard input, by the mode that it is started in.
    """

    module: str
    what: str
    ended: str

    def __init__(
        self, course: RunningCourse, store: HandInStore[_Kept, Any], jobs: Mapping[str, Struct]
    ) -> None:
        super().__init__(course, store)
        self._jobs = jobs
        self._process: subprocess.Popen[bytes] | None = None
        self._again = 0.0

    def start(self, once: bool) -> None:
        self._process = self._started("watch")

    def close(self) -> None:
        if self._process is not None:
            end_process(self._process)
            self._process = None

    def changed(self) -> bool:
        self._keep_running()
        return super().changed()

    def look(self) -> Look:
        look = super().look()
        for problem in self._in_store.problems:
            names = problem.student, problem.assignment, problem.name
            look.refused.append(Refusal(self.place.joinpath(*names[:2]), problem.reason, *names))
        if self._process is not None and self._process.poll() is not None:
            reason = f"{self.ended}: see {self._in_store.log}"
            look.refused.append(Refusal(self.place, reason, name=self.what))
        return look

    def _keep_running(self) -> None:
        """Start the process again if it has ended, but not at once."""
        if self._process is None or self._process.poll() is None:
            return
        if not self._again:
            self._again, self._look_again = time.monotonic() + AGAIN_SECONDS, True
        elif time.monotonic() >= self._again:
            self._process, self._again, self._look_again = self._started("watch"), 0.0, True

    def _started(self, mode: str) -> "subprocess.Popen[bytes]":
        self._in_store.log.parent.mkdir(parents=True, exist_ok=True)
        with self._in_store.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,  # Ctrl-C ends the hand-ins under way first
                cwd="/",
            )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin as job:
            job.write(msgspec.json.encode(self._jobs[mode]))
        return process


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """End a process and what it has started."""
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    kill_session(process.pid)


def held_lock(path: Path, parent: int) -> contextlib.ExitStack | None:
    """The lock of a process whose parent is this one; None if an earlier process keeps it."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while time.monotonic() < deadline and os.getppid() == parent:
        with contextlib.suppress(BlockingIOError):
            return locked_file(path, wait=False)
        time.sleep(_TICK)
    return None
