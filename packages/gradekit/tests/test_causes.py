"""When a cell did not run, everything that follows from it names it: the cause comes first on the page."""

from pathlib import Path

import pytest
from nbformat import v4

from gradekit.course import Assignment, Course
from gradekit.page.check_table import ScoreRow, first_things
from gradekit.session.reasons import missing_name
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob
from gradekit.verdict.results import SubmissionResult

from .test_ordinary import answer, checking, run

BROKEN = "def helper(x:\n    return x"
CAUSE = "the cell `one`, which stopped with SyntaxError"


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return Course(tmp_path).assignment("ps")


def messages(result: SubmissionResult) -> dict[str, str]:
    return {exercise.grade_id: exercise.checks[0].message for exercise in result.exercises}


@pytest.fixture
def chain(assignment):
    """A syntax error in `one`, which `two` needs to run, and `three` needs `two`; later tests have more points."""
    return run(
        assignment,
        answer(BROKEN, "one"),
        checking("assert helper(1) == 1", "test_one", 1),
        answer("y = helper(3)", "two"),
        checking("assert y == 3", "test_two", 5),
        answer("z = y + 1", "three"),
        checking("assert z == 4", "test_three", 9),
    )


def test_a_test_that_misses_a_name_names_the_first_cell_that_failed(chain):
    found = messages(chain)
    assert found["test_one"].startswith("`helper` is missing, since the cell `one` stopped with SyntaxError")
    assert found["test_two"].startswith(f"`y` is missing, since the cell `two` depends on {CAUSE}")
    assert found["test_three"].startswith(f"`z` is missing, since the cell `three` depends on {CAUSE}")


def test_the_page_tells_the_cause_first_with_all_that_it_costs(chain):
    rows = [ScoreRow(e.grade_id, e.grade_id, 0, e.points, "") for e in chain.exercises]
    (thing,) = first_things(chain, rows)
    assert thing.text.startswith("`helper` is missing, since the cell `one` stopped with SyntaxError")
    assert [(loss.grade_id, loss.points) for loss in thing.losses] == [
        *(("test_three", 9), ("test_two", 5), ("test_one", 1))
    ]


def test_cells_that_miss_each_other_are_no_endless_story(assignment):
    result = run(assignment, answer("a = b", "one"), answer("b = a", "two"), checking("assert b", "test_two"))
    assert "stopped with NameError" in messages(result)["test_two"]


def test_a_function_that_calls_a_missing_one_is_blocked_by_the_cell_that_failed(tiny_course):
    released = tiny_course.assignment.released("double")
    notebook = tiny_course.answer("def double(x):\n    return helper(x) + helper(x)")
    notebook.cells.insert(1, v4.new_code_cell(BROKEN))
    result = grade(GradingJob(tiny_course.assignment, "double", notebook, released)).result
    (check, *_) = result.exercises[0].checks
    assert check.outcome == "blocked"
    assert check.message.startswith(
        "`double` needs `helper`, which is missing, since the cell `number 2` stopped with SyntaxError"
    )


def test_the_name_in_an_error():
    assert missing_name("NameError: name 'x' is not defined") == "x"
    assert missing_name("TypeError: name 'x' is not defined") == ""
