"""A course's own steps and hook in nbgrader's converters, among which gradekit puts its own."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from nbgrader.converters.base import BaseConverter
from traitlets.config import Config
from traitlets.config.loader import LazyConfigValue
from traitlets.utils.importstring import import_item

Hook = Callable[..., object]
#: a class, or its dotted name if it is one of gradekit's
_Step = type | str
_OURS = __name__.rpartition(".")[0]


def own_steps(config: Config, converter: type[BaseConverter], trait: str) -> list[Any]:
    """The steps that the course has configured so far, or the default ones.

    Those that can be imported are classes, except for gradekit's own, which stay as they are.
    """
    steps = list(getattr(converter, trait).default_args[0])
    configured = config[converter.__name__].get(trait, steps)
    if isinstance(configured, LazyConfigValue):  # such as of `c.Autograde.autograde_preprocessors.append(…)`
        configured = configured.get_value(steps)
    return [_imported(step) for step in configured]


def put_before(steps: list[Any], place: _Step, step: _Step) -> None:
    """Insert a step, unless it is there; at the beginning if `place` isn't."""
    if step not in steps:
        steps.insert(steps.index(place) if place in steps else 0, step)


def put_after(steps: list[Any], place: _Step, step: _Step) -> None:
    """Insert a step, unless it is there; at the end if `place` isn't."""
    if step not in steps:
        steps.insert(steps.index(place) + 1 if place in steps else len(steps), step)


def replace(steps: list[Any], step: _Step, other: _Step) -> None:
    """Replace a step, or insert the other at the beginning if neither is there."""
    steps[:] = [other if found is step else found for found in steps]
    if other not in steps:
        steps.insert(0, other)


def with_own_hook(config: Config, hook: Hook) -> str | Hook:
    """A hook that also calls the one that the course has configured for autograding, if there is one."""
    own = own_hook(config, hook)
    return f"{hook.__module__}.{hook.__qualname__}" if own is None else partial(_both, hook, own)


def own_hook(config: Config, hook: Hook) -> Any:
    """The hook that the course has configured for autograding, beside ours; None if there is none."""
    ours = (None, hook, f"{hook.__module__}.{hook.__qualname__}")
    for section in ("Autograde", "BaseConverter"):
        own = _imported(config[section].get("pre_convert_hook"))
        if getattr(own, "func", None) is _both:
            own = own.args[1]
        if own not in ours:
            return own
    return None


def _both(ours: Hook, own: Hook, **submission: Any) -> None:
    ours(**submission)
    own(**submission)


def _imported(item: Any) -> Any:
    if isinstance(item, str) and not item.startswith(f"{_OURS}."):
        with suppress(ImportError):  # nbgrader reports it
            return import_item(item)
    return item
