"""A cell below a test changes what the answer means or uses: checks run after the last cell, so a person decides.

Plain nbgrader runs each test at its place, so it gives these right answers full marks.
"""

import shutil
from dataclasses import dataclass, field

import pytest
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from gradekit.submission.submission import Submission
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob

from .beside_plain import CONFIGURE
from .needs import mostly_slow
from .tiny_course import TinyCourse, code, mark

EVENS = "def evens(numbers):\n    return sum(n for n in numbers if n % 2 == 0)"
SQUARES = "squares = [i * i for i in range(10)]"
SCALE = "def scale(x):\n    x = np.asarray(x, dtype=float)\n    return x - x.mean()"
CHECKS = {
    "test_scale.py": '''
import numpy as np
from gradekit.checks import assert_close, points


@points(2)
def test_centered(student, draw):
    """It is x minus its mean."""
    x = np.asarray(draw.normal(7))
    assert_close(student.scale(x), x - x.mean(), name="scaled")
''',
    "test_evens.py": '''
from gradekit.checks import points


@points(2)
def test_sum(student):
    """It is the sum of the even numbers."""
    assert student.evens([1, 2, 4, 7, 10]) == 16, "`evens` is wrong."


@points(1)
def test_empty(student):
    """It is 0 without numbers."""
    assert student.evens([]) == 0, "`evens` is wrong."
''',
    "test_squares.py": '''
from gradekit.checks import points


@points(2)
def test_squares(student):
    """`squares` has the squares of 0 to 9."""
    assert list(student.get("squares")) == [i * i for i in range(10)], "`squares` is wrong."
''',
    "conftest.py": """
import pytest


@pytest.fixture
def arrays():
    return "numpy"
""",
}
TEST = {"grade": True, "locked": True}


