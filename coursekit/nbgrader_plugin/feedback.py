"""In generate_feedback: what the page's template asks for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades

from coursekit.checks.results import STATUSES, SubmissionResult
from coursekit.course import grade_id
from coursekit.nbgrader_plugin.verdict import marked

TEMPLATE = "coursekit_feedback"
TEMPLATE_FILE = "feedback_with_summary.html.j2"
_THEIRS = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
TEMPLATE_FOLDERS = [str(Path(__file__).parent / "templates"), str(_THEIRS)]
#: nbgrader's own comment on an answer cell that is as it was handed out
NO_RESPONSE = "No response."


class FeedbackExporter(HTMLExporter):
    """nbgrader's feedback page with a summary on top.

    A class of its own, since formgrader makes its pages with HTMLExporter under the same configuration.
    """

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        yield from super().default_filters()
        yield from {"marked": marked, "status_sentence": status_sentence, "first_thing": first_thing}.items()


class GetGradesAndState(GetGrades):
    """Tells the page, beside scores and comments, what still waits for a person."""

    def _get_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            grade_id(cell), self.notebook_id, self.assignment_id, self.student_id
        )
        cell.metadata.nbgrader["needs_manual_grade"] = grade.needs_manual_grade


def status_sentence(status: str) -> str:
    return STATUSES[status]


def first_thing(values: dict[str, Any], cell: NotebookNode) -> str:
    """What the student should look at first in an exercise: the first check that did not pass."""
    mark = cell.metadata.nbgrader
    if mark.get("solution"):
        if mark.get("needs_manual_grade"):
            return "Waits to be graded by hand."
        return "Not answered." if mark.get("comment") == NO_RESPONSE else "Graded by hand."
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
