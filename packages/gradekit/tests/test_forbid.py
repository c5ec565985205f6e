"""The ban on ready-made functions, and the ways around it, which are noted for the TA."""

import pytest
from nbformat import v4

from gradekit.submission.names import mentions, own_names
from gradekit.submission.statements import needed_names, reached_code
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob

CONFTEST = "from gradekit.checks import forbid\n\nonly_own_code = forbid('mul')\n"


@pytest.fixture
def grade_with(tiny_course):
    """Grade an answer and another cell of the student, where `mul` is forbidden."""
    tiny_course.checks.with_name("conftest.py").write_text(CONFTEST)

    def run(answer: str, other: str = ""):
        notebook = tiny_course.answer(answer)
        if other:
            notebook.cells.append(v4.new_code_cell(other))
        released = tiny_course.assignment.released("double")
        return grade(GradingJob(tiny_course.assignment, "double", notebook, released)).result

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


def test_a_forbidden_name_in_a_cell_that_no_answer_needs_costs_nothing(grade_with):
    result = grade_with("def double(x):\n    return 2 * x", "torch.mul(double(torch.ones(2)), 2)")
    assert result.earned == 10
    assert result.notes == []


def test_a_way_around_the_ban_is_noted_once_and_costs_nothing(grade_with):
    result = grade_with("def double(x):\n    return 2 * x", "import builtins\nbuiltins.twice = torch.mul")
    assert result.earned == 10
    (note,) = result.notes
    assert note == (
        "The cell `number 6` uses `builtins`, which can hide what an answer uses: a person should look at it."
    )


OWN_CLASS = "class Tanh:\n    def __call__(self, x):\n        return 2 * x\n\n"


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (OWN_CLASS + "def double(x):\n    return Tanh()(x)", 10),
        (OWN_CLASS + "def double(x):\n    return Tanh()(x) + 0 * torch.nn.Tanh()(x)", 0),
        ("from torch.nn import Tanh\n\ndef double(x):\n    return 2 * x + 0 * Tanh()(x)", 0),
        (
            "class Own:\n    Tanh = 2\n    def twice(self, x):\n        return self.Tanh * x\n\n"
            "def double(x):\n    return Own().twice(x)",
            10,
        ),
    ],
)
def test_a_class_of_a_library_costs_the_exercise_but_not_an_own_one_of_its_name(
    grade_with, tiny_course, answer, points
):
    tiny_course.checks.with_name("conftest.py").write_text(
        'from gradekit.checks import forbid_class\n\nown = forbid_class("torch.nn.Tanh", "Write it.")\n'
    )
    result = grade_with(answer)
    assert result.earned == points
    if not points:
        assert result.exercises[0].checks[0].message == "Your answer uses torch's own `Tanh`. Write it."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "points"),
    [
        ("def double(x):\n    return torch.mul(x, 2)", 0),
        ("def double(x):\n    return twice(x)\n\ndef twice(x):\n    return torch.mul(x, 2)", 0),
        ("from torch import mul\n\ndef double(x):\n    return mul(x, 2)", 0),
        ("def double(x):\n    return ready_made(x)\n\ndef ready_made(x):\n    return 2 * x", 0),
        ("def double(x):\n    return 2 * x\n\ndef other(x):\n    return torch.mul(x, 2)", 10),
        (
            "class Own:\n    def mul(self, x):\n        return 2 * x\n    def twice(self, x):\n        return self.mul(x)\n\n"
            "def double(x):\n    return Own().twice(x)",
            10,
        ),
        ("def double(x):\n    ready_made = 2 * x\n    return ready_made", 10),
        ("def double(x):\n    def ready_made(n):\n        return 2 * n\n    return ready_made(x)", 10),
    ],
)
def test_a_name_may_be_forbidden_in_some_functions_of_an_answer_and_what_they_call(
    grade_with, tiny_course, answer, points
):
    tiny_course.checks.with_name("conftest.py").write_text(
        'from gradekit.checks import forbid_in\n\nown = forbid_in(["double"], ".mul", "ready_made")\n'
    )
    result = grade_with(answer)
    assert result.earned == points
    if not points:
        assert "which does the work for you" in result.exercises[0].checks[0].message


