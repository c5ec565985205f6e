"""The stopwatch that says when a piece of the code in a kernel has used up its time.

Time is CPU time of the kernel's processes, so a busy machine costs the code nothing.
"""

import math
import os
import time
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox_kernel.usage import Usage  # it imports psutil

#: multiples of the CPU limit: the time that code may sleep or wait, and the real time that may pass in all
SLEEP_FACTOR, WALL_FACTOR = 2.0, 20.0
#: seconds after which the time that a kernel's processes have used is read for the first time
_UNNOTICED = 0.05
_CORES = os.cpu_count() or 1


class Breach(StrEnum):
    """The limit that was exceeded. Only CPU says something about the code, however busy the machine was."""

    CPU = "cpu"
    ASLEEP = "asleep"
    WALL = "wall"
    #: so many questions that answering them took too long
    ASKED = "asked"


class Stopwatch:
    """Measures one piece of code, from the moment the stopwatch is created.

    Args:
        usage: the time that the kernel has used so far; None if it can't be measured, so that `seconds` are wall time.
        seconds: CPU time.
        sleep_factor: how many times `seconds` the code may spend neither running nor waiting for a CPU.
        wall_factor: how many times `seconds` may pass in all.
        answering: CPU time that the calling process may use for answers; None for any.
    """

    def __init__(
        self,
        usage: "Callable[[], Usage | None]",
        seconds: float,
        sleep_factor: float = SLEEP_FACTOR,
        wall_factor: float = WALL_FACTOR,
        answering: float | None = None,
    ) -> None:
        self._usage = usage
        self._answered = math.inf if answering is None else time.process_time() + answering
        self._seconds = seconds
        self._sleep = sleep_factor * seconds
        self._wall = wall_factor * seconds
        self._start = time.monotonic()
        self._first: tuple[float, Usage | None] | None = None
        self.breach: Breach | None = None

    def begin(self) -> "Stopwatch":
        """Measure the usage now, instead of at the first call of `is_over`, and return the stopwatch."""
        self._first = time.monotonic(), self._usage()
        return self

    def is_over(self) -> bool:
        """Check the time, and set `breach` if a limit has been exceeded."""
        now = time.monotonic()
        if time.process_time() > self._answered:
            self.breach = Breach.ASKED
            return True
        elapsed = now - self._start
        if self._first is None and elapsed < _UNNOTICED:  # most calls have ended by then
            return False
        since, first = self._first or (now, self._usage())
        self._first = since, first
        if elapsed * _CORES < min(self._seconds, self._sleep):
            return False
        used = self._usage()
        if first is None or used is None:
            self.breach = Breach.WALL if elapsed > self._seconds else None
        elif used.cpu - first.cpu > self._seconds:
            self.breach = Breach.CPU
        elif elapsed > self._wall:
            self.breach = Breach.WALL
        elif (
            first.queued is not None and used.queued is not None
        ):  # else sleeping and waiting for a CPU look the same
            slept = now - since - (used.cpu - first.cpu) - (used.queued - first.queued)
            if slept > self._sleep:
                self.breach = Breach.ASLEEP
        return self.breach is not None

    def follow_up(self, seconds: float) -> "Stopwatch":
        return Stopwatch(self._usage, seconds)

    @property
    def reason(self) -> str:
        """The end of a sentence about the code, once the time is up: "ran for more than 5 s"."""
        if self.breach is Breach.ASKED:
            return "called the functions that it is tried on too often"
        if self.breach is Breach.ASLEEP:
            return f"slept or waited for more than {self._sleep:g} s"
        if self.breach is Breach.WALL and self._first and self._first[1]:
            return f"took more than {self._wall:g} s in all"
        return f"ran for more than {self._seconds:g} s"
