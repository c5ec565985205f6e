"""A graded notebook as HTML: without scripts or network, in limited time and size.

Here are the limits: a child process with limited CPU time and memory, and the budget of a page.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gradekit.course.operating_system import data_limit, output_of_fork
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
    received, too_long = output_of_fork(partial(_rendered, render, memory), seconds, max_bytes + 1)
    if len(received) > max_bytes:
        raise TooCostly(f"it would be larger than {max_bytes / MEBIBYTE:.3g} MiB")
    if too_long:
        raise TooCostly(f"it takes more than {seconds:g} s of CPU time")
    text = received.decode(errors="replace")
    if text.endswith(_COMPLETE):
        return text.removesuffix(_COMPLETE)
    raise TooCostly(printable(text.removesuffix(_FAILED)) if text.endswith(_FAILED) else "its process ended")


#: the last character: the text is complete, or it is the reason why rendering failed
_COMPLETE, _FAILED = "\0", "\1"


def _rendered(render: Callable[[], str], memory: int) -> bytes:
    try:
        with data_limit(memory):
            return (render() + _COMPLETE).encode("utf-8", "replace")
    except Exception as error:
        return (f"{type(error).__name__}: {error}"[:200] + _FAILED).encode("utf-8", "replace")


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


PAGE_TEMPLATES = Path(__file__).parent / "templates"
