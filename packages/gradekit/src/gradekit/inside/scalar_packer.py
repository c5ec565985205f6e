"""Packs single values that JSON lacks: dates, intervals, missing values, labels; also run in the student's kernel."""

import datetime
import re
from typing import Any

import numpy as np

from gradekit.inside.packing import PLAIN, PackingError

UNITS = ("s", "ms", "us", "ns")
CLOSED = ("left", "right", "both", "neither")
#: characters of a date, a time zone or a frequency
_MAX_WORD = 64


def is_scalar(value: Any) -> bool:
    import pandas as pd

    missing = value is pd.NaT or value is pd.NA
    return missing or isinstance(value, pd.Timestamp | pd.Timedelta | pd.Interval | pd.Period)


def pack_scalar(value: Any, where: str) -> Any:
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
        ends = [pack_scalar(end, where) for end in (value.left, value.right)]
        return ("Interval", *ends, value.closed)
    if type(value) in (datetime.date, datetime.time, datetime.datetime) and not getattr(
        value, "tzinfo", None
    ):
        return (type(value).__name__, value.isoformat())
    if type(value) is tuple:
        return ("tuple", [pack_scalar(part, where) for part in value])
    raise PackingError(
        f"{where} holds {type(value).__name__[:100]} objects; "
        "only text, numbers, True and False, dates and missing values can be checked"
    )


def unpack_scalar(data: Any) -> Any:
    import pandas as pd

    if type(data) in PLAIN:
        return data
    match data:
        case ("NaT",):
            return pd.NaT
        case ("<NA>",):
            return pd.NA
        case ("Timestamp", str(text), str(tz), str(unit)) if unit in UNITS:
            found = pd.Timestamp(word(text)).as_unit(unit)
            return found.tz_localize("UTC").tz_convert(zone(tz)) if tz else found
        case ("Timedelta", str(text), str(unit)) if unit in UNITS:
            return pd.Timedelta(word(text)).as_unit(unit)
        case ("Period", str(text), str(freq)):
            return pd.Period(word(text), freq=word(freq))
        case ("Interval", left, right, str(closed)) if closed in CLOSED:
            return pd.Interval(unpack_scalar(left), unpack_scalar(right), closed=closed)
        case ("date" | "time" | "datetime" as kind, str(text)):
            return getattr(datetime, kind).fromisoformat(word(text))
        case ("tuple", list(parts)):
            return tuple(unpack_scalar(part) for part in parts)
    raise PackingError("with an entry that is neither text nor a number nor a date")


def zone(text: str) -> str:
    """The name of a time zone, which must not be a path."""
    if not re.fullmatch(r"UTC[+-]\d\d:\d\d|[A-Za-z][\w+-]*(/[A-Za-z][\w+-]*)*", word(text), re.ASCII):
        raise PackingError("with a time zone that has no name")
    return text


def word(text: str) -> str:
    if len(text) > _MAX_WORD:
        raise PackingError("with a date that isn't a date")
    return text
