"""What formgrader shows above a manually graded answer."""

from itertools import pairwise

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import v4
from traitlets.config import Config

from gradekit.course.cells import Doubt, find_cell
from gradekit.course.rubrics import RubricItem, rubric_items
from gradekit.nbgrader_plugin import configure
from gradekit.nbgrader_plugin.rubric import MARK, ShowRubric
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.page.displayed import markdown_with_pictures
from gradekit.verdict.results import Status, SubmissionResult

from .written_class import base64_png

PIXEL = base64_png(1)


def shown_to_the_grader(course, notebook):
    """The cells that formgrader adds to ada's notebook, by the grade_id of the answer below each."""
    folder = course.root / "autograded" / "ada" / "01_double"
    place = ResourcesDict(name="double", path=str(folder))
    resources = ResourcesDict(metadata=place, assignment_id="01_double")
    cells = ShowRubric().preprocess(notebook, resources)[0].cells
    return {
        below.metadata.nbgrader.grade_id: cell.source
        for cell, below in pairwise(cells)
        if MARK in cell.metadata
    }


TABLE = """\
It is linear.

**Rubric (5 points)**

| points | idea |
|---|---|
| 2 | it is linear |
| 3 | it is linear, with $a | b$ and <b>a reason</b> |

Half points are possible."""
LIST = "**Rubric (5 points)**\n\n- 2: it is\n  linear\n- 0.5: so\n\n  Not an item."


def test_the_text_of_the_rubric_comes_first_then_the_folded_model_answer_then_the_items(
    tiny_course, tiny_source
):
    find_cell(tiny_source, "why").source = TABLE
    tiny_course.write_source(tiny_source)
    assert shown_to_the_grader(tiny_course, tiny_course.assignment.released("double")) == {
        "why": "**Rubric (5 points)**\n\n\nHalf points are possible.\n\n"
        "<details><summary>Model answer</summary>\n\nIt is linear.\n\n</details>"
    }
    assert rubric_items(TABLE)[0] == [
        RubricItem(2, "it is linear"),
        RubricItem(3, "it is linear, with $a | b$ and <b>a reason</b>"),
    ]


def test_items_may_be_a_list_and_go_on_in_the_next_line():
    items, rest = rubric_items(LIST)
    assert items == [RubricItem(2, "it is linear"), RubricItem(0.5, "so")]
    assert "Not an item." in rest


def test_an_answer_without_a_rubric_has_its_model_answer(tiny_course):
    assert shown_to_the_grader(tiny_course, tiny_course.assignment.released("double")) == {
        "why": "<details><summary>Model answer</summary>\n\nBecause.\n\n</details>"
    }


def test_manually_graded_code_is_shown_as_code(tiny_course, tiny_source):
    find_cell(tiny_source, "double").metadata.nbgrader.update(grade=True, points=2)
    tiny_course.write_source(tiny_source)
    shown = shown_to_the_grader(tiny_course, tiny_course.assignment.released("double"))
    assert "```python\ndef double(x):" in shown["double"]


def test_cells_beyond_the_time_budget_are_cut(tiny_course, monkeypatch):
    monkeypatch.setattr("gradekit.nbgrader_plugin.rubric.PAGE_SECONDS", 0)
    notebook = tiny_course.assignment.released("double")
    notebook.cells.append(v4.new_markdown_cell("x" * 1_000))
    place = ResourcesDict(name="double", path=str(tiny_course.root))
    shown = ShowRubric().preprocess(notebook, ResourcesDict(metadata=place))[0]
    assert shown.cells[-1].source == "x" * 500 + "…"


HTML = '"><img src=x onerror="evil()">'


def page_of(course, notebook, resources):
    """formgrader's page of ada's notebook."""
    config = Config()
    configure(config)
    path = course.root / "autograded" / "ada" / "01_double" / "double.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    resources = {"assignment_id": "01_double", "notebook_id": "double", "index": 0, "total": 1} | resources
    html, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    return html, BeautifulSoup(html, "html.parser")


