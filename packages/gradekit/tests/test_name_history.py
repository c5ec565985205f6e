"""What the kernel notes about names after each cell, here in this process."""

import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gradekit.inside import name_history
from gradekit.inside.arrays import has_torch
from gradekit.inside.name_history import NameHistory

from .needs import needs_torch

ABOVE = """
import functools
import math
import types

import numpy as np
import pandas as pd

n, rate, unused = 2, 0.5, 1
squares, words, seen, nested = [0, 1, 4], {"a": 1}, {1, 2}, {"rows": [[1], [2]]}
many = list(range(5000))
nan = [float("nan")]
array = np.arange(6.0)
large = np.zeros((300, 300)).T
texts = np.array(["a", None], dtype=object)
table = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
series = pd.Series([1.0, 2.0])
settings = types.SimpleNamespace(size=1)
maximum = max


def keep(k):
    return k % n == 0


def evens(numbers):
    def inner():
        return [sum(k for k in numbers if keep(k))]
    return inner()[0]


def scale(x, hidden=[]):
    return x.mean() * rate + np.sum(x)


@functools.cache
def cached(x):
    return keep(x)


def made():
    held = [1]
    def use():
        return held, keep(1)
    return use


def recursive():
    def inner(x, y={}):
        return [inner(part) for part in x] if x else outer(x)
    @functools.wraps(inner)
    def outer(x):
        return inner(x)
    return outer


closure, again = made(), recursive()
bound = functools.partial(scale, rate)


class Shape:
    sides = 3

    def area(self):
        return math.sqrt(self.size) * n


class Square(Shape):
    def __init__(self):
        self.size = 4


square = Square()
method = square.area
"""

WITH_TORCH = """
import torch

tensor, half = torch.arange(6.0), torch.ones(2, dtype=torch.bfloat16)


@torch.no_grad()
def decorated(x):
    return keep(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x) * n


net, library_s = Net(), torch.nn.Sequential(torch.nn.Linear(2, 2))
transformer = torch.nn.Transformer(4, 1, 3, 3, 4, batch_first=True)
"""


def history_of(*cells: str) -> NameHistory:
    """The history of a notebook with these cells, numbered from 1."""
    namespace = ModuleType("__main__").__dict__
    history = NameHistory(namespace)
    for count, source in enumerate(cells, 1):
        exec(source, namespace)
        history.note(count)
    return history


def changed(asked: str, *below: str) -> list[tuple[str, str]]:
    """What the cells below changed of a name and of those that it uses."""
    above = ABOVE + WITH_TORCH if has_torch() else ABOVE
    return [(name, how) for _, name, how, _ in history_of(above, *below).changes([asked], 1)]


