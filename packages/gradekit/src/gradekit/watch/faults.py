"""Reasons why one hand-in, or all of them, can't be graded, in sentences."""

from pathlib import Path

from gradekit.course import CourseError
from gradekit.nbgrader_plugin.converters import reason_of


class NotGraded(Exception):
    """One hand-in can't be graded; the message says why."""

    what = "not graded"


class NoPage(NotGraded):
    """It is graded and in the gradebook, but its page can't be written or released."""

    what = "graded, but without a page"


class Blocked(Exception):
    """Nothing can be graded until something changes; the message says what."""


def no_space(error: BaseException) -> str:
    """A sentence about a disk that can't be written to."""
    return f"{reason_of(error)}. Free some space or make it writable; nothing is lost, and grading then continues"


def away(error: BaseException) -> str:
    """A sentence about a gradebook that can't be reached."""
    reason = str(error) if isinstance(error, CourseError) else reason_of(error)
    return f"{reason}. Nothing is lost, and grading continues when the gradebook can be reached"


def gone(inbound: Path) -> str:
    """A sentence about an exchange that doesn't exist."""
    return f"{inbound} does not exist; waiting for it. Mount it, or create it with `nbgrader release_assignment NAME`"