OWN = "def double(x):\n    output = 2 * x\n    return output"
COMPARISONS = [
    "print(torch.equal(double(torch.ones(2)), torch.mul(torch.ones(2), 2)))",
    "output = torch.mul(torch.ones(2), 2)",
    "for n in (1, 2):\n    assert double(n) == torch.mul(torch.tensor(n), 2)",
    "with torch.no_grad():\n    expected = torch.mul(torch.ones(2), 2)",
    "def test_double():\n    assert double(1) == torch.mul(torch.tensor(1), 2)\ntest_double()",
    "from torch import mul, add",
    "expected = []\nexpected.append(torch.mul(torch.ones(2), 2))",
]
ALIASES = [
    "double = torch.mul",
    "double = lambda x: torch.mul(x, 2)",
    "twice = torch.mul\ndef double(x):\n    return twice(x, 2)",
    "from torch import mul as twice\ndef double(x):\n    return twice(x, 2)",
    "first = torch.mul\nsecond = first\ndef double(x):\n    return second(x, 2)",
    "ways = {}\nways['a'] = torch.mul\ndef double(x):\n    return ways['a'](x, 2)",
    "ways = []\nways.append(torch.mul)\ndef double(x):\n    return ways[0](x, 2)",
    "def double(x):\n    return double.way(x, 2)\ndouble.way = torch.mul",
    "class Ways:\n    pass\nsetattr(Ways, 'way', torch.mul)\ndef double(x):\n    return Ways.way(x, 2)",
    "if True:\n    def double(x):\n        return torch.mul(x, 2)",
    "try:\n    double = torch.mul\nexcept NameError:\n    pass",
    "def make():\n    global double\n    double = torch.mul\nmake()",
    "globals()['double'] = torch.mul",
    "globals()[name] = torch.mul",
    "globals().update(double=torch.mul)",
    "def run(x, mul=torch.mul):\n    return mul(x, 2)\ndouble = run",
    "mul = torch.mul\ndef double(x):\n    return mul(x, 2)",
    "from torch import mul\nmul = mul\ndef double(x):\n    return mul(x, 2)",
    "def mul(x, n):\n    return x.mul(n)\ndef double(x):\n    return mul(x, 2)",
    "class Ways:\n    mul = torch.mul\ndef double(x):\n    return Ways.mul(x, 2)",
    "class Ways:\n    def __init__(self):\n        self.mul = torch.mul\ndef double(x):\n    return Ways().mul(x, 2)",
    "class Ways:\n    def mul(self):\n        pass\ndef double(x):\n    return torch.mul(x, 2)",
    "def times(way):\n    def double(x):\n        return way(x, 2)\n    return double\ndouble = times(torch.mul)",
]


OF_THE_STUDENT = [
    ["def mul(x, n):\n    return n * x", "def double(x):\n    return mul(x, 2)"],
    [
        "class Ways:\n    @staticmethod\n    def mul(x):\n        return 2 * x\ndef double(x):\n    return Ways.mul(x)"
    ],
    [
        "class Ways:\n    def mul(self, x):\n        return 2 * x\n    def run(self, x):\n        return self.mul(x)\ndouble = Ways().run"
    ],
    ["def double(x):\n    mul = lambda n: n * x\n    return mul(2)"],
    [
        "class Ways:\n    def __init__(self):\n        self.mul = 2\n    def run(self, x):\n        return self.mul * x\ndouble = Ways().run"
    ],
    ["def run(x, mul):\n    return mul(x)\ndef double(x):\n    return run(x, lambda y: 2 * y)"],
    [
        "class Ways:\n    def mul(self, x):\n        return 2 * x",
        "ways = Ways()\ndef double(x):\n    return ways.mul(x)",
    ],
    ["mul = 2\ndef double(x):\n    return mul * x"],
]
#: the same behind attributes and parts of `self`, for a name that arrays don't have
OF_THE_STUDENT_S_PARTS = [
    "for block in self.blocks:\n            x = block.scale_by(block.twice(x))",
    "x = self.block.twice(x)",
    "x = [block.twice(x) for block in self.blocks][0]",
    "x = self.blocks[0].twice(x)",
    "x = super().twice(x)",
]


