"""Sheets of questions about one student's code, in a tiny course: right, wrong, crashing, endless and hostile answers."""

import csv
import re

import nbformat
import pytest

from gradekit.inside.messages import MessageError
from gradekit_integrity.viva.files import sheet_as_html
from gradekit_integrity.viva.questions import QuestionKind
from gradekit_integrity.viva.sheets import Sheet
from gradekit_integrity.viva.tracer_reports import Effect, Traced, read_as

from ...gradekit.tests.tiny_course import RIGHT_HALF

#: it has a loop, a branch, and a line that could be left out
LONG = """\
def double(x):
    y = x
    for step in range(3):
        y = y + x
    if y > 3 * x:
        y = y - 2 * x
    y = y * 1
    return y"""
INPUTS = '''
from gradekit.checks import try_it


@try_it("test_double")
def three_by_two(double):
    """A tensor of 3 × 2."""
    import torch

    double(torch.ones(3, 2))


@try_it("test_double")
def two_and_text(double):
    """A number, and something else."""
    double(5)
    double([1, 2])
'''


@pytest.fixture
def declared(empty_class):
    """Inputs that the course declares."""
    empty_class.checks.with_name("viva.py").write_text(INPUTS)


def answers(sheet: Sheet, kind: QuestionKind, cell: str = "double") -> dict[str, str]:
    return {one.text: one.answer for one in sheet.questions if one.kind == kind and one.cell == cell}


@pytest.mark.slow
def test_inputs_come_from_the_visible_tests_if_the_course_declares_none(ask):
    sheet = ask("def double(x):\n    y = x + x\n    return y")
    assert answers(sheet, QuestionKind.VALUE) == {"When line 2 has run, what is the value of `y`?": "`2`"}
    (one,) = [one for one in sheet.questions if one.kind == QuestionKind.VALUE]
    assert one.calls == (("double(x)", ("x: 1",)),)
    assert sheet.problem == "" and sheet.dropped == 0


@pytest.mark.slow
def test_declared_inputs_come_first(ask, declared):
    sheet = ask("def double(x):\n    y = x + x\n    return y")
    assert answers(sheet, QuestionKind.SHAPE) == {
        "When line 2 has run, which shape does `y` have?": "`(3, 2)`"
    }
    assert "x: [[1, 1], [1, 1], [1, 1]] (shape (3, 2), float32)" in {
        text for one in sheet.questions for _, inputs in one.calls for text in inputs
    }


def test_a_loop_a_branch_and_lines_that_are_taken_out(ask):
    sheet = ask(LONG)
    assert answers(sheet, QuestionKind.LOOP) == {
        "How often does the body of the loop in line 3 run?": "3 times."
    }
    assert answers(sheet, QuestionKind.BRANCH) == {
        "Is the condition in line 5 true?": "Yes: line 6 runs next."
    }
    assert answers(sheet, QuestionKind.TAKEN_OUT) == {
        "Line 2 is taken out. What does the call do then?": "It raises an exception: `UnboundLocalError`, in line 4.",
        "Line 4 is taken out. What does the call do then?": "It returns other values, of the same type and shape.",
        "Line 6 is taken out. What does the call do then?": "It returns other values, of the same type and shape.",
        "Line 7 is taken out. What does the call do then?": "It returns the same as before.",
    }
    assert answers(sheet, QuestionKind.VALUE) == {
        "When line 4 has run for the first time, what is the value of `y`?": "`2`",
        "When line 6 has run, what is the value of `y`?": "`2`",
        "When line 7 has run, what is the value of `y`?": "`2`",
    }


def test_a_wrong_answer_is_asked_about_as_it_is(ask):
    assert answers(ask("def double(x):\n    y = 3 * x\n    return y"), QuestionKind.RESULT) == {
        "What does it return?": "`3`"
    }


def test_a_crashing_answer_is_asked_where_and_why(ask, declared):
    sheet = ask("def double(x):\n    y = x\n    z = 2 * y.mean()\n    return z + x")
    assert answers(sheet, QuestionKind.CRASH) == {
        "The call stops with an exception. Of which type is it, and which line of the cell causes it?": (
            "`AttributeError`, in line 3."
        )
    }
    failing = answers(sheet, QuestionKind.FAILS)
    assert failing == {
        "Which of these calls stops with an exception, and of which type?": "Call A: `AttributeError`."
    }


