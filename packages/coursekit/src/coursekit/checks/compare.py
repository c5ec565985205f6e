"""Comparing what a submission gave with what is right, and saying how the two differ."""

import re
import sys
from typing import Any, NoReturn

import torch

ATOL = 1e-5
RTOL = 1e-4
#: stands in the message where only the values are wrong
DIFFERS = "differs by up to"


class CheckFailure(AssertionError):
    """A check did not pass. The message is for the student: no input and no right value appears in it."""


def fail(sentence: str) -> NoReturn:
    """Fail the check with a sentence for the student."""
    raise CheckFailure(sentence)


def difference(
    actual: Any, expected: Any, atol: float | torch.Tensor = ATOL, rtol: float = RTOL
) -> str | None:
    """How `actual` differs from `expected`: type, shape, or the largest gap and where; None if it does not.

    Entries are close if |actual - expected| <= atol + rtol * |expected|; booleans and integers count as
    numbers, complex numbers do not. NaN equals NaN here, since a recorded value may hold it. `atol` may be a tensor
    that broadcasts to the shape; nothing else is broadcast.
    """
    right = as_tensor(expected)
    if right is None:
        return None if actual == expected else f"is {describe(actual)}, which is not right"
    found = as_tensor(actual)
    if found is None:
        return f"is {describe(actual)}, but should be {describe(right)}"
    if found.shape != right.shape:
        return f"has shape {tuple(found.shape)}, but should have {tuple(right.shape)}"
    if found.is_complex() or right.numel() == 0:
        return None if right.numel() == 0 else "is complex, but should be real"
    found, right = found.double(), right.double()
    astray = found.isnan() & ~right.isnan()
    if astray.any():
        return _not_a_number(found)
    same = (found == right) | (found.isnan() & right.isnan())
    gap = torch.where(same, 0.0, (found - right).abs()).nan_to_num(nan=torch.inf, posinf=torch.inf)
    off = gap > atol + rtol * right.abs().nan_to_num(posinf=0.0)
    if not off.any():
        return None
    where = f" at {_place(gap == gap.max())}" if gap.dim() else ""
    text = f"has the right shape {tuple(right.shape)}, but {DIFFERS} {gap.max():.3g}{where}"
    return text + (f"; {int(off.sum())} of {off.numel()} entries are off" if gap.dim() else "")


def assert_close(
    name: str, actual: Any, expected: Any, atol: float | torch.Tensor = ATOL, rtol: float = RTOL
) -> None:
    """Fail unless `actual` equals `expected` within the tolerance; `name` is what the student calls it.

    NaN fails, even if `expected` holds NaN at the same place. Where `expected` comes from the student too, two equal
    constants would pass: see `assert_varies`.
    """
    text = difference(actual, expected, atol, rtol) or _not_a_number(actual)
    if text:
        fail(f"{in_words(name)} {text}.")


def assert_varies(name: str, value: Any, atol: float = ATOL) -> None:
    """Fail unless `value` is a tensor of finite numbers that are not all the same.

    For a check that holds one of the student's values against another: both may be the same zeros, or NaN.
    """
    found = as_tensor(value)
    if found is None or found.dim() == 0 or found.is_complex():
        fail(f"{in_words(name)} is {describe(value)}, but should be a tensor of real numbers.")
    found = found.detach().double()
    if not found.isfinite().all():
        kind = "NaN" if found.isnan().any() else "infinity"
        fail(f"{in_words(name)} holds {kind}.")
    if found.numel() < 2 or found.max() - found.min() <= atol:
        fail(f"{in_words(name)} is the same number everywhere, so it does not depend on the input.")


def assert_differs(value: Any, other: Any, sentence: str, atol: float = 1e-6) -> None:
    """Fail with `sentence` unless two tensors of finite numbers and of the same shape differ.

    For what must change when the input does. `not value.allclose(other)` would let NaN pass.
    """
    found = [as_tensor(value), as_tensor(other)]
    if any(part is None or part.is_complex() or not part.isfinite().all() for part in found):
        fail("NaN or infinity came back, or no real numbers at all, where two outputs are compared.")
    one, two = (part.detach().double() for part in found)
    if one.shape != two.shape:
        fail(f"Two outputs that should have the same shape have {tuple(one.shape)} and {tuple(two.shape)}.")
    if torch.allclose(one, two, rtol=1e-5, atol=atol):
        fail(sentence)


def _not_a_number(value: Any) -> str | None:
    found = as_tensor(value)
    if found is None or not found.is_floating_point() or not found.isnan().any():
        return None
    hits = found.isnan()
    if hits.dim() == 0:
        return "is NaN"
    return f"holds NaN: {int(hits.sum())} of {found.numel()} entries, first at {_place(hits)}"


def in_words(name: str) -> str:
    """What the student calls a value, its first word as code: "`weights` at temperature 2"."""
    word, comma, rest = re.match(r"([^\s,]*)(,?)(.*)", name, re.DOTALL).groups()
    return f"`{word}`{comma}{rest}"


def as_tensor(value: Any) -> torch.Tensor | None:
    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(value) if isinstance(value, bool | int | float) else None


def describe(value: Any) -> str:
    """A value as a student would name it, without its contents."""
    match value:
        case None:
            return "None"
        case torch.Tensor():
            return f"a tensor of shape {tuple(value.shape)}"
        case tuple() | list():
            kind = type(value).__name__
            return f"a {kind} of {len(value)} ({', '.join(describe(part) for part in value[:4])})"
        case int() if abs(value) > sys.float_info.max:
            return "an int beyond all floats"
        case bool() | int() | float():
            return f"the {type(value).__name__} {value:.6g}"
    name = getattr(value, "type_name", type(value).__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _place(hits: torch.Tensor) -> list[int]:
    return hits.nonzero()[0].tolist()
