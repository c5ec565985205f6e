"""Restoring a submitted notebook."""

import time
from copy import deepcopy

import nbformat
import pytest
from nbformat import v4

from coursekit.cells import find_cell, grade_id
from coursekit.course import blank_copy
from coursekit.student.notebook_json import parse_submitted
from coursekit.student.restore import restore_notebook

NAMES = ["double", "test_double", "why"]
ANSWER = "def double(x):\n    return x + x"


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


def place(notebook, name):
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def marks(notebook):
    return [grade_id(cell) for cell in notebook.cells if grade_id(cell)]


def repaired(submitted, released):
    notebook, notes = restore_notebook(submitted, released)
    nbformat.validate(notebook)
    assert marks(notebook) == NAMES
    assert find_cell(notebook, "test_double").source == find_cell(released, "test_double").source
    assert find_cell(notebook, "test_double").metadata == find_cell(released, "test_double").metadata
    return notebook, notes


def test_an_unchanged_notebook_gets_no_note(submitted, released):
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
    assert notes == ["The test cell `test_double` was edited, so it was restored."]


def test_a_copy_of_a_test_cell_is_removed(submitted, released):
    submitted.cells.append(deepcopy(find_cell(submitted, "test_double")))
    submitted.cells.insert(0, submitted.cells.pop())
    _, notes = repaired(submitted, released)
    assert "more than once" in notes[0]


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


@pytest.fixture
def two_released(tiny_source):
    """A second exercise, `half`."""
    second = deepcopy(tiny_source.cells[1:3])
    for cell in second:
        cell["id"] += "-2"
        cell.source = cell.source.replace("double", "half")
        mark = cell.metadata["nbgrader"]
        mark["grade_id"] = mark["grade_id"].replace("double", "half")
    tiny_source.cells[3:3] = second
    return blank_copy(tiny_source)


HALVED = "# divides\ndef half(x):\n    return x / TWO"


@pytest.fixture
def two(two_released):
    notebook = deepcopy(two_released)
    find_cell(notebook, "double").source = ANSWER
    find_cell(notebook, "half").source = f"TWO = 2\n\n{HALVED}"
    return notebook


