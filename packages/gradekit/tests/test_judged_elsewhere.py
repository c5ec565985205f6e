"""The implementations that a student's test is tried on run in another process: it can only call them."""

import gc
import os
import resource
from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest
from nbformat import v4

from gradekit.checks import Implementation
from gradekit.checks.asserts import CheckFailure
from gradekit.checks.judging import assert_judges
from gradekit.course import CourseError
from gradekit.inside.messages import APART
from gradekit.session.channel import Channel
from gradekit.session.limits import Limits
from gradekit.session.proxy import Student, try_on
from gradekit.session.session import Session
from gradekit.session.values import CheckOutcome, Implemented, StudentError
from gradekit.submission.submission import Submission

from .needs import mostly_thorough

RIGHT = [
    "def double(x):\n    return 2 * x",
    "def double(x):\n    return x + x",
    "import math\n\ndef double(x, two=2):\n    return math.prod([two, x])",
    "class Double:\n    def __call__(self, x):\n        return x + x\n\ndouble = Double()",
]
SQUARE = "secret = 'canto 34'\n\ndef double(x):\n    return x**secret.index('n')"
WRONG = Implementation(SQUARE, wrong="squares the number")

LOOKS = """
import gc, inspect, linecache, os, sys, time

def everything(double):
    '''The types and texts of what can be reached from the stub in a few steps, without numbers.'''
    found, level, seen = set(), [double], set()
    for step in range(8):
        level = [thing for thing in level if not (id(thing) in seen or seen.add(id(thing)))]
        for thing in level:
            is_text = isinstance(thing, (str, bytes))
            found.add(str(thing)[:500] if is_text else type(thing).__name__)
        level = gc.get_referents(*level)
    return sorted(found)

def attributes(double):
    return [[name, str(getattr(double, name, ""))[:0]] for name in dir(double)] + [str(inspect.signature(double))]

def profile(double):
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append(
        [event, frame.f_code.co_name, frame.f_lineno, getattr(arg, "__name__", "")]))
    double(2)
    sys.setprofile(None)
    return seen

def trace(double):
    seen = []
    def look(frame, event, arg):
        if frame.f_code.co_filename.startswith("<gradekit") and len(seen) < 20_000:
            seen.append([event, frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)])
        return look
    sys.settrace(look)
    double(2)
    sys.settrace(None)
    return seen

def modules(double):
    double(2)
    return [sorted(sys.modules), sorted(linecache.cache), sorted(os.listdir("/proc/self/fd")), sorted(os.listdir("/tmp"))]
"""
CELLS = {
    "looks": LOOKS,
    "tests": """
import random
import numpy as np
import torch
calls = []
def check_double(double):
    assert double(3) == 6, "3 doubled is 6."
def check_counting(double):
    calls.append(1)
    return len(calls)
def check_remembering(double):
    calls.append(double(3))
    assert calls[-1] == max(calls, key=calls.count)
def forever(f):
    while True:
        try:
            f(1)
        except Exception:
            pass
def endless(f):
    f(-1)
def run(f):
    return f
def call(f):
    return ACTION
""",
}


def open_student(cells=CELLS, **limits):
    book = v4.new_notebook(
        cells=[
            v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": name, "solution": True}})
            for name, source in cells.items()
        ]
    )
    session = Session(book, Limits(**{"call_seconds": 3, "helper_seconds": 1, **limits}))
    session.run_cells()
    return session, Student(session, Submission(book))


@pytest.fixture(scope="module")
def student():
    session, student = open_student()
    with closing(session):
        yield student


def tried(student, test, source, methods=()):
    return try_on(student, test, Implemented("double", source, methods)).value


def in_the_kernel(student, body, source, methods=()):
    """What a student's test returns that has these lines."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    helper = student.define(f"import random, torch\nimport numpy as np\ndef test(double):\n{lines}")
    return try_on(helper, "test", Implemented("double", source, methods)).value


@pytest.mark.parametrize("look", ["everything", "attributes", "profile", "trace", "modules"])
def test_a_test_that_looks_at_a_function_sees_the_same_for_all_of_them(student, look):
    seen = [tried(student, look, source) for source in [*RIGHT, SQUARE]]
    assert len(seen[0]) > 1
    assert all(other == seen[0] for other in seen)
    assert "canto 34" not in str(seen)


def test_a_test_can_reach_nothing_but_calls(student):
    for request in (
        {"do": "call", "target": 0, "method": "__globals__"},
        {"do": "call", "target": 0, "method": "__getattribute__", "items": ["__code__"]},
        {"do": "implement", "source": "import os", "function": "os"},
    ):
        body = f"""
