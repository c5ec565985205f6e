"""Right answers that need code from other cells, beside plain nbgrader: never 0 where nobody is asked."""

from collections.abc import Callable
from copy import deepcopy

import pytest
from nbformat import NotebookNode, v4

from gradekit.submission.elsewhere import pasted_line
from gradekit.submission.restore import restored
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob

from .beside_plain import BothSides
from .tiny_course import cell_of, code, mark

EVENS = "def evens(numbers):\n    return sum(n for n in numbers if n % 2 == 0)"
SQUARES = "squares = [i * i for i in range(10)]"
DEPOSIT = "def deposit(amount):\n    account[0] += amount\n    return account[0]"
REPORT = "report = f'You have {balance}'"
#: all right answers, and their test cells
RIGHT = {"evens": EVENS, "table": SQUARES, "deposit": DEPOSIT, "report": REPORT}
LONG = "x = 1\n" * 4_000
HEX = f"BIG = 0x{'f' * 5_000}\n"
DEEP = f"total = {'1+' * 900}1\n"
#: by name: a change of the notebook with both right answers
CASES: dict[str, Callable[[NotebookNode], None]] = {}
#: those whose points nobody can be sure of
ASKED = {
    "all_code_in_a_cell_too_long_to_be_read",
    "a_helper_in_a_test_cell_too_long_to_be_read",
    "a_fence_around_an_answer",
    "a_prompt_above_an_answer",
    "an_answer_that_needs_one_below_a_fence",
    "an_answer_that_needs_one_that_may_be_in_another_cell",
}


def case(change: Callable[[NotebookNode], None]) -> Callable[[NotebookNode], None]:
    CASES[change.__name__] = change
    return change


