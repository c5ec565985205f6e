"""How a value of pandas differs from the right one: in columns, rows, index, dtypes, and then in its entries."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from gradekit.codecs import Tolerance, how_many, letters, wrong_length
from gradekit.course.printing import counted
from gradekit.inside.arrays import Numpy, is_array, to_numpy

IGNORABLE = ("dtypes", "row order", "column order", "index", "names")
DTYPES, ROW_ORDER, COLUMN_ORDER, INDEX, NAMES = IGNORABLE
_TEXT = ("object", "str", "string")
#: frames with more rows are not searched for the same rows in another order
_MOST_ROWS = 50_000
#: labels in a sentence, and characters of each
_SHOWN, _MAX_SHOWN = 5, 60


def pandas_difference(own: Any, right: Any, tolerance: Tolerance) -> str | None:
    """The first way in which two values of one kind, but not single dates, differ."""
    if isinstance(right, pd.DataFrame):
        text = _frame_difference(own, right, tolerance)
    elif len(own) != len(right):
        text = wrong_length(len(own), len(right), "entry")
    elif isinstance(right, pd.Series):
        text = _series_difference(own, right, tolerance)
    elif isinstance(right, pd.Index):
        text = _index_difference(own, right, tolerance.ignore)
    else:
        text = _entries_difference(pd.Series(own), pd.Series(right), tolerance)
    return text or _by_pandas(own, right, tolerance)


def _frame_difference(own: Any, right: Any, tolerance: Tolerance) -> str | None:
    """The first way in which two frames differ, in the order in which a student should look at them."""
    ignore = tolerance.ignore
    if text := _columns(own, right):
        return text
    if [*map(_key, own.columns)] != [*map(_key, right.columns)]:
        if COLUMN_ORDER not in ignore:
            return (
                f"has the right columns in the wrong order: yours are {_some(own.columns, 10)}, "
                f"but should be {_some(right.columns, 10)}"
            )
        places = {_key(label): place for place, label in enumerate(own.columns)}
        own = own.iloc[:, [places[_key(label)] for label in right.columns]]
    if NAMES not in ignore and list(own.columns.names) != list(right.columns.names):
        return f"has columns with {_names(own.columns)}, but should have {_names(right.columns)}"
    if len(own) != len(right):
        return f"{wrong_length(len(own), len(right), 'row')}{_why_rows(own, right)}"
    if ROW_ORDER in ignore:
        own, right = _sorted(own, right, INDEX in ignore)
    labels = None if INDEX in ignore else _index_difference(own.index, right.index, ignore)
    entries = _entries(own, right, tolerance)
    if entries and ROW_ORDER not in ignore and len(own) <= _MOST_ROWS and _same_rows(own, right, tolerance):
        return "has the right rows in the wrong order: check how they are sorted"
    return labels or entries


def _series_difference(own: Any, right: Any, tolerance: Tolerance) -> str | None:
    ordered, indexed = ROW_ORDER not in tolerance.ignore, INDEX not in tolerance.ignore
    name = None
    if NAMES not in tolerance.ignore and not _same_name(own.name, right.name):
        both = (own.name, right.name)
        names = ["no name" if each is None else f"the name {written(each)}" for each in both]
        name = f"has {names[0]}, but should have {names[1]}"
    if not ordered:
        keep = indexed and list(right.index) != list(range(len(right)))
        own, right = (
            part.sort_index() if keep else part.sort_values().reset_index(drop=True) for part in (own, right)
        )
        indexed = keep
    text = _index_difference(own.index, right.index, tolerance.ignore) if indexed else None
    return text or _entries_difference(own, right, tolerance, ordered) or name


def _entries_difference(own: Any, right: Any, tolerance: Tolerance, ordered: bool = True) -> str | None:
    wrong = _wrong_entries(own, right, tolerance)
    dtype = None if DTYPES in tolerance.ignore else _dtype_difference(own, right)
    if dtype and (not wrong.any() or not pd.api.types.is_numeric_dtype(own.dtype)):
        return f"has {''.join(dtype)}"
    if not wrong.any():
        return None
    unordered = tolerance._replace(ignore=(ROW_ORDER, INDEX, NAMES))
    if (
        ordered
        and not dtype
        and len(own) <= _MOST_ROWS
        and _frame_difference(own.to_frame(0), right.to_frame(0), unordered) is None
    ):
        return "has the right entries in the wrong order: check how they are sorted"
    text = f"is wrong: {_in_entries(own, wrong, 'entries')}"
    return text + (f"; it has {''.join(dtype)}" if dtype else "")


def _by_pandas(actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
    """The difference that `pandas.testing` finds if nothing above differs; its first lines show no entries."""
    ignore, strict = tolerance.ignore, DTYPES not in tolerance.ignore
    if ROW_ORDER in ignore or INDEX in ignore or is_array(tolerance.atol):
        return None
    rows: Any = "equiv" if strict else False
    how: dict[str, Any] = {"rtol": tolerance.rtol, "atol": tolerance.atol}
    how |= {"check_categorical": strict, "check_names": NAMES not in ignore}
    of_rows = {"check_dtype": strict, "check_index_type": rows, "check_freq": False}
    try:
        if isinstance(expected, pd.DataFrame) and COLUMN_ORDER not in ignore:
            pd.testing.assert_frame_equal(actual, expected, check_column_type=rows, **of_rows, **how)
        elif isinstance(expected, pd.Series):
            pd.testing.assert_series_equal(actual, expected, **of_rows, **how)
        elif isinstance(expected, pd.Index):
            pd.testing.assert_index_equal(actual, expected, exact=rows, **how)
    except AssertionError as error:
        lines = [line for line in str(error).splitlines() if line and not line.startswith("[")]
        return f"is not equal to the right one: {'; '.join(lines[:2])[:200]}"
    return None


def _index_difference(own: Any, right: Any, ignore: Collection[str]) -> str | None:
    names, dtypes = NAMES not in ignore, DTYPES not in ignore
    if own.nlevels != right.nlevels:
        return f"has an index with {counted(own.nlevels, 'level')}, but should have {right.nlevels}"
    if not own.equals(right):
        usual = range(len(right))
        if list(right) == list(usual) and right.nlevels == 1:
            return (
                f"has the index {_some(own, 3)}, but should have {_some(usual, 3)}: "
                "renumber the rows with `reset_index(drop=True)`"
            )
        if names and list(own.names) != list(right.names):
            return f"has an index with {_names(own)}, but should have {_names(right)}"
        if list(own) == list(usual) and own.nlevels == 1:
            return f"has the index {_some(usual, 3)}, but should have the labels of the rows"
        if dtypes and own.dtype != right.dtype and _kind(own) != _kind(right):
            return f"has an index of dtype {own.dtype}, but should have {right.dtype}"
        if Counter(map(_key, own)) == Counter(map(_key, right)):
            return "has the right index in the wrong order: check how the rows are sorted"
        wrong = np.array([_key(one) != _key(other) for one, other in zip(own, right, strict=True)])
        if not wrong.any():  # equal labels of other types
            return None
        return f"has a wrong index: {how_many(wrong, 'labels')} wrong"
    if dtypes and own.nlevels == 1 and _kind(own) != _kind(right):
        return f"has an index of dtype {own.dtype}, but should have {right.dtype}"
    if names and list(own.names) != list(right.names):
        return f"has an index with {_names(own)}, but should have {_names(right)}"
    return None


def _dtype_difference(own: Any, right: Any) -> tuple[str, str] | None:
    """How the dtype of a Series is wrong, in two parts of a sentence; the second says what to do about it."""
    found, wanted = own.dtype, right.dtype
    if all(isinstance(dtype, pd.CategoricalDtype) for dtype in (found, wanted)):
        own_categories, categories = (list(map(_key, dtype.categories)) for dtype in (found, wanted))
        if set(own_categories) != set(categories):
            return f"the categories {_some(found.categories)}", ", which are not the right ones"
        if found.ordered != wanted.ordered:
            words = ("ordered", "unordered") if found.ordered else ("unordered", "ordered")
            return f"{words[0]} categories", f", but should have {words[1]} ones"
        if own_categories != categories:
            return f"the categories {_some(found.categories)}", " in the wrong order"
    if found == wanted:
        return None
    return f"the dtype {found}", f", but should have {wanted}{_dtype_hint(own, wanted)}"


def _dtype_hint(own: Any, wanted: Any) -> str:
    """What to do about the dtype of a Series, as the end of a sentence; empty if nothing is known."""
    found = own.dtype
    if str(found) == "object" and (hint := _hint_for_objects(own, wanted)):
        return hint
    if str(found) in _TEXT:
        if pd.api.types.is_bool_dtype(wanted):
            return ": it holds text or other objects instead of True and False"
        if pd.api.types.is_numeric_dtype(wanted):
            return ": convert the text to numbers, as with `pd.to_numeric`"
        if str(wanted).startswith("datetime64"):
            return ": convert the text to dates with `pd.to_datetime`"
    if "datetime64" in str(found) and "datetime64" in str(wanted) and len(str(found)) > len(str(wanted)):
        return ": remove the time zone with `tz_localize(None)`"
    if isinstance(wanted, pd.CategoricalDtype):
        return ': use `astype("category")`'
    if found.kind == "f" and wanted.kind in "iu" and own.isna().any():
        return ": it holds NaN, which turns integers into floats"
    return ""


def _hint_for_objects(own: Any, wanted: Any) -> str:
    """What to do about entries of dtype object that aren't text; empty if some are text, or all are missing."""
    types = {type(entry) for entry in own.dropna()}
    if not types or str in types:
        return ""
    boolean = pd.api.types.is_bool_dtype(wanted)
    numeric = pd.api.types.is_numeric_dtype(wanted) and not boolean
    others = [kind for kind in types if kind is bool or not issubclass(kind, int | float | np.number)]
    if numeric and not others:
        if wanted.kind in "iu" and own.isna().any():
            return ": its entries are numbers, but some are missing"
        return f': its entries are numbers, so convert it with `astype("{wanted}")`'
    if boolean and types <= {bool, np.bool_}:
        if own.isna().any():
            return ": its entries are True and False, but some are missing"
        return ': its entries are True and False, so convert it with `astype("bool")`'
    if str(wanted).startswith("datetime64"):
        return ": convert its entries with `pd.to_datetime`"
    if numeric:
        return f": it holds values of type {min(kind.__name__ for kind in others)} instead of numbers"
    return ""


