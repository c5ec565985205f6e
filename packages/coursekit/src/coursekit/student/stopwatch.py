"""When a cell, a call or a submission has had its time.

The limit is processor time of the kernel's processes, so a busy machine takes nothing from anybody.
"""

import math
import os
import time
from collections.abc import Callable
from enum import StrEnum

from sandbox_kernel.usage import Usage

#: multiples of the limit that code may sleep or wait, and may take in all
SLEEP_FACTOR, WALL_FACTOR = 2.0, 20.0
_CORES = os.cpu_count() or 1


class Breach(StrEnum):
    """Which limit was passed. Only the first says something about the code, whatever the machine was doing."""

    CPU = "cpu"
    ASLEEP = "asleep"
    WALL = "wall"


class Stopwatch:
    """Measures one piece of a student's code from the moment it is made.

    Args:
        usage: gives what the kernel has used so far; None where nothing is known of its processes, so that
            `seconds` are those of a clock on the wall.
        seconds: of processor time.
        sleep_factor: how many times `seconds` the code may spend neither running nor waiting for a processor.
        wall_factor: how many times `seconds` may pass in all.
    """

    def __init__(
        self,
        usage: Callable[[], Usage | None],
        seconds: float,
        sleep_factor: float = SLEEP_FACTOR,
        wall_factor: float = WALL_FACTOR,
    ) -> None:
        self._usage = usage
        self.seconds = seconds
        self._sleep = sleep_factor * seconds
        self._wall = wall_factor * seconds
        self._start = time.monotonic()
        self._first: tuple[float, Usage | None] | None = None
        self.breach: Breach | None = None

    def begin(self) -> "Stopwatch":
        """Count from what is used now, not from the first look, which comes a moment later and costs nothing."""
        self._first = time.monotonic(), self._usage()
        return self

    def over(self) -> bool:
        """Look at the time; the answer is in `breach` as well."""
        now = time.monotonic()
        if self._first is None:
            self._first = now, self._usage()
        elapsed = now - self._start
        if elapsed * _CORES < min(self.seconds, self._sleep):
            return False
        since, first = self._first
        used = self._usage()
        if first is None or used is None:
            self.breach = Breach.WALL if elapsed > self.seconds else None
        elif used.cpu - first.cpu > self.seconds:
            self.breach = Breach.CPU
        elif elapsed > self._wall:
            self.breach = Breach.WALL
        elif self._slept(now - since, first, used) > self._sleep:
            self.breach = Breach.ASLEEP
        return self.breach is not None

    def again(self, seconds: float) -> "Stopwatch":
        """A stopwatch for what follows in the same kernel."""
        return Stopwatch(self._usage, seconds)

    @staticmethod
    def _slept(elapsed: float, first: Usage, used: Usage) -> float:
        if first.queued is None or used.queued is None:
            return -math.inf  # it can't be told from waiting for a processor
        return elapsed - (used.cpu - first.cpu) - (used.queued - first.queued)

    @property
    def reason(self) -> str:
        """What the code did, to go on from "it", once the time is over."""
        if self.breach is Breach.ASLEEP:
            return f"slept or waited for more than {self._sleep:g} s"
        if self.breach is Breach.WALL and self._wall != self.seconds and self._first and self._first[1]:
            return f"took more than {self._wall:g} s in all"
        return f"ran past {self.seconds:g} s"
