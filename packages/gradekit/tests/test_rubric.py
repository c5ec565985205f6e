"""What formgrader shows above a manually graded answer."""

from itertools import pairwise

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import v4
from traitlets.config import Config

from gradekit.course.cells import find_cell
from gradekit.nbgrader_plugin import configure
from gradekit.nbgrader_plugin.rubric import MARK, ShowRubric


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


def test_the_rubric_comes_first_and_the_model_answer_is_folded(tiny_course, tiny_source):
    find_cell(tiny_source, "why").source = "It is linear.\n\n**Rubric (5 points)**\n\n- 5: linear"
    tiny_course.write_source(tiny_source)
    assert shown_to_the_grader(tiny_course, tiny_course.assignment.released("double")) == {
        "why": "**Rubric (5 points)**\n\n- 5: linear\n\n"
        "<details><summary>Model answer</summary>\n\nIt is linear.\n\n</details>"
    }


def test_an_answer_without_a_rubric_has_its_model_answer(tiny_course):
    assert shown_to_the_grader(tiny_course, tiny_course.assignment.released("double")) == {
        "why": "<details><summary>Model answer</summary>\n\nBecause.\n\n</details>"
    }


def test_manually_graded_code_is_shown_as_code(tiny_course, tiny_source):
    find_cell(tiny_source, "double").metadata.nbgrader.update(grade=True, points=2)
    tiny_course.write_source(tiny_source)
    shown = shown_to_the_grader(tiny_course, tiny_course.assignment.released("double"))
    assert "```python\ndef double(x):" in shown["double"]


def test_cells_beyond_the_time_budget_are_cut(tiny_course):
    notebook = tiny_course.assignment.released("double")
    notebook.cells.append(v4.new_markdown_cell("x" * 1_000))
    place = ResourcesDict(name="double", path=str(tiny_course.root))
    shown = ShowRubric(page_seconds=0).preprocess(notebook, ResourcesDict(metadata=place))[0]
    assert shown.cells[-1].source == "x" * 500 + "…"


HTML = '"><img src=x onerror="evil()">'


@pytest.mark.parametrize(
    "name", ["student", "last_name", "first_name", "notebook_path", "notebook_id", "assignment_id"]
)
def test_names_are_text_on_the_page_in_formgrader(tiny_course, name):
    config = Config()
    configure(config)
    folder = tiny_course.root / "autograded" / "ada" / "01_double"
    folder.mkdir(parents=True)
    path = folder / "double.ipynb"
    nbformat.write(tiny_course.assignment.released("double"), path)
    people = {"student": "ada", "last_name": "", "first_name": ""}
    if name.endswith("_name"):  # the page shows both, or neither
        people |= {"last_name": "Lovelace", "first_name": "Ada"}
    resources = {"assignment_id": "01_double", "notebook_id": "double", "index": 0, "total": 1, **people}
    html, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources | {name: HTML})
    assert "onerror" in html  # as text
    page = BeautifulSoup(html, "html.parser")
    assert page.find_all(onerror=True) == []
    assert not any("onerror" in script.text and HTML in script.text for script in page.find_all("script"))


def test_without_the_source_notebook_nothing_is_added(tiny_course):
    notebook = tiny_course.assignment.released("double")
    (tiny_course.root / "source" / "01_double" / "double.ipynb").unlink()
    assert shown_to_the_grader(tiny_course, notebook) == {}