def series_of(frame: Any) -> list[Any]:
    """The columns of a frame, of which several may have one name."""
    return [series for _, series in frame.items()]


def _entries(own: Any, right: Any, tolerance: Tolerance) -> str | None:
    pairs = list(enumerate(zip(series_of(own), series_of(right), strict=True)))
    off = {n: wrong for n, pair in pairs if (wrong := _wrong_entries(*pair, tolerance)).any()}
    dtypes: dict[int, tuple[str, str]] = {}
    if DTYPES not in tolerance.ignore:
        dtypes = {n: words for n, pair in pairs if (words := _dtype_difference(*pair))}
    for place, parts in dtypes.items():
        dtype = own.iloc[:, place].dtype
        if place not in off or dtype.kind in "OT" or str(dtype) in _TEXT:
            return f"has {parts[0]} in the column {written(own.columns[place])}{parts[1]}"
    if not off:
        return None
    place = next(iter(off))
    names = [own.columns[n] for n in off]
    where = f"is wrong in the {_plural(names, 'column')}: "
    where += f"in {written(names[0])}, " if len(names) > 1 else ""
    text = where + _in_entries(own.iloc[:, place], off[place])
    return text + (f"; that column has {''.join(dtypes[place])}" if place in dtypes else "")


def _columns(own: Any, right: Any) -> str | None:
    """Which columns are missing, extra, or misnamed."""
    if own.columns.nlevels != right.columns.nlevels:
        levels = counted(own.columns.nlevels, "level")
        label = written(own.columns[-1]) if len(own.columns) else "none"
        hint = ': name them, as in `agg(total=("x", "sum"))`' if right.columns.nlevels == 1 else ""
        return f"has columns of {levels}, such as {label}, but should have {_levels(right.columns)}{hint}"
    have, want = (Counter(map(_key, part.columns)) for part in (own, right))
    if have == want:
        return None
    lacking = [label for label in right.columns if not have[_key(label)]]
    extra = [label for label in own.columns if not want[_key(label)]]
    if not lacking and not extra:
        twice = [label for label in own.columns.unique() if have[_key(label)] != want[_key(label)]]
        return f"has the {_plural(twice, 'column')} the wrong number of times"
    for label in lacking:
        if label in own.index.names:
            return f"has {written(label)} as its index, but should have it as a column: use `reset_index()`"
        for other in extra:
            if str(label) == str(other):
                kinds = type(other).__name__, type(label).__name__
                return f"has a column whose name {written(other)} is of type {kinds[0]}, but should be of type {kinds[1]}"
            if letters(str(label)) == letters(str(other)):
                return f"has the column {written(other)}, but its name should be {written(label)}"
    for label in extra:
        if label in right.index.names:
            return f"has {written(label)} as a column, but should have it as its index: use `set_index({label!r})`"
    parts = [f"lacks the {_plural(lacking, 'column')}"] if lacking else []
    parts += [f"has the {_plural(extra, 'column')}, which should not be there"] if extra else []
    return " and ".join(parts)


