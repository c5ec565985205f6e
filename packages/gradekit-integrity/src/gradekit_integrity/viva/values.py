"""Describes and compares values for the tracer. The text of this module is sent into the student's kernel."""

import math
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from gradekit.inside.arrays import copied, is_array, is_tensor

_MOST_ENTRIES = 12
_MOST_TEXT, _MOST_SHOWN = 40, 120
_MOST_VARIED = 8


def described_value(value: Any) -> dict[str, Any]:
    """The parts of a value that may be asked about or shown: `text` is exact and short, `about` is rounded."""
    found: dict[str, Any] = {"type": type(value).__name__[:60], "text": "", "about": ""}
    try:
        if is_array(value):
            found |= _described_array(value)
        elif type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "shape"):
            found["shape"] = [int(size) for size in value.shape]
        elif type(value) in (list, tuple, dict, set, frozenset):
            found["length"] = len(value)
            if type(value) in (list, tuple):
                found["text"] = _literal(value, _MOST_TEXT, exact=True)
                found["about"] = _literal(value, _MOST_SHOWN, exact=False)
            if type(value) is tuple and len(value) <= 4:
                found["parts"] = [described_value(part) for part in value if type(part) is not tuple]
        elif type(value) in (FunctionType, BuiltinFunctionType):
            found["name"] = f"function {value.__name__}"[:60] if value.__name__.isidentifier() else ""
        elif _is_module(value):
            found["name"] = f"{type(value).__name__} module"[:60]
        else:
            found["text"] = _literal(value, _MOST_TEXT, exact=True)
            found["about"] = _literal(value, _MOST_SHOWN, exact=False)
    except Exception:  # a student's class that pretends to be one of these
        return {"type": "", "text": "", "about": ""}
    return found


def _is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and torch.nn.Module in type(value).__mro__


def _described_array(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"shape": [int(size) for size in value.shape], "dtype": str(value.dtype)[:40]}
    if math.prod(found["shape"]) <= _MOST_ENTRIES:
        entries = value.detach().tolist() if is_tensor(value) else value.tolist()
        found["text"] = _literal(entries, _MOST_SHOWN, exact=True)
        # the page names the dtype beside them, so 8 may stand for 8.0
        found["about"] = _literal(entries, _MOST_SHOWN, exact=False, typed=True)
    return found


def _literal(value: Any, most: int, exact: bool, typed: bool = False) -> str:
    """The value as Python would write it; empty if that is long, or if `exact` and a number has many digits.

    With `typed`, its dtype is written beside it, and a float may look like an int.
    """

    def text(part: Any, depth: int = 0) -> str:
        if depth > 5:
            raise ValueError
        if type(part) in (list, tuple) and len(part) <= 40:
            inside = ", ".join(text(one, depth + 1) for one in part)
            single = "," if type(part) is tuple and len(part) == 1 else ""
            return f"[{inside}]" if type(part) is list else f"({inside}{single})"
        if type(part) is float and math.isfinite(part):
            if exact and (abs(part - round(part, 3)) > 1e-6 or len(repr(round(part, 3))) > 8):
                raise ValueError
            rounded = f"{part:.4g}"
            return repr(round(part, 3)) if exact else rounded if typed else repr(float(rounded))
        if type(part) is int and abs(part) > 10**6:
            raise ValueError
        if type(part) is str and not (part.isprintable() and len(part) <= most):
            raise ValueError
        if type(part) in (bool, int, float, str, type(None)):
            return repr(part)
        raise ValueError

    try:
        found = text(value)
    except ValueError:
        return ""
    return found if len(found) <= most else ""


def pairs(values: dict[str, Any]) -> list[list[Any]]:
    return [[name[:100], value] for name, value in values.items()][:30]


def apart(value: Any) -> Any:
    """A copy that later changes don't affect."""
    if is_array(value):
        return copied(value)
    if type(value) in (list, tuple):
        return type(value)(map(apart, value))
    return {key: apart(part) for key, part in value.items()} if type(value) is dict else value


def varied(inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The inputs of a call, each time with one of them changed: another size, another order of axes, one axis fewer."""
    others = [
        (place, name, other) for name, value in inputs.items() for place, other in enumerate(_others(value))
    ]
    for _, name, other in sorted(others, key=lambda found: found[0])[:_MOST_VARIED]:
        yield {**{key: apart(value) for key, value in inputs.items()}, name: other}


def _others(value: Any) -> Iterator[Any]:
    if is_array(value) and len(value.shape) and 0 not in value.shape:
        for axis in range(-1, -min(3, len(value.shape) + 1), -1):
            yield _one_longer(value, axis)
        if len(value.shape) > 1:
            if value.shape[-1] != value.shape[-2]:
                yield value.swapaxes(-1, -2)
            yield value[0]
    elif type(value) is int:
        yield value + 1
        if value:
            yield 0


def _one_longer(value: Any, axis: int) -> Any:
    if is_tensor(value):
        return sys.modules["torch"].cat([value, value.narrow(axis, 0, 1)], axis)
    import numpy as np

    return np.concatenate([value, np.take(value, [0], axis)], axis)


def kind_of_change(before: Any, after: Any) -> str:
    """One word for how a returned value has changed; `unknown` if it can't be compared."""
    if type(before) is not type(after):
        return "type"
    if is_array(before):
        return _array_difference(before, after)
    if type(before) in (list, tuple):
        if len(before) != len(after):
            return "length"
        found = {kind_of_change(one, other) for one, other in zip(before, after, strict=True)}
        return next((one for one in _BY_WEIGHT if one in found), "same")
    if type(before) in (int, float):
        if before == after or (before != before and after != after):
            return "same"
        return "unknown" if math.isclose(before, after, rel_tol=1e-3, abs_tol=1e-5) else "values"
    if type(before) in (bool, str, type(None)):
        return "same" if before == after else "values"
    return "unknown"


_BY_WEIGHT = ("unknown", "type", "length", "shape", "dtype", "values", "same")


def _array_difference(before: Any, after: Any) -> str:
    import numpy as np

    if tuple(before.shape) != tuple(after.shape):
        return "shape"
    if before.dtype != after.dtype:
        return "dtype"
    one, other = (np.asarray(array.detach() if is_tensor(array) else array) for array in (before, after))
    if one.dtype.kind not in "biufc":
        return "unknown"
    if np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"):
        return "same"
    close = np.allclose(one.astype(complex), other.astype(complex), 1e-3, 1e-5, equal_nan=True)
    return "unknown" if close else "values"
