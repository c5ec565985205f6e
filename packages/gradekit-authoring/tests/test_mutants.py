"""Mutants: what each operator makes, which may survive, and what `gradekit audit --mutants` prints."""

import pytest

from gradekit.course import CourseError
from gradekit_authoring.mutants.make import OPERATORS, mutants_of, mutants_of_cell, sample
from gradekit_authoring.mutants.survivors import run_mutants


def mutants(kind, body, head="def f(x, y=1):", imported=("torch", "math", "nn")):
    """The lines that mutants of one kind have in place of the body of a function."""
    lines = "\n".join(f"    {line}" for line in ["### BEGIN SOLUTION", *body.split("\n"), "### END SOLUTION"])
    found = mutants_of_cell("f", f"{head}\n{lines}", frozenset(imported))
    return [mutant.after for mutant in found if mutant.name.split(":")[2].rpartition("-")[0] == kind]


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("operator", "return x * 2", ["return x / 2"]),
        ("operator", "return (x) + (y)", ["return (x) - (y)"]),
        ("operator", "return not x", ["return x"]),
        ("operator", "x += y", ["x -= y", "x = y"]),
        ("operand", "return x + y", ["return x", "return y"]),
        ("operand", "return x * (x + y)", ["return x", "return (x + y)", "return x * (x)", "return x * (y)"]),
        ("operand", "return x and y", ["return x", "return y"]),
        ("comparison", "return x < y", ["return x <= y", "return x >= y"]),
        ("comparison", "return x != y", ["return x == y", "return x > y", "return x < y"]),
        ("comparison", "return x  is not y", ["return x  is y"]),
        ("comparison", "return x not in y", ["return x in y"]),
        ("boolean", "return x and y", ["return x or y"]),
        ("condition", "x = 1 if x else 2", ["x = 1 if not (x) else 2", "x = 1 if False else 2", "x = 1 if True else 2"]),
        ("condition", "return [a for a in x if a]", ["return [a for a in x if True]"]),
        ("constant", "return 5", ["return 6", "return 4"]),
        ("constant", "return 0.5", ["return 1.5", "return 0.0"]),
        ("constant", "return True", ["return False"]),
        ("constant", "return 'word'", ['return ""']),
        ("call", "return torch.relu(x)", ["return x"]),
        ("call", "return x.sum()", ["return x"]),
        ("call", "return nn.Linear(x, y)", []),
        ("argument", "return f(x, y)", ["return f(y)", "return f(x)", "return f(y, x)"]),
        ("argument", "return x, y", ["return y", "return x", "return y, x"]),
        ("argument", "return x[:, 1]", ["return x[1, :]"]),
        ("keyword", "return f(x, y=2, z=3)", ["return f(x, z=3)", "return f(x, y=2)"]),
        ("slice", "return x[1:y]", ["return x[:y]", "return x[1:]"]),
        ("twin", "return torch.sin(x)", ["return torch.cos(x)"]),
        ("twin", "return max(x, y)", ["return min(x, y)"]),
        ("in-place", "return x + y", ["return x.add_(y)"]),
        ("in-place", "return x.masked_fill(y, 0)", ["return x.masked_fill_(y, 0)"]),
        ("statement", "x.sort()", ["pass"]),
        ("context", "with torch.no_grad():\n    x = y", ["if True:"]),
        ("loop", "for a in x:\n    y += a", ["for a in list(x)[1:]:", "for a in list(x)[:-1]:"]),
        ("exception", "raise ValueError(x)", ["raise RuntimeError(x)"]),
        ("state", "x = x + 1", ['x = vars(f).setdefault("_x", x + 1)']),
        ("state", "return x, y", ['return vars(f).setdefault("_values", (x, y))']),
        ("default", "return x * y", ["y = 1"]),
        ("default", "return x", []),
        ("mode", "x.train()", ["x.eval()"]),
    ],
)  # fmt: skip
def test_an_operator_edits_the_text_and_nothing_else(kind, before, after):
    assert mutants(kind, before) == after


