"""Forged values of pandas, NumPy and matplotlib: each is refused with a sentence, quickly and in little memory."""

import json
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest

from gradekit.checks.asserts import difference
from gradekit.codecs import describe
from gradekit.inside.messages import MAX_TEXT, MessageError, encode
from gradekit.session.replies import read_reply
from gradekit_data.figure_packer import FigurePacker
from gradekit_data.pandas_packer import MAX_ROWS

BILLION = 1_000_000_000


def read(buffers: list[bytes]) -> object:
    return read_reply(buffers, lambda item: item).value


def packed(library: str, data: object) -> list[bytes]:
    """A reply whose value an agent that was tampered with packed; arrays are sent with it."""
    plain, arrays = (json.loads(encode(data)[0]), encode(data)[1])
    value = {"$": "packed", "library": library, "data": plain}
    return [json.dumps({"$": "dict", "items": [["ok", True], ["value", value]]}).encode(), arrays]


def numbers(count: int = 2, dtype: str = "int64") -> dict:
    return {"dtype": dtype, "values": np.zeros(count, dtype)}


def text(codes: object, texts: object = ("a",)) -> dict:
    return {"dtype": "str", "codes": np.asarray(codes, np.int32), "texts": list(texts)}


def labels(count: int) -> dict:
    return {"names": [None], "range": [0, count, 1]}


def frame(*columns: object, index: object = None, names: object = None) -> dict:
    return {
        "kind": "frame",
        "columns": labels(len(columns)) if names is None else names,
        "index": index or labels(2),
        "data": list(columns),
    }


def series(column: object, count: int = 2, **more: object) -> dict:
    return {"kind": "series", "name": None, "index": labels(count), "data": column} | more


def deep_category(depth: int) -> dict:
    column: dict = text([0, -1])
    for _ in range(depth):
        column = {"dtype": "category", "codes": np.zeros(2, np.int32), "categories": column, "ordered": False}
    return series(column)


PANDAS = {
    "nothing": None,
    "a list": [1],
    "an unknown kind": {"kind": "pickle", "data": "gASV"},
    "a frame with a field more": frame(numbers(dtype="int64") | {"code": 1}),
    "a column of another dtype than declared": frame({"dtype": "int64", "values": np.zeros(2, "float32")}),
    "a column of text that is numbers": frame({"dtype": "str", "values": np.zeros(2)}),
    "a dtype that is code": frame({"dtype": "__import__('os')", "values": np.zeros(2)}),
    "a dtype that is long": frame({"dtype": "x" * 10_000, "values": np.zeros(2)}),
    "a column without entries": frame({"dtype": "int64"}),
    "a column of two axes": frame({"dtype": "int64", "values": np.zeros((2, 2), "int64")}),
    "columns of different lengths": frame(numbers(2), numbers(3)),
    "fewer columns than names": frame(numbers(), names=labels(2)),
    "a billion rows declared": frame(numbers(), index=labels(BILLION)),
    "a billion rows and no column": frame(index=labels(BILLION)),
    "a billion columns declared": frame(numbers(), names=labels(BILLION)),
    "an index of a billion": {"kind": "index", "index": labels(BILLION)},
    "a range without end": {"kind": "index", "index": {"names": [None], "range": [0, 2**63 - 1, 1]}},
    "a range of huge numbers": {"kind": "index", "index": {"names": [None], "range": [0, 10**30, 10**29]}},
    "a range that stands still": {"kind": "index", "index": {"names": [None], "range": [0, 5, 0]}},
    "a range of booleans": {"kind": "index", "index": {"names": [None], "range": [False, "5", 1]}},
    "a name that is a list": {"kind": "index", "index": {"names": [[1]], "range": [0, 2, 1]}},
    "levels without names": {"kind": "index", "index": {"names": [], "levels": [numbers()]}},
    "levels of different lengths": {"kind": "index", "index": {"names": [1, 2], "levels": [numbers(1), numbers(2)]}},
    "a thousand levels": {"kind": "index", "index": {"names": [1] * 1000, "levels": [text([0])] * 1000}},
    "codes beyond the texts": series(text([0, 1])),
    "codes below -1": series(text([0, -2])),
    "codes that are floats": series({"dtype": "str", "codes": np.zeros(2), "texts": ["a"]}),
    "texts that are lists": series(text([0, 0], [["a"]])),
    "texts that are numbers": series(text([0, 0], [1])),
    "nested lists in an object column": series({"dtype": "object", "objects": [[[1]], 2]}),
    "dicts in an object column": series({"dtype": "object", "objects": [{"a": 1}, 2]}),
    "an array in an object column": series({"dtype": "object", "objects": [np.zeros(2), 2]}),
    "a tuple that is no entry": series({"dtype": "object", "objects": [("os.system", "ls"), 2]}),
    "a date that is long": series({"dtype": "object", "objects": [("Timestamp", "2" * 1000, "", "ns"), 2]}),
    "a date that is none": series({"dtype": "object", "objects": [("Timestamp", "now-ish", "", "ns"), 2]}),
    "a time zone that is a path": series({"dtype": "M8[ns]", "values": np.zeros(2, "int64"), "tz": "../../etc/passwd"}),
    "a time zone that is a file": series({"dtype": "M8[ns]", "values": np.zeros(2, "int64"), "tz": "dateutil//etc/passwd"}),
    "a time zone that is long": series({"dtype": "M8[ns]", "values": np.zeros(2, "int64"), "tz": "x" * 1000}),
    "a unit that is none": series({"dtype": "M8[fs]", "values": np.zeros(2, "int64")}),
    "a frequency that is none": series({"dtype": "period", "freq": "x", "values": np.zeros(2, "int64")}),
    "a category twice": series(
        {"dtype": "category", "codes": np.zeros(2, np.int32), "categories": text([0, 0]), "ordered": False}
    ),
    "a category that is missing": series(
        {"dtype": "category", "codes": np.zeros(2, np.int32), "categories": text([-1]), "ordered": False}
    ),
    "categories of categories": deep_category(2),
    "categories in categories without end": deep_category(5),
    "an order that is a number": series(
        {"dtype": "category", "codes": np.zeros(2, np.int32), "categories": text([0]), "ordered": 1}
    ),
    "a mask of another length": series({"dtype": "Int64", "values": np.zeros(2, "int64"), "missing": np.zeros(3, bool)}),
    "a mask that is numbers": series({"dtype": "Int64", "values": np.zeros(2, "int64"), "missing": np.zeros(2)}),
    "ends of different lengths": series(
        {"dtype": "interval", "closed": "left", "left": numbers(2), "right": numbers(3)}
    ),
    "ends that are text": series(
        {"dtype": "interval", "closed": "left", "left": text([0, 0]), "right": text([0, 0])}
    ),
    "intervals that end before they begin": series(
        {
            "dtype": "interval",
            "closed": "left",
            "left": {"dtype": "int64", "values": np.array([5, 5])},
            "right": {"dtype": "int64", "values": np.array([1, 1])},
        }
    ),
    "a scalar that is a list": {"kind": "scalar", "value": [1]},
}  # fmt: skip