def sources(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("left", ["nothing", "the blank cell", "an empty cell"])
def test_two_answers_in_one_cell_are_both_found(two, two_released, left):
    find_cell(two, "double").source = f"TWO = 2\n\n{ANSWER}\n\n\n{HALVED}\n\nprint(half(4))"
    find_cell(two, "half").source = "" if left == "an empty cell" else find_cell(two_released, "half").source
    if left == "nothing":
        del two.cells[place(two, "half")]
    notebook, notes = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == HALVED
    assert place(notebook, "double") < place(notebook, "half")
    assert notes[-1] == "The answer to `half` was found in the cell `double` and copied to its own cell."


def test_an_answer_in_a_later_cell_is_copied_behind_that_cell(two, two_released):
    find_cell(two, "double").source = find_cell(two_released, "double").source
    find_cell(two, "half").source += f"\n\n\n{ANSWER}"
    notebook, _ = restore_notebook(two, two_released)
    assert find_cell(notebook, "double").source == ANSWER
    assert place(notebook, "double") == place(notebook, "half") + 1


def test_an_answer_in_a_new_cell_is_found(two, two_released):
    own = v4.new_code_cell(find_cell(two, "half").source)
    find_cell(two, "half").source = find_cell(two_released, "half").source
    two.cells.append(own)
    notebook, notes = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == HALVED
    assert own.source in sources(notebook)
    assert "found in the cell number" in notes[-1]


def test_a_placeholder_in_another_cell_is_not_an_answer(two, two_released):
    blank = find_cell(two_released, "half").source
    find_cell(two, "double").source = f"{ANSWER}\n\n\n{blank}"
    find_cell(two, "half").source = blank
    notebook, notes = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == blank
    assert notes == []


def test_reordered_answers_without_marks_are_matched_by_their_definitions(two, two_released):
    helper = v4.new_code_cell("TWO = 2")
    answers = [v4.new_code_cell(HALVED), v4.new_code_cell(ANSWER)]
    tests = [v4.new_code_cell(find_cell(two, name).source) for name in ("test_half", "test_double")]
    notebook, _ = restore_notebook(v4.new_notebook(cells=[helper, *answers, *tests]), two_released)
    assert find_cell(notebook, "double").source == ANSWER
    assert find_cell(notebook, "half").source == HALVED
    assert notebook.cells[0].source == helper.source


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
    assert time.process_time() - before < 6  # 0.6 s were measured


def blank(notebook, released, name):
    find_cell(notebook, name).source = find_cell(released, name).source


@pytest.mark.parametrize("left", ["nothing", "the blank cell", "an empty cell", "a comment"])
@pytest.mark.parametrize("below", [True, False])
def test_an_answer_in_its_test_cell_is_copied_without_the_test(two, two_released, left, below):
    test = find_cell(two, "test_half")
    parts = [test.source, HALVED] if below else [HALVED, test.source]
    test.source = "TWO = 2\n\n" + "\n".join(parts)
    match left:
        case "nothing":
            del two.cells[place(two, "half")]
        case "the blank cell":
            blank(two, two_released, "half")
        case _:
            find_cell(two, "half").source = "# solved below" if left == "a comment" else ""
    notebook, notes = restore_notebook(two, two_released)
    nbformat.validate(notebook)
    assert find_cell(notebook, "half").source == HALVED
    assert find_cell(notebook, "test_half").source == find_cell(two_released, "test_half").source
    assert sources(notebook).count("TWO = 2") == 1
    assert sum("def half" in source for source in sources(notebook)) == 1
    assert "The answer to `half` was found in the test cell `test_half` and copied to its own cell." in notes
    assert notes[-1] == "What you added to the test cell `test_half`, `TWO`, was kept in a new cell above it."


def test_an_answer_in_the_test_cell_of_another_exercise_is_found(two, two_released):
    find_cell(two, "test_double").source += f"\n\nTWO = 2\n\n\n{HALVED}"
    blank(two, two_released, "half")
    notebook, _ = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == HALVED
    assert find_cell(notebook, "double").source == ANSWER
    assert place(notebook, "test_double") - 1 == sources_place(notebook, "TWO = 2")


def sources_place(notebook, source):
    return next(index for index, cell in enumerate(notebook.cells) if cell.source == source)


def test_an_answer_in_a_copy_of_a_test_cell_is_found(two, two_released):
    copy = deepcopy(find_cell(two, "test_half"))
    copy.source = f"{find_cell(two, 'half').source}\n\n{copy.source}"
    two.cells.insert(place(two, "test_half"), copy)
    blank(two, two_released, "half")
    notebook, _ = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == HALVED
    assert "TWO = 2" in sources(notebook)


@pytest.fixture
def with_given(two_released):
    """A given cell above all exercises."""
    given = v4.new_code_cell("def show(x):\n    print(x)", id="show")
    given.metadata["nbgrader"] = {"grade_id": "show", "locked": True, "grade": False, "solution": False}
    two_released.cells.insert(1, given)
    return two_released


@pytest.mark.parametrize(
    ("added", "answer"),
    [
        ("from math import sqrt as root", "def half(x):\n    return root(x * x) / 2"),
        ("def by_two(x):\n    return x / 2", "def half(x):\n    return by_two(x)"),
        ("import math\nTWO = math.sqrt(4)", "def half(x):\n    return x / TWO"),
    ],
)
@pytest.mark.parametrize("where", ["show", "test_double", "demo"])
def test_code_that_answers_need_is_kept_from_edited_cells_that_are_restored_or_not_run(
    with_given, added, answer, where
):
    two = deepcopy(with_given)
    find_cell(two, "double").source = ANSWER
    find_cell(two, "half").source = answer
    at = demo_place(two) if where == "demo" else place(two, where)
    given = two.cells[at].source
    two.cells[at].source = f"{added}\nscratch = 5\n{given}"
    notebook, notes = restore_notebook(two, with_given)
    kept = sources_place(notebook, added)
    assert grade_id(notebook.cells[kept]) is None
    assert notebook.cells[kept].metadata == {}
    if where == "demo":
        assert demo_place(notebook) == kept + 1
    else:
        assert notebook.cells[kept + 1].source == given
    assert "was kept in a new cell above it." in notes[-1]
    assert find_cell(notebook, "half").source == answer


def demo_place(notebook):
    return next(index for index, cell in enumerate(notebook.cells) if cell.metadata.get("tags") == ["demo"])


@pytest.mark.parametrize(
    "added",
    ["def double(x):\n    return 0", "scratch = double(3)", "x = 7", "import math", "print(double(3))"],
)
def test_code_in_an_edited_test_cell_that_no_answer_needs_is_not_run(two, two_released, added):
    find_cell(two, "test_double").source += f"\n{added}"
    notebook, notes = restore_notebook(two, two_released)
    assert sources(notebook) == sources(
        restore_notebook(deepcopy(two_with(two, two_released)), two_released)[0]
    )
    assert notes == ["The test cell `test_double` was edited, so it was restored."]


def two_with(two, two_released):
    """The same notebook with the released test cell."""
    notebook = deepcopy(two)
    blank(notebook, two_released, "test_double")
    return notebook


def test_variables_are_copied_with_their_seed_and_the_code_before_them(two_released):
    cell = find_cell(two_released, "half")
    cell.source = "torch.manual_seed(1)\nx = torch.randn(3)\n# YOUR CODE HERE\nraise NotImplementedError()"
    submitted = deepcopy(two_released)
    answer = "torch.manual_seed(1)\nx = torch.randn(3)\nz = x * 1\ny = z / 2"
    find_cell(submitted, "half").source = "# solved below"
    find_cell(submitted, "test_half").source = f"{answer}\n{find_cell(submitted, 'test_half').source}"
    notebook, _ = restore_notebook(submitted, two_released)
    assert find_cell(notebook, "half").source == answer.replace("\n", "\n\n\n")
    assert sum("randn" in source for source in sources(notebook)) == 1


def test_helpers_next_to_a_placeholder_stay_when_the_answer_is_found_elsewhere(two, two_released):
    placeholder = find_cell(two_released, "half").source
    find_cell(two, "half").source = f"TWO = 2\n\n\n{placeholder}"
    two.cells.append(v4.new_code_cell(HALVED))
    notebook, _ = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == f"TWO = 2\n\n\n{HALVED}"


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
