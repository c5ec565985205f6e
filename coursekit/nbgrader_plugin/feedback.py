"""In generate_feedback: a graded notebook becomes a page that needs no script and no network."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades
from traitlets import default

from coursekit.checks.results import GRADED, KERNEL_DIED, STATUSES, SubmissionResult
from coursekit.course import CourseError, grade_id
from coursekit.nbgrader_plugin.folders import course_of
from coursekit.nbgrader_plugin.page import PageParts
from coursekit.nbgrader_plugin.run import RESULT
from coursekit.nbgrader_plugin.summary import first_things, rows
from coursekit.nbgrader_plugin.verdict import marked

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

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: ResourcesDict | None = None, **options: Any
    ) -> tuple[str, ResourcesDict]:
        nb, resources = super().from_notebook_node(nb, resources, **options)
        names = resources["nbgrader"]
        kept = nb.metadata.get(RESULT)
        result = SubmissionResult.from_dict(kept) if kept else SubmissionResult(GRADED)
        table = rows(nb.cells, result)
        page = _TEMPLATES.get_template("feedback.html.j2").render(
            names=names,
            result=result,
            # of what the grader failed on, the notes say more than its status
            sentence=""
            if result.nothing_graded and result.status == KERNEL_DIED
            else STATUSES[result.status],
            rows=table,
            first=first_things(result, table),
            waiting=0 if result.nothing_graded else sum(row.points for row in table if row.score is None),
            parts=PageParts(nb, result, self._given(names)).parts(),
        )
        return page, resources

    def _given(self, names: dict[str, Any]) -> frozenset[str]:
        assignment = course_of(self.config).assignment(names["assignment"])
        try:
            cells = assignment.released(names["notebook"]).cells
        except CourseError:
            return frozenset()  # then everything is shown as the student's own
        return frozenset(cell.source.strip() for cell in cells)


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
