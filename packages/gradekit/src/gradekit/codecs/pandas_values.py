"""How the entries of two columns of the same length differ, and how labels and entries are written in a sentence."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from gradekit.codecs import Tolerance, how_many
from gradekit.inside.arrays import Numpy, is_array, to_numpy

_SHOWN = 5
_MAX_SHOWN = 60


def wrong_entries(own: Any, right: Any, tolerance: Tolerance) -> Numpy:
    """Where two Series of the same length differ, as booleans. Two missing entries are equal; integers are exact."""
    missing, should_miss = (np.asarray(pd.isna(part), bool) for part in (own, right))
    wrong: Numpy = missing != should_miss
    both = ~missing & ~should_miss
    numeric = pd.api.types.is_numeric_dtype
    if all(numeric(part.dtype) and not isinstance(part.dtype, pd.CategoricalDtype) for part in (own, right)):
        exact = all(_is_exact(part.dtype) for part in (own, right))
        found, wanted = (np.asarray(part[both], dtype=None if exact else np.float64) for part in (own, right))
        wrong[both] = found != wanted if exact else _far(found, wanted, tolerance)
        return wrong
    found, wanted = (np.asarray(part.astype(object), dtype=object)[both] for part in (own, right))
    wrong[both] = [not _equal(*pair, tolerance) for pair in zip(found, wanted, strict=True)]
    return wrong


def in_entries(own: Any, wrong: Numpy, what: str = "rows") -> str:
    """How many entries of a Series are wrong, about. Which ones they are would tell much about the right ones."""
    nan = np.asarray(pd.isna(own), bool)
    return f"{how_many(wrong, what)} {'wrong' if (wrong & ~nan).any() else 'NaN where a value belongs'}"


def written(value: Any) -> str:
    """An entry or a label as a student would write it, shortened."""
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))})"
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and value != value):
        return "NaN" if isinstance(value, float) else str(value)
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    text = str(value).replace("`", "'")
    text = "".join(mark if mark.isprintable() else " " for mark in text[: _MAX_SHOWN + 1])
    text = text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
    return text if isinstance(value, bool | int | np.integer | np.bool_) else f"`{text}`"


def some(labels: Iterable[Any], most: int = _SHOWN) -> str:
    """A few labels in a sentence."""
    found = list(labels)
    return ", ".join(map(written, found[:most])) + (", …" if len(found) > most else "")


def plural(labels: Sequence[Any], noun: str) -> str:
    """The noun and some labels: "the columns `a`, `b`"."""
    return f"{noun}{'s' if len(labels) > 1 else ''} {some(labels)}"


def _is_exact(dtype: Any) -> bool:
    return bool(pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype))


def _far(found: Numpy, wanted: Numpy, tolerance: Tolerance) -> Numpy:
    atol = to_numpy(tolerance.atol).max() if is_array(tolerance.atol) else tolerance.atol
    with np.errstate(all="ignore"):
        far = ~(np.abs(found - wanted) <= atol + tolerance.rtol * np.abs(wanted))
    return np.asarray(np.where(np.isinf(found) | np.isinf(wanted), found != wanted, far))


def _equal(one: Any, other: Any, tolerance: Tolerance) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return not _far(np.asarray(one, np.float64), np.asarray(other, np.float64), tolerance).any()
    return type(one) is type(other) and bool(one == other)
