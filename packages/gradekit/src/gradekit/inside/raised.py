"""Describes exceptions in the student's code for the agent; sent into the kernel with it."""

import linecache
import traceback
from typing import Any

from gradekit.inside.messages import MessageError

_MAX_TEXT = 2000


class UndefinedName(Exception):
    """The notebook defines no such name."""


def describe_error(error: BaseException) -> dict[str, Any]:
    """Type, message, the lines of the notebook's own cells, innermost last, and the bases of a user-defined class."""
    if isinstance(error, UndefinedName):
        return {"type": "UndefinedName", "message": str(error), "lines": [], "bases": []}
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        [frame.lineno or 0, linecache.getline(frame.filename, frame.lineno or 0).strip()[:_MAX_TEXT]]
        for frame in frames
        if "ipykernel_" in frame.filename
    ]
    try:
        message = str(error)
    except BaseException:
        message = ""
    kind = "MessageError" if isinstance(error, MessageError) else type(error).__name__
    bases = [
        base.__name__[:100] for base in type(error).__mro__[1:-1] if type(error).__module__ != "builtins"
    ]
    return {"type": kind[:100], "message": message[:_MAX_TEXT], "lines": lines[-5:], "bases": bases[:20]}