def _why_rows(own: Any, right: Any) -> str:
    """A possible cause of the wrong number of rows; it is only about the student's own rows."""
    if len(own) > len(right):
        if len(right) == len(own.dropna()):
            return f": {counted(len(own) - len(right), 'row')} of yours with NaN may be the reason"
        if len(right) == len(own.drop_duplicates()):
            return f": {counted(len(own) - len(right), 'duplicate row')} may be the reason"
    return ""


def _same_rows(own: Any, right: Any, tolerance: Tolerance) -> bool:
    """True if both frames have the same rows in another order, whatever their index."""
    if len(own) < 2 or own.shape[1] == 0 or any(map(_dtype_difference, series_of(own), series_of(right))):
        return False
    labels = [Counter(map(_key, part.index)) for part in (own, right)]
    if list(own.index) != list(right.index) and labels[0] != labels[1]:
        return False
    one, other = map(series_of, _sorted(own, right, by_entries=True))
    return not any(_wrong_entries(*pair, tolerance).any() for pair in zip(one, other, strict=True))


def _sorted(own: Any, right: Any, by_entries: bool) -> tuple[Any, Any]:
    """Both frames with their rows in the same order: by index, or by their entries where it only numbers the rows."""
    if not by_entries and list(right.index) != list(range(len(right))):
        return tuple(part.iloc[_order(part.index.to_frame())] for part in (own, right))
    return tuple(part.iloc[_order(part)].reset_index(drop=True) for part in (own, right))


