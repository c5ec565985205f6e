"""Packs pandas values: frames, series, indexes, arrays, and single values that JSON lacks; also run in the student's kernel.

Text is sent as the distinct strings and a number for each entry, dates as integers, objects as plain values. Nothing
is ever unpickled. Unpacked data is bounded by the bytes that were received: declared lengths are not trusted.
"""

import datetime
import re
from typing import Any

import numpy as np

from gradekit.inside.arrays import is_array, to_numpy
from gradekit.inside.packing import PLAIN, Packer, PackingError

MAX_ROWS = 5_000_000
MAX_COLUMNS = 1_000
#: entries of all columns together
MAX_TABLE_CELLS = 10_000_000
_UNITS = ("s", "ms", "us", "ns")
_INSTANTS = {f"{kind}8[{unit}]" for kind in "mM" for unit in _UNITS}
_CLOSED = ("left", "right", "both", "neither")
#: characters of a date, a time zone or a frequency
_MAX_WORD = 64
_NUMBERS = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
}
_MASKED = {"boolean", *(name.capitalize() for name in _NUMBERS if name[0] in "if")} | {
    "UInt8", "UInt16", "UInt32", "UInt64",
}  # fmt: skip


class PandasPacker(Packer):
    """Frames, series, indexes, extension arrays, and single dates, intervals and missing values."""

    def takes(self, value: Any) -> bool:
        import pandas as pd

        kinds = (pd.DataFrame, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)
        return isinstance(value, kinds) or is_scalar(value)

    def pack(self, value: Any) -> Any:
        import pandas as pd

        if isinstance(value, pd.DataFrame):
            if value.shape[1] > MAX_COLUMNS:
                raise PackingError(f"a DataFrame with more than {MAX_COLUMNS} columns can't be sent")
            columns = [value.iloc[:, place] for place in range(value.shape[1])]
            parts = [_pack_column(column, f"the column `{column.name}`") for column in columns]
            labels = _pack_index(value.columns, "the list of columns")
            return {"kind": "frame", "columns": labels, "index": _pack_index(value.index), "data": parts}
        if isinstance(value, pd.Series):
            data = _pack_column(value, "the Series")
            name = _pack_scalar(value.name, "the name")
            return {"kind": "series", "name": name, "index": _pack_index(value.index), "data": data}
        if isinstance(value, pd.Index):
            return {"kind": "index", "index": _pack_index(value)}
        if isinstance(value, pd.api.extensions.ExtensionArray):
            return {"kind": "array", "data": _pack_column(value, "the array")}
        return {"kind": "scalar", "value": _pack_scalar(value, "the value")}

    def unpack(self, data: Any) -> Any:
        match data:
            case {"kind": "frame", "columns": columns, "index": index, "data": list(parts)}:
                return _frame(_index(columns), _index(index), parts)
            case {"kind": "series", "name": name, "index": index, "data": column}:
                series = _labeled(_column(column), _index(index))
                series.name = _unpack_scalar(name)
                return series
            case {"kind": "index", "index": index}:
                return _index(index)
            case {"kind": "array", "data": column}:
                return _column(column).array
            case {"kind": "scalar", "value": value}:
                return _unpack_scalar(value)
        raise PackingError("which isn't a pandas value")

    def copied(self, value: Any) -> Any:
        return value if is_scalar(value) else value.copy()

    def same(self, one: Any, other: Any) -> bool:
        import pandas as pd

        if type(one) is not type(other) or is_scalar(one):
            return type(one) is type(other)
        if isinstance(one, pd.DataFrame):
            labels = [(one.index, other.index), (one.columns, other.columns)]
        elif isinstance(one, pd.Series):
            labels = [(one.index, other.index), (pd.Index([one.name]), pd.Index([other.name]))]
        else:
            labels = []
        if not all(old.equals(new) and list(old.names) == list(new.names) for old, new in labels):
            return False
        return bool(one.equals(other))


def _pack_index(index: Any, where: str = "the index") -> dict[str, Any]:
    import pandas as pd

    names = [_pack_scalar(name, "the name of the index") for name in index.names]
    if isinstance(index, pd.MultiIndex):
        levels = [_pack_column(index.get_level_values(n), where) for n in range(index.nlevels)]
        return {"names": names, "levels": levels}
    if isinstance(index, pd.RangeIndex):
        return {"names": names, "range": [index.start, index.stop, index.step]}
    return {"names": names, "data": _pack_column(index, where)}


