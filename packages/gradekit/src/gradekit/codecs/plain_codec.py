"""The codec of plain values: text, None, lists, tuples and dicts, entry by entry; and of values that no other codec takes."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradekit.codecs import (
    MOST_TOLD,
    Codec,
    Tolerance,
    codec_of,
    describe,
    how_many,
    mismatch,
    with_article,
    wrong_length,
)
from gradekit.course import CourseError
from gradekit.inside.arrays import Numpy, is_array

_SHOWN = 5
_NAMES = {
    "ndarray": "array of Python objects (dtype object)",
    "builtin_function_or_method": "built-in function",
}


class PlainCodec(Codec):
    """Lists and tuples are compared entry by entry, so arrays and numbers in them have the usual tolerance."""

    def takes(self, value: Any) -> bool:
        return True

    def describe(self, value: Any) -> str:
        if value is None:
            return "None"
        if isinstance(value, list | tuple):
            parts = ", ".join(describe(part) for part in value[:4])
            more = ", …" if len(value) > 4 else ""
            return (
                f"{with_article(type(value).__name__)} of {len(value)} ({parts}{more})"
                if value
                else (f"an empty {type(value).__name__}")
            )
        if isinstance(value, dict):
            return f"a dict of {len(value)}" if value else "an empty dict"
        name = getattr(value, "type_name", type(value).__name__)
        return with_article(_NAMES.get(name, name))

    def difference(self, actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
        if expected is None or isinstance(expected, str):
            if type(actual) is type(expected):
                return None if actual == expected else "is not the right text"
            wanted = describe(expected)
        elif isinstance(expected, list | tuple):
            if type(actual) is type(expected):
                return _of_entries(actual, expected, tolerance)
            wanted = (
                f"a {type(expected).__name__}{f' of {len(expected)}' if len(expected) <= MOST_TOLD else ''}"
            )
        elif isinstance(expected, dict):
            if isinstance(actual, dict):
                return _of_dicts(actual, expected, tolerance)
            wanted = f"a dict{f' with {len(expected)} keys' if len(expected) <= MOST_TOLD else ''}"
        elif type(actual) is type(expected) and not isinstance(actual, type):
            return None if actual == expected else "is not the right one"
        else:
            wanted = describe(expected)
            if wanted == describe(actual):
                raise CourseError(
                    f"a check compares with {wanted}, which can't be sent from the student's process: "
                    "have the helper code of the check turn it into a list"
                )
        return mismatch(actual, wanted, _hint(actual, expected))

    def fingerprint(self, value: Any) -> tuple[str, Numpy | None]:
        text = repr(value)
        return text if len(text) <= 500 and " at 0x" not in text else describe(value), None


def _of_entries(actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
    if len(actual) != len(expected):
        return wrong_length(len(actual), len(expected), "entry")
    places = ((f"[{place}]", *pair) for place, pair in enumerate(zip(actual, expected, strict=True)))
    return _of_each(places, len(expected), "length", tolerance)


def _of_dicts(actual: dict[Any, Any], expected: dict[Any, Any], tolerance: Tolerance) -> str | None:
    if extra := [key for key in actual if key not in expected]:
        if len(actual) > MOST_TOLD:
            wrong = how_many(np.array([key not in expected for key in actual]), "keys")
            return f"has the wrong keys: {wrong} wrong"
        return f"has the key{'s' if len(extra) > 1 else ''} {_some(extra)}, which should not be there"
    if lacking := len(expected) - len(actual):
        if len(expected) <= MOST_TOLD:
            return f"lacks {lacking} of the {len(expected)} keys that it should have"
        return f"lacks {'a key' if lacking == 1 else 'keys'} that it should have; those that it has are right"
    entries = ((f"the key {_some([key])}", actual[key], right) for key, right in expected.items())
    return _of_each(entries, len(expected), "keys", tolerance)


def _of_each(
    entries: Iterable[tuple[str, Any, Any]], size: int, what: str, tolerance: Tolerance
) -> str | None:
    """How entries differ: places, values found and right ones. The place of a wrong one is only told among few."""
    texts = []
    for place, found, right in entries:
        texts.append(codec_of(right).difference(found, right, tolerance))
        if texts[-1] and size <= MOST_TOLD:
            return f"is wrong at {place}: that entry {texts[-1]}"
    wrong = [text for text in texts if text]
    if not wrong:
        return None
    which = "it" if len(wrong) == 1 else "the first of these"
    number = how_many(np.array([bool(text) for text in texts]))
    return f"has the right {what}, but {number} wrong: {which} {wrong[0]}"


def _some(names: list[Any]) -> str:
    shown = ", ".join(f"`{str(name)[:60]}`" for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _hint(actual: Any, expected: Any) -> str:
    """What to do about an array, a list or a tuple where a different one of these is required."""
    if isinstance(expected, list) and is_array(actual) and actual.ndim:
        return ": turn it into one with `.tolist()`"
    if isinstance(expected, list) and isinstance(actual, tuple):
        return ": use square brackets, `[...]`"
    if isinstance(expected, tuple) and isinstance(actual, list):
        return ": return the values with commas between them, without square brackets"
    return ""
