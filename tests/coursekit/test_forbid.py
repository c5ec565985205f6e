"""The ban on ready-made functions: it reminds, and a way round it is noted for a person."""

import pytest
from nbformat import v4

from coursekit.checks.run import grade

CONFTEST = "from coursekit.checks import forbid\n\nonly_own_code = forbid('mul')\n"


@pytest.fixture
def grade_with(tiny_course):
    """Grade an answer, with another cell of the student's behind it, where `mul` is forbidden."""
    tiny_course.checks.with_name("conftest.py").write_text(CONFTEST)

    def run(answer: str, other: str = ""):
        notebook = tiny_course.answer(answer)
        if other:
            notebook.cells.append(v4.new_code_cell(other))
        released = tiny_course.assignment.released("double")
        return grade(tiny_course.assignment, notebook, "double", released).result

    return run


@pytest.mark.parametrize(
    "answer",
    [
        "def double(x):\n    return torch.mul(x, 2)",
        "%matplotlib inline\ndef double(x):\n    return getattr(torch, 'm' + 'ul')(x, 2)",
        "def double(x):\n    return torch.ops.aten.add(x, x)",
    ],
)
def test_a_forbidden_name_costs_the_exercise(grade_with, answer):
    result = grade_with(answer)
    assert result.earned == 0
    assert "which does the work for you" in result.exercises[0].checks[0].message
    assert result.notes == []


def test_a_forbidden_name_in_a_cell_that_no_answer_builds_on_costs_nothing(grade_with):
    result = grade_with("def double(x):\n    return 2 * x", "torch.mul(double(torch.ones(2)), 2)")
    assert result.earned == 10
    assert result.notes == []


def test_a_way_round_the_ban_is_noted_once_and_costs_nothing(grade_with):
    result = grade_with("def double(x):\n    return 2 * x", "import builtins\nbuiltins.twice = torch.mul")
    assert result.earned == 10
    (note,) = result.notes
    assert note == (
        "The cell `number 6` uses `builtins`, which can hide what an answer uses: a person should look at it."
    )