request = {{"items": [], "names": [], "nodes": [], "seeds": [0, 0], "settings": []}} | {request!r}
try:
    return double._line.ask(request)
except Exception as error:
    return type(error).__name__
"""
        assert in_the_kernel(student, body, SQUARE) in ("ValueError", "KeyError", "TypeError")


@pytest.mark.parametrize("test", ["check_counting", "check_remembering"])
def test_a_test_cannot_know_what_it_was_called_with_before(student, test):
    implementations = [*map(Implementation, RIGHT), WRONG]
    for _ in range(2):
        with pytest.raises(CheckFailure, match="accepts a function that squares the number"):
            assert_judges(student, test, "double", implementations)


def test_a_test_that_shows_that_it_remembers_nothing_is_called_in_the_kernel_itself(monkeypatch):
    asked = []

    def ask(channel, buffers, watch, answer_stub=None, mark=0):
        if answer_stub:
            asked.append(mark == APART)
        return original(channel, buffers, watch, answer_stub, mark)

    original = Channel.ask
    monkeypatch.setattr(Channel, "ask", ask)
    plain = (
        "import random\n\ndef check_double(double):\n    x = random.random()\n    assert double(x) == 2 * x\n"
    )
    counting = "calls = []\n\ndef check_counting(double):\n    calls.append(1)\n    return len(calls) == 1\n"
    session, student = open_student({"plain": plain, "counting": counting})
    with closing(session):
        assert_judges(student, "check_double", "double", [*map(Implementation, RIGHT), WRONG])
        assert asked == [False] * 5
        with pytest.raises(CheckFailure, match="accepts"):
            assert_judges(student, "check_counting", "double", [*map(Implementation, RIGHT), WRONG])
        assert asked == [False] * 5 + [True] * 5


def test_a_test_that_calls_the_functions_is_judged_by_what_they_return(student):
    assert_judges(student, "check_double", "double", [*map(Implementation, RIGHT), WRONG])


def test_a_function_changes_its_arguments_for_its_caller(student):
    source = """
import torch
def double(rows, table, numbers, array):
    rows[0].append(3)
    rows.reverse()
    table["a"] = rows[0]
    del table["b"]
    numbers *= 2
    array[0] = 7
    return rows[1], numbers
"""
    body = """
rows, numbers, array = [[1], [2]], torch.ones(2), np.zeros(2)
first, table = rows[0], {"b": 1}
row, same = double(rows, table, numbers, array=array)
return [rows, first, row is first, table, table["a"] is rows[0], numbers, same is numbers, array]
"""
    rows, first, is_first, table, shared, numbers, same, array = in_the_kernel(student, body, source)
    assert (rows, first, table) == ([[2], [1, 3]], [1, 3], {"a": [2]})
    assert is_first and shared and same
    assert numbers.tolist() == [2, 2]
    assert np.asarray(array).tolist() == [7, 0]


@pytest.mark.parametrize(
    "value",
    [
        "None",
        "float('nan')",
        "{(1, 2): {3, 4}, 5: [6]}",
        "[range(3), 1j, frozenset([1]), 'text', 10**30]",
        "(np.float32(1.5), np.int64(3), torch.float64, torch.Size([2]))",
        "np.array(['a', 'b'])",
    ],
)
def test_values_arrive_as_they_were(student, value):
    body = f"value = {value}\nback = double(value)\nreturn repr(back) == repr(value) and type(back) == type(value)"
    equal = in_the_kernel(student, body, "def double(x):\n    return x")
    assert equal or "torch.Size" in value  # which arrives as a tuple


def test_gradients_pass_through(student):
    body = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
squares, others = double(3 * x, [x])
(squares.sum() + others["x"][1]).backward()
with torch.no_grad():
    assert not double(x, [x])[0].requires_grad
slopes = torch.autograd.functional.jacobian(lambda x: double(x, [x])[0], torch.tensor([1.0, 2.0]))
return x.grad, slopes
"""
    source = "def double(x, more):\n    return x * x, {'x': 5 * more[0]}"
    found, slopes = in_the_kernel(student, body, source)
    assert found.tolist() == [18, 41]
    assert slopes.tolist() == [[2, 0], [0, 4]]


