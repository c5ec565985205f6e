"""Compares a submission's values with the right ones, and says how the two differ."""

import sys
from typing import Any, NoReturn

import numpy as np

from coursekit.arrays import Array, Numpy, as_array, is_array, noun, to_numpy
from coursekit.course import CourseError

ATOL = 1e-5
RTOL = 1e-4
#: in the message where only the values are wrong
DIFFERS = "differs by up to"
_SIGNATURES = (
    "use assert_close(actual, expected, name=..., context=...) and "
    "reference.assert_close(actual, name=..., context=...)"
)


class CheckFailure(AssertionError):
    """A check did not pass. The message is for the student: it shows no input and no right value."""


def fail(sentence: str) -> NoReturn:
    """Fail the check with a sentence for the student."""
    raise CheckFailure(sentence)


def difference(actual: Any, expected: Any, atol: "float | Array" = ATOL, rtol: float = RTOL) -> str | None:
    """How `actual` differs from `expected`: in type, shape, or the largest gap and its place. None if it does not.

    Entries are close if |actual - expected| <= atol + rtol * |expected|. Booleans and integers count as numbers,
    complex numbers do not. NaN equals NaN here, since a recorded value may hold it. `atol` may be an array that
    broadcasts to the shape; nothing else is broadcast.
    """
    wanted = as_array(expected)
    if wanted is None:
        return (
            None
            if not is_array(actual) and actual == expected
            else f"is {describe(actual)}, which is not right"
        )
    given = as_array(actual)
    if given is None:
        return f"is {describe(actual)}, but should be {describe(wanted)}"
    if given.shape != wanted.shape:
        return f"has shape {tuple(given.shape)}, but should have {tuple(wanted.shape)}"
    found, right = to_numpy(given), to_numpy(wanted)
    if right.size == 0:
        return None
    if found.dtype.kind == "c":
        return "is complex, but should be real"
    found, right = found.astype(np.float64), right.astype(np.float64)
    if (np.isnan(found) & ~np.isnan(right)).any():
        return _not_a_number(found)
    same = (found == right) | (np.isnan(found) & np.isnan(right))
    with np.errstate(all="ignore"):
        gap = np.nan_to_num(np.where(same, 0.0, np.abs(found - right)), nan=np.inf, posinf=np.inf)
        limit = rtol * np.nan_to_num(np.abs(right), posinf=0.0)
        off = gap > (to_numpy(atol) if is_array(atol) else atol) + limit
    if not off.any():
        return None
    where = f" at {_place(gap == gap.max())}" if gap.ndim else ""
    text = f"has the right shape {right.shape}, but {DIFFERS} {gap.max():.3g}{where}"
    return text + (f"; {int(off.sum())} of {off.size} entries are off" if gap.ndim else "")


def assert_close(
    actual: Any,
    expected: Any,
    *old_style: Any,
    name: str = "",
    context: str = "",
    atol: "float | Array" = ATOL,
    rtol: float = RTOL,
) -> None:
    """Fail unless `actual` equals `expected` within the tolerance.

    NaN fails, even where `expected` holds NaN. Where `expected` comes from the student too, two equal constants would
    pass: see `assert_varies`.

    Args:
        name: what the student calls the value, shown as code: "weights". Empty if it has no name in the notebook.
        context: what follows the name in a sentence: "at temperature 2".
    """
    require_name(name, context, old_style)
    text = difference(actual, expected, atol, rtol) or _not_a_number(actual)
    if text:
        fail(f"{in_words(name, context)} {text}.")


def assert_varies(value: Any, *old_style: Any, name: str = "", context: str = "", atol: float = ATOL) -> None:
    """Fail unless `value` is an array of finite numbers that are not all the same.

    For a check that compares two of the student's values: both may be the same zeros, or NaN. `name` and `context` are
    those of `assert_close`.
    """
    require_name(name, context, old_style)
    subject = in_words(name, context)
    given = as_array(value)
    found = None if given is None else to_numpy(given)
    if found is None or found.ndim == 0 or found.dtype.kind == "c":
        fail(f"{subject} is {describe(value)}, but should be {noun()} of real numbers.")
    found = found.astype(np.float64)
    if not np.isfinite(found).all():
        fail(f"{subject} holds {'NaN' if np.isnan(found).any() else 'infinity'}.")
    if found.size < 2 or found.max() - found.min() <= atol:
        fail(f"{subject} is the same number everywhere, so it does not depend on the input.")


def assert_differs(value: Any, other: Any, sentence: str, atol: float = 1e-6) -> None:
    """Fail with `sentence` unless two arrays of finite numbers and of the same shape differ.

    For an output that must change when the input does. `not value.allclose(other)` would accept NaN.
    """
    one, two = _real_numbers(value), _real_numbers(other)
    if one.shape != two.shape:
        fail(f"Two outputs that should have the same shape have {one.shape} and {two.shape}.")
    if np.allclose(one, two, rtol=1e-5, atol=atol):
        fail(sentence)


def require_name(name: str, context: str, old_style: tuple[Any, ...]) -> None:
    """Raise CourseError where a check still passes the name first, or no name at all."""
    if old_style or not (name or context):
        raise CourseError(f"a check passes no name=, or passes the name first: {_SIGNATURES}")


def joined(name: str, context: str) -> str:
    """The name and its context as one text."""
    return (name + context if context.startswith(",") else f"{name} {context}").strip()


def in_words(name: str, context: str) -> str:
    """What a sentence about the value begins with: "`weights` at temperature 2"."""
    if name:
        return joined(f"`{name}`", context)
    return context[0].upper() + context[1:]


def describe(value: Any) -> str:
    """A value as a student would name it, without its contents."""
    if is_array(value):
        return f"{noun(value)} of shape {tuple(value.shape)}"
    match value:
        case None:
            return "None"
        case tuple() | list():
            kind = type(value).__name__
            return f"a {kind} of {len(value)} ({', '.join(describe(part) for part in value[:4])})"
        case int() if abs(value) > sys.float_info.max:
            return "an int beyond all floats"
        case bool() | int() | float():
            return f"the {type(value).__name__} {value:.6g}"
    name = getattr(value, "type_name", type(value).__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _real_numbers(value: Any) -> Numpy:
    given = as_array(value)
    found = None if given is None else to_numpy(given)
    if found is None or found.dtype.kind == "c" or not np.isfinite(found).all():
        fail("NaN or infinity came back, or no real numbers at all, where two outputs are compared.")
    return found.astype(np.float64)


def _not_a_number(value: Any) -> str | None:
    given = as_array(value)
    found = None if given is None else to_numpy(given)
    if found is None or found.dtype.kind != "f" or not np.isnan(found).any():
        return None
    if found.ndim == 0:
        return "is NaN"
    hits = np.isnan(found)
    return f"holds NaN: {int(hits.sum())} of {hits.size} entries, first at {_place(hits)}"


def _place(hits: Numpy) -> list[int]:
    """The index of the first hit."""
    return [int(index) for index in np.argwhere(hits)[0]]
