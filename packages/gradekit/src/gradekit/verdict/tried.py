"""Says in words and shapes what a check tried, without showing its inputs."""

from collections.abc import Iterator, Sequence
from typing import Any

from gradekit.codecs import describe, with_article
from gradekit.inside.arrays import is_array, is_float
from gradekit.session.module import Module
from gradekit.session.values import Implemented, Named, Opaque, Tried

#: the most things that are named, the last ones that the check tried: it compares those, or one of them failed
_MOST_STEPS = 2
_MOST_ARGUMENTS = 8
_MOST_CHARACTERS = 300


def tried_in_words(tried: Sequence[Tried]) -> str:
    """The last different things that a check tried: "`attention` with `q` (3, 4, 6) and `k` (3, 4, 6)"."""
    steps: list[str] = []
    for step in reversed(tried):
        words = _step(step)
        if words not in steps:
            steps.insert(0, words)
        if len(steps) == _MOST_STEPS:
            break
    found = ", then ".join(steps)
    return f"{found}." if found and len(found) <= _MOST_CHARACTERS else ""


def _step(step: Tried) -> str:
    if step.variable:
        return f"your variable `{step.name}`"
    if step.builds:  # the arguments are the module's sizes, not inputs of the check
        return f"`{step.name}({', '.join(_as_written(step))})`"
    arguments = list(_arguments(step))
    if len(arguments) > _MOST_ARGUMENTS:
        arguments = [*arguments[:_MOST_ARGUMENTS], "…"]
    last = " and ".join(arguments[-2:])
    given = f" with {', '.join([*arguments[:-2], last])}" if arguments else ""
    return f"{'the gradients of ' if step.gradients else ''}`{step.name}`{given}"


def _as_written(step: Tried) -> Iterator[str]:
    for value in step.args:
        yield _setting(value)
    for name, value in step.kwargs.items():
        yield f"{name}={_setting(value)}"


def _setting(value: Any) -> str:
    return f"{value}" if value is None or isinstance(value, bool | int | float) else "…"


def _arguments(step: Tried) -> Iterator[str]:
    for place, value in enumerate(step.args):
        name = f"`{step.parameters[place]}` " if place < len(step.parameters) else ""
        yield name + _shape(value, bool(name))
    for name, value in step.kwargs.items():
        yield f"`{name}` {_shape(value, named=True)}"


def _shape(value: Any, named: bool) -> str:
    """The value without its contents; in brackets if it follows a name."""
    if is_array(value):
        dtype = str(value.dtype).removeprefix("torch.")
        unusual = is_float(value) and dtype != "float32"
        return f"{tuple(value.shape)}{f' in {dtype}' if unusual else ''}"
    words = _words(value)
    return f"({words})" if named else words


def _words(value: Any) -> str:
    match value:
        case None:
            return "None"
        case bool():
            return "True or False"
        case int():
            return "an integer"
        case float() | complex():
            return "a number"
        case str():
            return "a string"
        case list() | tuple() | dict():
            return f"{with_article(type(value).__name__)} of {len(value)}"
        case Named() | Implemented():
            return f"the check's `{value.name}`"
        case Module() | Opaque():
            return f"your `{value.type_name}`"
    return describe(value)
