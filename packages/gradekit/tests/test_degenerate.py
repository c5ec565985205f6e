"""Answers that compute nothing: the solution, with what it returns emptied."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from gradekit.course import read_notebook
from gradekit_authoring.grade_variants import KINDS, degenerate_answers

torch = pytest.importorskip("torch", reason="torch is not installed")

SOLUTION = """
import torch
from torch import nn

weights = torch.tensor([0.25, 0.75])

def double(x):
    return 2 * x

def everything(x):
    return {"mask": x > 0, "ids": (torch.arange(3), [1, 2.5, True, "a"])}

def change(values):
    values.append(1)

def check(function):
    assert function(2) == 4

class Net(nn.Module):
    def forward(self, x):
        return x + 1

class Words:
    def encode(self, words):
        return [4 for _ in words]

    def __len__(self):
        return 7
"""


def answer(tiny_course, tiny_source, kind: str, solution: str = SOLUTION) -> dict:
    """The names that the cell defines with a degenerate answer of this kind in it."""
    cell = next(cell for cell in tiny_source.cells if cell["id"] == "answer")
    cell.source = solution
    tiny_course.write_source(tiny_source)
    (found,) = degenerate_answers(tiny_course.assignment, f"{kind} *")
    (path,) = tiny_course.assignment.source_notebooks()
    changed = found.apply(read_notebook(path))
    namespace: dict = {}
    exec(next(cell.source for cell in changed.cells if cell["id"] == "answer"), namespace)
    return namespace


def test_there_is_one_of_each_kind_for_each_answer_cell(tiny_course):
    found = degenerate_answers(tiny_course.assignment)
    assert [one.name for one in found] == [f"{kind} for double" for kind in KINDS]
    assert {one.exercise for one in found} == {"test_double"}


@pytest.mark.parametrize(("kind", "number"), [("zeros", 0.0), ("ones", 1.0), ("nan", float("nan"))])
def test_shapes_and_types_stay_and_values_are_one_constant(tiny_course, tiny_source, kind, number):
    names = answer(tiny_course, tiny_source, kind)
    x = torch.tensor([[1.0, -2.0]])
    right = torch.full((1, 2), number)
    for value in (names["double"](x), names["Net"]()(x)):
        assert torch.equal(value.nan_to_num(nan=9), right.nan_to_num(nan=9))
    found = names["everything"](x)
    assert found["mask"].dtype == torch.bool
    assert found["mask"].unique().numel() == 1
    ids, parts = found["ids"]
    assert ids.dtype == torch.int64
    assert ids.unique().numel() == 1
    assert [type(part) for part in parts] == [int, float, bool, str]
    assert parts[3] == ""
    assert names["weights"].shape == (2,)
    assert names["weights"].isnan().all() if kind == "nan" else names["weights"].unique().numel() == 1
    assert names["Words"]().encode(["a", "b"]) == [int(kind == "ones")] * 2
    assert len(names["Words"]()) == int(kind == "ones")


def test_the_input_comes_back_where_it_has_the_right_shape(tiny_course, tiny_source):
    names = answer(tiny_course, tiny_source, "input")
    x = torch.tensor([[1.0, -2.0]])
    assert torch.equal(names["double"](x), x)
    assert torch.equal(names["Net"]()(x), x)
    assert torch.equal(names["everything"](x)["ids"][0], torch.zeros(3, dtype=torch.int64))


def test_what_a_function_does_to_its_arguments_is_undone(tiny_course, tiny_source):
    values: list = []
    answer(tiny_course, tiny_source, "zeros")["change"](values)
    assert values == []


@pytest.mark.parametrize(("kind", "number"), [("zeros", 0.0), ("ones", 1.0), ("nan", float("nan"))])
def test_frames_keep_their_columns_and_index_and_lose_their_entries(tiny_course, tiny_source, kind, number):
    double = answer(tiny_course, tiny_source, kind)["double"]
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]}, index=["x", "y"])
    found = double(frame)
    assert list(found.columns) == ["a", "b"] and list(found.index) == ["x", "y"]
    assert list(found.dtypes) == list(frame.dtypes)
    np.testing.assert_array_equal(found["a"], [number, number])
    assert found["b"].nunique() == 1
    assert double(pd.Series(["a", "b"], name="n")).isna().all()


def test_a_figure_comes_back_empty(tiny_course, tiny_source):
    drawing = "def double(x):\n    x.subplots().plot([1, 2])\n    return x.axes[0]\n"
    assert answer(tiny_course, tiny_source, "zeros", drawing)["double"](Figure()).figure.axes == []


def test_a_test_that_students_write_finds_nothing_wrong(tiny_course, tiny_source):
    namespace = answer(tiny_course, tiny_source, "zeros")
    assert namespace["check"](lambda x: x) is None
