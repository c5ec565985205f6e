"""In formgrader: the rubric stands above the answer that a person grades, and the page takes bounded time."""

from pathlib import Path

import nbformat
import nbgrader
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode, v4
from nbgrader.coursedir import CourseDirectory
from traitlets import Float

from coursekit.course import grade_id, is_answer_cell, nbgrader_metadata
from coursekit.nbgrader_plugin.budget import PageBudget
from coursekit.nbgrader_plugin.markdown import HighlightedCode, harmless_markdown
from coursekit.nbgrader_plugin.page import PAGE_CHARACTERS, PAGE_SECONDS
from coursekit.printing import shortened

TEMPLATE = "coursekit_formgrade"
TEMPLATE_FILE = "formgrade_with_rubric.html.j2"
_THEIRS = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
TEMPLATE_FOLDERS = [str(Path(__file__).parent / "templates"), str(_THEIRS)]
#: begins the second part of a model answer
RUBRIC = "**Rubric"
#: in a cell's metadata, for the template
MARK = "coursekit_rubric"
#: characters of a cell that is cut
_BEGINNING = 500
_MODEL = "<details><summary>Model answer</summary>\n\n{}\n\n</details>"


class ShowRubric(Preprocessor):
    """Puts the instructor's answer from the source notebook above the student's, its rubric first.

    Only into the page that a grader sees: the autograded notebook and the feedback page stay without.
    """

    enabled = True
    page_seconds = Float(PAGE_SECONDS, help="CPU seconds for formatting the cells of a page").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        model = self._model_answers(resources)
        cells = []
        for cell in nb.cells:
            if grade_id(cell) in model:
                cells.append(_for_the_grader(model[grade_id(cell)]))
            cells.append(cell)
        nb.cells = cells
        self._within_budget(nb)
        return nb, resources

    def _within_budget(self, nb: NotebookNode) -> None:
        """Cut the cells for which a page has no time or no room. They are drawn here, and most of them remembered."""
        budget = PageBudget(self.page_seconds, PAGE_CHARACTERS)
        for cell in nb.cells:
            draw = harmless_markdown if cell.cell_type == "markdown" else HighlightedCode()
            if budget.out_of_time or not budget.take(len(draw(cell.source))):
                cell.source = shortened(cell.source, _BEGINNING)

    def _model_answers(self, resources: ResourcesDict) -> dict[str, NotebookNode]:
        """The instructor's answers that a person grades, by name of cell; none if the source isn't there."""
        place = resources["metadata"]
        source = CourseDirectory(config=self.config).source_directory
        below = Path(source, resources.get("assignment_id", ""), f"{place['name']}.ipynb")
        # formgrader may run in a folder above the course's, so that its own idea of the root is another
        found = next((up / below for up in Path(place["path"]).parents if (up / below).is_file()), None)
        cells = nbformat.read(found, as_version=4).cells if found else []
        return {
            grade_id(cell): cell
            for cell in cells
            if is_answer_cell(cell) and nbgrader_metadata(cell).get("grade")
        }


def _for_the_grader(model: NotebookNode) -> NotebookNode:
    answer, mark, rest = model.source.partition(RUBRIC)
    if model.cell_type == "code":
        answer, mark, rest = f"```python\n{model.source}\n```", "", ""
    parts = [mark + rest] if mark else []
    parts.append(_MODEL.format(answer.strip()))
    return v4.new_markdown_cell("\n\n".join(parts), metadata={MARK: True})