def test_exceptions_are_those_of_the_function(student):
    body = """
found = []
for x in (0, [], "a", {}):
    try:
        double(x)
    except Exception as error:
        found.append([type(error).__name__, str(error)])
return found
"""
    source = """
class Odd(KeyError):
    pass
def double(x):
    if x == {}:
        raise Odd("no such thing")
    return 1 / x[0] if x == [] else 1 / x
"""
    assert in_the_kernel(student, body, source) == [
        ["ZeroDivisionError", "division by zero"],
        ["IndexError", "list index out of range"],
        ["TypeError", "unsupported operand type(s) for /: 'int' and 'str'"],
        ["KeyError", "'no such thing'"],
    ]


def test_seeding_random_numbers_has_its_effect_and_drawing_leaves_no_trace(student):
    draws = "import random, numpy, torch\ndef double(n):\n    return random.random(), numpy.random.rand(), torch.rand(()).item()"
    body = """
torch.manual_seed(0); random.seed(0); np.random.seed(0)
one, other = double(1), double(1)
torch.manual_seed(0); random.seed(0); np.random.seed(0)
return [one == double(1), one == other, random.random(), np.random.rand(), torch.rand(()).item()]
"""
    found = in_the_kernel(student, body, draws)
    assert found[:2] == [True, False]
    assert in_the_kernel(student, body, "def double(n):\n    return (0, 0, 0)")[2:] == found[2:]


def test_what_a_function_returns_can_be_called_and_its_methods_if_the_check_says_so(student):
    source = """
class Stack:
    def __init__(self):
        self.items = []
    def push(self, x):
        self.items.append(x)
    def __len__(self):
        return len(self.items)
    def __call__(self, x):
        return [x, *self.items]
def double():
    return Stack()
"""
    assert in_the_kernel(student, "return double()(1)", source) == [1]
    body = "one, other = double(), double()\none.push(4)\nreturn [len(one), len(other), one(3)]"
    assert in_the_kernel(student, body, source, ("push", "__len__")) == [1, 0, [3, 4]]
    with pytest.raises(StudentError, match="has no attribute 'push'"):
        in_the_kernel(student, body, source)


def test_an_argument_that_cannot_be_sent_is_named(student):
    with pytest.raises(StudentError, match="can't be given a value of type function"):
        in_the_kernel(student, "double(lambda: 1)", RIGHT[0])


def test_an_implementation_that_cannot_be_run_is_the_fault_of_the_check(student):
    with pytest.raises(CourseError, match="an implementation of `double` can't be run: NameError"):
        tried(student, "run", "nowhere")


LOOP = "def double(x):\n    while x < 0:\n        pass\n    return x"


@pytest.mark.slow
@pytest.mark.parametrize("test", mostly_thorough(["endless", "forever"]))
def test_an_endless_loop_on_either_side_is_stopped(test):
    session, student = open_student(call_seconds=1, helper_seconds=0.5)
    with closing(session):
        with pytest.raises(StudentError, match=r"ran for more than 1\.5 s and was stopped") as found:
            tried(student, test, LOOP)
        assert found.value.outcome == CheckOutcome.TIMED_OUT
        assert session.timed_out
        assert tried(student, "check_double", RIGHT[0]) is None


@pytest.mark.slow
def test_a_function_that_ends_its_process_is_no_rejection():
    session, student = open_student()
    with closing(session):
        for _ in range(15):  # the interrupt comes while the forked process ends, in another order each time
            with pytest.raises(StudentError, match="had to be stopped, since it ended its process") as found:
                tried(student, "endless", "import os\ndef double(x):\n    os._exit(1)")
            assert found.value.outcome == CheckOutcome.KERNEL_DIED
            assert session.suspect
            assert tried(student, "check_double", RIGHT[0]) is None


def test_a_test_that_ends_its_process_ends_the_kernel():
    session, student = open_student({"dying": "import os\ndef die(double):\n    os._exit(0)"})
    with closing(session), pytest.raises(StudentError, match="it ended the Python process"):
        tried(student, "die", RIGHT[0])


def test_sessions_leave_no_open_files_and_don_t_mind_those_of_others():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    others = []
    gc.disable()  # in a large class, it comes late
    try:
        others = [
            os.open(os.devnull, os.O_RDONLY) for _ in range(1100)
        ]  # select.select knows only the first 1024
        counts = []
        for _ in range(5):  # threads that other tests of this process left behind open and close files, too
            session, student = open_student()
            assert tried(student, "check_double", RIGHT[0]) is None
            session.close()
            counts.append(len(os.listdir("/proc/self/fd")))
        assert any(after <= before for before, after in pairwise(counts)), counts
    finally:
        gc.enable()
        for descriptor in others:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