def test_there_is_an_example_of_every_operator():
    (parameters,) = (mark.args[1] for mark in test_an_operator_edits_the_text_and_nothing_else.pytestmark)
    assert {kind for kind, _, after in parameters if after} == set(OPERATORS)


def test_a_method_keeps_its_state_in_the_instance_and_may_change_its_mode():
    forward = "class M:\n    def forward(self, x):\n        y = x\n        return y"
    after = [mutant.after for mutant in mutants_of_cell("m", forward)]
    assert 'y = vars(self).setdefault("_y", x)' in after
    assert {"self.train()", "self.eval()"} < set(after)


def test_a_model_that_is_called_may_be_left_in_a_mode():
    head = "def f(model):"
    assert mutants("mode", "return model(2)", head=head) == ["model.train()", "model.eval()"]
    assert mutants("mode", "model.train()\nreturn model(2)", head=head) == ["model.eval()"]


def test_only_the_solution_is_edited_not_what_was_given_and_no_message():
    source = "limit = 3\n\n### BEGIN SOLUTION\n'about 4'\nif limit > 5:\n    raise ValueError(f'{limit + 6}')\n### END SOLUTION"
    found = mutants_of_cell("cell", source)
    assert {mutant.name.split(":")[1] for mutant in found} == {"5", "6"}
    assert all(
        "limit = 3" in mutant.source and "limit + 6" in mutant.source
        for mutant in found
        if mutant.after == ""
    )


def test_a_mutant_is_named_by_cell_line_kind_and_number():
    assert [mutant.name for mutant in mutants_of_cell("area", "x = 2\ny = 3 * x")][:4] == [
        "area:1:statement-1",
        "area:1:constant-1",
        "area:1:constant-2",
        "area:2:statement-1",
    ]


def test_no_two_mutants_are_alike_and_all_compile():
    found = mutants_of_cell("f", "def f(a, b):\n    return (a + a)[0:0] if not a else super(b)")
    sources = [mutant.source for mutant in found]
    assert len(sources) == len(set(sources)) > 10
    for source in sources:
        compile(source, "cell", "exec")


def test_letters_beyond_ascii_move_nothing():
    assert mutants("operator", "return '√' + x * y") == ["return '√' - x * y", "return '√' + x / y"]


def test_a_diff_has_the_changed_lines_only():
    (mutant,) = (
        found for found in mutants_of_cell("f", "def f(x):\n    y = 2\n    return x") if "3" in found.after
    )
    assert mutant.diff() == ["- y = 2", "+ y = 3"]


def test_a_cell_that_is_no_plain_python_has_no_mutants():
    assert mutants_of_cell("shell", "%timeit x") == []


def test_a_sample_is_always_the_same_and_in_order(tiny_course):
    made = mutants_of(tiny_course.assignment)
    few = sample(made, 5)
    assert few == sample(made, 5) == sorted(few, key=made.index)
    assert sample(made, 1000) == made


WEAK = '''
from gradekit.checks import assert_close, points


@points(10)
def test_zero(student):
    """Twice nothing is nothing."""
    assert student.double(0) == 0
'''
EQUIVALENT = """
from gradekit.checks import Equivalent

EQUIVALENT = [Equivalent("double", {before!r}, {after!r}, "It is a test.")]
"""


def test_good_checks_kill_every_mutant(tiny_course):
    run = run_mutants(tiny_course.assignment, workers=1)
    assert run.survivors == [] and list(run.problems()) == []
    (score,) = run.scores()
    assert score.exercise == "double" and score.killed == score.tried == len(run.made) > 5


def test_a_weak_check_lets_survivors_through_which_are_printed_as_diffs(tiny_course, capsys):
    tiny_course.checks.write_text(WEAK)
    assert tiny_course.gradekit("audit", "--mutants", "--all", "--workers", "1", "01_double") == 1
    printed = capsys.readouterr().out
    assert "  SURVIVED double:3:constant-1\n    - y = 2 * x\n    + y = 3 * x\n" in printed
    assert "return y + 1" not in printed
    assert (
        tiny_course.gradekit(
            "audit", "--mutants", "--only", "double:3:operand-1", "--workers", "1", "01_double"
        )
        == 0
    )


