"""Answers in cells that were merged, long edits, and what was copied with the code."""

import pytest
from nbformat import NotebookNode, v4

from gradekit.submission.restore import Restored, restored

from .tiny_course import RIGHT, code, mark

TEST = {"grade": True, "locked": True, "points": 2}


def released() -> NotebookNode:
    return v4.new_notebook(
        cells=[
            code("import math", mark("setup", locked=True), "setup"),
            code("# YOUR CODE HERE\nraise NotImplementedError()", mark("table", solution=True), "table"),
            code("assert squares[2] == 4", mark("test_table", **TEST), "test"),
            code("def double(x):\n    raise NotImplementedError()", mark("double", solution=True), "answer"),
            code("assert double(1) == 2", mark("test_double", **TEST), "test2"),
        ]
    )


def merged(text: str) -> Restored:
    notebook = released()
    notebook.cells[0].source += f"\n{text}"
    del notebook.cells[1:]
    return restored(notebook, released())


@pytest.mark.parametrize("answer", [
    "squares = [i * i for i in range(10)]", "squares = []\nfor i in range(10):\n    squares.append(math.pow(i, 2))",
    "n = 10\nsquares = list(map(lambda i: i * i, range(n)))",
])  # fmt: skip
def test_variables_and_functions_that_tests_read_are_kept_where_they_can_run(answer):
    names: dict[str, object] = {}
    for cell in merged(f"{answer}\n{RIGHT}").notebook.cells:
        if "raise NotImplementedError" not in cell.source:
            exec(cell.source, names)
    assert names["squares"][2] == 4


def test_variables_that_the_student_typed_into_the_test_cell_are_kept_also_beside_a_part_of_the_answer():
    notebook = released()
    notebook.cells[1].source = "numbers = range(10)"
    notebook.cells[2].source = f"squares = [i * i for i in numbers]\n{notebook.cells[2].source}"
    whole = restored(notebook, released()).notebook
    names: dict[str, object] = {}
    for cell in whole.cells[:4]:
        exec(cell.source, names)
    assert names["squares"] == [i * i for i in range(10)]


def test_an_edit_that_is_too_long_to_be_searched_is_named_and_a_person_decides():
    whole = merged(f"squares = [0, 1, 4]\n{RIGHT}\n" + "#" * 30_000)
    assert {doubt.grade_id for doubt in whole.doubts} == {"test_table", "test_double"}
    (note,) = (note for note in whole.notes if "too long" in note)
    assert "`setup`" in note


@pytest.mark.parametrize(("answer", "doubted"), [
    (f"```python\n{RIGHT}\n```", True), (f"In [3]:\n{RIGHT}", True), (f"{RIGHT}\n~~~", True),
    (f"```\n{RIGHT})\n```", False), ("def double(x) return x", False), (RIGHT, False),
])  # fmt: skip
def test_a_person_decides_on_an_answer_that_is_code_but_for_fences_and_prompts(answer, doubted):
    notebook = released()
    notebook.cells[3].source = answer
    assert ["test_double"] * doubted == [doubt.grade_id for doubt in restored(notebook, released()).doubts]
