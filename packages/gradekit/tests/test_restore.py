"""Restoring a submitted notebook with one exercise."""

import json
import time
from copy import deepcopy

import nbformat
import pytest
from nbformat import v4

from gradekit.course import blank_copy
from gradekit.course.cells import find_cell, grade_id
from gradekit.submission.notebook_file import parse_submitted

from .restored import ANSWER, blank, place, restore_notebook

NAMES = ["double", "test_double", "why"]


def marks(notebook):
    return [grade_id(cell) for cell in notebook.cells if grade_id(cell)]


def repaired(submitted, released):
    notebook, notes = restore_notebook(submitted, released)
    nbformat.validate(notebook)
    assert marks(notebook) == NAMES
    assert find_cell(notebook, "test_double").source == find_cell(released, "test_double").source
    assert find_cell(notebook, "test_double").metadata == find_cell(released, "test_double").metadata
    return notebook, notes


@pytest.fixture
def released(tiny_source):
    return blank_copy(tiny_source)


@pytest.fixture
def submitted(released):
    """The released notebook with answers, as it was read."""
    notebook = deepcopy(released)
    find_cell(notebook, "double").source = ANSWER
    find_cell(notebook, "why").source = "Because it is."
    return parse_submitted(nbformat.writes(notebook).encode(), "double.ipynb").notebook


def test_an_unchanged_notebook_gets_no_note(submitted, released):
    notebook, notes = repaired(submitted, released)
    assert notes == []
    assert find_cell(notebook, "double").source == ANSWER
    assert find_cell(notebook, "why").source == "Because it is."


@pytest.fixture
def with_setup(released):
    """The released notebook with a given cell, without a mark, of which the answer needs two names."""
    source = "import math\n\nSCALE = 2\nUNUSED = 3\nhelper = lambda x: SCALE * x"
    released.cells.insert(1, v4.new_code_cell(source))
    return released


def needing_setup(with_setup):
    submitted = deepcopy(with_setup)
    find_cell(submitted, "double").source = "def double(x):\n    return helper(x) + math.floor(0.5)"
    return submitted


def test_what_other_cells_need_of_a_deleted_given_cell_without_a_mark_comes_back_where_it_was(with_setup):
    submitted = needing_setup(with_setup)
    del submitted.cells[1]
    notebook, notes = repaired(submitted, with_setup)
    assert notebook.cells[1].source == "import math\nSCALE = 2\nhelper = lambda x: SCALE * x"
    assert notes == [
        "A given cell was deleted. Other cells use `SCALE`, `helper`, `math` from it, so this part of it was put back."
    ]


@pytest.mark.parametrize(
    "own", ["import math\nSCALE = 1\ndef helper(x):\n    return SCALE * x", "from helpers import *"]
)
def test_a_deleted_given_cell_stays_away_if_nothing_needs_it_or_the_student_has_another(with_setup, own):
    submitted = deepcopy(with_setup)
    find_cell(submitted, "double").source = ANSWER
    del submitted.cells[1]
    assert repaired(submitted, with_setup) == (submitted, [])
    submitted = needing_setup(with_setup)
    submitted.cells[1] = v4.new_code_cell(own)
    notebook, notes = repaired(submitted, with_setup)
    assert notebook.cells[1].source == own
    assert len(notebook.cells) == len(with_setup.cells)
    assert notes == []


def test_a_deleted_test_cell_comes_back_behind_its_exercise(submitted, released):
    del submitted.cells[place(submitted, "test_double")]
    notebook, notes = repaired(submitted, released)
    assert place(notebook, "test_double") == place(notebook, "double") + 1
    assert "`test_double`" in notes[0]


def test_an_edited_test_cell_is_put_back(submitted, released):
    find_cell(submitted, "test_double").source = "pass"
    _, notes = repaired(submitted, released)
    assert notes == ["The test cell `test_double` was edited, so it was restored."]


