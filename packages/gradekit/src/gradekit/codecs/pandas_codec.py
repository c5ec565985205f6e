"""The codec of pandas: compares as strictly as `pandas.testing`, and says what differs without the right values."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradekit.codecs import Codec, Tolerance, mismatch, with_article, wrong_length
from gradekit.codecs.frame_difference import (
    COLUMN_ORDER,
    DTYPES,
    INDEX,
    MOST_ROWS,
    NAMES,
    ROW_ORDER,
    dtype_difference,
    frame_difference,
    index_difference,
)
from gradekit.codecs.pandas_values import in_entries, some, written, wrong_entries
from gradekit.course import CourseError
from gradekit.course.printing import counted
from gradekit.inside.arrays import Numpy, is_array
from gradekit.inside.pandas_packer import PandasPacker, is_scalar

#: a value with more entries than any right answer is identified by its shape
_MOST_ENTRIES = 200_000
IGNORABLE = (DTYPES, ROW_ORDER, COLUMN_ORDER, INDEX, NAMES)


class PandasCodec(Codec):
    """Frames, series, indexes, arrays and single dates of pandas. The frequency of an index of dates is not compared."""

    packer = PandasPacker
    kernel_modules = ("gradekit.inside.pandas_packer",)

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
        return f"the {type(value).__name__} {written(value)}"

    def difference(self, actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
        """Compare; `tolerance.ignore` may hold "dtypes", "row order", "column order", "index" and "names"."""
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
        if kind == "DataFrame":
            text = frame_difference(actual, expected, tolerance)
        elif kind == "Series":
            text = _series_difference(actual, expected, tolerance)
        elif len(actual) != len(expected):
            text = wrong_length(len(actual), len(expected), "entry")
        elif kind == "Index":
            text = index_difference(actual, expected, tolerance.ignore)
        else:
            text = _entries_difference(_series(actual), _series(expected), tolerance)
        return text or _by_pandas(actual, expected, tolerance)

    def fingerprint(self, value: Any) -> tuple[str, Numpy | None]:
        """The structure and everything that is not a float, as a digest; the floats as numbers."""
        import pandas as pd

        kind = _kind(value)
        if kind != "other" and kind != "scalar" and value.size > _MOST_ENTRIES:
            return f"{kind} of shape {value.shape}", None
        frame = (
            value
            if kind == "DataFrame"
            else pd.DataFrame({"": [value]} if kind == "scalar" else {"": list(value)})
        )
        if kind == "Series":
            frame = value.to_frame()
        floats = [n for n in range(frame.shape[1]) if getattr(frame.iloc[:, n].dtype, "kind", "O") == "f"]
        rest = frame.iloc[:, [n for n in range(frame.shape[1]) if n not in floats]]
        parts = [
            [str(name) for name in (*frame.columns, *frame.columns.names, *frame.index.names)],
            [str(dtype) for dtype in frame.dtypes],
            [written(label) for label in frame.index],
            [[written(entry) for entry in rest.iloc[:, n]] for n in range(rest.shape[1])],
        ]
        digest = hashlib.sha256(repr(parts).encode(errors="replace")).hexdigest()[:12]
        text = f"{kind} of shape {frame.shape}, {digest}"
        if not floats or not len(frame):
            return text, None
        return text, np.concatenate([np.asarray(frame.iloc[:, n], np.float64) for n in floats])

    def columns(self, actual: Any, expected: Any) -> Iterator[tuple[str, Numpy, Numpy]]:
        """The columns of numbers, in two tables with the same columns and as many rows."""
        kind = _kind(expected)
        if kind == "DataFrame" and list(actual.columns) == list(expected.columns):
            names, own, right = [*map(written, expected.columns)], actual, expected
        elif kind == "Series":
            names, own, right = [""], actual.to_frame(0), expected.to_frame(0)
        else:
            return
        if len(own) != len(right):
            return
        for place, name in enumerate(names):
            pair = [
                part.iloc[:, place].to_numpy()
                for part in (own, right)
                if getattr(part.iloc[:, place].dtype, "kind", "O") in "biuf"
            ]
            if len(pair) == 2 and all(isinstance(part, np.ndarray) and part.dtype != object for part in pair):
                yield (f"In the column {name}" if name else ""), *pair


def _kind(value: Any) -> str:
    import pandas as pd

    kinds = {"DataFrame": pd.DataFrame, "Series": pd.Series, "Index": pd.Index}
    kinds["array"] = pd.api.extensions.ExtensionArray
    found = next((name for name, kind in kinds.items() if isinstance(value, kind)), "")
    return found or ("scalar" if is_scalar(value) else "other")


def _wanted(kind: str, expected: Any) -> str:
    """The kind of the right value, without its length."""
    name = type(expected).__name__
    return {"Index": f"an index ({name})", "array": f"an array of pandas ({name})"}.get(kind, f"a {kind}")


def _series(values: Any) -> Any:
    import pandas as pd

    return pd.Series(values)


def _series_difference(own: Any, right: Any, tolerance: Tolerance) -> str | None:
    if len(own) != len(right):
        return wrong_length(len(own), len(right), "entry")
    ordered, indexed = ROW_ORDER not in tolerance.ignore, INDEX not in tolerance.ignore
    name = None
    if NAMES not in tolerance.ignore and not _same_name(own.name, right.name):
        names = [
            "no name" if name is None else f"the name {written(name)}" for name in (own.name, right.name)
        ]
        name = f"has {names[0]}, but should have {names[1]}"
    if not ordered:
        keep = indexed and list(right.index) != list(range(len(right)))
        own, right = (
            part.sort_index() if keep else part.sort_values().reset_index(drop=True) for part in (own, right)
        )
        indexed = keep
    text = index_difference(own.index, right.index, tolerance.ignore) if indexed else None
    return text or _entries_difference(own, right, tolerance, ordered) or name


def _entries_difference(own: Any, right: Any, tolerance: Tolerance, ordered: bool = True) -> str | None:
    wrong = wrong_entries(own, right, tolerance)
    dtype = None if DTYPES in tolerance.ignore else dtype_difference(own, right)
    if dtype and (not wrong.any() or not _is_number(own)):
        return f"has {''.join(dtype)}"
    if not wrong.any():
        return None
    unordered = tolerance._replace(ignore=(ROW_ORDER, INDEX, NAMES))
    if (
        ordered
        and not dtype
        and len(own) <= MOST_ROWS
        and frame_difference(own.to_frame(0), right.to_frame(0), unordered) is None
    ):
        return "has the right entries in the wrong order: check how they are sorted"
    text = f"is wrong: {in_entries(own, wrong, 'entries')}"
    return text + (f"; it has {''.join(dtype)}" if dtype else "")


def _by_pandas(actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
    """The difference that `pandas.testing` finds if nothing above differs; its first lines show no entries."""
    import pandas as pd

    if ROW_ORDER in tolerance.ignore or INDEX in tolerance.ignore or is_array(tolerance.atol):
        return None
    close = {"rtol": tolerance.rtol, "atol": tolerance.atol}
    strict = DTYPES not in tolerance.ignore
    names = {"check_names": NAMES not in tolerance.ignore}
    rows: Any = "equiv" if strict else False
    try:
        if isinstance(expected, pd.DataFrame):
            if COLUMN_ORDER in tolerance.ignore:
                return None
            pd.testing.assert_frame_equal(
                actual,
                expected,
                check_dtype=strict,
                check_categorical=strict,
                check_index_type=rows,
                check_column_type=rows,
                check_freq=False,
                **names,
                **close,
            )
        elif isinstance(expected, pd.Series):
            pd.testing.assert_series_equal(
                actual,
                expected,
                check_dtype=strict,
                check_categorical=strict,
                check_index_type=rows,
                check_freq=False,
                **names,
                **close,
            )
        elif isinstance(expected, pd.Index):
            pd.testing.assert_index_equal(
                actual, expected, exact=rows, check_categorical=strict, **names, **close
            )
    except AssertionError as error:
        lines = [line for line in str(error).splitlines() if line and not line.startswith("[")]
        return f"is not equal to the right one: {'; '.join(lines[:2])[:200]}"
    return None


def _hint(actual: Any, expected: Any) -> str:
    """How to turn the actual value into one of the expected type."""
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


def _same_name(one: Any, other: Any) -> bool:
    return one is other or (some([one]) == some([other]) and type(one) is type(other))


def _is_number(values: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(values.dtype))
