"""The limits of a submission, the stopwatch that says when a piece of its code has used up its time, and `bounded`.

Time is CPU time of the kernel's processes, so a busy machine costs no student anything. `bounded` limits what one check
may use in the grader: the values that it compares come from untrusted code. Subtracting a row from a column results in
a square, so a reply of a few megabytes can become gigabytes.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

from gradekit.course.operating_system import cpu_alarm, data_limit

if TYPE_CHECKING:
    from sandbox_kernel.usage import Usage


#: multiples of the CPU limit: the time that code may sleep or wait, and the real time that may pass in all
SLEEP_FACTOR, WALL_FACTOR = 2.0, 20.0
#: the same for a whole submission
_SUBMISSION_SLEEP_FACTOR, _SUBMISSION_WALL_FACTOR = 1.0, 3.0
#: CPU time of the grader in which a check answers what a student's test asks of the functions that it is tried on. A check
#: is stopped at more, wherever it is (`gradekit.session.limits`), and then the kernel can't be used any more.
JUDGING_SECONDS = 40.0
#: seconds after which the time that a kernel's processes have used is read for the first time
_UNNOTICED = 0.05
#: default for the seconds that all second tries of an assignment may take together
REPEAT_BUDGET = 600.0
_CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Limits:
    """The limits of a submission, and how its kernel is started.

    The statements `preload` are run before its notebook, and `torch` is imported, where it is installed.
    `cold_fallback`: whether a kernel may start cold if it can't be forked.

    Seconds are CPU time, except for `startup_seconds`, which is wall time. A call of a check's helper code, which
    in turn calls the student's, has `helper_seconds` more. Memory is in MiB, output in characters.
    """

    cell_seconds: float = 30
    call_seconds: float = 5
    helper_seconds: float = 30
    submission_seconds: float = 600
    startup_seconds: float = 300
    memory: int = 2048
    cell_output: int = 100_000
    preload: tuple[str, ...] = ()
    torch: bool = True
    cold_fallback: bool = True

    @property
    def longest_seconds(self) -> float:
        """The wall time that a submission can take, including two starts of its kernel."""
        return _SUBMISSION_WALL_FACTOR * self.submission_seconds + 2 * self.startup_seconds


class Breach(StrEnum):
    """The limit that was exceeded. Only CPU says something about the code, however busy the machine was."""

    CPU = "cpu"
    ASLEEP = "asleep"
    WALL = "wall"
    #: so many questions that answering them took too long
    ASKED = "asked"


class Stopwatch:
    """Measures one piece of a student's code, from the moment the stopwatch is created.

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

    @classmethod
    def of_submission(cls, usage: "Callable[[], Usage | None]", limits: Limits) -> "Stopwatch":
        seconds = limits.submission_seconds
        return cls(usage, seconds, _SUBMISSION_SLEEP_FACTOR, _SUBMISSION_WALL_FACTOR).begin()

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


CHECK_SECONDS = 60
CHECK_MEBIBYTES = 1024

_one_at_a_time = threading.Lock()


class CheckOverrun(Exception):
    """A check exceeded a limit. The message completes the sentence "it needs …"."""


@contextmanager
def bounded(seconds: float = CHECK_SECONDS, mebibytes: int = CHECK_MEBIBYTES) -> Iterator[None]:
    """Stop the code inside if it uses more CPU time or memory than this.

    Both are counted for the whole process, and a process started inside inherits the memory limit. Memory is not
    limited where /proc is missing. Time is limited in the main thread only, since signals arrive there. If several
    threads enter at once, only the first is limited.

    Raises:
        CheckOverrun: a limit was exceeded.
    """
    if not _one_at_a_time.acquire(blocking=False):
        yield
        return

    def stop() -> NoReturn:
        raise CheckOverrun(f"more than {seconds:g} s of CPU time")

    in_main = threading.current_thread() is threading.main_thread()
    try:
        with cpu_alarm(seconds, stop) if in_main else nullcontext(), data_limit(mebibytes):
            yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            raise CheckOverrun(f"more than {mebibytes} MiB of memory") from None
        raise
    finally:
        _one_at_a_time.release()