NUMPY = {
    "nothing": None,
    "a pickle": {"dtype": "object", "entries": "gASV", "shape": [1]},
    "more entries than declared": {"dtype": "text", "entries": ["a", "b"], "shape": [1]},
    "a billion entries declared": {"dtype": "text", "entries": ["a"], "shape": [BILLION]},
    "an empty array of endless width": {"dtype": "text", "entries": [], "shape": [0, 2**62]},
    "a shape below zero": {"dtype": "text", "entries": ["a"], "shape": [-1, -1]},
    "a shape of booleans": {"dtype": "text", "entries": ["a"], "shape": [True]},
    "a thousand axes": {"dtype": "text", "entries": ["a"], "shape": [1] * 1000},
    "text that is numbers": {"dtype": "text", "entries": [1], "shape": [1]},
    "objects that are lists": {"dtype": "object", "entries": [[1]], "shape": [1]},
    "dates that are floats": {"dtype": "M8[D]", "numbers": np.zeros(2)},
    "dates of an unknown unit": {"dtype": "M8[25s]", "numbers": np.zeros(2, "int64")},
    "complex numbers of three parts": {"dtype": "complex", "parts": np.zeros((3, 2))},
    "complex numbers without parts": {"dtype": "complex", "parts": np.float64(1).item()},
    "complex numbers that are integers": {"dtype": "complex", "parts": np.zeros((2, 2), "int64")},
}


@cache  # drawing takes long, and pytest collects in each of its processes
def packed_figure() -> dict:
    drawn = matplotlib.figure.Figure()
    drawn.subplots().plot([1, 2], [3, 4])
    return FigurePacker().pack(drawn)


def figure(**changed: object) -> dict:
    """A packed figure with one line, of which some fields are others."""
    data = deepcopy(packed_figure())
    for name, value in changed.items():
        place = (
            data
            if name in data
            else data["axes"][0]
            if name in data["axes"][0]
            else data["axes"][0]["lines"][0]
        )
        place[name] = value
    return data


FIGURES = {
    "nothing": None,
    "no axes": {k: v for k, v in figure().items() if k != "axes"},
    "axes that are a number": figure(axes=3),
    "axes that are empty": figure(axes=[{}]),
    "a title that is a number": figure(xlabel=3),
    "a title that is long": figure(xlabel="x" * 1001),
    "a legend of numbers": figure(texts=[1, 2]),
    "points of different lengths": figure(x=np.zeros(3)),
    "points that are text": figure(y="zeros"),
    "points of two axes": figure(x=np.zeros((2, 1)), y=np.zeros((2, 1))),
    "points that are complex": figure(x={"$": 1}),
    "more lines than there may be": figure(lines=figure()["axes"][0]["lines"] * 1),
    "limits of three ends": figure(xlim=[0, 1, 2]),
    "a size that is text": figure(size="large"),
    "colorbars below zero": figure(colorbars=-1),
}
FIGURES["more lines than there may be"]["axes"][0]["lines"] = [
    figure(x=np.zeros(1), y=np.zeros(1))["axes"][0]["lines"][0] for _ in range(501)
]