@pytest.mark.parametrize(("asked", "below", "name", "how"), [
    ("squares", "squares = 1", "squares", "assigned"),
    ("squares", "exec('squares = 3')", "squares", "assigned"),
    ("squares", "globals()['squares'] = 3", "squares", "assigned"),
    ("squares", "def f():\n    global squares\n    squares = 1\nf()", "squares", "assigned"),
    ("squares", "for squares in range(3): pass", "squares", "assigned"),
    ("squares", "del squares", "squares", "deleted"),
    ("squares", "s = squares\ns.append(9)", "squares", "changed"),
    ("squares", "squares += [9]", "squares", "changed"),
    ("squares", "squares.sort(reverse=True)", "squares", "changed"),
    ("squares", "squares[0] = -1", "squares", "changed"),
    ("words", "words['b'] = 2", "words", "changed"),
    ("words", "words.clear()", "words", "changed"),
    ("seen", "seen.discard(1)", "seen", "changed"),
    ("nested", "nested['rows'][1].append(3)", "nested", "changed"),
    ("many", "many.reverse()", "many", "changed"),
    ("many", "many[-1] = 0", "many", "changed"),
    ("array", "array[2] = 7", "array", "changed"),
    ("array", "view = array[1:]\nview += 1", "array", "changed"),
    ("large", "large += 1", "large", "changed"),
    ("texts", "texts[1] = 'b'", "texts", "changed"),
    pytest.param("tensor", "tensor.add_(1)", "tensor", "changed", marks=needs_torch),
    pytest.param("tensor", "tensor.numpy()[0] = 5", "tensor", "changed", marks=needs_torch),
    pytest.param("half", "half[0] = 5", "half", "changed", marks=needs_torch),
    ("table", "table['c'] = 1", "table", "changed"),
    ("table", "table.loc[0, 'a'] = 9", "table", "changed"),
    ("table", "table.loc[0, 'b'] = 'z'", "table", "changed"),
    ("table", "table.drop(columns='a', inplace=True)", "table", "changed"),
    ("series", "series.iloc[0] = 9", "series", "changed"),
    ("settings", "settings.size = 2", "settings", "changed"),
    ("evens", "sum = 0", "sum", "assigned"),
    ("evens", "from numpy import *", "sum", "assigned"),
    ("evens", "import builtins\nbuiltins.sum = max\n", "sum", "assigned"),
    ("evens", "n = 10", "n", "assigned"),
    ("evens", "def keep(k): return k * k", "keep", "assigned"),
    ("evens", "def evens(numbers): return 0", "evens", "assigned"),
    ("scale", "for np in range(10): pass", "np", "assigned"),
    ("scale", "rate *= 2", "rate", "assigned"),
    ("scale", "scale.__defaults__[0].append(1)", "scale", "changed"),
    ("bound", "rate, np = 1, 2", "np", "assigned"),
    ("cached", "n = 10", "n", "assigned"),
    pytest.param("decorated", "n = 10", "n", "assigned", marks=needs_torch),
    ("closure", "n = 10", "n", "assigned"),
    ("closure", "closure()[0].append(1)", "closure", "changed"),
    ("Square", "math = 1", "math", "assigned"),
    ("Square", "Shape.area = lambda self: 0", "Square", "changed"),
    ("Square", "Shape.sides = 4", "Square", "changed"),
    ("square", "square.size = 9", "square", "changed"),
    ("square", "n = 10", "n", "assigned"),
    ("method", "square.size = 9", "method", "changed"),
    pytest.param("Net", "n = 10", "n", "assigned", marks=needs_torch),
    pytest.param("net", "net.layer.weight.data.add_(1)", "net", "changed", marks=needs_torch),
    pytest.param("transformer", "torch.nn.init.zeros_(transformer.decoder.norm.bias)", "transformer", "changed", marks=needs_torch),
    pytest.param("net", "net.eval()", "net", "changed", marks=needs_torch),
    pytest.param("library_s", "torch.nn.init.zeros_(library_s[0].weight)", "library_s", "changed", marks=needs_torch),
    ("maximum", "maximum = min", "maximum", "assigned"),
])  # fmt: skip
def test_it_is_found_however_a_later_cell_changes_what_a_name_means_or_uses(asked, below, name, how):
    before = dict(vars(__import__("builtins")))
    try:
        assert (name, how) in changed(asked, below)
    finally:
        vars(__import__("builtins")).update(before)


@pytest.mark.parametrize(("asked", "below"), [
    ("squares", "squares = [0, 1] + [4]"),
    ("squares", "other = sorted(squares)\nother.append(1)"),
    ("squares", "[squares for squares in range(3)]"),
    ("squares", "def f(squares):\n    squares = 1\nf(2)"),
    ("squares", "squares.append(1)\nsquares.pop()"),
    ("nan", "x = nan[0] + 1"),
    ("evens", "unused = 3\nmany.clear()"),
    ("evens", "evens([1, 2])\nn = 1 + 1\n\n\ndef keep(k):\n    return k % n == 0  # the same"),
    ("evens", "import math as numbers, math as inner, math as k"),
    ("scale", "mean = 0\nsum = 0"),
    ("again", "len([])"),
    ("Square", "size = 3\narea = 4"),
    pytest.param("net", "net(torch.ones(1, 2))", marks=needs_torch),
    ("table", "table.sum(numeric_only=True)\ntable.sort_values('a')\ntable[table.a > 1]"),
    ("array", "array.sum()\narray + 1"),
    ("nothing", "nothing = 1"),
])  # fmt: skip
def test_what_means_the_same_has_not_changed(asked, below):
    assert changed(asked, below) == []