def _pack_column(values: Any, where: str) -> dict[str, Any]:
    """Pack the entries of a Series, an Index or an extension array; `where` names them in messages."""
    import pandas as pd

    dtype, size = values.dtype, len(values)
    if size > MAX_ROWS:
        raise PackingError(f"{where} has more than {MAX_ROWS} entries")
    name = str(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        array = pd.Categorical(values)
        codes, categories = np.asarray(array.codes, np.int32), _pack_column(dtype.categories, where)
        return {"dtype": "category", "codes": codes, "categories": categories, "ordered": bool(dtype.ordered)}
    if isinstance(dtype, pd.StringDtype):
        codes, texts = pd.factorize(values)
        missing = "string" if dtype.na_value is pd.NA else "str"
        return {"dtype": missing, "codes": codes.astype(np.int32), "texts": [str(text) for text in texts]}
    if isinstance(dtype, pd.DatetimeTZDtype):
        instants = np.asarray(
            pd.Series(values).dt.tz_convert("UTC").dt.tz_localize(None), f"M8[{dtype.unit}]"
        )
        return {"dtype": instants.dtype.str[1:], "values": instants.view(np.int64), "tz": str(dtype.tz)}
    if isinstance(dtype, pd.IntervalDtype):
        array = pd.arrays.IntervalArray(values)
        ends = {"left": _pack_column(array.left, where), "right": _pack_column(array.right, where)}
        return {"dtype": "interval", "closed": str(array.closed), **ends}
    if isinstance(dtype, pd.PeriodDtype):
        numbers = np.array(pd.PeriodIndex(values).asi8)
        return {
            "dtype": "period",
            "freq": str(dtype).removeprefix("period[").removesuffix("]"),
            "values": numbers,
        }
    if name in _MASKED and pd.api.types.is_extension_array_dtype(dtype):
        hidden = np.asarray(pd.isna(values), bool)
        plain = pd.array(values, dtype=dtype).to_numpy(dtype=_unmasked(name), na_value=0)
        return {"dtype": name, "values": np.array(plain), "missing": hidden}
    if isinstance(dtype, np.dtype) and name in _NUMBERS:
        return {"dtype": name, "values": np.asarray(values)}
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        numbers = np.asarray(values)
        return {"dtype": numbers.dtype.str[1:], "values": numbers.view(np.int64)}
    if dtype == np.dtype(object):
        return {"dtype": "object", "objects": [_pack_scalar(entry, where) for entry in values]}
    raise PackingError(f"{where} has the dtype {name[:100]}, which can't be checked")


def _frame(columns: Any, index: Any, parts: list[Any]) -> Any:
    import pandas as pd

    if len(parts) != len(columns) or len(parts) > MAX_COLUMNS:
        raise PackingError("with columns that don't match their names")
    if len(parts) * len(index) > MAX_TABLE_CELLS:
        raise PackingError(f"with more than {MAX_TABLE_CELLS} entries")
    data = [_column(part) for part in parts]
    frame = pd.DataFrame({place: _labeled(column, index) for place, column in enumerate(data)}, index=index)
    frame.columns = columns
    return frame


def _labeled(column: Any, index: Any) -> Any:
    if len(column) != len(index):
        raise PackingError("with columns of different lengths")
    column.index = index
    return column


def _index(data: Any) -> Any:
    import pandas as pd

    match data:
        case {"names": list(names), "levels": list(levels)} if 0 < len(levels) == len(names) <= 100:
            columns = [_column(level) for level in levels]
            if len({len(column) for column in columns}) > 1:
                raise PackingError("with an index of different lengths")
            return pd.MultiIndex.from_arrays(columns, names=[_unpack_scalar(name) for name in names])
        case {"names": [name], "range": [int(start), int(stop), int(step)]} if step:
            numbers = range(start, stop, step)
            if max(abs(start), abs(stop), abs(step)) >= 2**62 or len(numbers) > MAX_ROWS:
                raise PackingError(f"with more than {MAX_ROWS} rows")
            return pd.RangeIndex(numbers, name=_unpack_scalar(name))
        case {"names": [name], "data": column}:
            found = _column(column)
            return pd.Index(found.array, dtype=found.dtype, name=_unpack_scalar(name))
    raise PackingError("with a malformed index")


def _column(data: Any, inside: bool = False) -> Any:
    """A Series of the packed entries; `inside` one of a category or an interval, which must be simple."""
    import pandas as pd

    match data:
        case {"dtype": str(name), "values": values, "missing": missing} if name in _MASKED:
            plain = _numbers(values, _unmasked(name))
            column = pd.Series(plain).astype(name)
            column[_numbers(missing, "bool", len(plain))] = pd.NA
            return column
        case {"dtype": str(name), "values": values} if name in _NUMBERS and len(data) == 2:
            return pd.Series(_numbers(values, name))
        case {"dtype": str(name), "values": values} if name in _INSTANTS and len(data) == 2:
            return pd.Series(_numbers(values, "int64").view(name))
        case {"dtype": str(name), "values": values, "tz": str(tz)} if name in _INSTANTS and name[0] == "M":
            instants = pd.Series(_numbers(values, "int64").view(name)).dt.tz_localize("UTC")
            return instants.dt.tz_convert(_zone(tz))
        case {"dtype": "period", "freq": str(freq), "values": values}:
            return pd.Series(pd.PeriodIndex.from_ordinals(_numbers(values, "int64"), freq=_word(freq)))
        case {"dtype": "str" | "string" as name, "codes": codes, "texts": list(texts)}:
            if not all(type(text) is str for text in texts):
                raise PackingError("with a column of text that holds something else")
            numbers = _codes(codes, len(texts))
            missing = np.nan if name == "str" else pd.NA
            return pd.Series(np.array([*texts, missing], dtype=object)[numbers], dtype=name)
        case {"dtype": "object", "objects": list(objects)}:
            found = np.empty(len(objects), dtype=object)
            found[:] = [_unpack_scalar(entry) for entry in objects]
            return pd.Series(found, dtype=object)
        case {"dtype": "category", "codes": codes, "categories": categories, "ordered": bool(ordered)} if (
            not inside
        ):
            found = _column(categories, inside=True)
            kind = pd.CategoricalDtype(pd.Index(found.array, dtype=found.dtype), ordered)
            return pd.Series(pd.Categorical.from_codes(_codes(codes, len(found)), dtype=kind))
        case {"dtype": "interval", "closed": str(closed), "left": left, "right": right} if closed in _CLOSED:
            ends = [_column(end, inside=True) for end in (left, right)]
            if len(ends[0]) != len(ends[1]) or any(end.dtype.kind not in "iufmM" for end in ends):
                raise PackingError("with malformed intervals")
            return pd.Series(pd.arrays.IntervalArray.from_arrays(*(end.array for end in ends), closed=closed))
    raise PackingError("with a malformed column")


def _unmasked(name: str) -> str:
    """The dtype of NumPy for one of pandas that has missing values."""
    return name.lower().replace("boolean", "bool")


def _numbers(values: Any, dtype: str, size: int | None = None) -> Any:
    """A copy of a one-dimensional array that must have this dtype."""
    found = to_numpy(values) if is_array(values) else None
    if found is None or found.ndim != 1 or str(found.dtype) != dtype or len(found) > MAX_ROWS:
        raise PackingError(f"with a column that is not made of {dtype}")
    if size not in (None, len(found)):
        raise PackingError("with columns of different lengths")
    return found.copy()


def _codes(values: Any, count: int) -> Any:
    """A copy of an array of positions in a list of `count`; -1 is a missing entry."""
    codes = _numbers(values, "int32")
    if codes.size and not (codes.min() >= -1 and codes.max() < count):
        raise PackingError("with codes that name no entry")
    return codes


def is_scalar(value: Any) -> bool:
    import pandas as pd

    missing = value is pd.NaT or value is pd.NA
    return missing or isinstance(value, pd.Timestamp | pd.Timedelta | pd.Interval | pd.Period)


def _pack_scalar(value: Any, where: str) -> Any:
    """One entry of an object column, or a label: as it is, or as a tuple of its kind and some text."""
    import pandas as pd

    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if type(value) in PLAIN:
        return value
    if value is pd.NaT or value is pd.NA:
        return (str(value),)
    if isinstance(value, pd.Timestamp):
        plain = value.tz_convert("UTC").tz_localize(None) if value.tz else value
        return ("Timestamp", str(plain), str(value.tz or ""), value.unit)
    if isinstance(value, pd.Timedelta):
        return ("Timedelta", str(value), value.unit)
    if isinstance(value, pd.Period):
        return ("Period", str(value), value.freqstr)
    if isinstance(value, pd.Interval):
        ends = [_pack_scalar(end, where) for end in (value.left, value.right)]
        return ("Interval", *ends, value.closed)
    if type(value) in (datetime.date, datetime.time, datetime.datetime) and not getattr(
        value, "tzinfo", None
    ):
        return (type(value).__name__, value.isoformat())
    if type(value) is tuple:
        return ("tuple", [_pack_scalar(part, where) for part in value])
    raise PackingError(
        f"{where} holds {type(value).__name__[:100]} objects; "
        "only text, numbers, True and False, dates and missing values can be checked"
    )


def _unpack_scalar(data: Any) -> Any:
    import pandas as pd

    if type(data) in PLAIN:
        return data
    match data:
        case ("NaT",):
            return pd.NaT
        case ("<NA>",):
            return pd.NA
        case ("Timestamp", str(text), str(tz), str(unit)) if unit in _UNITS:
            found = pd.Timestamp(_word(text)).as_unit(unit)
            return found.tz_localize("UTC").tz_convert(_zone(tz)) if tz else found
        case ("Timedelta", str(text), str(unit)) if unit in _UNITS:
            return pd.Timedelta(_word(text)).as_unit(unit)
        case ("Period", str(text), str(freq)):
            return pd.Period(_word(text), freq=_word(freq))
        case ("Interval", left, right, str(closed)) if closed in _CLOSED:
            return pd.Interval(_unpack_scalar(left), _unpack_scalar(right), closed=closed)
        case ("date" | "time" | "datetime" as kind, str(text)):
            return getattr(datetime, kind).fromisoformat(_word(text))
        case ("tuple", list(parts)):
            return tuple(_unpack_scalar(part) for part in parts)
    raise PackingError("with an entry that is neither text nor a number nor a date")


def _zone(text: str) -> str:
    """The name of a time zone, which must not be a path."""
    if not re.fullmatch(r"UTC[+-]\d\d:\d\d|[A-Za-z][\w+-]*(/[A-Za-z][\w+-]*)*", _word(text), re.ASCII):
        raise PackingError("with a time zone that has no name")
    return text


def _word(text: str) -> str:
    if len(text) > _MAX_WORD:
        raise PackingError("with a date that isn't a date")
    return text