def test_a_survivor_with_a_reason_is_no_problem(tiny_course, capsys):
    tiny_course.checks.write_text(WEAK)
    entry = EQUIVALENT.format(before="    y = 2 * x  # any comment", after="y = 3 * x")
    (tiny_course.assignment.checks / "equivalent.py").write_text(entry)
    command = ("audit", "--mutants", "--only", "double:3:constant-1", "--workers", "1", "01_double")
    assert tiny_course.gradekit(*command) == 0
    assert "double  0 of 1 killed, 1 may survive" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("after", "problem"),
    [("y = 3 * x", "catches it; remove the entry"), ("y = 9 * x", "there is no such mutant")],
)
def test_an_entry_that_is_not_true_is_a_problem(tiny_course, capsys, after, problem):
    entry = EQUIVALENT.format(before="y = 2 * x", after=after)
    (tiny_course.assignment.checks / "equivalent.py").write_text(entry)
    assert tiny_course.gradekit("audit", "--mutants", "--all", "--workers", "1", "01_double") == 1
    assert problem in capsys.readouterr().out


@pytest.mark.thorough
def test_a_mutant_that_hangs_is_killed(tiny_course, tiny_source):
    tiny_source.cells[
        1
    ].source = "def double(x):\n    ### BEGIN SOLUTION\n    n = 0\n    while n < 1:\n        n += 1\n    return 2 * x\n    ### END SOLUTION"
    tiny_course.write_source(tiny_source)
    run = run_mutants(tiny_course.assignment, workers=1, only="double:5:statement-*")
    assert [score.killed for score in run.scores()] == [1]


def test_a_solution_that_fails_its_own_checks_is_named(tiny_course):
    tiny_course.checks.write_text(WEAK.replace("== 0", "== 1"))
    with pytest.raises(CourseError, match="the solution of double itself fails test_double::test_zero"):
        run_mutants(tiny_course.assignment, workers=1)


def test_a_check_that_crashes_on_a_mutant_is_a_problem(tiny_course):
    tiny_course.checks.write_text(WEAK.replace("== 0", "== 0 or unknown_name"))
    run = run_mutants(tiny_course.assignment, workers=1, only="double:4:statement-1")
    assert "unknown_name" in "".join(run.problems())


def test_all_without_mutants_is_refused(tiny_course, capsys):
    assert tiny_course.gradekit("audit", "--all", "01_double") == 2
    assert "add --mutants" in capsys.readouterr().err


ANOTHER_TRIPLE = """
from gradekit.checks import Mistake

MISTAKES = [
    Mistake("triple", cell="double", edits=[("return y", "return y + x")], about=["test_value"],
            sentence="You added the input once more."),
]
"""


@pytest.mark.slow
def test_mutants_that_get_the_sentence_of_a_mistake_on_another_line_are_listed_first(tiny_course, capsys):
    (tiny_course.checks.parent / "mistakes.py").write_text(ANOTHER_TRIPLE)
    assert tiny_course.gradekit("record", "01_double") == 0
    command = ("audit", "--mutants", "--names", "--all", "--workers", "1", "01_double")
    assert tiny_course.gradekit(*command) == 0
    first, *_ = capsys.readouterr().out.partition("01_double\n")[2].split("\n  double:")
    assert first.splitlines()[0].endswith("is named triple, which changes other lines")
    assert "    You added the input once more.\n    - y = 2 * x\n    + y = 3 * x" in first


def test_a_mutant_that_is_the_known_mistake_is_not_listed(tiny_course, capsys):
    command = (
        "audit",
        "--mutants",
        "--names",
        "--only",
        "double:3:constant-*",
        "--workers",
        "1",
        "01_double",
    )
    assert tiny_course.gradekit(*command) == 0
    assert "0 mutants are named, 0 that change other lines" in capsys.readouterr().out


def test_names_without_mutants_is_refused(tiny_course, capsys):
    assert tiny_course.gradekit("audit", "--names", "01_double") == 2
    assert "add --mutants" in capsys.readouterr().err
