"""What a line is for: the rubric says what the checks notice when the line is missing, and nothing else."""

import csv

import pytest

from gradekit_integrity.viva.files import sheet_as_html
from gradekit_integrity.viva.purpose import purposes
from gradekit_integrity.viva.questions import Asked, Question, QuestionKind
from gradekit_integrity.viva.sheets import Sheet
from gradekit_integrity.viva.statements import AnswerCode

HALVED = """\
def half(x):
    y = x + 0
    y = y / 2
    print("halved")
    return y"""


def purposes_of(sheet: Sheet, cell: str) -> dict[int, Question]:
    return {one.line: one for one in sheet.questions if one.kind == QuestionKind.PURPOSE and one.cell == cell}


def changes(source: str, given: tuple[str, ...] = ()) -> dict[int, str]:
    """By line, what an answer's line is replaced by; `pass` if it is taken out."""
    code = AnswerCode(source)
    asked = Asked(
        "n", "c", code, lambda one: code.source.split("\n")[one.first - 1] in given, lambda one: True
    )
    return {one.line: change.instead or "pass" for one, change in purposes(asked)}


@pytest.mark.thorough
def test_the_rubric_is_what_the_checks_say_without_the_line(ask):
    sheet = ask("def double(x):\n    y = x\n    y = 2 * y\n    return y")
    one = purposes_of(sheet, "double")[3]
    assert one.text == "What is line 3 for? Say what would be wrong without it."
    assert one.answer.endswith("Found by running the checks with line 3 taken out:")
    assert any(part.startswith("“The output is twice the input” no longer holds.") for part in one.rubric)
    assert any("Every entry is the right one divided by 2" in part for part in one.rubric)
    assert not any("left alone" in part for part in one.rubric), "this check passes without the line, too"


@pytest.mark.thorough
def test_a_line_that_no_check_misses_is_not_asked_about(ask):
    asked = purposes_of(ask("def double(x):\n    return 2 * x", HALVED), "half")
    assert 3 in asked
    assert 2 not in asked, "x + 0 is x"
    assert 4 not in asked, "printing changes nothing"


@pytest.mark.thorough
def test_a_line_that_only_defines_a_name_is_not_asked_about(ask):
    asked = purposes_of(
        ask("def double(x):\n    y = 2\n    if x is None:\n        y = 3\n    return y * x"), "double"
    )
    assert 2 not in asked


def test_a_line_that_is_needed_is_replaced_by_what_is_left_without_its_last_operation(ask):
    one = purposes_of(ask("def double(x):\n    y = torch.mul(x, 2)\n    return y"), "double")[2]
    assert one.answer.endswith("with line 2 replaced by `y = x`:")
    assert one.rubric


@pytest.mark.thorough
def test_the_sentence_of_a_known_mistake_is_part_of_the_rubric(ask, empty_class):
    mistakes = empty_class.checks.with_name("mistakes.py")
    mistakes.write_text(
        mistakes.read_text().replace(
            "MISTAKES = [",
            'MISTAKES = [Mistake("once", cell="double", edits=[("2 * x", "1 * x")], about=["test_value"],\n'
            '            sentence="You returned the input itself."),',
        )
    )
    assert empty_class.gradekit("record", "01_double") == 0
    one = purposes_of(ask("def double(x):\n    y = x\n    y = 2 * y\n    return y"), "double")[3]
    assert one.rubric[0] == "A known mistake: “You returned the input itself.”"


@pytest.mark.slow
def test_of_a_wrong_answer_only_checks_that_pass_are_in_the_rubric(ask):
    sheet = ask("def double(x):\n    y = x.detach()\n    y = y * 2\n    return y")
    rubric = purposes_of(sheet, "double")[3].rubric
    assert rubric and not any("Gradients" in part for part in rubric)


def test_without_a_check_that_passes_nothing_is_asked(ask):
    assert purposes_of(ask("def double(x):\n    y = x\n    y = y @ 3\n    return y"), "double") == {}


@pytest.mark.thorough
def test_the_page_and_the_table_have_the_whole_rubric(ask, empty_class, capsys):
    sheet = ask("def double(x):\n    y = x\n    y = 2 * y\n    return y")
    (one,) = [one for one in purposes_of(sheet, "double").values() if one.line == 3]
    page = sheet_as_html("01_double", sheet, 0)
    assert page.count("“The output is twice the input” no longer holds.") >= 2  # on the screen and in print
    assert empty_class.gradekit("viva", "01_double", "--workers", "1", "--questions", "10") == 0
    with (empty_class.root / "reports" / "01_double" / "viva" / "questions.csv").open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["kind"] == "purpose" and row["line"] == "3")
    assert all(part in row["answer"] for part in one.rubric)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(s):\n    w = torch.softmax(s, dim=-1)\n    return w", {2: "w = s"}),
        ("def f(s):\n    w = s.softmax(-1)\n    return w", {2: "w = s"}),
        ("def f(q, k, d):\n    s = q @ k.mT / d\n    return s", {2: "s = q @ k.mT"}),
        ("def f(q, k):\n    s = q @ k\n    return s", {}),
        ("def f(m):\n    return ~m", {2: "return m"}),
        ("def f(m):\n    return m[:, None], m", {}),
        ("def f(n):\n    m = torch.zeros(3, 3)\n    return m", {}),
        ("def f(x):\n    x = g(x)\n    x.add_(1)\n    return x", {2: "pass", 3: "pass"}),
        ("def f(x): return 2 * x", {}),
        ("s = x / 2\nw = s * 3", {2: "w = s"}),
    ],
)
def test_what_a_line_is_replaced_by(source, expected):
    assert changes(source) == expected


def test_lines_that_were_handed_out_are_not_asked_about():
    source = "def f(s):\n    s = s / 2\n    s = s * 3\n    return s"
    assert changes(source, given=("    s = s / 2",)) == {3: "pass"}
