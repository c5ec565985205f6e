"""Limits on what one check may use in the grader: CPU time and memory.

The values that a check compares come from untrusted code. Subtracting a row from a column results in a square,
so a reply of a few megabytes can become gigabytes.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import NoReturn

from gradekit.course.operating_system import cpu_alarm, data_limit

CHECK_SECONDS = 60
CHECK_MEBIBYTES = 1024

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
    def stop() -> NoReturn:
        raise CheckOverrun(f"more than {seconds:g} s of CPU time")

    in_main = threading.current_thread() is threading.main_thread()
    with cpu_alarm(seconds, stop) if in_main else nullcontext():
        yield


@contextmanager
def _bounded_memory(mebibytes: int) -> Iterator[None]:
    try:
        with data_limit(mebibytes):
            yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            raise CheckOverrun(f"more than {mebibytes} MiB of memory") from None
        raise