def banned(*sources):
    reached = reached_code(sources, {"double"})
    own = own_names(tuple(reached))
    return [word for code in reached if (word := mentions(code, ("mul",), own))]


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_a_comparison_with_a_ready_made_function_is_not_a_use_of_it(comparison):
    assert banned(f"{OWN}\n\n{comparison}") == []
    assert banned(OWN, comparison) == []


#: ways to give `self.f` the module F
MODULES = [
    "self.f = F",
    "self.f, self.n = F, 2",
    "g = F\n        self.f = g",
    "self.f: object = nn.functional",
    "self.f = self.g = F",
    "for self.f in [F]: pass",
    "self.f = [self.n, F][1]",
    "setattr(self, 'f', F)",
    "self.f = f if f else None",
    "from torch.nn import functional as f\n        self.f = f",
    "self.f = []\n        self.f.append(F)",
]
CALLS = ["self.f.layer_norm(x, (5,))", "self.f[0].layer_norm(x, (5,))"]
OWN_NORM = """class Norm:
    def __init__(self, f=F):
        {}
        self.x = x = torch.tensor(1, dtype=torch.float32) + -torch.inf
        b, block = x.shape, Block(act=F.silu)
    def run(self, x):
        return {}
    def layer_norm(self, x):
        return x
class Block:
    def __init__(self, act):
        self.act = act
double = Norm(2).run"""


def banned_norm(source):
    own = own_names(tuple(reached_code((source,), {"double"})))
    return mentions(source, ("layer_norm",), own)


@pytest.mark.parametrize("way", MODULES)
@pytest.mark.parametrize("call", CALLS)
def test_a_module_in_an_attribute_is_still_the_module(way, call):
    assert banned_norm(OWN_NORM.format(way, call)) == "layer_norm"


def test_a_module_in_a_loop_or_an_argument_is_still_the_module():
    loop = "[f.layer_norm(x) for f in [self.n, F]][0]"
    given = OWN_NORM.format("self.f = f", CALLS[0]).replace("f=F", "f").replace("Norm(2)", "Norm(F)")
    assert banned_norm(OWN_NORM.format("self.n = 2", loop)) == "layer_norm"
    assert banned_norm(given) == "layer_norm"


@pytest.mark.parametrize(
    "call",
    [
        "self.layer_norm(x)",
        "self.block.layer_norm(x)",
        "[block.layer_norm(x) for block in self.blocks]",
        "[block.layer_norm(x) for n, block in self.blocks.items()]",
        "[block.layer_norm(x) for block in self.children()]",
        "super().layer_norm(x)",
    ],
)
def test_an_own_method_with_the_forbidden_name_may_be_called(call):
    assert banned_norm(OWN_NORM.format("self.block = Block(F.silu)", call)) is None


def test_a_sum_of_thousands_of_terms_is_read():
    terms = " + ".join(["a"] * 1_000)
    assert own_names((f"x = {terms}\nfor y in {terms}: pass",)).names == {"x", "y"}


@pytest.mark.parametrize("sources", OF_THE_STUDENT)
def test_what_the_student_defines_may_have_the_forbidden_name(sources):
    assert banned(*sources) == []


