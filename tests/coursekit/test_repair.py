"""Putting a submitted notebook right."""

from copy import deepcopy

import nbformat
import pytest
from nbformat import v4

from coursekit.course import find_cell, grade_id
from coursekit.student.blank import blank_copy
from coursekit.student.reading import parse
from coursekit.student.repair import repair

NAMES = ["double", "test_double", "why"]
ANSWER = "def double(x):\n    return x + x"


@pytest.fixture
def released(tiny_source):
    return blank_copy(tiny_source)


@pytest.fixture
def submitted(released):
    """The release, answered, as it comes out of reading."""
    notebook = deepcopy(released)
    find_cell(notebook, "double").source = ANSWER
    find_cell(notebook, "why").source = "Because it is."
    return parse(nbformat.writes(notebook).encode(), "double.ipynb").notebook


def place(notebook, name):
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def marks(notebook):
    return [grade_id(cell) for cell in notebook.cells if grade_id(cell)]


def repaired(submitted, released):
    notebook, notes = repair(submitted, released)
    nbformat.validate(notebook)
    assert marks(notebook) == NAMES
    assert find_cell(notebook, "test_double").source == find_cell(released, "test_double").source
    assert find_cell(notebook, "test_double").metadata == find_cell(released, "test_double").metadata
    return notebook, notes


def test_an_untouched_notebook_needs_no_note(submitted, released):
    notebook, notes = repaired(submitted, released)
    assert notes == []
    assert find_cell(notebook, "double").source == ANSWER
    assert find_cell(notebook, "why").source == "Because it is."


def test_a_deleted_test_cell_comes_back_behind_its_exercise(submitted, released):
    del submitted.cells[place(submitted, "test_double")]
    notebook, notes = repaired(submitted, released)
    assert place(notebook, "test_double") == place(notebook, "double") + 1
    assert "`test_double`" in notes[0]


def test_an_edited_test_cell_is_put_back(submitted, released):
    find_cell(submitted, "test_double").source = "pass"
    _, notes = repaired(submitted, released)
    assert notes == ["The test cell `test_double` was edited; it was put back as it was handed out."]


def test_a_doubled_test_cell_counts_once(submitted, released):
    submitted.cells.append(deepcopy(find_cell(submitted, "test_double")))
    submitted.cells.insert(0, submitted.cells.pop())
    _, notes = repaired(submitted, released)
    assert "more than once" in notes[0]


def test_of_a_doubled_answer_the_last_one_counts(submitted, released):
    first = deepcopy(find_cell(submitted, "double"))
    first.source = "def double(x):\n    return None"
    submitted.cells.insert(place(submitted, "double"), first)
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "double").source == ANSWER
    assert first.source in [cell.source for cell in notebook.cells]
    assert "the last one counts" in notes[0]


def test_stripped_marks_are_found_again_by_text_and_names(submitted, released):
    for cell in submitted.cells:
        cell.metadata = {}
        cell["id"] = v4.new_raw_cell()["id"]
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "double").source == ANSWER
    assert find_cell(notebook, "why").source == "Because it is."
    assert "put back" in notes[0]


def test_a_demonstration_stays_one_although_its_tag_was_stripped(submitted, released):
    notebook, _ = repaired(submitted, released)
    assert notebook.cells[3].metadata.tags == ["demo"]


def test_tags_of_the_students_own_count_for_nothing(submitted, released):
    cell = v4.new_code_cell("x = 1", metadata={"tags": ["demo"], "nbgrader": {"grade_id": "my_test"}})
    submitted.cells.append(cell)
    notebook, _ = repaired(submitted, released)
    assert notebook.cells[-1].metadata == {}


def test_a_cell_of_another_type_gets_its_type_back(submitted, released):
    index = place(submitted, "why")
    submitted.cells[index] = v4.new_code_cell("Because", metadata=submitted.cells[index].metadata)
    notebook, _ = repaired(submitted, released)
    assert find_cell(notebook, "why").cell_type == "markdown"
    assert find_cell(notebook, "why").source == "Because"


def test_an_empty_notebook_becomes_a_blank_one(released):
    notebook, _ = repaired(v4.new_notebook(), released)
    assert find_cell(notebook, "double").source == find_cell(released, "double").source


def test_cells_keep_the_students_order(submitted, released):
    submitted.cells.insert(1, v4.new_code_cell("helper = 1"))
    notebook, _ = repaired(submitted, released)
    assert notebook.cells[1].source == "helper = 1"
