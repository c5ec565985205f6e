"""Running a class and looking at it from outside, student by student."""

import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import psutil

from .attack import Turn

_EVERY = 0.05


def graded_class(
    command: list[str], folder: Path, environment: dict[str, str], seconds: float
) -> dict[str, Turn]:
    """Run `autograde`, and give each student's turn: what was reported, how long it took, what it used."""
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    watch = _Watch(process.pid)
    threading.Thread(target=watch.look, daemon=True).start()
    threading.Thread(target=watch.end_if_stuck, args=(process, seconds), daemon=True).start()
    turns: dict[str, Turn] = {}
    try:
        assert process.stderr
        for line in process.stderr:
            watch.said.append(line.rstrip())
            if found := re.match(r"\S+  (.+?): (\w.*, .*)", line):
                turns[found[1]] = watch.turn(found[2])
        process.wait()
    finally:
        watch.done = True
    turns[""] = watch.turn(f"{process.returncode} " + "\n".join(watch.said[-20:]))
    return turns


class _Watch:
    def __init__(self, pid: int) -> None:
        self.done = False
        self.said: list[str] = []
        self._process = psutil.Process(pid)
        self._begin()

    def _begin(self) -> None:
        self._started, self._free = time.monotonic(), psutil.virtual_memory().available
        self._current = Turn()

    def turn(self, line: str) -> Turn:
        """End of a student's turn."""
        ended = self._current
        ended.line, ended.seconds = line, time.monotonic() - self._started
        self._begin()
        return ended

    def end_if_stuck(self, process: subprocess.Popen[str], seconds: float) -> None:
        """End a class of which nothing was heard for so long."""
        while process.poll() is None:
            time.sleep(0.5)
            if time.monotonic() - self._started > seconds:
                os.killpg(process.pid, signal.SIGKILL)

    def look(self) -> None:
        while not self.done:
            current = self._current
            try:
                current.grader = max(current.grader, self._process.memory_info().rss / 2**20)
                current.processes = max(current.processes, len(self._process.children(recursive=True)))
            except psutil.Error:
                pass
            current.taken = max(current.taken, (self._free - psutil.virtual_memory().available) / 2**20)
            time.sleep(_EVERY)