def notebook() -> NotebookNode:
    solution = "### BEGIN SOLUTION\n{}\n### END SOLUTION"
    return v4.new_notebook(
        cells=[
            code("import numpy as np", mark("setup", locked=True), "setup"),
            code(solution.format(SCALE), mark("scale", solution=True), "scale"),
            code("assert scale([1, 3])[1] == 1", mark("test_scale", **TEST, points=2), "test1"),
            code(solution.format(EVENS), mark("evens", solution=True), "evens"),
            code("assert evens([1, 2, 3]) == 2", mark("test_evens", **TEST, points=3), "test2"),
            code(solution.format(SQUARES), mark("squares", solution=True), "squares"),
            code("assert squares[2] == 4", mark("test_squares", **TEST, points=2), "test3"),
            code("limit = 10\nnumbers = [1, 2]", mark("given", locked=True), "given"),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


@dataclass(frozen=True)
class Case:
    """What a student wrote; `lost` has the beginnings of the sentences about the exercises that a person decides."""

    own: str = ""
    lost: dict[str, str] = field(default_factory=dict)
    scale: str = SCALE
    evens: str = EVENS
    squares: str = SQUARES


def of(name: str, done: str = "was assigned again", cell: str = "number 9") -> str:
    return f"`{name}` {done} in the cell `{cell}` below its test cell, and the checks ran after that."


def table(name: str, text: str, done: str = "was changed") -> tuple[str, Case]:
    return f"squares, {name}", Case(text, {"test_squares": of("squares", done)})


def library(
    name: str, text: str, changed: str = "np.asarray", done: str = "was assigned again", **answers: str
) -> tuple[str, Case]:
    return f"library, {name}", Case(text, {"test_scale": of(changed, done)}, **answers)


def evens(name: str, uses: str, own: str = "", cell: str = "squares", **answers: str) -> tuple[str, Case]:
    cell = "number 9" if own else cell
    what = of(f"evens` uses `{uses}", "which was assigned again", cell).replace("` which", "`, which")
    return f"evens, {name}", Case(own, {"test_evens": what}, **answers)


CONSTANT = "n = 2\ndef evens(numbers):\n    return sum(k for k in numbers if k % n == 0)"
HELPER = "def keep(n):\n    return n % 2 == 0\n\ndef evens(numbers):\n    return sum(filter(keep, numbers))"
CLASS = "class Sum:\n    def of(self, x):\n        return sum(n for n in x if n % 2 == 0)\n\ndef evens(x):\n    return Sum().of(x)"
CACHED = "import functools\nstart = 0\n\n@functools.cache\ndef total(x):\n    return sum(x, start)\n\ndef evens(x):\n    return total(tuple(n for n in x if n % 2 == 0))"
LIST = "parts = []\ndef evens(numbers):\n    return sum([n for n in numbers if n % 2 == 0] + parts)"
#: members of the class for which plain nbgrader has full marks and a person decides here
HARMED = dict([
    table("an item", "squares[0] = 100"),
    table("append", "squares.append(100)"),
    table("pop", "squares.pop()"),
    table("sort", "squares.sort(reverse=True)"),
    table("augmented", "squares += [1]"),
    table("slice", "squares[:] = []"),
    table("alias", "s = squares\ns.append(1)"),
    table("in a function", "def f(items):\n    items.clear()\n\nf(squares)"),
    table("for", "for squares in range(3):\n    pass", "was assigned again"),
    table("with", "import contextlib\nwith contextlib.nullcontext(3) as squares:\n    pass", "was assigned again"),
    table("walrus", "if (squares := 3) > 2:\n    pass", "was assigned again"),
    table("global", "def f():\n    global squares\n    squares = 1\n\nf()", "was assigned again"),
    table("tuple", "a, squares = 1, 2", "was assigned again"),
    table("exec", "exec('squares = 3')", "was assigned again"),
    table("import", "import math as squares", "was assigned again"),
    table("except", "try:\n    1 / 0\nexcept ZeroDivisionError as squares:\n    pass", "was deleted"),
    table("del", "del squares", "was deleted"),
    table("namespace", "globals()['squares'] = 1", "was assigned again"),
    table("a cell that fails", "squares[0] = 5\n1 / 0"),
    evens("a builtin", "sum", squares="sum = 0\nsquares = []\nfor i in range(10):\n    squares.append(i * i)\n    sum += i"),
    evens("a builtin in an own cell", "sum", "sum = evens([2, 4])\nprint(sum)"),
    evens("a constant", "n", evens=CONSTANT, squares="n = 10\nsquares = [i * i for i in range(n)]"),
    evens("a helper", "keep", evens=HELPER, squares="def keep(n):\n    return n * n\n\nsquares = [keep(i) for i in range(10)]"),
    evens("a builtin in a method", "sum", "sum = 3", evens=CLASS),
    evens("a class of that name", "Sum", "class Sum:\n    pass", evens=CLASS),
    evens("what a cached helper reads", "start", "evens([2])\nstart = 5", evens=CACHED),
    evens("what a helper reads", "odd", "odd = lambda n: True",
          evens="def odd(n):\n    return n % 2\n\ndef evens(x):\n    def inner():\n        return [n for n in x if not odd(n)]\n    return sum(inner())"),
    evens("an instructor's cell", "limit", cell="given",
          evens="limit = 0\ndef evens(numbers):\n    return sum((n for n in numbers if n % 2 == 0), limit)"),
    ("evens, a builtin of the module", Case("import builtins\nbuiltins.sum = max", {
        "test_evens": "`evens` uses `sum`, which was assigned again in the cell `number 9`"})),
    library("a dot", "np.asarray = None"),
    library("setattr", "setattr(np, 'asarray', None)"),
    library("its dictionary", "np.__dict__['asarray'] = None"),
    library("vars", "vars(np)['asarray'] = None"),
    library("exec", "exec('np.asarray = None')"),
    library("a mock", "from unittest import mock\nmock.patch('numpy.asarray', None).start()"),
    library("a function of an earlier cell", "tidy()",
            squares="def tidy():\n    import numpy\n    setattr(numpy, 'as' + 'array', None)\n\nsquares = [i * i for i in range(10)]"),
    library("deleted", "del np.asarray", done="was deleted"),
    library("read again after a change", "import importlib, math\nmath.sqrt = None\nsqrt = math", "math.sqrt",
            scale="import math\ndef scale(x):\n    x = np.asarray(x, dtype=float)\n    return (x - x.mean()) * math.sqrt(1)"),
    library("a part of a part", "np.linalg.norm = None", "numpy.linalg.norm",
            scale="def scale(x):\n    x = np.asarray(x, dtype=float)\n    return x - x.mean() + 0 * np.linalg.norm(x)"),
    library("a method of a class", "import fractions\nfractions.Fraction.limit_denominator = None", "Fraction.limit_denominator",
            scale="from fractions import Fraction\ndef scale(x):\n    x = np.asarray(x, dtype=float)\n    return (x - x.mean()) * float(Fraction(1).limit_denominator(3))"),
    ("evens, a list", Case("parts.append(1)", {
        "test_evens": "`evens` uses `parts`, which was changed in the cell `number 9`"}, evens=LIST)),
    ("scale, an import", Case(squares="squares = []\nfor np in range(10):\n    squares.append(np * np)", lost={
        "test_scale": "`scale` uses `np`, which was assigned again in the cell `squares`"})),
    ("scale and evens, a star", Case(
        "from numpy import *", {"test_scale": "`scale` uses `sum`, which", "test_evens": "`evens` uses `sum`, which"},
        scale="def scale(x):\n    x = list(x)\n    return np.array(x) - sum(v for v in x) / len(x)")),
])  # fmt: skip
#: what the others have, as before
KEPT = {
    "right": (Case("print(squares)\nx = evens(squares)\nnumbers = sorted(squares)"), 7),
    "right, and changed without harm": (Case("scale, sum_ = scale, 3\nsquares = list(squares)\nn = 3"), 7),
    "right, and changed back": (Case("squares.append(1)\nsquares.pop()\nsum = 1\ndel sum"), 7),
    "right, and a builtin is none": (Case("import builtins\nbuiltins.sum = None"), 7),
    "right after the last cell": (Case("evens = lambda x, old=evens: old(x)\nsquares = tuple(squares)"), 7),
    "wrong": (Case("total = evens([1])\nsquares2 = squares[:]\nsquares2.append(1)", evens="def evens(x):\n    return 7"), 4),
    "wrong, and something else is changed": (Case(
        "total = 3\nlen = 4\nnumbers = 1\ny = 3\ny += 1", evens="y = 2\ndef evens(numbers):\n    total = 0\n    return total + 5"), 4),
    "wrong, and run again": (Case(
        "def keep(n):\n    return n % 3 == 0", evens="def keep(n):\n    return n % 3 == 0\n\ndef evens(x):\n    return max(filter(keep, x), default=1)"), 4),
    "wrong, and a library is set up": (Case(
        "np.total = 3", evens="def evens(x):\n    return 7"), 4),
    "wrong, and a model is trained": (Case(
        "import torch\nmodel = torch.nn.Linear(2, 1)\nopt = torch.optim.Adam(model.parameters())\nopt.step()",
        evens="def evens(x):\n    return 7"), 4),
    "wrong, and a progress bar is shown": (Case(
        "for _ in tqdm(range(3)):\n    pass", scale=f"from tqdm import tqdm\n{SCALE}", evens="def evens(x):\n    return 7"), 4),
    "right, and a library was put back": (Case(
        "from unittest import mock\nwith mock.patch('numpy.asarray', None):\n    pass\nkept = np.mean\nnp.mean = None\nnp.mean = kept"), 7),
    "wrong variable": (Case("print(len(squares), max(squares))", squares="squares = [1, 2]"), 5),
    "not answered": (Case("squares = 5\nsum = 4", evens="# YOUR CODE HERE\nraise NotImplementedError()",
                          squares="# YOUR CODE HERE\nraise NotImplementedError()"), 2),
    "only given cells change it": (Case(evens="numbers = 1\ndef evens(x):\n    return 5"), 4),
}  # fmt: skip


@pytest.fixture(scope="module")
def course(made_once, tmp_path_factory) -> TinyCourse:
    def make(course: TinyCourse) -> None:
        (course.root / "source" / "01_double").mkdir(parents=True)
        (course.root / "nbgrader_config.py").write_text("c = get_config()\n")
        course.write_source(notebook())
        done = course.run("nbgrader", "generate_assignment", "01_double")
        assert done.returncode == 0, done.stderr
        (course.root / "tests" / "01_double").mkdir(parents=True)
        for name, text in CHECKS.items():
            (course.root / "tests" / "01_double" / name).write_text(text)

    original = made_once("changed-below", make)
    return TinyCourse(shutil.copytree(original, tmp_path_factory.mktemp("below") / "course"))


def handed_in(course: TinyCourse, case: Case) -> NotebookNode:
    answered = course.assignment.released("double")
    for cell in answered.cells:
        cell.source = {"scale": case.scale, "evens": case.evens, "squares": case.squares}.get(
            cell["id"], cell.source
        )
    answered.cells += [v4.new_code_cell(case.own)] if case.own else []
    return answered


def graded(course: TinyCourse, case: Case):
    released = course.assignment.released("double")
    return grade(GradingJob(course.assignment, "double", handed_in(course, case), released)).result


@pytest.mark.parametrize("case", mostly_slow(HARMED.values(), 6), ids=HARMED.keys())
def test_a_right_answer_that_a_later_cell_harms_goes_to_a_person(course, case):
    result = graded(course, case)
    assert {doubt.grade_id for doubt in result.doubts} == case.lost.keys()
    for doubt in result.doubts:
        assert doubt.why.startswith(case.lost[doubt.grade_id])
        assert doubt.why.endswith("A person will decide how many points this gets.")
    for exercise in result.exercises:
        assert exercise.right or exercise.grade_id in case.lost


@pytest.mark.slow
@pytest.mark.parametrize(("case", "earned"), KEPT.values(), ids=KEPT.keys())
def test_other_answers_have_the_points_of_their_checks(course, case, earned):
    result = graded(course, case)
    assert (result.earned, result.doubts) == (earned, [])


@pytest.mark.slow
def test_the_reported_changes_are_the_student_s_and_gain_no_points(course):
    forged = "import sys\nsys.modules['gradekit.inside.agent'].name_history.changes = lambda names, after: {}"
    wrong = "def evens(x):\n    return 7"
    everything = "[[n, 'sum', 'changed', 5] for n in names]"
    result = graded(course, Case(forged.format(everything), evens=wrong))
    assert result.earned == 4
    assert [doubt.grade_id for doubt in result.doubts] == ["test_evens"]
    for nonsense in ("[[1]]", "None", "{'a': object()}", "[['evens', '`<b>', 'changed', 5]]", "[['f', 'g', 'changed', 5]]",
                     "[['evens', 'sum', 'made', 5]]", "[['evens', 'sum', 'changed', 99]]", "1 / 0", "'x' * 10**6"):  # fmt: skip
        result = graded(course, Case(forged.format(nonsense), evens=wrong))
        assert (result.earned, result.doubts, result.status) == (4, [], "graded")


@pytest.mark.slow
def test_a_kernel_that_hangs_or_ends_when_asked_loses_no_other_points(course):
    forged = "import os, sys, time\nsys.modules['gradekit.inside.agent'].name_history.changes = lambda *_: {}"
    wrong = "def evens(x):\n    return 7"
    for act in ("os._exit(1)", "[1 for _ in iter(int, 1)]"):
        result = graded(course, Case(forged.format(act), evens=wrong))
        assert (result.earned, result.doubts, result.status) == (4, [], "graded")


def test_after_a_call_has_ended_the_kernel_the_cells_of_the_new_one_count(course):
    ends = "import os\ndef scale(x):\n    os._exit(1)"
    result = graded(course, Case("squares.append(1)", scale=ends))
    assert {doubt.grade_id: doubt.why[:30] for doubt in result.doubts}["test_squares"] == (
        "`squares` was changed in the c"
    )


def test_names_that_the_released_notebook_binds_are_those_of_its_cells():
    released = notebook()
    above, below = Submission(released, released).released_names("test_evens")
    assert above >= {"np", "scale", "evens"}
    assert below >= {"squares", "limit", "numbers"}
    assert not above & below


@pytest.mark.thorough
def test_plain_nbgrader_has_full_marks_for_these(course):
    cases = HARMED | {name: case for name, (case, earned) in KEPT.items() if earned == 7}
    for student, case in enumerate(cases.values()):
        course.hand_in(f"s{student}", handed_in(course, case))
    given = {}
    for config in ("c = get_config()\n", CONFIGURE):
        (course.root / "nbgrader_config.py").write_text(config)
        done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
        assert done.returncode == 0, done.stderr
        done = course.run("nbgrader", "autograde", "01_double", "--force", "--create")
        assert done.returncode == 0, done.stderr
        with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as gradebook:
            for student, name in enumerate(cases):
                grades = gradebook.find_submission_notebook("double", "01_double", f"s{student}").grades
                given[config, name] = {
                    each.name: (each.auto_score, each.needs_manual_grade) for each in grades
                }
    full = {"test_scale": (2, False), "test_evens": (3, False), "test_squares": (2, False)}
    for name, case in cases.items():
        assert given["c = get_config()\n", name] == full
        ours = given[CONFIGURE, name]
        for test, (score, asked) in ours.items():
            assert asked if test in case.lost else (score, asked) == full[test]
