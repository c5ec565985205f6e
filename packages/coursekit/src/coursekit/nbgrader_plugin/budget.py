"""What drawing a page may cost: CPU time and memory of a process of its own, and a share for each cell."""

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

from coursekit.printing import printable

MEBIBYTE = 2**20


class TooCostly(Exception):
    """What was to be drawn took too much time or memory, became too large, or failed. The message says which."""


def drawn_apart(draw: Callable[[], str], seconds: float, memory: int, largest: int) -> str:
    """What `draw` returns, called in a child process.

    Args:
        draw: its text is the only thing that gets out of the child.
        seconds: of CPU time; on a busy machine it takes longer, and nothing is lost by that.
        memory: MiB that the child may take beyond what this process has.
        largest: bytes of the text.

    Raises:
        TooCostly: one of the limits was reached, or `draw` raised.
    """
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        _draw_and_end(draw, into, seconds, memory)
    os.close(into)
    try:
        with open(out, "rb") as file:
            drawn = file.read(largest + 1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            # whatever it still does is of no use: all of its text is here, or it's too much of it
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return _checked(drawn, status, seconds, largest)


def _checked(drawn: bytes, status: int, seconds: float, largest: int) -> str:
    if len(drawn) > largest:
        raise TooCostly(f"it would be larger than {largest / MEBIBYTE:.3g} MiB")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        raise TooCostly(f"it takes more than {seconds:g} s of CPU time")
    text = drawn.decode(errors="replace")
    if text.endswith(_WHOLE):
        return text.removesuffix(_WHOLE)
    raise TooCostly(printable(text.removesuffix(_FAILED)) if text.endswith(_FAILED) else "its process ended")


#: the last character says that all of the text is here, or that it is the reason why there is none
_WHOLE, _FAILED = "\0", "\1"


def _draw_and_end(draw: Callable[[], str], into: int, seconds: float, memory: int) -> None:
    """In the child: nothing of what the parent would do at its end is done here."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the parent says in one sentence what went wrong
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process even within C code
        signal.setitimer(signal.ITIMER_PROF, seconds)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory(memory)
        try:
            text = draw() + _WHOLE
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
    """What the cells of one page may cost together.

    Args:
        seconds: of CPU time of this process and the children that it waited for.
        characters: of HTML.
    """

    def __init__(self, seconds: float, characters: int) -> None:
        self._until = _cpu_seconds() + seconds
        self._left = characters

    @property
    def out_of_time(self) -> bool:
        return _cpu_seconds() > self._until

    def take(self, characters: int) -> bool:
        """True if there is still room for so many; what there is no room for is not counted."""
        if characters > self._left:
            return False
        self._left -= characters
        return True


def _cpu_seconds() -> float:
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system
