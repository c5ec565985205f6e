"""The functions and classes that check files import.

They are imported when they are first used, since nbgrader's configuration imports this package in every command.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradekit.checks.asserts import (
        TORCH_ATTENTION,
        assert_raises,
        assert_reaches,
        assert_shape,
        assert_unchanged,
        forbid,
        forbid_class,
        points,
    )
    from gradekit.checks.comparison import assert_close, assert_differs, assert_varies, fail
    from gradekit.checks.judging import Implementation, judge
    from gradekit.checks.snippets import try_it
    from gradekit.checks.variants import Alternative, Alternatives, Equivalent, Equivalents, Mistake, Mistakes
    from gradekit.inside.messages import probe

__all__ = [
    "TORCH_ATTENTION",
    "Alternative",
    "Alternatives",
    "Equivalent",
    "Equivalents",
    "Implementation",
    "Mistake",
    "Mistakes",
    "assert_close",
    "assert_differs",
    "assert_raises",
    "assert_reaches",
    "assert_shape",
    "assert_unchanged",
    "assert_varies",
    "fail",
    "forbid",
    "forbid_class",
    "judge",
    "points",
    "probe",
    "try_it",
]
_FROM = {
    "gradekit.checks.comparison": ("assert_close", "assert_differs", "assert_varies", "fail"),
    "gradekit.checks.judging": ("Implementation", "judge"),
    "gradekit.checks.snippets": ("try_it",),
    "gradekit.checks.variants": (
        "Alternative",
        "Alternatives",
        "Equivalent",
        "Equivalents",
        "Mistake",
        "Mistakes",
    ),
    "gradekit.inside.messages": ("probe",),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = next((module for module, names in _FROM.items() if name in names), "gradekit.checks.asserts")
    found = globals()[name] = getattr(importlib.import_module(module), name)
    return found
