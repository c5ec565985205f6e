"""The functions and classes that check files import.

They are imported when they are first used, since nbgrader's configuration imports this package in every command.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradekit.checks.asserts import CheckFailure as CheckFailure
    from gradekit.checks.asserts import assert_close as assert_close
    from gradekit.checks.asserts import assert_differs as assert_differs
    from gradekit.checks.asserts import assert_dropped_singly as assert_dropped_singly
    from gradekit.checks.asserts import assert_raises as assert_raises
    from gradekit.checks.asserts import assert_reaches as assert_reaches
    from gradekit.checks.asserts import assert_shape as assert_shape
    from gradekit.checks.asserts import assert_unchanged as assert_unchanged
    from gradekit.checks.asserts import assert_varies as assert_varies
    from gradekit.checks.asserts import fail as fail
    from gradekit.checks.asserts import points as points
    from gradekit.checks.conditions import assert_any_layout as assert_any_layout
    from gradekit.checks.conditions import assert_follows_parameters as assert_follows_parameters
    from gradekit.checks.conditions import assert_fresh as assert_fresh
    from gradekit.checks.conditions import assert_full_precision as assert_full_precision
    from gradekit.checks.conditions import assert_model_kept as assert_model_kept
    from gradekit.checks.conditions import assert_not_rounded as assert_not_rounded
    from gradekit.checks.conditions import assert_right_gradients as assert_right_gradients
    from gradekit.checks.conditions import assert_same_in_each_mode as assert_same_in_each_mode
    from gradekit.checks.conditions import assert_same_without_gradients as assert_same_without_gradients
    from gradekit.checks.conditions import assert_seed_kept as assert_seed_kept
    from gradekit.checks.forbidden import TORCH_ATTENTION as TORCH_ATTENTION
    from gradekit.checks.forbidden import forbid as forbid
    from gradekit.checks.forbidden import forbid_class as forbid_class
    from gradekit.checks.forbidden import forbid_in as forbid_in
    from gradekit.checks.judging import Implementation as Implementation
    from gradekit.checks.judging import Implementations as Implementations
    from gradekit.checks.judging import for_checks as for_checks
    from gradekit.checks.judging import in_kernel as in_kernel
    from gradekit.checks.judging import judge as judge
    from gradekit.checks.judging import named_weights as named_weights
    from gradekit.checks.snippets import try_it as try_it
    from gradekit.checks.variants import Alternative as Alternative
    from gradekit.checks.variants import Alternatives as Alternatives
    from gradekit.checks.variants import Equivalent as Equivalent
    from gradekit.checks.variants import Equivalents as Equivalents
    from gradekit.checks.variants import Mistake as Mistake
    from gradekit.checks.variants import Mistakes as Mistakes
    from gradekit.codecs import describe as describe
    from gradekit.inside.messages import probe as probe
    from gradekit.session.values import StudentError as StudentError

#: module: the names that it defines, as in the imports above, by which type checkers know them
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
_MODULES = {name: module for module, names in _FROM.items() for name in names.split()}
__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_MODULES[name]), name)
    return found