def test_an_equal_class_is_the_same_class():
    kind = "class A:\n    limit = 3\n    @property\n    def size(self):\n        return [limit]\n"
    assert history_of(kind, f"# again\n{kind}").changes(["A"], 1) == []
    assert history_of(kind, kind.replace("3", "4")).changes(["A"], 1) == [["A", "A", "assigned", 2]]


def test_each_cell_that_changes_it_is_named_and_nothing_that_was_changed_back():
    cells = ["t = [1]", "t.append(2)", "u = 1", "t = 5", "del t"]
    history = history_of(*cells)
    assert history.changes(["t"], 1) == [
        ["t", "t", "changed", 2], ["t", "t", "assigned", 4], ["t", "t", "deleted", 5]
    ]  # fmt: skip
    assert history.changes(["t"], 4) == [["t", "t", "deleted", 5]]
    assert history.changes(["t"], 5) == []
    assert history_of(*cells, "t = [1]").changes(["t"], 1) == []


def test_a_builtin_is_what_a_name_means_until_the_notebook_binds_it():
    history = history_of("def f(x):\n    return sum(x)", "sum = 0", "del sum")
    assert history.changes(["f"], 1) == []
    assert history.changes(["f"], 2) == [["f", "sum", "deleted", 3]]


HOSTILE = """
class Bad:
    __slots__ = ()
    def __getattribute__(self, name): raise RuntimeError
    def __eq__(self, other): raise RuntimeError
    def __hash__(self): raise RuntimeError
class Meta(type):
    def __eq__(self, other): raise RuntimeError
    __hash__ = None
class Odd(metaclass=Meta): pass
class Text(str):
    def __eq__(self, other): raise RuntimeError
    __hash__ = str.__hash__
class Items(dict):
    def items(self): raise RuntimeError
bad, odd, text, items, unset = Bad(), Odd(), Text("a"), Items(a=1), [Bad()]
loop = []
loop.append(loop)
deep = []
for _ in range(100_000): deep = [deep]
"""
HOSTILE_TENSORS = """
import torch
empty = torch.nn.Module.__new__(torch.nn.Module)
with torch.inference_mode(): inferred = torch.ones(2)
sparse = torch.eye(2).to_sparse()
"""


def test_nothing_that_a_notebook_holds_keeps_the_notes_from_being_taken():
    hostile = HOSTILE + HOSTILE_TENSORS if has_torch() else HOSTILE
    history = history_of(f"t = 1\n{hostile}\nlast = 1", "t = 2\nlast = 2\nitems['b'] = 2\ndel deep")
    assert [name for _, name, _, _ in history.changes(["t", "last", "items", "bad", "text", "loop"], 1)] == [
        "t", "last", "items"
    ]  # fmt: skip


def test_large_values_cost_little_and_when_all_time_is_used_only_assignments_are_noticed(monkeypatch):
    large = "import numpy as np\nx = [[[i] for i in range(100)] for _ in range(1000)]\ny = np.zeros((3000, 3000)).T\n"

    def seconds():
        history = history_of(f"{large}z = [1, [2]]\nw = ['a' * 10**7] * 10**6\nu = [[3]]")
        started = time.thread_time()
        history.note(2)
        return time.thread_time() - started

    assert min(seconds() for _ in range(5)) < 0.05  # more on a busy machine, but not always
    monkeypatch.setattr(name_history, "_MOST_IN_ALL", 5)
    history = history_of("z = [1, [2]]\nu = [[3]]\nv = [[4]]", "w = 1", "z.append(3)", "u = [[5]]")
    assert history.changes(["z", "u", "v", "w"], 1) == [["u", "u", "assigned", 4]]