@pytest.mark.parametrize("line", OF_THE_STUDENT_S_PARTS)
def test_methods_of_the_student_s_parts_may_have_the_forbidden_name_unless_arrays_have_it(line):
    source = (
        f"class Own:\n    def twice(self, x): ...\n    def run(self, x):\n        {line}\n        return x"
    )
    assert mentions(source, ("twice",), own_names((source,))) is None
    source = source.replace("twice", "mul")
    assert mentions(source, ("mul",), own_names((source,))) == "mul"


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_that_the_answer_uses_is_found(alias):
    assert banned(alias) == ["mul"]


def test_an_alias_is_found_in_any_cell():
    assert banned("twice = torch.mul", "def helper(x):\n    return twice(x, 2)", "double = helper") == ["mul"]


def test_a_cell_does_not_need_its_functions_local_variables():
    source = "def f(x, y=START):\n    z = x + g(y)\n    return [z for z in h]\n\nprint(f)"
    assert needed_names(source) == {"START", "g", "h", "f", "print"}


@pytest.mark.parametrize("comparison", COMPARISONS[:3])
def test_a_comparison_below_an_answer_costs_nothing(grade_with, comparison):
    assert grade_with(f"{OWN}\n\n{comparison}", f"{OWN}\n\n{comparison}").earned == 10


BY_TORCH = "def double(x):\n    return torch.mul(x, 2)"
ON_DOUBLE = "def half(x):\n    return double(x) / 4"


@pytest.mark.parametrize(
    ("double", "half", "scores", "notes"),
    [
        pytest.param(BY_TORCH, ON_DOUBLE, [0, 5], True, id="in the other answer"),
        pytest.param(f"{OWN}\n\ndef quarter(x):\n    return torch.mul(x, 1 / 4)",
                     "def half(x):\n    return quarter(double(x))", [10, 0], False, id="in a helper beside it"),
        pytest.param(OWN, f"{ON_DOUBLE}\n\n{BY_TORCH}", [0, 5], True, id="in the other answer, written below"),
        pytest.param("twice = torch.mul\n\ndef double(x):\n    return twice(x, 2)",
                     "def half(x):\n    return twice(x, 1 / 2)", [0, 0], False, id="in what both use"),
    ],
)  # fmt: skip
def test_a_forbidden_name_costs_no_exercise_that_builds_on_the_answer(
    empty_class, double, half, scores, notes
):
    empty_class.checks.with_name("conftest.py").write_text(CONFTEST)
    notebook, released = empty_class.answer(double, half), empty_class.assignment.released("double")
    result = grade(GradingJob(empty_class.assignment, "double", notebook, released)).result
    assert [
        exercise.earned for exercise in sorted(result.exercises, key=lambda one: one.points)[::-1]
    ] == scores
    assert (
        result.notes
        == ["`half` builds on `double`, which uses `mul`. Only that one loses its points for it."] * notes
    )


@pytest.mark.parametrize(
    ("ban", "double", "word"),
    [
        ('forbid("mul")', BY_TORCH, "mul"),
        ('forbid_class("torch.nn.Tanh")', f"{OWN[:-6]}output + 0 * torch.nn.Tanh()(x)", "Tanh"),
        ('forbid_in(["double", "half"], ".mul")', BY_TORCH, "mul"),
    ],
)
def test_each_kind_of_ban_leaves_the_exercises_that_build_on_the_answer_their_points(
    empty_class, ban, double, word
):
    conftest = f"from gradekit.checks import {ban.partition('(')[0]}\n\nown = {ban}\n"
    empty_class.checks.with_name("conftest.py").write_text(conftest)
    notebook, released = empty_class.answer(double, ON_DOUBLE), empty_class.assignment.released("double")
    result = grade(GradingJob(empty_class.assignment, "double", notebook, released)).result
    assert sorted(exercise.earned for exercise in result.exercises) == [0, 5]
    assert result.notes == [
        f"`half` builds on `double`, which uses `{word}`. Only that one loses its points for it."
    ]
