"""The functions and classes that check files import."""

from coursekit.checks.asserts import (
    assert_raises,
    assert_reaches,
    assert_shape,
    assert_unchanged,
    forbid,
    points,
)
from coursekit.checks.compare import assert_close, assert_differs, assert_varies, fail
from coursekit.checks.snippets import try_it
from coursekit.checks.variants import Alternative, Equivalent, Mistake, with_costs
from coursekit.messages import probe

__all__ = [
    "Alternative",
    "Equivalent",
    "Mistake",
    "assert_close",
    "assert_differs",
    "assert_raises",
    "assert_reaches",
    "assert_shape",
    "assert_unchanged",
    "assert_varies",
    "fail",
    "forbid",
    "points",
    "probe",
    "try_it",
    "with_costs",
]
