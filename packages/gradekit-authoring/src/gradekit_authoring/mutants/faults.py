"""Faults around a function or class of a solution. The text of this module runs in a notebook, after the solution.

None of them is visible in a single call of ordinary size: they are what hidden checks of one call with one size miss.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

_Function = Callable[..., Any]
_Fault = Callable[[_Function], _Function]
_signature = functools.cache(inspect.signature)
#: what the checks gave to each function and got from it, by its name: see `watched`
_seen: dict[str, dict[str, Any]] = {}


def watched(target: Any, name: str) -> Any:
    """The target, which notes in `_seen` the kinds of its arguments and results, and whether it draws numbers."""
    notes = _seen.setdefault(name, {"arguments": {}, "returns": [], "axes": [], "draws": False})

    def watch(function: _Function, making: bool) -> _Function:
        @_fault
        def watching(function: _Function, args: Any, kwargs: Any) -> Any:
            for key, value in _named(function, args, kwargs).items():
                default = _default(function, key)
                usual = "" if default is inspect.Parameter.empty else " by default"
                if usual and isinstance(value, int | float) and value != default:
                    usual = " unlike the default"
                kinds = notes["arguments"].setdefault(f"__init__ {key}" if making else key, [])
                kinds.extend({_kind(value) + usual} - set(kinds))
                for part in _arrays(value):
                    notes["axes"] = sorted({*notes["axes"], len(part.shape)})
            before = _random_state()
            value = function(*args, **kwargs)
            notes["draws"] = notes["draws"] or _random_state() != before
            if not making:
                notes["returns"].extend({_kind(value)} - set(notes["returns"]))
            return value

        return watching(function)

    return _around(target, watch)


def wrong(target: Any, fault: str, parameter: str = "") -> Any:
    """The target with one fault, of `_FAULTS` or about the number that a parameter takes."""
    make = _FAULTS.get(fault) or _about_number(fault, parameter.removeprefix("__init__ "))
    making = parameter.startswith("__init__ ")
    return _around(target, lambda function, is_init: make(function) if is_init == making else function)


def _around(target: Any, wrap: Callable[[_Function, bool], _Function]) -> Any:
    if not isinstance(target, type):
        return wrap(target, False)
    method = "forward" if "forward" in vars(target) else "__call__"
    for name, is_init in ((method, False), ("__init__", True)):
        if name in vars(target):
            setattr(target, name, wrap(vars(target)[name], is_init))
    return target


def _named(function: _Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, without `self` and those that the call leaves to their defaults."""
    parameters = _signature(function).parameters
    try:
        found = _signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return {}
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return {key: value for key, value in found.items() if key != "self" and parameters[key].kind in plain}


def _default(function: _Function, parameter: str) -> Any:
    return _signature(function).parameters[parameter].default


def _arrays(value: Any) -> Iterator[Any]:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _arrays(part)


def _kind(value: Any) -> str:
    """What a value is, in a word."""
    if isinstance(value, bool) or value is None:
        return "flag"
    if isinstance(value, int | float | str):
        return type(value).__name__
    if isinstance(value, tuple | list):
        return f"{_kind(value[0])}, …" if len(value) else "empty"
    if not any(True for _ in _arrays(value)):
        return "module" if hasattr(value, "training") else "object"
    kind = str(value.dtype)
    return (
        "floats" if "float" in kind else "bools" if "bool" in kind else "ids" if "int" in kind else "object"
    )


def _random_state() -> bytes:
    torch = sys.modules.get("torch")
    return bytes(torch.get_rng_state().numpy().tobytes()) if torch else b""


def _changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return 1.5 * value + 0.5
    if isinstance(value, str):
        return value + value[-1:] + "?"
    if isinstance(value, tuple | list) and len(value):
        parts = [_changed(value[0]), *value[1:]]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    match _kind(value):
        case "floats":
            return 1.5 * value + 0.5
        case "ids":
            return value + 1
        case "bools":
            return ~value
    return value


def _fault(change: Callable[..., Any]) -> _Fault:
    """The fault of a function in whose place `change` is called, with the function and its arguments."""

    def fault(function: _Function) -> _Function:
        return functools.wraps(function)(lambda *args, **kwargs: change(function, args, kwargs))

    return fault


def _if(condition: Callable[[Any], bool]) -> _Fault:
    """The fault of a function that is wrong where the condition holds for an array among its arguments."""

    @_fault
    def limited(function: _Function, args: Any, kwargs: Any) -> Any:
        met = any(map(condition, _arrays([*args, *kwargs.values()])))
        value = function(*args, **kwargs)
        return _changed(value) if met else value

    return limited


