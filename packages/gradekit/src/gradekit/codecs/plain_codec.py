"""The codecs of plain values, which compare text, lists, tuples and dicts entry by entry, and of arrays and tensors.

The first takes all values that no other codec takes. Numbers count as arrays without axes.
"""

import sys
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from gradekit.codecs import (
    ATOL,
    DIFFERS,
    MOST_TOLD,
    RTOL,
    Codec,
    Tolerance,
    codec_of,
    describe,
    how_many,
    mismatch,
    rough,
    with_article,
    wrong_length,
)
from gradekit.course import CourseError
from gradekit.inside.arrays import Numpy, as_array, as_numpy, is_array, is_tensor, noun, to_numpy
from gradekit.inside.numpy_packer import NumpyPacker
from gradekit.inside.packing import Packer

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
            if not value:
                return f"an empty {type(value).__name__}"
            return f"{with_article(type(value).__name__)} of {len(value)} ({parts}{more})"
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
            size = f" of {len(expected)}" if len(expected) <= MOST_TOLD else ""
            wanted = f"a {type(expected).__name__}{size}"
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
    if isinstance(expected, list) and is_array(actual) and actual.ndim:
        return ": turn it into one with `.tolist()`"
    if isinstance(expected, list) and isinstance(actual, tuple):
        return ": use square brackets, `[...]`"
    if isinstance(expected, tuple) and isinstance(actual, list):
        return ": return the values with commas between them, without square brackets"
    return ""


#: an array with more entries than any right answer is identified by its shape
_MOST_ENTRIES = 1_000_000
_KINDS = {"U": "text", "S": "bytes", "O": "Python objects", "M": "dates", "m": "durations", "V": "records"}