@pytest.mark.parametrize(
    ("library", "data"),
    [(library, data) for library, found in (("pandas", PANDAS), ("numpy", NUMPY), ("matplotlib", FIGURES)) for data in found.values()],
    ids=[f"{library}: {name}" for library, found in (("pandas", PANDAS), ("numpy", NUMPY), ("matplotlib", FIGURES)) for name in found],
)  # fmt: skip
def test_a_forged_value_is_refused_with_one_sentence(library, data):
    with pytest.raises(MessageError, match=r"^the reply .") as refused:
        read(packed(library, data))
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("library", ["os", "builtins", "torch", "x" * 100, ""])
def test_a_library_without_a_packer_is_refused(library):
    with pytest.raises(MessageError, match=r"^the reply ."):
        read(packed(library, {}))


def many_columns(count: int) -> list[bytes]:
    return packed("pandas", frame(*[{"dtype": "object", "objects": [None, None]}] * count))


def one_array_for_all(count: int) -> list[bytes]:
    """Columns that share one array: if that were allowed, a megabyte could become a terabyte."""
    buffers = packed("pandas", frame(numbers(100_000), index=labels(100_000)))
    column = b'["dtype", "int64"], ["values", {"$": "array", "key": "0"}]'
    tree = buffers[0].replace(b'"stop"', b'"stop"')
    whole = b'{"$": "dict", "items": [' + column + b"]}"
    assert whole in tree
    tree = tree.replace(whole, b", ".join([whole] * count)).replace(b"[0, 1, 1]", b"[0, %d, 1]" % count)
    return [tree, buffers[1]]


def million_lines() -> list[bytes]:
    buffers = packed("matplotlib", figure(lines=[]))
    lines = b'["lines", [' + b"{}," * 1_000_000 + b"0]]"
    return [buffers[0].replace(b'["lines", []]', lines), buffers[1]]


BOMBS = {
    "a column of objects for each name": lambda: many_columns(1001),
    "one array in a thousand columns": lambda: one_array_for_all(1000),
    "a figure with a million lines": million_lines,
    "text of four megabytes in every entry": lambda: packed(
        "numpy", {"dtype": "text", "entries": ["x" * (MAX_TEXT // 2), *[""] * 90_000], "shape": [90_001]}
    ),
    "more entries than a frame may have": lambda: packed(
        "pandas", frame(*[text([0, 0]) for _ in range(3)], index=labels(MAX_ROWS))
    ),
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_quickly_and_in_little_memory(make):
    buffers = make()
    started = time.process_time()
    with in_little_memory(), pytest.raises(MessageError):
        read(buffers)
    assert time.process_time() - started < 5


@contextmanager
def in_little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 50 * 2**20


def test_long_text_that_is_repeated_is_stored_once():
    words = ["x" * 1_000_000, "y" * 1_000_000]
    buffers = packed("pandas", series(text(np.arange(1_000_000) % 2, words), 1_000_000))
    with in_little_memory():
        assert len(read(buffers)) == 1_000_000


ODD = {
    "NaN for every label": pd.DataFrame({"v": [1, 2]}, index=[np.nan, np.nan]),
    "NaN for a column": pd.DataFrame([[1, 2]], columns=[np.nan, np.nan]),
    "names that are the same": pd.DataFrame([[1, 2, 3]], columns=["a", "a", "a"]),
    "labels that can't be ordered": pd.DataFrame({"v": [1, 2, 3]}, index=["a", 1, None]),
    "infinity": pd.DataFrame({"v": [np.inf, -np.inf]}),
    "dates beyond all calendars": pd.DataFrame({"v": pd.array([2**62, -(2**62)], "int64")}).v.astype("M8[s]").to_frame(),
    "text that is markup": pd.DataFrame({"<b>`x`</b>\n": ["<script>", "\x1b[31m"]}),
    "no rows": pd.DataFrame({"a": [], "b": []}),
    "no columns": pd.DataFrame(index=range(5)),
    "a Series": pd.Series([1, 2]),
    "text": "abc",
    "a missing value": pd.NA,
}  # fmt: skip


@pytest.mark.parametrize("own", ODD.values(), ids=ODD)
@pytest.mark.parametrize(
    "right", [pd.DataFrame({"v": [1.0, 2.0]}), pd.Series(["a", "b"], index=["x", "y"]), np.ones(2)]
)
def test_odd_values_are_compared_with_one_sentence(own, right):
    text = difference(own, right)
    assert text and text.isprintable() and len(text) < 500
    assert describe(own)
