"""Inputs that nobody declared: those with which a right answer fails, and functions that a function takes."""

import pytest

from gradekit_integrity.viva.questions import QuestionKind
from gradekit_integrity.viva.sheets import Sheet

PLAIN = '''
from gradekit.checks import try_it


@try_it("test_double")
def two_matrices(double):
    """Two matrices."""
    import torch

    double(torch.ones(3, 2){more})
'''
#: the visible test calls it with a number
NUMBER = "    if isinstance(x, int):\n        return 2 * x\n"
FUNCTIONS = '''
from gradekit.checks import try_it


def softmax(x):
    return x


@try_it("test_double")
def with_a_function(double):
    """A function, and a number."""
    import torch

    double({function}, 3)
'''


@pytest.fixture
def declare(empty_class):
    def write(text: str) -> None:
        empty_class.checks.with_name("viva.py").write_text(text)

    return write


def failing(sheet: Sheet) -> dict[str, tuple[str, tuple[str, ...]]]:
    """By question, the answer and the inputs of each call."""
    found = [one for one in sheet.questions if one.kind == QuestionKind.FAILS and one.cell == "double"]
    return {one.text: (one.answer, tuple(inputs[0] for _, inputs in one.calls)) for one in found}


def texts(sheet: Sheet, kind: QuestionKind) -> dict[str, str]:
    return {one.text: one.answer for one in sheet.questions if one.kind == kind and one.cell == "double"}


@pytest.mark.slow
def test_a_right_answer_is_asked_with_which_other_input_it_fails(ask, declare):
    declare(PLAIN.format(more=""))
    sheet = ask(
        f"def double(x):\n{NUMBER}    rows, columns = x.shape\n    y = 2 * x\n    return y.reshape(rows, columns)"
    )
    ((answer, inputs),) = failing(sheet).values()
    assert len(set(inputs)) == 3
    wrong = next(number for number, text in enumerate(inputs) if "shape (2,)" in text)
    assert answer == f"Call {'ABC'[wrong]}: `ValueError`."


@pytest.mark.thorough
def test_an_answer_that_takes_any_input_gets_no_such_question(ask, declare):
    declare(PLAIN.format(more=""))
    assert failing(ask("def double(x):\n    y = x\n    return y + x")) == {}


@pytest.mark.thorough
def test_what_the_student_s_own_assert_says_is_no_riddle(ask, declare):
    declare(PLAIN.format(more=""))
    assert failing(ask(f"def double(x):\n{NUMBER}    assert x.ndim == 2\n    return x + x")) == {}


@pytest.mark.thorough
def test_methods_and_functions_with_any_number_of_arguments_are_not_called_again(ask, declare):
    declare(PLAIN.format(more=", 1"))
    assert failing(ask(f"def double(x, *more):\n{NUMBER}    rows, columns = x.shape\n    return x + x")) == {}


def test_a_short_function_is_shown_whole(ask, declare):
    declare(FUNCTIONS.format(function="lambda x: torch.relu(x)"))
    sheet = ask("def double(f, n):\n    y = f(torch.ones(n, 2))\n    z = y.sum(1)\n    return z")
    inputs = {text for one in sheet.questions for _, found in one.calls for text in found}
    assert "f: lambda x: torch.relu(x)" in inputs
    assert texts(sheet, QuestionKind.SHAPE)["When line 3 has run, which shape does `z` have?"] == "`(3,)`"
    assert len({one.kind for one in sheet.questions if one.cell == "double"}) > 2


@pytest.mark.parametrize(
    ("function", "shown"), [("torch.relu", "f: function relu"), ("torch.nn.Linear(2, 4)", "f: Linear module")]
)
def test_a_function_or_module_from_elsewhere_has_a_name(ask, declare, function, shown):
    declare(FUNCTIONS.format(function=function))
    sheet = ask(
        "def double(f, n):\n    total = 0\n    for step in range(n):\n        y = f(torch.ones(n, 2))\n"
        "        total = total + y.sum()\n    return total"
    )
    inputs = {text for one in sheet.questions for _, found in one.calls for text in found}
    assert shown in inputs
    assert texts(sheet, QuestionKind.LOOP) == {
        "How often does the body of the loop in line 3 run?": "3 times."
    }
    assert texts(sheet, QuestionKind.RESULT) == {
        "Which shape does the returned value have?": "`()`"
    } or not texts(sheet, QuestionKind.VALUE), "values may depend on what isn't shown"


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop",
    [
        "n = n - 1\n    for step in range(n):\n        y = f(y)",  # not only the parameter decides
        "for step in range(n):\n        y = f(y)\n        if y.sum() > 3:\n            break",  # it may end early
        "for step in range(int(f(y).sum())):\n        y = y + 1",  # the function decides
    ],
)
def test_loops_that_the_hidden_part_of_an_input_decides_are_not_counted(ask, declare, loop):
    declare(FUNCTIONS.format(function="torch.nn.Linear(2, 2)"))
    sheet = ask(f"def double(f, n):\n    y = torch.ones(n, 2)\n    {loop}\n    return y")
    assert texts(sheet, QuestionKind.LOOP) == {}
