"""Limits on rendering: a child process with limited CPU time and memory, and the budget of a page."""

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

from gradekit.course.printing import printable

MEBIBYTE = 2**20


class TooCostly(Exception):
    """Rendering took too much time or memory, its result was too large, or it failed. The message says which."""


def render_in_child(render: Callable[[], str], seconds: float, memory: int, max_bytes: int) -> str:
    """Call `render` in a child process and return its result.

    Args:
        render: returns a text; nothing else leaves the child.
        seconds: CPU time, so a busy machine makes no difference.
        memory: MiB that the child may use in addition to what this process has.
        max_bytes: size of the text.

    Raises:
        TooCostly: a limit was exceeded, or `render` raised an exception.
    """
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        _render_and_exit(render, into, seconds, memory)
    os.close(into)
    try:
        with open(out, "rb") as file:
            received = file.read(max_bytes + 1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            # its text has arrived, or is too large
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return _checked(received, status, seconds, max_bytes)


def _checked(received: bytes, status: int, seconds: float, max_bytes: int) -> str:
    if len(received) > max_bytes:
        raise TooCostly(f"it would be larger than {max_bytes / MEBIBYTE:.3g} MiB")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        raise TooCostly(f"it takes more than {seconds:g} s of CPU time")
    text = received.decode(errors="replace")
    if text.endswith(_COMPLETE):
        return text.removesuffix(_COMPLETE)
    raise TooCostly(printable(text.removesuffix(_FAILED)) if text.endswith(_FAILED) else "its process ended")


#: the last character: the text is complete, or it is the reason why rendering failed
_COMPLETE, _FAILED = "\0", "\1"


def _render_and_exit(render: Callable[[], str], into: int, seconds: float, memory: int) -> None:
    """Runs in the child, which exits without the parent's cleanup."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the parent reports errors
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # kills the process even inside C code
        signal.setitimer(signal.ITIMER_PROF, seconds)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory(memory)
        try:
            text = render() + _COMPLETE
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:200] + _FAILED
        with open(into, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
    finally:
        os._exit(0)


def _limit_memory(mebibytes: int) -> None:
    status = Path("/proc/self/status")
    if status.exists():
        held = next(line for line in status.read_text().splitlines() if line.startswith("VmData:"))
        limit = int(held.split()[1]) * 1024 + mebibytes * MEBIBYTE
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(
            resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
        )


class PageBudget:
    """The time and length that all cells of one page may use together.

    Args:
        seconds: CPU time of this process and of the children that it has waited for.
        characters: length of the HTML.
    """

    def __init__(self, seconds: float, characters: int) -> None:
        self._until = _cpu_seconds() + seconds
        self._left = characters

    @property
    def out_of_time(self) -> bool:
        return _cpu_seconds() > self._until

    def take(self, characters: int) -> bool:
        """Reserve room for this many characters; returns False, and reserves nothing, if there isn't enough."""
        if characters > self._left:
            return False
        self._left -= characters
        return True


def _cpu_seconds() -> float:
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system
