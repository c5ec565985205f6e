"""The limits of a submission, and `bounded`, which limits what one check may use in the grader.

The values that a check compares come from untrusted code. Subtracting a row from a column results in a square, so a
reply of a few megabytes can become gigabytes.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from gradekit.course.operating_system import cpu_alarm, data_limit
from sandbox_kernel.stopwatch import Stopwatch

if TYPE_CHECKING:
    from sandbox_kernel.usage import Usage

#: multiples of its CPU limit that a whole submission may sleep or wait, and that may pass in all
_SUBMISSION_SLEEP_FACTOR, _SUBMISSION_WALL_FACTOR = 1.0, 3.0
#: CPU time of the grader in which a check answers what a student's test asks of the functions that it is tried on. A check
#: is stopped at more, wherever it is (`gradekit.session.limits`), and then the kernel can't be used any more.
JUDGING_SECONDS = 40.0
#: default for the seconds that all second tries of an assignment may take together
REPEAT_BUDGET = 600.0


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

    def stopwatch(self, usage: "Callable[[], Usage | None]") -> Stopwatch:
        """One for the whole submission, which runs from now on."""
        factors = _SUBMISSION_SLEEP_FACTOR, _SUBMISSION_WALL_FACTOR
        return Stopwatch(usage, self.submission_seconds, *factors).begin()


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
