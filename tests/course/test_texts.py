"""What every notebook offers its readers: figures with descriptions, hints in two steps, questions to think about."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from gradekit.course import Course
from gradekit.course.cells import is_answer_cell, is_demo

ASSIGNMENTS = Course(Path(__file__).parents[2]).assignments()
#: functions that make a figure
FIGURES = ("plt.figure", "plt.subplots")
#: a figure that takes no more lines than this need not be folded
SHORT = 8
each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)


def cells_of(assignment):
    (path,) = assignment.source_notebooks()
    return nbformat.read(path, as_version=4).cells


def calls_in(cell):
    """The calls in a code cell, by the text of what is called."""
    found = {}
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call):
            found.setdefault(ast.unparse(node.func), []).append(node)
    return found


def drawing_cells(assignment):
    """The code cells that make a figure or show one, each with its calls."""
    code = [cell for cell in cells_of(assignment) if cell.cell_type == "code"]
    found = [(cell, calls_in(cell)) for cell in code]
    return [(cell, calls) for cell, calls in found if {*FIGURES, "show", "plt.show"} & set(calls)]


def text_of(assignment):
    return "\n".join(cell.source for cell in cells_of(assignment) if cell.cell_type == "markdown")


@each_assignment
def test_every_cell_that_draws_describes_its_figure(assignment):
    for cell, calls in drawing_cells(assignment):
        assert "plt.show" not in calls, f"{cell.id}: show(description) takes the place of plt.show()"
        assert "show" in calls, f"{cell.id}: no description"
        for call in calls["show"]:
            (description,) = call.args
            words = " ".join(
                part.value
                for part in ast.walk(description)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )
            assert len(words.split()) >= 6, f"{cell.id}: {words!r} is too short to describe a figure"


@each_assignment
def test_code_that_only_draws_is_folded(assignment):
    for cell, _ in drawing_cells(assignment):
        if cell.id != "change-it" and len(cell.source.splitlines()) > SHORT:
            assert cell.metadata.get("jupyter", {}).get("source_hidden"), cell.id


@each_assignment
def test_hints_come_in_two_steps(assignment):
    cells = cells_of(assignment)
    titles = re.findall(r"<details><summary>(Hint.*?)</summary>", text_of(assignment))
    ideas = [title.removeprefix("Hint 1: ") for title in titles[::2]]
    tools = [title.removeprefix("Hint 2: ") for title in titles[1::2]]
    assert [idea.removesuffix("an idea") for idea in ideas] == [
        tool.removesuffix("the tools") for tool in tools
    ]
    answers = [cell for cell in cells if is_answer_cell(cell) and cell.cell_type == "code"]
    assert len(ideas) >= len(answers)


@each_assignment
def test_readers_predict_twice_and_change_something_once(assignment):
    assert text_of(assignment).count("**Predict first.**") >= 2
    assert text_of(assignment).count("### Change it\n") == 1
    (cell,) = [cell for cell in cells_of(assignment) if cell.id == "change-it"]
    assert is_demo(cell)
    assert not cell.metadata.get("jupyter", {}).get("source_hidden")
