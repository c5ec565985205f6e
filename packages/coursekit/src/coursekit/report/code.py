"""What a student wrote into an answer cell, for people to look at."""

from textwrap import dedent

import nbformat

from coursekit.course import Assignment, find_cell
from coursekit.grading.running_course import RunningCourse

_MOST_LINES, _LONGEST_LINE, _LONGEST_SOURCE = 24, 160, 50_000


def answer_code(course: RunningCourse, assignment: Assignment, student: str, cell: str) -> str:
    """The source of an answer cell as it was graded; empty if it is not there."""
    for path in sorted(course.autograded(student, assignment.name).glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        found = find_cell(notebook, cell)
        if found is not None:
            return found.source
    return ""


def excerpt(assignment: Assignment, cell: str, source: str) -> str:
    """The lines of an answer that are not those that were handed out."""
    released = {line.strip() for line in _released(assignment, cell).splitlines()}
    own = [line for line in source[:_LONGEST_SOURCE].splitlines() if line.strip() not in released]
    lines = [line[:_LONGEST_LINE] for line in dedent("\n".join(own)).splitlines()]
    return "\n".join([*lines[:_MOST_LINES], *(["…"] if len(lines) > _MOST_LINES else [])])


def _released(assignment: Assignment, cell: str) -> str:
    for name in assignment.released_names():
        found = find_cell(assignment.released(name), cell)
        if found is not None:
            return found.source
    return ""