def source() -> NotebookNode:
    def solution(text: str) -> str:
        return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"

    test = {"grade": True, "locked": True, "points": 2}
    in_function = "\n".join(
        f"    {line.strip()}" for line in solution("\n".join(DEPOSIT.split("\n")[1:])).split("\n")
    )
    body = "def evens(numbers):\n    ### BEGIN SOLUTION\n    return sum(n for n in numbers if n % 2 == 0)\n    ### END SOLUTION"
    return v4.new_notebook(
        cells=[
            code("import math", mark("imports", locked=True), "imports"),
            code(
                "import statistics\n\n\ndef shown(x):\n    return [x]\n\n\nwords = ['a', 'b']",
                {"tags": ["demo"]},
                "demo",
            ),
            code(body, mark("evens", solution=True), "evens"),
            code("numbers = [1, 2, 4]\nassert evens(numbers) == 6", mark("test_evens", **test), "test_evens"),
            code(solution(SQUARES), mark("table", solution=True), "table"),
            code("assert squares[3] == 9", mark("test_table", **test), "test_table"),
            code("account = [100]", mark("account", locked=True), "account"),
            code(f"def deposit(amount):\n{in_function}", mark("deposit", solution=True), "deposit"),
            code(
                "balance = deposit(10)\nassert account == [110]", mark("test_deposit", **test), "test_deposit"
            ),
            code(solution(REPORT), mark("report", solution=True), "report"),
            code("assert report == 'You have 110'", mark("test_report", **test), "test_report"),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


@case
def an_import_from_a_demo_cell(notebook: NotebookNode) -> None:
    cell_of(notebook, "evens").source = EVENS + "\n\n\nstatistics.mean([1])"


@case
def a_function_of_a_demo_cell_inside_the_answer(notebook: NotebookNode) -> None:
    cell_of(notebook, "evens").source = EVENS.replace("return", "shown(numbers)\n    return")


@case
def a_variable_of_a_demo_cell_by_way_of_an_own_cell(notebook: NotebookNode) -> None:
    notebook.cells.insert(2, v4.new_code_cell("def first():\n    return words[0]", id="own"))
    cell_of(notebook, "evens").source = EVENS + "\n\n\nfirst()"


@case
def a_variable_of_a_test_cell(notebook: NotebookNode) -> None:
    cell_of(notebook, "table").source = f"print(evens(numbers))\n{SQUARES}"


@case
def a_variable_in_the_given_cell(notebook: NotebookNode) -> None:
    cell_of(notebook, "imports").source += f"\n{EVENS}\n{SQUARES}"
    for name in ("evens", "table"):
        cell_of(notebook, name).source = ""


@case
def a_variable_that_uses_the_imports_of_the_given_cell(notebook: NotebookNode) -> None:
    cell_of(notebook, "imports").source += "\nsquares = [math.floor(i**2) for i in range(10)]"
    cell_of(notebook, "table").source = ""


@case
def an_answer_below_a_long_integer_in_a_test_cell(notebook: NotebookNode) -> None:
    cell_of(notebook, "test_evens").source = f"{HEX}{EVENS}\n" + cell_of(notebook, "test_evens").source
    cell_of(notebook, "evens").source = ""


@case
def an_answer_below_a_deep_sum_in_a_test_cell(notebook: NotebookNode) -> None:
    cell_of(notebook, "test_evens").source = f"{DEEP}{EVENS}\n" + cell_of(notebook, "test_evens").source
    cell_of(notebook, "evens").source = ""


@case
def a_helper_in_a_test_cell_too_long_to_be_read(notebook: NotebookNode) -> None:
    cell_of(notebook, "test_evens").source = f"{LONG}helper = sum\n" + cell_of(notebook, "test_evens").source
    cell_of(notebook, "table").source = f"helper([1, 2])\n{SQUARES}"


@case
def all_code_in_a_cell_too_long_to_be_read(notebook: NotebookNode) -> None:
    cell_of(notebook, "imports").source += f"\n{LONG}{EVENS}\n{SQUARES}"
    for name in ("evens", "table"):
        cell_of(notebook, name).source = ""


@case
def a_fence_around_an_answer(notebook: NotebookNode) -> None:
    cell_of(notebook, "evens").source = f"```python\n{EVENS}\n```"


@case
def a_prompt_above_an_answer(notebook: NotebookNode) -> None:
    cell_of(notebook, "table").source = f"In [3]:\n{SQUARES}"


@case
def right_answers_of_which_one_uses_what_a_test_cell_has_assigned(notebook: NotebookNode) -> None:
    pass


@case
def a_statement_below_the_test_that_would_make_it_fail_above(notebook: NotebookNode) -> None:
    cell_of(notebook, "test_deposit").source += "\nmore = deposit(5)  # one more try"
    notebook.cells.append(v4.new_code_cell("print(more)", id="own"))


@case
def an_answer_that_needs_what_was_added_above_its_test(notebook: NotebookNode) -> None:
    cell_of(notebook, "test_evens").source = "rest = 2\n" + cell_of(notebook, "test_evens").source
    cell_of(notebook, "evens").source = EVENS.replace("% 2", "% rest")


@case
def an_answer_that_needs_one_below_a_fence(notebook: NotebookNode) -> None:
    a_fence_around_an_answer(notebook)
    cell_of(notebook, "table").source = f"evens([2])\n{SQUARES}"


@case
def an_answer_that_needs_one_that_may_be_in_another_cell(notebook: NotebookNode) -> None:
    cell_of(
        notebook, "evens"
    ).source = "def evens(numbers):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    below = notebook.cells.index(cell_of(notebook, "evens")) + 1
    notebook.cells.insert(below, v4.new_code_cell(EVENS.replace("evens", "even_sum"), id="own"))
    cell_of(notebook, "table").source = f"evens([2])\n{SQUARES}"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> BothSides:
    """Every case as a student of one class, graded on both sides."""
    both = BothSides(tmp_path_factory.mktemp("needed"))
    both.write(source())
    for name, change in CASES.items():
        notebook = both.released()
        for answer, text in RIGHT.items():
            cell_of(notebook, answer).source = text
        change(notebook)
        both.hand_in(notebook, student=name)
    both.plain.run("nbgrader", "autograde", "a1", "--create", succeeds=False)
    both.ours.run("gradekit", "autograde", "a1", succeeds=False)
    return both


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_right_answer_that_needs_other_code_gets_its_points_or_a_person(graded, name):
    plain, ours = graded.plain.grades(name), graded.ours.grades(name)
    for test in (f"test_{answer}" for answer in RIGHT):
        score, asked = ours[test]
        assert score == 2 or asked, (test, plain, ours)
        assert (score or 0) >= (plain[test][0] or 0) or asked, (test, plain, ours)
    assert any(asked for _, asked in ours.values()) == (name in ASKED)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\n~~~", 2),
        ("  Out[12]:\nx = 1", 1),
        ("x = 1", 0),
        ("```\nx = (\n```", 0),
        ("text = '''\n```\n'''", 0),
    ],
)
def test_only_a_line_without_which_a_cell_is_python_counts_as_pasted(code, line):
    assert pasted_line(code) == line


def test_code_in_a_test_cell_that_was_handed_out_empty_is_kept():
    test = mark("test_table", grade=True, locked=True, points=2)
    released = v4.new_notebook(
        cells=[code("squares = []", mark("table", solution=True), "table"), code("", test, "test_table")]
    )
    handed_in = deepcopy(released)
    cell_of(handed_in, "test_table").source = "last = squares[-1]"
    cell_of(handed_in, "table").source = SQUARES
    handed_in.cells.append(v4.new_code_cell("print(last)", id="own"))
    whole = restored(handed_in, released, tests_run=True).notebook
    assert [cell.source for cell in whole.cells] == [SQUARES, "last = squares[-1]", "", "print(last)"]


@pytest.mark.parametrize(("where", "text", "answer"), [
    ("show", "import math", "def double(x):\n    return math.sqrt(4) * x"),
    ("show", "from math import *", "def double(x):\n    return sqrt(4) * x"),
    ("show", "two = 2\nraise ValueError", "def double(x):\n    return two * x"),
    ("test", "two = 2", "def double(x):\n    return two * x"),
])  # fmt: skip
def test_an_answer_may_use_what_a_demo_or_a_visible_test_defines(tiny_course, where, text, answer):
    released = tiny_course.assignment.released("double")
    notebook = tiny_course.answer(answer)
    for one in (released, notebook):
        cell_of(one, where).source = text
    whole = restored(notebook, released).notebook
    result = grade(GradingJob(tiny_course.assignment, "double", whole, released)).result
    assert result.earned == 10
