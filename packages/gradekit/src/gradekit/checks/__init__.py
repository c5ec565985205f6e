"""The functions and classes that check files import.

They are imported when they are first used, since nbgrader's configuration imports this package in every command.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradekit.checks.asserts import (
        CheckFailure,
        assert_close,
        assert_differs,
        assert_dropped_singly,
        assert_raises,
        assert_reaches,
        assert_shape,
        assert_unchanged,
        assert_varies,
        fail,
        points,
    )
    from gradekit.checks.conditions import (
        assert_any_layout,
        assert_follows_parameters,
        assert_fresh,
        assert_full_precision,
        assert_model_kept,
        assert_not_rounded,
        assert_right_gradients,
        assert_same_in_each_mode,
        assert_same_without_gradients,
        assert_seed_kept,
    )
    from gradekit.checks.forbidden import TORCH_ATTENTION, forbid, forbid_class, forbid_in
    from gradekit.checks.judging import (
        Implementation,
        Implementations,
        for_checks,
        in_kernel,
        judge,
        named_weights,
    )
    from gradekit.checks.snippets import try_it
    from gradekit.checks.variants import Alternative, Alternatives, Equivalent, Equivalents, Mistake, Mistakes
    from gradekit.codecs import describe
    from gradekit.inside.messages import probe
    from gradekit.session.values import StudentError

__all__ = [
    "TORCH_ATTENTION",
    "Alternative",
    "Alternatives",
    "CheckFailure",
    "Equivalent",
    "Equivalents",
    "Implementation",
    "Implementations",
    "Mistake",
    "Mistakes",
    "StudentError",
    "assert_any_layout",
    "assert_close",
    "assert_differs",
    "assert_dropped_singly",
    "assert_follows_parameters",
    "assert_fresh",
    "assert_full_precision",
    "assert_model_kept",
    "assert_not_rounded",
    "assert_raises",
    "assert_reaches",
    "assert_right_gradients",
    "assert_same_in_each_mode",
    "assert_same_without_gradients",
    "assert_seed_kept",
    "assert_shape",
    "assert_unchanged",
    "assert_varies",
    "describe",
    "fail",
    "for_checks",
    "forbid",
    "forbid_class",
    "forbid_in",
    "in_kernel",
    "judge",
    "named_weights",
    "points",
    "probe",
    "try_it",
]
#: module: the names that it defines, as in the imports above
_FROM = {
    "gradekit.checks.asserts": (
        "CheckFailure assert_close assert_differs assert_dropped_singly assert_raises assert_reaches "
        "assert_shape assert_unchanged assert_varies fail points"
    ),
    "gradekit.checks.conditions": (
        "assert_any_layout assert_follows_parameters assert_fresh assert_full_precision "
        "assert_model_kept assert_not_rounded assert_right_gradients assert_same_in_each_mode "
        "assert_same_without_gradients assert_seed_kept"
    ),
    "gradekit.checks.forbidden": "TORCH_ATTENTION forbid forbid_class forbid_in",
    "gradekit.checks.judging": "Implementation Implementations for_checks in_kernel judge named_weights",
    "gradekit.checks.snippets": "try_it",
    "gradekit.checks.variants": "Alternative Alternatives Equivalent Equivalents Mistake Mistakes",
    "gradekit.codecs": "describe",
    "gradekit.inside.messages": "probe",
    "gradekit.session.values": "StudentError",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = next(module for module, names in _FROM.items() if name in names.split())
    found = globals()[name] = getattr(importlib.import_module(module), name)
    return found