def test_code_outside_of_functions_is_asked_about_as_well(ask):
    sheet = ask("z = [n for n in range(7)]\nw = z[9]\ndouble = len")
    assert answers(sheet, QuestionKind.VALUE) == {"When line 1 has run, how many entries does `z` have?": "7"}
    assert list(answers(sheet, QuestionKind.CRASH).values()) == ["`IndexError`, in line 2."]


def test_a_cell_that_python_cant_read_has_one_question(ask):
    sheet = ask("def double(x):\n    return 2 * (x\n\nz = 1", RIGHT_HALF)
    assert answers(sheet, QuestionKind.SYNTAX) == {
        "Python can't read this cell. Which kind of error does it report, and in which line?": (
            "A `SyntaxError` in line 2."
        )
    }
    assert {one.cell for one in sheet.questions} == {"double", "half"}


@pytest.mark.thorough
def test_an_endless_loop_gets_a_sentence_and_the_other_answer_its_questions(ask):
    sheet = ask(
        "def double(x):\n    while True:\n        x = x + 0\n    return x",
        "def half(x):\n    y = x / 2\n    return y",
        seconds=1,
    )
    assert sheet.problem.startswith("The code in `double` can't be traced to its end")
    assert answers(sheet, QuestionKind.VALUE, "half") == {
        "When line 2 has run, what is the value of `y`?": "`1.0`"
    }


@pytest.mark.thorough
def test_a_cell_that_hangs_gets_a_sentence(ask):
    sheet = ask("while True: pass", RIGHT_HALF, seconds=1)
    assert "`double`" in sheet.problem
    assert {one.cell for one in sheet.questions} <= {"half"}


@pytest.mark.parametrize(
    "source", ["random.randrange(2)", "np.random.randint(2)", "int(torch.randint(2, ()))", "len({x, 3, 'a'})"]
)
@pytest.mark.slow
def test_values_that_depend_on_chance_are_never_asked(source, ask, declared):
    sheet = ask(
        "import random\nimport numpy as np\n"
        f"def double(x):\n    y = {source}\n    if y > 0:\n        y = -1\n    return y"
    )
    kinds = {one.kind for one in sheet.questions if one.cell == "double"}
    assert kinds.isdisjoint({QuestionKind.VALUE, QuestionKind.BRANCH, QuestionKind.RESULT})


@pytest.mark.thorough
def test_values_that_depend_on_other_variables_of_the_notebook_are_not_asked(ask):
    sheet = ask("start = 4\ndef double(x):\n    y = x + start\n    return 2 * x")
    assert answers(sheet, QuestionKind.VALUE) == {}


@pytest.mark.thorough
def test_an_answer_that_differs_in_the_second_run_is_dropped(ask):
    sheet = ask(
        "import random\nsize = random.randint(2, 10**4)\n"
        "def double(x):\n    y = torch.ones(size, 2)\n    return 2 * x"
    )
    assert sheet.dropped > 0
    assert answers(sheet, QuestionKind.SHAPE) == {}


def test_lines_that_were_handed_out_are_not_asked_about(empty_class, ask):
    released = empty_class.assignment.released("double")
    cell = next(cell for cell in released.cells if cell["id"] == "answer")
    cell.source = "def double(x):\n    given = x * 7\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    (empty_class.assignment.release_folder / "double.ipynb").write_text(nbformat.writes(released))
    sheet = ask("def double(x):\n    given = x * 7\n    own = given - 5 * x\n    return own")
    lines = {one.line for one in sheet.questions if one.cell == "double"}
    assert 3 in lines and 2 not in lines


@pytest.mark.thorough
def test_lines_of_the_most_common_solution_are_not_the_student_s_own(empty_class, ask):
    for name in ("bob", "cho", "dan"):
        renamed = f"def double(x):\n    {name} = x + x\n    return {name}"
        empty_class.hand_in(name, empty_class.answer(renamed, RIGHT_HALF))
    copied = ask("def double(x):\n    mine = x + x\n    return mine")
    assert not any(one.own for one in copied.questions if one.cell == "double")
    own = ask("def double(x):\n    y = x * 4\n    y = y - x - x\n    return y")
    assert {one.line for one in own.questions if one.own and one.line} == {2, 3}


@pytest.mark.thorough
def test_the_same_submission_and_seed_make_the_same_sheet(ask):
    first, again = ask(LONG, count=3), ask(LONG, count=3)
    assert first == again
    assert len(first.questions) == 3
    others = [[one.text for one in ask(LONG, count=3, seed=seed).questions] for seed in (1, 2)]
    assert any(other != [one.text for one in first.questions] for other in others)
    other_student = ask(LONG, count=3, name="bob")
    assert len(other_student.questions) == 3


