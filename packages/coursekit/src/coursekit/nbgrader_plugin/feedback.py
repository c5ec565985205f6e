"""In generate_feedback: a graded notebook becomes a page that needs no script and no network."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.converters import BaseConverter
from nbgrader.preprocessors import GetGrades
from traitlets import default
from traitlets.log import get_logger

from coursekit.checks.results import STATUSES, Status, SubmissionResult
from coursekit.course import CourseError, grade_id
from coursekit.nbgrader_plugin.budget import TooCostly, drawn_apart
from coursekit.nbgrader_plugin.converters import find_folders
from coursekit.nbgrader_plugin.folders import Stop, course_of
from coursekit.nbgrader_plugin.markdown import HighlightedCode, harmless_markdown
from coursekit.nbgrader_plugin.page import PageParts, Part
from coursekit.nbgrader_plugin.run import RESULT
from coursekit.nbgrader_plugin.summary import FirstThing, first_things, rows
from coursekit.nbgrader_plugin.verdict import marked
from coursekit.printing import printable

#: CPU seconds, MiB and bytes of a page, beyond which it shows the points only. Its cells end far below that: see page.py
PAGE_SECONDS, PAGE_MEMORY, PAGE_BYTES = 30.0, 1_024, 64 * 2**20
#: lines of what was repaired or did not run, and characters of each
MAX_NOTES, MAX_NOTE = 50, 600
NOT_DRAWN = "Your notebook can't be shown here: formatting it takes too much time or memory. Your points are not affected."
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["marked"] = marked


class FeedbackExporter(Exporter):
    """A notebook that `coursekit` or `nbgrader` graded, as one HTML file."""

    output_mimetype = "text/html"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(self.parent, BaseConverter):
            find_folders(self.parent, self.parent.coursedir.autograded_directory)

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: ResourcesDict | None = None, **options: Any
    ) -> tuple[str, ResourcesDict]:
        nb, resources = super().from_notebook_node(nb, resources, **options)
        names = dict(resources["nbgrader"])
        given = self._given(names)
        names["student"] = printable(str(names["student"]))
        try:
            page = drawn_apart(lambda: _page(nb, names, given), PAGE_SECONDS, PAGE_MEMORY, PAGE_BYTES)
        except TooCostly as error:
            page = _page_without_cells(nb, names)
            self.log.warning(
                "The feedback page of %s for %s shows the points only: the notebook could not be drawn (%s). "
                "Look at it in autograded/.",
                names["student"],
                names["notebook"],
                error,
            )
        return page, resources

    def _given(self, names: dict[str, Any]) -> frozenset[str]:
        assignment = course_of(self.config).assignment(names["assignment"])
        try:
            cells = assignment.released(names["notebook"]).cells
        except CourseError:
            return frozenset()  # then everything is shown as the student's own
        for cell in cells:  # drawn here, once, for all pages, each of which is drawn in a process of its own
            harmless_markdown(cell.source) if cell.cell_type == "markdown" else HighlightedCode()(cell.source)
        return frozenset(cell.source.strip() for cell in cells)


def _page(nb: NotebookNode, names: dict[str, Any], given: frozenset[str]) -> str:
    result = _result(nb)
    return _rendered(
        nb, names, result, first_things(result, rows(nb.cells, result)), PageParts(nb, result, given).parts()
    )


def _page_without_cells(nb: NotebookNode, names: dict[str, Any]) -> str:
    """The points and the reason, without any text of the student's."""
    return _rendered(nb, names, replace(_result(nb), notes=[], cells=[]), [], [], NOT_DRAWN)


OTHER_VERSION = "This notebook was autograded by another version of coursekit. Run `coursekit autograde`, then this command again."


def _result(nb: NotebookNode) -> SubmissionResult:
    kept = nb.metadata.get(RESULT)
    try:
        result = SubmissionResult.from_dict(kept) if kept else SubmissionResult(Status.GRADED)
    except ValueError:
        get_logger().error(OTHER_VERSION)
        raise Stop(OTHER_VERSION) from None
    return replace(result, notes=_lines(result.notes), cells=_lines(result.cells))


def _lines(notes: list[str]) -> list[str]:
    more = [f"and {len(notes) - MAX_NOTES} more"] if len(notes) > MAX_NOTES else []
    return [printable(" ".join(note[: 2 * MAX_NOTE].split()), MAX_NOTE) for note in notes[:MAX_NOTES]] + more


def _rendered(
    nb: NotebookNode,
    names: dict[str, Any],
    result: SubmissionResult,
    first: list[FirstThing],
    parts: list[Part],
    reason: str = "",
) -> str:
    table = rows(nb.cells, result)
    # of what the grader failed on, the notes say more than its status
    sentence = (
        "" if result.nothing_graded and result.status == Status.KERNEL_DIED else STATUSES[result.status]
    )
    return _TEMPLATES.get_template("feedback.html.j2").render(
        names=names,
        result=result,
        sentence=sentence,
        rows=table,
        first=first,
        waiting=0 if result.nothing_graded else sum(row.points for row in table if row.score is None),
        parts=parts,
        reason=reason,
    )


class GetGradesAndState(GetGrades):
    """Tells the page, beside scores and comments, what still waits for a person.

    When graded again, what has a person's score is marked once more by nbgrader, for a second look. It has its score.
    """

    def _get_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            grade_id(cell), self.notebook_id, self.assignment_id, self.student_id
        )
        by_hand = grade.manual_score is not None
        cell.metadata.nbgrader |= {
            "by_hand": by_hand,
            "needs_manual_grade": grade.needs_manual_grade and not by_hand,
        }
