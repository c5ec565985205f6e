"""Limits on what one check may use in the grader: CPU time and memory.

The values that a check compares come from untrusted code. Subtracting a row from a column results in a square,
so a reply of a few megabytes can become gigabytes.
"""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CHECK_SECONDS = 60
CHECK_MEBIBYTES = 1024

_PAGES = "/proc/self/statm"
_one_at_a_time = threading.Lock()


class CheckOverrun(Exception):
    """A check exceeded a limit. `needed` completes the sentence "it needs …"."""

    def __init__(self, needed: str) -> None:
        super().__init__(needed)
        self.needed = needed


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
    try:
        with _bounded_time(seconds), _bounded_memory(mebibytes):
            yield
    finally:
        _one_at_a_time.release()


@contextmanager
def _bounded_time(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    running = True

    def stop(number: int, frame: FrameType | None) -> None:
        if running:
            raise CheckOverrun(f"more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)  # again each second, in case something caught the first
    try:
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _bounded_memory(mebibytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _data_bytes() + mebibytes * 2**20
    set_here = wanted > mebibytes * 2**20 and (soft == resource.RLIM_INFINITY or wanted < soft)
    if set_here:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            raise CheckOverrun(f"more than {mebibytes} MiB of memory") from None
        raise
    finally:
        if set_here:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data_bytes() -> int:
    """The private memory of this process; 0 if unknown."""
    try:
        with open(_PAGES) as file:
            return int(file.read().split()[5]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
