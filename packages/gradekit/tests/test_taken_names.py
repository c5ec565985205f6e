"""Exercises may ask for functions of any name: a check calls them, also where `student` has a method of that name."""

from contextlib import closing
from pathlib import Path

import pytest

from gradekit.course.cells import find_cell
from gradekit.nbgrader_plugin.bind import binding_problems
from gradekit.session.proxy import TAKEN_NAMES

from .test_session import open_session

CHECK = """
from gradekit.checks import points


@points(10)
def test_value(student):
    \"\"\"It doubles.\"\"\"
    assert {call} == 4, "no"
"""
#: names that the outsiders' course used, and that had reached something else
ONCE_TAKEN = ["last", "arguments", "tried", "last_is_own", "begin_check", "run_lines"]


def test_the_docs_list_the_taken_names():
    text = (Path(__file__).parents[3] / "docs" / "writing-checks.md").read_text()
    (listed,) = (part for part in text.split("\n\n") if "has the name of a method of `student`" in part)
    assert "(" + ", ".join(f"`{name}`" for name in sorted(TAKEN_NAMES)) + ")" in " ".join(listed.split())


def test_functions_of_all_names_can_be_called():
    cells = {name: f"def {name}(x):\n    return 2 * x" for name in [*ONCE_TAKEN, *TAKEN_NAMES]}
    session, student = open_session(cells)
    with closing(session):
        assert [getattr(student, name)(2) for name in ONCE_TAKEN] == [4] * len(ONCE_TAKEN)
        assert {student.call(name, 2).value for name in TAKEN_NAMES} == {4}


@pytest.fixture
def bound(tiny_course, tiny_source):
    """Binds the check with this call in it; returns the assignment's problems."""

    def of(name: str, call: str) -> list[str]:
        cell = find_cell(tiny_source, "double")
        cell.source = cell.source.replace("double", name)
        tiny_course.write_source(tiny_source)
        tiny_course.checks.write_text(CHECK.format(call=call))
        path = tiny_course.root / "release" / "01_double" / "double.ipynb"
        return binding_problems(tiny_course.assignment, tiny_course.assignment.released("double"), path)

    return of


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TAKEN_NAMES))
def test_a_check_that_would_reach_a_method_is_refused_and_the_advice_is_accepted(bound, name):
    (problem,) = bound(name, f"student.{name}(2)")
    assert problem.endswith(
        f"test_double.py, line 8: `student.{name}` is a method of `student`, not the notebook's function. "
        f'Write `student.call("{name}", ...).value`.'
    )
    assert bound(name, f'student.call("{name}", 2).value') == []


def test_a_check_may_mean_the_method(bound):
    assert bound("get", 'student.get("four")') == []
    assert bound("double", "student.double(2)") == []