# ------------------------------------------------------------------------------------------------------- hostile

HOSTILE = {
    "replaces the tracer": "import sys\nsys.settrace = lambda *_: None\ndef double(x):\n    y = x + x\n    return y",
    "ends the trace": "import sys\ndef double(x):\n    sys.settrace(None)\n    y = x + x\n    return y",
    "removes modules": "import sys\nfor name in list(sys.modules):\n    if 'gradekit' in name: del sys.modules[name]\ndef double(x):\n    y = x + x\n    return y",
    "ends the process": "import os\ndef double(x):\n    y = x + x\n    os._exit(3)",
    "swallows everything": "def double(x):\n    while True:\n        try:\n            x = x + 0\n        except BaseException:\n            pass",
    "replies garbage": "import sys\nsys.modules['gradekit.inside.agent'].encode = lambda *_: [b'[' * 10**5, b'']\ndef double(x):\n    y = x + x\n    return y",
    "replies nothing": "import sys\nsys.modules['gradekit.inside.agent'].Agent.do_call = lambda *_, **__: {'value': {'calls': 3}}\ndef double(x):\n    y = x + x\n    return y",
    "prints": "def double(x):\n    for _ in range(3000):\n        print('<script>' * 1000)\n    return 2 * x",
    "lies about its class": "class Odd:\n    __class__ = property(lambda self: 1 / 0)\n    __module__ = 'pandas'\n    shape = ['<b>']\ndef double(x):\n    y = Odd()\n    return y",
}  # fmt: skip


SLOW = {"swallows everything", "prints", "ends the trace", "replaces the tracer", "removes modules"}
ENDED = "Nothing below `double` was run: "
#: of the others, all is run
PROBLEMS = {
    "removes modules": ENDED + "it exceeded its time limit and ignored the interrupt.",
    "ends the process": ENDED + "it ended the Python process.",
    "swallows everything": "The code in `double` can't be traced to its end",
    "replies garbage": ENDED + "what it sent can't be read: the reply is nested",
    "replies nothing": ENDED + "what it sent can't be read: the tracer's reply breaks the format",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.thorough] if name in SLOW else []) for name in HOSTILE],
)
def test_hostile_code_costs_the_other_answer_no_questions_but_where_the_sheet_says_so(name, ask):
    sheet = ask(HOSTILE[name], RIGHT_HALF, seconds=1)
    expected = PROBLEMS.get(name, "")
    assert sheet.problem.startswith(expected) and bool(sheet.problem) == bool(expected)
    half = [one for one in sheet.questions if one.cell == "half"]
    assert bool(half) == (not expected.startswith(ENDED))
    page = sheet_as_html("01_double", sheet, 0)
    assert "<script" not in page and "<b>'" not in page
    if name in (
        "replaces the tracer",
        "ends the trace",
        "replies garbage",
        "replies nothing",
        "ends the process",
    ):
        assert answers(sheet, QuestionKind.VALUE) == {}


SEEN = {"type": "int", "text": "3", "about": "3"}
CALL = {
    "name": "f", "args": [["x", SEEN]], "frames": [["f", 1]], "result": SEEN, "error": None,
    "complete": True, "random": False, "closed": True, "object": -1,
    "runs": [{"statement": 0, "count": 1, "values": [["y", SEEN]], "then": 1}],
}  # fmt: skip


def test_a_reply_in_the_format_is_read():
    assert read_as({"calls": [CALL], "stopped": False}, Traced).calls[0].runs[0].values[0][1].text == "3"


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {"calls": [CALL]},
        {"calls": [CALL] * 11, "stopped": False},
        {"calls": [CALL], "stopped": "no"},
        *({"calls": [CALL | {key: value}], "stopped": False} for key, value in [
            ("name", 3), ("name", "f" * 101), ("args", [["x"]]), ("args", [["x", SEEN | {"text": "3" * 121}]]),
            ("args", [["x", SEEN | {"shape": [-1]}]]), ("args", [["x", SEEN | {"shape": ["3"]}]]),
            ("args", [["x", SEEN | {"more": 1}]]), ("args", [["x", SEEN | {"parts": [SEEN] * 5}]]),
            ("runs", [{"statement": 0, "count": -1, "values": [], "then": 1}]), ("runs", {"a": 1}),
            ("runs", [{"statement": 10**9, "count": 1, "values": [], "then": 1}]), ("frames", [["f", "1"]]),
            ("result", None), ("error", {"type": "E"}), ("error", {"type": "E", "line": 1.5}), ("complete", 1),
            ("object", "1"), ("object", 101),
        ]),
    ],
)  # fmt: skip
def test_every_field_of_a_reply_is_checked(wrong):
    with pytest.raises(MessageError):
        read_as(wrong, Traced)


