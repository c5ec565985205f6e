"""Filters of the feedback page's template."""

from typing import Any

from nbformat import NotebookNode

from coursekit.checks.results import STATUSES, SubmissionResult
from coursekit.nbgrader_plugin.verdict import marked

__all__ = ["first_thing", "marked", "status_sentence"]


def status_sentence(status: str) -> str:
    return STATUSES[status]


def first_thing(values: dict[str, Any], cell: NotebookNode) -> str:
    """What the student should look at first in an exercise: the first check that did not pass."""
    mark = cell.metadata.nbgrader
    if mark.get("solution"):
        return "Graded by hand." if mark.get("score") is not None else "Waits to be graded by hand."
    exercise = SubmissionResult.from_dict(values).exercise(mark.grade_id)
    if exercise is None:
        return "Not graded."
    missed = [check for check in exercise.checks if check.outcome != "passed"]
    if not missed:
        return "All checks passed."
    if exercise.unanswered:
        return "Not answered."
    named = [check.diagnosis for check in missed if check.diagnosis]
    return named[0] if named else missed[0].message or missed[0].sentence