class ArrayCodec(Codec):
    """NumPy arrays. Booleans and integers count as numbers; nothing is broadcast."""

    packer: ClassVar[type[Packer] | None] = NumpyPacker
    kernel_modules: ClassVar[tuple[str, ...]] = ("gradekit.inside.numpy_packer",)

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.ndarray | np.generic)

    def describe(self, value: Any) -> str:
        if isinstance(value, bool | int | float):
            if isinstance(value, int) and abs(value) > sys.float_info.max:
                return "an int too large for a float"
            return f"the {type(value).__name__} {value:.6g}"
        kind = _kind(value)
        return f"{noun(value)}{f' of {kind}' if kind else ''} of shape {tuple(value.shape)}"

    def difference(self, actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
        """How `actual` differs, in the order in which a student should look at it.

        Is it an array, with the right kind of entries, of the right shape? Is there NaN where a number belongs? Only then
        how far the numbers are off. Integers are exact unless the check sets a tolerance.
        """
        strict = tolerance.rtol == RTOL and not is_array(tolerance.atol) and tolerance.atol == ATOL
        if strict and _are_large(actual, expected):
            return None if actual == expected else _of_integers(abs(actual - expected) == 1)
        wanted = as_array(expected)
        assert wanted is not None
        given = as_array(actual)
        if given is None:
            kind = self.describe(wanted) if is_array(expected) else "a number"
            return mismatch(actual, kind, _array_hint(actual, expected))
        if given.shape == wanted.shape:
            given, wanted = map(_as_text, (given, wanted))
        holds = [_kind(part) for part in map(to_numpy, (given, wanted))]
        if holds[0] != holds[1]:
            return _wrong_kind(to_numpy(given), *holds)
        if given.shape != wanted.shape:
            return f"has shape {tuple(given.shape)}, but should have {tuple(wanted.shape)}"
        found, right = to_numpy(given), to_numpy(wanted)
        if holds[0]:
            return _exact_difference(found, right)
        if right.size == 0:
            return None
        if found.dtype.kind == "c" and right.dtype.kind != "c":
            return "is complex, but should be real"
        whole = found.dtype.kind in "biu" and right.dtype.kind in "biu"
        if whole and strict:
            return _integer_difference(found, right)
        wide = np.complex128 if right.dtype.kind == "c" else np.float64
        found, right = found.astype(wide), right.astype(wide)
        extra = np.asarray(np.isnan(found) & ~np.isnan(right))
        if extra.any() and np.isnan(right).any():
            return f"has the right shape {right.shape}, but {how_many(extra)} NaN where a number belongs"
        if extra.any():
            return _where_nan(extra)
        same = (found == right) | (np.isnan(found) & np.isnan(right))
        with np.errstate(all="ignore"):
            gap = np.nan_to_num(np.where(same, 0.0, np.abs(found - right)), nan=np.inf, posinf=np.inf)
            rtol = 0.0 if whole and tolerance.rtol == RTOL else tolerance.rtol
            limit = rtol * np.nan_to_num(np.abs(right), posinf=0.0)
            atol = tolerance.atol
            off = gap > (to_numpy(atol) if is_array(atol) else atol) + limit
        if not off.any():
            return None
        return _off_by(gap, off)

    def fingerprint(self, value: Any) -> tuple[str, Numpy | None]:
        found = np.asarray(to_numpy(value))  # a student may return a number instead of anything else
        text = f"of shape {found.shape}"
        kind = "complex" if found.dtype.kind == "c" else _kind(found)
        if kind or not 0 < found.size <= _MOST_ENTRIES:
            return text + (f", {kind}" if kind else ""), None
        return text, found.astype(np.float64).ravel()

    def nan(self, value: Any) -> str | None:
        found = as_numpy(value)
        if found is None or found.dtype.kind != "f" or not np.isnan(found).any():
            return None
        return _where_nan(np.isnan(found))


class TensorCodec(ArrayCodec):
    """torch tensors, compared like arrays; they are part of every message, so they need no packer."""

    packer = None
    kernel_modules = ()

    def takes(self, value: Any) -> bool:
        return is_tensor(value)


def _kind(array: Any) -> str:
    """The kind of entries in an array that does not hold numbers."""
    kind = "" if is_tensor(array) else array.dtype.kind
    return _KINDS.get(kind, "")


def _integer_difference(found: Numpy, right: Numpy) -> str | None:
    """How integers differ, which are compared exactly, however large they are.

    The size of the difference would give the right one away.
    """
    off = np.array(found != right)
    if not off.any():
        return None
    gap = np.abs(found.astype(np.float64) - right.astype(np.float64))
    if not gap.any():
        return "differs in the last digits of large integers"
    if not gap.ndim:
        return _of_integers(bool(gap == 1)) if right.dtype != bool else "is not the right one"
    by_one = ", each by one" if (gap[off] == 1).all() and right.dtype != bool else ""
    return f"has the right shape {gap.shape}, but {how_many(off)} wrong{by_one}"


def _of_integers(by_one: bool) -> str:
    return f"{DIFFERS} {'one' if by_one else 'more than one'}"


def _off_by(gap: Numpy, off: Numpy) -> str:
    if not gap.ndim:
        return f"{DIFFERS} about {rough(float(gap))}"
    return f"has the right shape {gap.shape}, but {DIFFERS} up to about {rough(float(gap.max()))}; {how_many(off)} off"


def _are_large(*values: Any) -> bool:
    """Whether these are ints, and one of them is too large for an array."""
    whole = all(isinstance(value, int) for value in values)
    return whole and any(abs(value) >= 1 << 63 for value in values)


def _as_text(array: Any) -> Any:
    """An array of objects that are all text as an array of text."""
    if is_tensor(array) or array.dtype != object or not all(isinstance(entry, str) for entry in array.flat):
        return array
    return array.astype(str)


def _exact_difference(found: Numpy, right: Numpy) -> str | None:
    both_missing = np.array((found != found) & (right != right), dtype=bool)
    off = np.array(found != right, dtype=bool) & ~both_missing
    if not off.any():
        return None
    if not off.ndim:
        return "is not the right one"
    return f"has the right shape {right.shape}, but {how_many(off)} wrong"


def _wrong_kind(found: Numpy, kind: str, wanted: str) -> str:
    """The end of a sentence about an array that holds the wrong kind of entries."""
    hint = ""
    if found.dtype == object and not wanted:
        odd = np.array([not isinstance(entry, bool | int | float) for entry in found.ravel()], bool)
        hint = f", such as {describe(found.ravel()[odd.argmax()])}" if odd.any() else ""
        hint += f" at {_place(odd.reshape(found.shape))}" if odd.any() and found.ndim else ""
    elif kind == "text" and not wanted:
        hint = ": convert it, as with `.astype(float)`"
    text = f"holds {kind or 'numbers'} (dtype {found.dtype}){hint if hint[:1] == ',' else ''}"
    return f"{text}, but should hold {wanted or 'numbers'}{hint if hint[:1] == ':' else ''}"


def _array_hint(actual: Any, expected: Any) -> str:
    """What to do about a list where an array is required."""
    if getattr(actual, "type_name", "") == "ndarray":
        return ": do all its rows have the same length?"
    if (
        type(actual).__module__.partition(".")[0] == "pandas"
        and isinstance(expected, np.ndarray)
        and expected.ndim
    ):
        return ": `.to_numpy()` makes one" if hasattr(actual, "to_numpy") else ""
    if not (isinstance(actual, list | tuple) and is_array(expected) and _holds_numbers(actual)):
        return ""
    how = "torch.tensor(...)" if is_tensor(expected) else "np.array(...)"
    return f": turn it into one with `{how}`"


def _holds_numbers(value: list[Any] | tuple[Any, ...]) -> bool:
    """True for nested lists of numbers, which an array could hold."""
    return bool(value) and all(
        _holds_numbers(part) if isinstance(part, list | tuple) else isinstance(part, bool | int | float)
        for part in value
    )


def _where_nan(hits: Numpy) -> str:
    if hits.ndim == 0:
        return "is NaN"
    return f"holds NaN: {int(hits.sum())} of {hits.size} entries, first at {_place(hits)}"


def _place(hits: Numpy) -> list[int]:
    return [int(index) for index in np.argwhere(hits)[0]]
