"""The codec of pandas: compares as strictly as `pandas.testing`, and says what differs without the right values.

All codecs are loaded before a kernel starts, so pandas is imported only when there is a value of it.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradekit.codecs import Codec, Tolerance, mismatch, with_article
from gradekit.course import CourseError
from gradekit.course.printing import counted
from gradekit.inside.arrays import Numpy, is_array
from gradekit_data.pandas_packer import PandasPacker, is_scalar

#: a value with more entries than any right answer is identified by its shape
_MOST_ENTRIES = 200_000


class PandasCodec(Codec):
    """Frames, series, indexes, arrays and single dates of pandas. The frequency of an index of dates is not compared."""

    packer = PandasPacker
    kernel_modules = ("gradekit_data.pandas_packer",)

    def takes(self, value: Any) -> bool:
        return PandasPacker().takes(value)

    def describe(self, value: Any) -> str:
        match _kind(value):
            case "DataFrame":
                return f"a DataFrame of {counted(len(value), 'row')} and {counted(value.shape[1], 'column')}"
            case "Series":
                return f"a Series of {counted(len(value), 'entry')}"
            case "Index":
                return f"an index ({type(value).__name__}) of {counted(len(value), 'label')}"
            case "array":
                return f"an array of pandas ({type(value).__name__}) of {counted(len(value), 'entry')}"
        from gradekit_data.pandas_difference import written

        return f"the {type(value).__name__} {written(value)}"

    def difference(self, actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
        """Compare; `tolerance.ignore` may hold "dtypes", "row order", "column order", "index" and "names"."""
        from gradekit_data.pandas_difference import IGNORABLE, pandas_difference

        if unknown := set(tolerance.ignore) - set(IGNORABLE):
            raise CourseError(
                f"ignore= is made of {', '.join(IGNORABLE)}; there is no {', '.join(sorted(unknown))}"
            )
        kind = _kind(expected)
        if kind == "scalar":
            if type(actual) is type(expected):
                same = actual is expected or actual == expected
                return None if same else f"is {self.describe(actual)}, which is not the right one"
            return mismatch(actual, with_article(type(expected).__name__))
        if _kind(actual) != kind:
            return mismatch(actual, _wanted(kind, expected), _hint(actual, expected))
        return pandas_difference(actual, expected, tolerance)

    def fingerprint(self, value: Any) -> tuple[str, Numpy | None]:
        """The structure and everything that is not a float, as a digest; the floats as numbers."""
        import pandas as pd

        from gradekit_data.pandas_difference import series_of, written

        kind = _kind(value)
        if kind != "other" and kind != "scalar" and value.size > _MOST_ENTRIES:
            return f"{kind} of shape {value.shape}", None
        match kind:
            case "DataFrame":
                frame = value
            case "Series":
                frame = value.to_frame()
            case _:
                frame = pd.DataFrame({"": [value] if kind == "scalar" else list(value)})
        by_kind: dict[bool, list[Any]] = {True: [], False: []}
        for series in series_of(frame):
            by_kind[_kind_of_entries(series) == "f"].append(series)
        floats, rest = by_kind[True], by_kind[False]
        parts = [
            [str(name) for name in (*frame.columns, *frame.columns.names, *frame.index.names)],
            [str(dtype) for dtype in frame.dtypes],
            [written(label) for label in frame.index],
            [[written(entry) for entry in series] for series in rest],
        ]
        digest = hashlib.sha256(repr(parts).encode(errors="replace")).hexdigest()[:12]
        text = f"{kind} of shape {frame.shape}, {digest}"
        if not floats or not len(frame):
            return text, None
        return text, np.concatenate([np.asarray(series, np.float64) for series in floats])

    def columns(self, actual: Any, expected: Any) -> Iterator[tuple[str, Numpy, Numpy]]:
        """The columns of numbers, in two tables with the same columns and as many rows."""
        from gradekit_data.pandas_difference import series_of, written

        kind = _kind(expected)
        if kind == "DataFrame" and list(actual.columns) == list(expected.columns):
            names, own, right = [*map(written, expected.columns)], actual, expected
        elif kind == "Series":
            names, own, right = [""], actual.to_frame(0), expected.to_frame(0)
        else:
            return
        if len(own) != len(right):
            return
        for name, *parts in zip(names, series_of(own), series_of(right), strict=True):
            pair = [part.to_numpy() for part in parts if _kind_of_entries(part) in "biuf"]
            if len(pair) == 2 and all(isinstance(part, np.ndarray) and part.dtype != object for part in pair):
                yield (f"In the column {name}" if name else ""), *pair


def _kind(value: Any) -> str:
    import pandas as pd

    kinds = {"DataFrame": pd.DataFrame, "Series": pd.Series, "Index": pd.Index}
    kinds["array"] = pd.api.extensions.ExtensionArray
    found = next((name for name, kind in kinds.items() if isinstance(value, kind)), "")
    return found or ("scalar" if is_scalar(value) else "other")


def _kind_of_entries(series: Any) -> str:
    return getattr(series.dtype, "kind", "O")


def _wanted(kind: str, expected: Any) -> str:
    """The kind of the right value, without its length."""
    name = type(expected).__name__
    return {"Index": f"an index ({name})", "array": f"an array of pandas ({name})"}.get(kind, f"a {kind}")


def _hint(actual: Any, expected: Any) -> str:
    kinds = _kind(actual), _kind(expected)
    if kinds == ("Series", "DataFrame"):
        return ": `.to_frame()` or double brackets, as in `df[[...]]`, make one"
    if kinds == ("DataFrame", "Series"):
        return ": take one column of it, as in `df[...]`" if actual.shape[1] == 1 else ""
    if kinds[1] == "Series" and is_array(actual):
        return ": leave out `.values` or `.to_numpy()`, or wrap it in `pd.Series(...)`"
    if kinds[1] == "Series" and (kinds[0] in ("Index", "array") or isinstance(actual, list | dict)):
        return ": wrap it in `pd.Series(...)`"
    if kinds == ("Index", "array") or kinds == ("Series", "array"):
        return ": take its `.array`"
    return ""
