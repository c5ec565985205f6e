"""In formgrader: show the rubric and what is uncertain above the answer to grade, and only what is sanitized, in limited time."""

import re
from html import escape
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode, v4
from nbgrader.coursedir import CourseDirectory

from gradekit.course.cells import grade_id, is_answer_cell, is_test_cell, nbgrader_metadata
from gradekit.course.configuration import course_in
from gradekit.course.printing import shortened
from gradekit.course.rubrics import RUBRIC, rubric_items
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.page import PageBudget
from gradekit.page.check_table import check_output
from gradekit.page.displayed import (
    OF_DISPLAYED,
    OF_PAGE,
    PAGE_CHARACTERS,
    PAGE_SECONDS,
    Displayed,
    Pictures,
    attached_only,
    plain_figure,
    text_and_pictures,
)
from gradekit.page.markdown import highlighted_code, safe_markdown
from gradekit.verdict.results import Status, SubmissionResult

#: in the metadata of the rubric's cell, for the template: the answer's grade_id, and the items that a grader can tick
MARK = "gradekit_rubric"
#: texts of a page that name a student or a file, who may have chosen them
_OF_PEOPLE = ("student", "last_name", "first_name", "notebook_path", "notebook_id", "assignment_id")
#: characters shown of a cell that exceeds the budget
_BEGINNING = 500
_FORMATS = re.compile(r"[\\*\[\]<>!#|~$]")
_MODEL = "<details><summary>Model answer</summary>\n\n{}\n\n</details>"


class ShowRubric(Preprocessor):
    """Shows the rubric and the instructor's answer, from the source notebook, above the student's answer.

    Only graders see them: they are in neither the autograded notebook nor the feedback page.
    """

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        models = self._model_answers(resources)
        result = _result(nb)
        own = _check_tables(nb, result)
        cells = []
        for cell in nb.cells:
            cell.metadata.pop(MARK, None)  # a student's cell is no rubric
            if doubts := [doubt.why for doubt in result.doubts if doubt.grade_id == grade_id(cell)]:
                cells.append(v4.new_markdown_cell("\n\n".join(map(_to_the_grader, doubts))))
            _show_attachments(cell)
            if model := models.get(grade_id(cell) or ""):
                cells.append(_rubric_cell(model, grade_id(cell) or ""))
            cells.append(cell)
        nb.cells = cells
        budget = PageBudget(PAGE_SECONDS, PAGE_CHARACTERS)
        _cut_to(budget, nb)
        pictures = resources[OF_PAGE] = Pictures(Path(resources["metadata"]["path"]))
        resources[OF_DISPLAYED] = Displayed(pictures, budget, plain_figure, own)
        for name in _OF_PEOPLE:  # nbgrader's template shows them as they are
            if isinstance(resources.get(name), str):
                resources[name] = escape(resources[name])
        return nb, resources

    def _model_answers(self, resources: ResourcesDict) -> dict[str, NotebookNode]:
        """The instructor's answers to the manually graded cells, by grade_id; empty if there is no source notebook."""
        place = resources["metadata"]
        folders = CourseDirectory(config=self.config)
        # formgrader may have been started in a folder above the course
        roots = [*Path(place["path"]).parents, Path(folders.root)]
        sources = [
            course_in(folders, root).assignment(resources.get("assignment_id", "")).source_folder
            for root in roots
        ]
        found = next((path for up in sources if (path := up / f"{place['name']}.ipynb").is_file()), None)
        cells = nbformat.read(found, as_version=4).cells if found else []
        graded = [cell for cell in cells if is_answer_cell(cell) and nbgrader_metadata(cell).get("grade")]
        return {name: cell for cell in graded if (name := grade_id(cell))}


def _result(nb: NotebookNode) -> SubmissionResult:
    """The result in the notebook's metadata; without doubts and checks if there is none."""
    try:
        return SubmissionResult.from_dict(nb.metadata[RESULT])
    except (KeyError, ValueError):
        return SubmissionResult(Status.UNGRADED)


def _to_the_grader(why: str) -> str:
    """A sentence as a quotation. It may have the name of a file in it, which must not be formatted."""
    return "> **To the grader:** " + _FORMATS.sub(r"\\\g<0>", why)


def _show_attachments(cell: NotebookNode) -> None:
    """Show the pictures that are attached to a cell without being in its text."""
    names = enumerate(attached_only(cell), 1)
    if pictures := "\n\n".join(f"![{number}](attachment:{quote(name)})" for number, name in names):
        cell.source += f"\n\n> **To the grader:** attached to this cell, but not in its text:\n\n{pictures}"


def _check_tables(nb: NotebookNode, result: SubmissionResult) -> frozenset[str]:
    """The tables of checks that autograde wrote into the notebook."""
    if not result.exercises:
        return frozenset()
    tests = (grade_id(cell) or "" for cell in nb.cells if is_test_cell(cell))
    return frozenset(check_output(result, name, nb).data["text/html"] for name in tests)


def _cut_to(budget: PageBudget, nb: NotebookNode) -> None:
    """Cut the cells that exceed the budget. Most are cached, so formgrader does not render them a second time."""
    for cell in nb.cells:
        text = text_and_pictures(cell.source)[0] if cell.cell_type == "markdown" else cell.source
        render = safe_markdown if cell.cell_type == "markdown" else highlighted_code
        if budget.out_of_time or not budget.take(len(render(text))):
            cell.source = shortened(cell.source, _BEGINNING)


def _rubric_cell(model: NotebookNode, answer_cell: str) -> NotebookNode:
    answer, mark, rest = model.source.partition(RUBRIC)
    if model.cell_type == "code":
        answer, mark, rest = f"```python\n{model.source}\n```", "", ""
    items, text = rubric_items(mark + rest)
    parts = [text] if text else []
    parts.append(_MODEL.format(answer.strip()))
    shown = [{"points": item.points, "text": item.text, "line": item.line} for item in items]
    cell: NotebookNode = v4.new_markdown_cell(
        "\n\n".join(parts), metadata={MARK: {"answer": answer_cell, "items": shown}}
    )
    if model.get("attachments"):
        cell["attachments"] = model.attachments
    return cell