def test_the_effect_of_taking_out_is_one_of_a_few():
    assert read_as({"effect": "same", "error": None, "result": SEEN}, Effect).effect == "same"
    with pytest.raises(MessageError):
        read_as({"effect": "<b>", "error": None, "result": SEEN}, Effect)


# -------------------------------------------------------------------------------------------------------- files


@pytest.mark.slow
def test_the_command_writes_a_page_for_each_student_and_one_file_with_all(empty_class, capsys):
    empty_class.hand_in("ann", empty_class.answer(LONG, RIGHT_HALF))
    empty_class.hand_in("bob", "{")
    empty_class.hand_in(
        "cho", empty_class.answer("def double(x):\n    y = '<i>' or x\n    return y", RIGHT_HALF)
    )
    assert empty_class.gradekit("viva", "01_double", "--workers", "2", "--questions", "3") == 0
    printed = capsys.readouterr().out
    assert "for 2 of 3 students" in printed and "  bob: There is nothing to ask: double.ipynb" in printed
    folder = empty_class.root / "reports" / "01_double" / "viva"
    everybody = folder.with_suffix(".html")
    assert f"to print all at once: {everybody}" in printed
    assert everybody.read_text().count('class="sheet"') == 3 and everybody.read_text().count("<details>") > 3
    pages = {path.stem: path.read_text() for path in folder.glob("*.html")}
    assert sorted(pages) == ["ann", "bob", "cho"]
    assert pages["ann"].count("<details>") == 3 and '<html lang="en">' in pages["ann"]
    assert "<i>" not in pages["cho"] and "&lt;i&gt;" in pages["cho"]
    with (folder / "questions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["question"] for row in rows if row["student"] == "ann"] == ["1", "2", "3"]
    assert all(row["answer"] and row["text"] for row in rows)


def test_only_the_exercise_that_is_named_is_asked_about(empty_class, capsys):
    half = "def half(x):\n    y = x / 2\n    return y"
    empty_class.hand_in("ann", empty_class.answer(LONG, half))
    viva = ("viva", "01_double", "--workers", "1", "--questions", "10", "--exercise")
    assert empty_class.gradekit(*viva, "half") == 0
    folder = empty_class.root / "reports" / "01_double" / "viva"
    with (folder / "questions.csv").open() as file:
        assert {row["cell"] for row in csv.DictReader(file)} == {"half"}
    for page in (folder / "ann.html", folder.with_suffix(".html")):
        assert "<h1>For graders, with answers: 01_double</h1>" in page.read_text()
    assert empty_class.gradekit(*viva, "halves") == 2
    assert "01_double has no answer in code halves; it has double, half" in capsys.readouterr().err


@pytest.mark.slow
def test_pages_to_hand_out_have_no_answers(empty_class, capsys):
    empty_class.hand_in("ann", empty_class.answer(LONG, RIGHT_HALF))
    empty_class.gradekit("viva", "01_double", "ann", "--workers", "1", "--without-answers")
    page = (empty_class.root / "reports" / "01_double" / "viva" / "ann.html").read_text()
    assert "<h1>Questions about your code: 01_double</h1>" in page
    assert (
        "Question 1" in page
        and "<details>" not in page
        and "Answer" not in re.sub("<style>.*</style>", "", page, flags=re.S)
    )


def test_bad_input_gets_one_sentence(empty_class, capsys):
    assert empty_class.gradekit("viva", "01_double") == 2
    assert "nobody has handed in 01_double" in capsys.readouterr().err
    empty_class.hand_in("ann", empty_class.answer(LONG, RIGHT_HALF))
    assert empty_class.gradekit("viva", "01_double", "zoe") == 2
    assert "`zoe` handed in nothing for 01_double" in capsys.readouterr().err
    empty_class.checks.with_name("viva.py").write_text("1 / 0")
    assert empty_class.gradekit("viva", "01_double", "--workers", "1") == 2
    assert "viva.py can't be read: ZeroDivisionError" in capsys.readouterr().err