def test_a_copy_of_a_test_cell_is_removed(submitted, released):
    submitted.cells.append(deepcopy(find_cell(submitted, "test_double")))
    submitted.cells.insert(0, submitted.cells.pop())
    _, notes = repaired(submitted, released)
    assert "more than once" in notes[0]


def test_a_note_says_that_a_test_cell_ran_with_an_earlier_copy(submitted, released):
    last = deepcopy(find_cell(submitted, "double"))
    last.source = "def double(x):\n    return 2 + x"
    submitted.cells.append(last)
    notebook, notes = restore_notebook(submitted, released)
    assert find_cell(notebook, "double").source == last.source
    assert notes == [
        "The cell `double` is in the notebook more than once: "
        "the last one counts, and test cells above it ran with an earlier one."
    ]


def test_the_last_of_two_answers_counts(submitted, released):
    first = deepcopy(find_cell(submitted, "double"))
    first.source = "def double(x):\n    return None"
    submitted.cells.insert(place(submitted, "double"), first)
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "double").source == ANSWER
    assert first.source in [cell.source for cell in notebook.cells]
    assert "the last one counts" in notes[0]


def test_lost_marks_are_restored_by_text_and_names(submitted, released):
    for cell in submitted.cells:
        cell.metadata = {}
        cell["id"] = v4.new_raw_cell()["id"]
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "double").source == ANSWER
    assert find_cell(notebook, "why").source == "Because it is."
    assert "restored" in notes[0]


def test_a_demo_cell_gets_its_lost_tag_back(submitted, released):
    notebook, _ = repaired(submitted, released)
    assert notebook.cells[3].metadata.tags == ["demo"]


def test_the_student_s_own_tags_are_removed(submitted, released):
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


def test_cells_keep_the_student_s_order(submitted, released):
    submitted.cells.insert(1, v4.new_code_cell("helper = 1"))
    notebook, _ = repaired(submitted, released)
    assert notebook.cells[1].source == "helper = 1"


def test_a_blank_copy_of_an_answer_does_not_count(submitted, released):
    blank = deepcopy(find_cell(released, "double"))
    submitted.cells.append(blank)
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "double").source == ANSWER
    assert blank.source not in [cell.source for cell in notebook.cells]
    assert "one copy was removed" in notes[0]


def test_the_part_with_the_definition_counts_in_a_split_answer(submitted, released):
    rest = deepcopy(find_cell(submitted, "double"))
    rest.source = "print(double(2))"
    submitted.cells.insert(place(submitted, "double") + 1, rest)
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "double").source == ANSWER
    assert notebook.cells[place(notebook, "double") + 1].source == rest.source
    assert "the last one that answers it counts" in notes[0]


def test_a_blank_copy_without_a_mark_does_not_undo_the_answer(submitted, released):
    submitted.cells.append(v4.new_code_cell(find_cell(released, "double").source))
    notebook, _ = repaired(submitted, released)
    assert sum("def double" in cell.source for cell in notebook.cells) == 1


@pytest.mark.parametrize("kind", ["raw", "markdown"])
@pytest.mark.parametrize("form", ["{}", "```python\n{}\n```"])
@pytest.mark.parametrize("marked", [True, False])
def test_an_answer_in_a_text_cell_becomes_code_again(submitted, released, kind, form, marked):
    index = place(submitted, "double")
    submitted.cells[index]["cell_type"] = kind
    submitted.cells[index].source = form.format(ANSWER)
    if not marked:
        submitted.cells[index].metadata = {}
        submitted.cells[index]["id"] = "another"
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "double").source == ANSWER
    assert (
        notes[-1]
        == f"The answer cell `double` was handed in as a {kind} cell; it was turned back into a code cell."
    )


