"""Answers that are in other cells than their own, in a notebook with two exercises."""

from copy import deepcopy

import nbformat
import pytest
from nbformat import v4

from gradekit.course import blank_copy
from gradekit.course.cells import find_cell, grade_id

from .restored import ANSWER, blank, place, restore_notebook

HALVED = "# divides\ndef half(x):\n    return x / TWO"


def sources(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def sources_place(notebook, source):
    return next(index for index, cell in enumerate(notebook.cells) if cell.source == source)


def demo_place(notebook):
    return next(index for index, cell in enumerate(notebook.cells) if cell.metadata.get("tags") == ["demo"])


def two_with(two, two_released):
    """The same notebook with the released test cell."""
    notebook = deepcopy(two)
    blank(notebook, two_released, "test_double")
    return notebook


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


@pytest.fixture
def two(two_released):
    notebook = deepcopy(two_released)
    find_cell(notebook, "double").source = ANSWER
    find_cell(notebook, "half").source = f"TWO = 2\n\n{HALVED}"
    return notebook


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


def test_an_answer_below_its_test_is_copied_above_it_with_what_it_needs(two, two_released):
    find_cell(two, "double").source = find_cell(two_released, "double").source
    answer = ANSWER.replace("x + x", "x * TWO")
    find_cell(two, "half").source += f"\n\n\n{answer}"
    notebook, _ = restore_notebook(two, two_released)
    assert find_cell(notebook, "double").source == f"TWO = 2\n\n\n{answer}"
    assert place(notebook, "double") == place(notebook, "test_double") - 1


def test_an_answer_in_a_new_cell_is_found(two, two_released):
    own = v4.new_code_cell(find_cell(two, "half").source)
    find_cell(two, "half").source = find_cell(two_released, "half").source
    two.cells.append(own)
    notebook, notes = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == f"TWO = 2\n\n\n{HALVED}"
    assert place(notebook, "half") == place(notebook, "test_half") - 1
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
    assert (
        notes[-1] == "Your additions to the test cell `test_half`, `TWO`, were kept in a new cell above it."
    )


def test_an_answer_in_the_test_cell_of_another_exercise_is_found(two, two_released):
    find_cell(two, "test_double").source += f"\n\nTWO = 2\n\n\n{HALVED}"
    blank(two, two_released, "half")
    notebook, _ = restore_notebook(two, two_released)
    assert find_cell(notebook, "half").source == HALVED
    assert find_cell(notebook, "double").source == ANSWER
    assert place(notebook, "test_double") - 1 == sources_place(notebook, "TWO = 2")


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
    assert "were kept in a new cell above it." in notes[-1]
    assert find_cell(notebook, "half").source == answer


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
