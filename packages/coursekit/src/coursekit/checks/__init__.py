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
from coursekit.checks.judging import Implementation, assert_judges
from coursekit.checks.variants import Alternative, Equivalent, Mistake, with_costs
from coursekit.messages import probe

__all__ = [
    "Alternative",
    "Equivalent",
    "Implementation",
    "Mistake",
    "assert_close",
    "assert_differs",
    "assert_judges",
    "assert_raises",
    "assert_reaches",
    "assert_shape",
    "assert_unchanged",
    "assert_varies",
    "fail",
    "forbid",
    "points",
    "probe",
    "with_costs",
]