def test_prose_in_a_code_answer_is_noted_and_not_run(submitted, released):
    index = place(submitted, "double")
    submitted.cells[index] |= {"cell_type": "markdown", "source": "You double it.\nThat's all."}
    notebook, (note,) = repaired(submitted, released)
    assert find_cell(notebook, "double").source == "# You double it.\n# That's all."
    assert "`double` was handed in as a markdown cell, and its text isn't code that defines `double`" in note


@pytest.mark.slow
@pytest.mark.parametrize(
    "cells",
    [
        ["\n".join(f"def f{n}_{k}(x):\n    return x + {k}" for k in range(300)) for n in range(300)],
        ["x = 1"] * 2000,
        [f"x{n} = {n}" for n in range(2000)],
        ["class Double:\n    pass\n" * 300] * 300,
    ],
    ids=["long", "equal", "many", "definitions"],
)
def test_restoring_is_fast_for_any_notebook(released, cells):
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in cells])
    before = time.process_time()
    restore_notebook(notebook, released)
    assert time.process_time() - before < 20  # 2.2 s were measured for the first, on a slow machine


@pytest.mark.parametrize("kind", ["markdown", "raw"])
@pytest.mark.parametrize("below", [True, False])
def test_a_written_answer_in_a_cell_next_to_its_own_is_copied(submitted, released, kind, below):
    blank(submitted, released, "why")
    cell = v4.new_markdown_cell("Because it is.") if kind == "markdown" else v4.new_raw_cell("Because it is.")
    submitted.cells.insert(place(submitted, "why") + below, cell)
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "why").source == "Because it is."
    assert notes == ["The text next to the answer cell `why` was copied into it."]


def test_a_written_answer_at_the_end_of_its_question_is_copied(submitted, released):
    question = v4.new_markdown_cell("Why?", id="question")
    released.cells.insert(place(released, "why"), question)
    submitted.cells.insert(place(submitted, "why"), deepcopy(question))
    submitted.cells[place(submitted, "why") - 1].source += "\n\nBecause it is."
    blank(submitted, released, "why")
    notebook, _ = repaired(submitted, released)
    assert find_cell(notebook, "why").source == "Because it is."


def test_text_next_to_a_given_written_answer_is_not_copied(submitted, released):
    submitted.cells.append(v4.new_markdown_cell("A note."))
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "why").source == "Because it is."
    assert notes == []


def test_released_text_next_to_a_written_answer_is_not_copied(submitted, released):
    for notebook in (submitted, released):
        notebook.cells.append(v4.new_markdown_cell("The end.", id="end"))
    blank(submitted, released, "why")
    notebook, notes = repaired(submitted, released)
    assert find_cell(notebook, "why").source == find_cell(released, "why").source
    assert notes == []


@pytest.mark.parametrize("released_with_ids", [True, False])
def test_equal_notebooks_without_cell_ids_stay_equal_and_valid(released, submitted, released_with_ids):
    """With nbformat's random ids, two files of equal submissions would differ, and the same file each time."""
    test = find_cell(submitted, "test_double")
    test.source = "import math\nroot = math.sqrt(4)\n" + test.source
    find_cell(submitted, "double").source = "def double(x):\n    return root * x"
    submitted.cells += [v4.new_markdown_cell("the same")] * 3
    del submitted.cells[place(submitted, "why")]
    for cell in [*submitted.cells, *([] if released_with_ids else released.cells)]:
        cell.pop("id", None)
    data = json.dumps(submitted).encode()
    first, second = (
        repaired(parse_submitted(data, "double.ipynb").notebook, deepcopy(released))[0] for _ in range(2)
    )
    assert first == second
    assert len({cell["id"] for cell in first.cells}) == len(first.cells)


def test_a_released_notebook_without_cells_leaves_the_submission_as_it_is():
    own = v4.new_notebook(cells=[v4.new_code_cell("x = 1")])
    notebook, notes = restore_notebook(own, v4.new_notebook())
    assert ([cell.source for cell in notebook.cells], notes) == (["x = 1"], [])