def test_the_items_are_checkboxes_with_a_name_and_markup_in_them_is_text(tiny_course, tiny_source):
    find_cell(tiny_source, "why").source = f"Yes.\n\n**Rubric**\n\n- 2: {HTML}\n- 3: *so*"
    tiny_course.write_source(tiny_source)
    notebook = tiny_course.assignment.released("double")
    item = {"points": HTML, "line": HTML, "text": HTML}
    for cell in notebook.cells:  # a student writes metadata as they like
        cell.metadata[MARK] = {"answer": HTML, "items": [item]}
    _, page = page_of(tiny_course, notebook, {"student": "ada", "last_name": "", "first_name": ""})
    (fieldset,) = page.find_all("fieldset")
    assert fieldset["data-answer"] == "why"
    boxes = fieldset.find_all("input", type="checkbox")
    assert [box["value"] for box in boxes] == [f"* +2: {HTML}", "* +3: *so*"]
    assert [box["data-points"] for box in boxes] == ["2.0", "3.0"]
    assert [box.parent.name for box in boxes] == ["label", "label"]
    assert [box.parent.text.split()[:2] for box in boxes] == [["1.", "(2)"], ["2.", "(3)"]]
    assert boxes[1].parent.find("em").text == "so" and boxes[1].parent.find("p") is None
    assert page.find_all(onerror=True) == []


@pytest.mark.parametrize(
    "name", ["student", "last_name", "first_name", "notebook_path", "notebook_id", "assignment_id"]
)
def test_names_are_text_on_the_page_in_formgrader(tiny_course, name):
    people = {"student": "ada", "last_name": "", "first_name": ""}
    if name.endswith("_name"):  # the page shows both, or neither
        people |= {"last_name": "Lovelace", "first_name": "Ada"}
    html, page = page_of(tiny_course, tiny_course.assignment.released("double"), people | {name: HTML})
    assert "onerror" in html  # as text
    assert page.find_all(onerror=True) == []
    assert not any("onerror" in script.text and HTML in script.text for script in page.find_all("script"))


def test_without_the_source_notebook_nothing_is_added(tiny_course):
    notebook = tiny_course.assignment.released("double")
    (tiny_course.root / "source" / "01_double" / "double.ipynb").unlink()
    assert shown_to_the_grader(tiny_course, notebook) == {}


def test_formgrader_says_above_an_answer_why_it_is_uncertain_and_shows_what_is_only_attached(tiny_course):
    notebook = tiny_course.assignment.released("double")
    why = "The answer cell `why` is empty, but something else may be its answer: the file <b>*a*.txt"
    result = SubmissionResult(
        Status.GRADED, doubts=[Doubt("why", why), Doubt("test_double", "Another reason")]
    )
    notebook.metadata[RESULT] = result.as_dict()
    find_cell(notebook, "why").attachments = {"a b.png": {"image/png": PIXEL}}
    place = ResourcesDict(name="double", path=str(tiny_course.root / "autograded" / "ada" / "01_double"))
    resources = ResourcesDict(metadata=place, assignment_id="01_double")
    notebook, resources = ShowRubric().preprocess(notebook, resources)
    at = notebook.cells.index(find_cell(notebook, "why"))
    assert MARK in notebook.cells[at - 1].metadata
    html = [
        markdown_with_pictures({"cell": cell, "resources": resources}, cell.source) for cell in notebook.cells
    ]
    assert "<strong>To the grader:</strong> The answer cell <code>why</code> is empty" in html[at - 2]
    assert "the file &lt;b&gt;*a*.txt" in html[at - 2]
    assert f'src="data:image/png;base64,{PIXEL}"' in html[at]
    test = notebook.cells.index(find_cell(notebook, "test_double"))
    assert "Another reason" in html[test - 1]