LIBRARY = """
import functools


class Optimizer:
    def __init__(self):
        plain = type(self).step
        if not hasattr(plain, "hooked"):
            @functools.wraps(plain)
            def step(self):
                return plain(self)

            step.hooked = True
            type(self).step = step

    def step(self):
        return 1


class Storage:
    pass


class OtherStorage:
    pass


def mean(x):
    return 1


def median(x):
    return 2


def start():
    global monitor, level, mean, Storage
    plain, monitor, level, Storage = mean, object(), 2, OtherStorage

    def mean(x):
        return plain(x)


monitor, level = None, 1
"""


def replaced(*cells: str) -> list[str]:
    """What the cells below the first one replaced in a library, as it is noted in a kernel."""
    library = ModuleType("library")
    exec(LIBRARY, vars(library))
    namespace = vars(ModuleType("__main__"))
    namespace["library"] = library
    before, after = list[Any](), list[Any]()
    events = {"pre_run_cell": before.append, "post_run_cell": after.append}
    register = SimpleNamespace(register=lambda name, function: events[name](function))
    history = NameHistory()
    history.watch(SimpleNamespace(user_ns=namespace, events=register))
    for count, source in enumerate(["x = 1", *cells], 1):
        before[0](SimpleNamespace(raw_cell=source))
        exec(source, namespace)
        after[0](SimpleNamespace(execution_count=count))
    return [name for _, name, _, _ in history.changes(["x"], 1) if "." in name]


@pytest.mark.parametrize(
    "cell",
    [
        "library.Optimizer().step()",
        "step = library.Optimizer().step",
        "library.start()",
        "library.start()\nlibrary.mean([1])\nx = library.level == 2",
        "library.extra = 3",
        "class Own(library.Optimizer):\n    pass\n\nOwn.step = None",
    ],
)
def test_what_a_library_replaces_of_its_own_is_not_noted(cell):
    assert replaced("library.Optimizer", cell) == []


@pytest.mark.parametrize(
    "cell",
    [
        "library.mean = library.median",
        "library.mean, y = library.median, 1",
        "setattr(library, 'mean', library.median)",
        "setattr(library, 'me' + 'an', library.median)",
        "vars(library).update(mean=library.median)",
        "vars(library).update({'me' + 'an': lambda x: 3})",
        "exec('library.mean = library.median')",
        "for library.mean in [1]:\n    pass",
        "import functools\nlibrary.mean = functools.lru_cache(library.mean)",
        "from unittest import mock\nmock.patch.object(library, 'me' + 'an').start()",
        "delattr(library, 'me' + 'an')",
        "y = library.mean\nlibrary.start()\nlibrary.mean = max",
    ],
)
def test_what_a_cell_replaces_in_a_library_is_noted_whatever_way(cell):
    assert replaced("library.mean", cell) == ["library.mean"]


def test_a_setting_of_a_library_and_a_method_of_it_are_noted_too():
    assert replaced("library.level = 3") == ["library.level"]
    assert replaced("library.level", "vars(library).update(level=3)") == ["library.level"]
    assert replaced("library.level", "setattr(library, 'le' + 'vel', 3)") == ["library.level"]
    assert replaced("library.Optimizer.step", "library.Optimizer.step = None") == ["library.Optimizer.step"]


def test_an_object_that_raises_when_it_is_asked_for_its_class_hides_nothing():
    odd = "class Odd:\n    @property\n    def __class__(self):\n        raise RuntimeError\n\n\nodd = Odd()"
    found = "last = getattr(library, 'Opti' + 'mizer')"
    assert replaced(f"{found}\n{odd}", "last.step = None") == ["last.step"]
