"""What counts as the same statement, and which ones are the student's own."""

import pytest

from gradekit_integrity.viva.class_answers import keys_of, most_common
from gradekit_integrity.viva.questions import Question, QuestionKind, choose
from gradekit_integrity.viva.statements import AnswerCode, Sort, outside_names

LOOP = """\
def total(numbers):
    # adds them up
    found = 0
    for one in numbers:
        if one > 0:
            found += one
    return found"""


def test_renamed_variables_comments_and_layout_make_no_difference():
    renamed = LOOP.replace("found", "s").replace("one", "x").replace("# adds", "# sums").replace(" = 0", "=0")
    assert keys_of(renamed) == keys_of(LOOP)
    assert keys_of(LOOP.replace("> 0", ">= 0")) != keys_of(LOOP)


def test_a_statement_knows_its_lines_and_its_block():
    code = AnswerCode(LOOP)
    assert [(one.sort, one.first, one.last) for one in code.statements] == [
        (Sort.OTHER, 1, 2),
        (Sort.ASSIGN, 3, 3),
        (Sort.LOOP, 4, 4),
        (Sort.IF, 5, 5),
        (Sort.ASSIGN, 6, 6),
        (Sort.RETURN, 7, 7),
    ]
    assert [one.body for one in code.statements][2:4] == [3, 4]
    assert {one.function for one in code.statements[1:]} == {"total"}


def test_nested_functions_and_methods_have_the_names_that_python_gives_them():
    code = AnswerCode("class A:\n    def f(self):\n        def g():\n            return 1\n        return g")
    assert [one.function for one in code.statements] == ["", "A", "A.f", "A.f.<locals>.g", "A.f"]
    assert code.functions == ["A.f"]


def test_taking_a_statement_out_moves_no_other_line():
    code = AnswerCode("def f(x):\n    x = g(\n        x,\n    )\n    return x")
    assert code.without(code.statements[1]).split("\n") == ["def f(x):", "    pass", "", "", "    return x"]


def test_statements_that_share_a_line_are_not_clear():
    code = AnswerCode("def f(x):\n    y = 1; z = 2\n    if x: y = 3\n    return y")
    clear = [number for number in range(len(code.statements)) if code.is_clear(number)]
    assert [code.statements[number].sort for number in clear] == [Sort.OTHER, Sort.RETURN]


def test_a_variable_that_is_assigned_once_is_not_optional():
    code = AnswerCode("def f(x):\n    y = x.t()\n    x = y + 1\n    y = y * 2\n    z = x\n    return y + z")
    assert [one.optional for one in code.statements[1:5]] == [True, True, True, False]


def test_magics_keep_their_lines():
    code = AnswerCode("%matplotlib inline\ndef f():\n    !ls\n    return 1")
    assert code.source == "pass\ndef f():\n    pass\n    return 1"


def test_names_from_outside_are_neither_parameters_nor_variables_nor_built_in():
    source = "import math\ndef f(x):\n    y = sum(x)\n    return [math.sqrt(z * scale) for z in range(y)]"
    assert outside_names(source, "f") == ["math", "scale"]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([("a", "b"), ("a", "b"), ("c",)], {"a", "b"}),
        ([("a",), ("b",), ("c",)], set()),  # nobody agrees
        ([("a",), ("a",)], set()),  # too few
        ([(), (), ("a",)], set()),  # what can't be read counts for nothing
    ],
)
def test_the_most_common_answer_needs_a_class_and_two_students(answers, expected):
    assert most_common(answers) == expected


def question(cell: str, line: int, kind: QuestionKind = QuestionKind.SHAPE, own: bool = False) -> Question:
    return Question(kind, "n", cell, line, f"{kind} {line}?", "4", own=own, interest=4)


def test_own_lines_come_before_common_ones():
    questions = [question("a", line) for line in range(1, 9)] + [question("b", 1, own=True)]
    assert all(question("b", 1, own=True) in choose(questions, 2, str(seed)) for seed in range(20))


def test_a_sheet_spreads_over_cells_kinds_and_lines():
    questions = [question(cell, line, kind) for cell in "ab" for line in (1, 2) for kind in QuestionKind]
    for seed in range(20):
        chosen = choose(questions, 4, str(seed))
        assert len({(one.cell, one.line) for one in chosen}) == 4
        assert len({one.kind for one in chosen}) == 4


def test_the_seed_decides():
    questions = [question(cell, line) for cell in "abcd" for line in range(6)]
    assert choose(questions, 4, "1") == choose(questions, 4, "1")
    assert len({tuple(choose(questions, 4, str(seed))) for seed in range(10)}) > 5