def _order(frame: Any) -> list[int]:
    keys = [[_sortable(entry) for entry in series] for series in series_of(frame)]
    return sorted(range(len(frame)), key=lambda place: [column[place] for column in keys])


def _sortable(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, bool | int | float | np.number) and entry == entry:
        return ("number", round(float(entry), 6))
    return (type(entry).__name__, str(entry))


def _same_name(one: Any, other: Any) -> bool:
    return one is other or (_some([one]) == _some([other]) and type(one) is type(other))


def _names(index: Any) -> str:
    if all(name is None for name in index.names):
        return "no name"
    return f"the {'names' if index.nlevels > 1 else 'name'} {_some(index.names)}"


def _levels(index: Any) -> str:
    return "plain names" if index.nlevels == 1 else f"{index.nlevels} levels"


def _kind(index: Any) -> str:
    kind = str(getattr(index.dtype, "kind", "O"))
    return "i" if kind in "iu" else kind


def _key(label: Any) -> Any:
    """A label, hashable, and equal for all missing ones; 1 and True are different."""
    if isinstance(label, tuple):
        return tuple(map(_key, label))
    if label is None or label != label:
        return ("missing",)
    if isinstance(label, bool | np.bool_):
        return ("bool", bool(label))
    return label


def _wrong_entries(own: Any, right: Any, tolerance: Tolerance) -> Numpy:
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


def _in_entries(own: Any, wrong: Numpy, what: str = "rows") -> str:
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


def _some(labels: Iterable[Any], most: int = _SHOWN) -> str:
    found = list(labels)
    return ", ".join(map(written, found[:most])) + (", …" if len(found) > most else "")


def _plural(labels: Sequence[Any], noun: str) -> str:
    """The noun and some labels: "the columns `a`, `b`"."""
    return f"{noun}{'s' if len(labels) > 1 else ''} {_some(labels)}"


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