def _of_kind(kind: str, condition: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda array: _kind(array) == kind and 0 not in array.shape and condition(array)


def _has_large(array: Any) -> bool:
    sizes = abs(array[abs(array) < float("inf")])
    return bool(len(sizes)) and bool(sizes.max() > 30)


def _has_repeated(array: Any) -> bool:
    rows = array.reshape(-1, array.shape[-1]) if len(array.shape) else array.reshape(1, 1)
    return any(len(set(row.tolist())) < len(row) for row in rows)


@_fault
def _squeezed(function: _Function, args: Any, kwargs: Any) -> Any:
    """Drops axes of size 1 from its result, or else is wrong, where an argument has a first axis of size 1."""
    one = any(len(part.shape) > 1 and part.shape[0] == 1 for part in _arrays([*args, *kwargs.values()]))
    value = function(*args, **kwargs)
    if not one:
        return value
    has_one = hasattr(value, "squeeze") and 1 in value.shape
    return value.squeeze() if has_one else _changed(value)


def _remembers(function: _Function) -> _Function:
    """Returns what it returned for the first arguments of these shapes, as with a mask that was kept."""
    kept: dict[Any, Any] = {}

    @functools.wraps(function)
    def remembering(*args: Any, **kwargs: Any) -> Any:
        key = tuple(
            tuple((tuple(part.shape), str(part.dtype)) for part in _arrays(value)) or repr(value)[:80]
            for value in [*args, *sorted(kwargs.items())]
        )
        if key not in kept:
            kept[key] = function(*args, **kwargs)
        return kept[key]

    return remembering


def _in_place(only_with_more: bool) -> _Fault:
    """Changes the first array that it is given; `only_with_more`: only if it is given an optional argument, too."""

    @_fault
    def changing(function: _Function, args: Any, kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        named = _named(function, args, kwargs)
        more = any(_default(function, name) is not inspect.Parameter.empty for name in named)
        array = next((part for part in _arrays(list(named.values())) if 0 not in part.shape), None)
        if array is not None and (more or not only_with_more):
            data = array.data if hasattr(array, "detach") else array
            reversible = hasattr(data, "flip") and len(data.shape) and len(data) > 1
            data[...] = data.flip(0) if reversible else _changed(data)
        return value

    return changing


@_fault
def _single_precision(function: _Function, args: Any, kwargs: Any) -> Any:
    return _rounded(function(*args, **kwargs))


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(_rounded, value)) if not hasattr(value, "_fields") else value
    if "float64" not in str(getattr(value, "dtype", "")):
        return value
    return value.float().double() if hasattr(value, "double") else value.astype("float32").astype("float64")


@_fault
def _left_training(function: _Function, args: Any, kwargs: Any) -> Any:
    value = function(*args, **kwargs)
    for given in [*args, *kwargs.values()]:
        if _kind(given) == "module" and hasattr(given, "train"):
            given.train()
    return value


@_fault
def _seeded(function: _Function, args: Any, kwargs: Any) -> Any:
    sys.modules["torch"].manual_seed(7)
    return function(*args, **kwargs)


def _about_number(fault: str, parameter: str) -> _Fault:
    """`ignores` the number that the parameter takes, or `halves` it."""

    @_fault
    def mistaken(function: _Function, args: Any, kwargs: Any) -> Any:
        bound = _signature(function).bind(*args, **kwargs)
        number = bound.arguments.get(parameter)
        if isinstance(number, int | float):
            half = number // 2 if isinstance(number, int) else number / 2
            bound.arguments[parameter] = _default(function, parameter) if fault == "ignores" else half
        return function(*bound.args, **bound.kwargs)

    return mistaken


_FAULTS: dict[str, _Fault] = {
    "remembers": _remembers,
    "in_place": _in_place(False),
    "in_place_extra": _in_place(True),
    "axis_of_one": _if(lambda array: 1 in array.shape),
    "squeezed": _squeezed,
    "above_40": _if(lambda array: any(size > 40 for size in array.shape)),
    "above_512": _if(lambda array: any(size > 512 for size in array.shape)),
    "five_axes": _if(lambda array: len(array.shape) >= 5),
    "large": _if(_of_kind("floats", _has_large)),
    "float64": _single_precision,
    "large_id": _if(_of_kind("ids", lambda array: bool(array.max() > 26))),
    "repeated": _if(_of_kind("ids", _has_repeated)),
    "training": _left_training,
    "seeded": _seeded,
}
