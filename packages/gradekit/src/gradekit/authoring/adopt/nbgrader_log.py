"""Finds in nbgrader's log why it could not convert a notebook: it prints a traceback, and continues."""

import re
from itertools import pairwise

from gradekit.course.printing import shortened

_LOGGED = re.compile(r"^\[[^\]|]+ \| (\w+)\] ", re.MULTILINE)
_FAILED = re.compile(r"There was an error processing assignment: (.+)")
_UNRESPONSIVE = re.compile(r"While processing assignment (.+), the kernel became unresponsive")
#: nbgrader indents a traceback; some classes of packages have other names, such as jupyter_client.kernelspec.NoSuchKernel
_EXCEPTION = re.compile(
    r"^[ \t]*([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b.*|[a-z_][\w.]*\.[A-Z]\w*[a-z]\w*: .*)",
    re.MULTILINE,
)


def failed_submissions(log: str) -> dict[str, str]:
    """Why each submission failed, by the path of its folder."""
    found = {}
    messages = _messages(log)
    for (_, text), (_, following) in pairwise([*messages, ("", "")]):
        if failed := _FAILED.match(text):
            found[failed[1].strip()] = _exception_in(following) or "an error"
        elif unresponsive := _UNRESPONSIVE.match(text):
            found[unresponsive[1].strip()] = "a kernel that ignored the interrupt after the time limit"
    return found


def first_error(log: str) -> str:
    """The first exception in the log, or else its first error, or else its last line."""
    messages = _messages(log)
    errors = [text for level, text in messages if level in ("ERROR", "CRITICAL")]
    lines = [line for line in log.splitlines() if line.strip()] or ["it printed nothing"]
    exceptions = filter(None, map(_exception_in, errors))
    return next(exceptions, "") or next(map(_first_line, errors), "") or lines[-1]


def _messages(log: str) -> list[tuple[str, str]]:
    """The level and the text of each message."""
    starts = list(_LOGGED.finditer(log))
    edges = [*(start.start() for start in starts), len(log)]
    return [(start[1], log[start.end() : end]) for start, end in zip(starts, edges[1:], strict=True)]


def _exception_in(text: str) -> str:
    """The exception that a traceback ends with."""
    lines = _EXCEPTION.findall(text) if "Traceback (most recent call last)" in text else []
    return shortened(lines[-1]) if lines else ""


def _first_line(text: str) -> str:
    return shortened(text.strip().split("\n")[0])
