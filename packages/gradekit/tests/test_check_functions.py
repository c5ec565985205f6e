"""Functions and helper code that checks ask for by name."""

import pytest

from gradekit.checks import named_weights
from gradekit.session.values import CheckOutcome
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob

from .needs import needs_torch

CONFTEST = """
from gradekit.checks import fail, for_checks, in_kernel

helper = in_kernel("def three():\\n    return 3\\n")


@for_checks
def assert_positive(number, name="number"):
    if not number > 0:
        fail(f"`{name}` is {number}.")


@for_checks
def doubled(student, helper, assert_positive, /, number=None, *, minus=0):
    found = student.double(helper.three() if number is None else number) - minus
    assert_positive(found, "doubled")
    return found
"""
CHECKS = """
from gradekit.checks import points


@points(6)
def test_value(doubled):
    \"\"\"It doubles.\"\"\"
    assert doubled() == 6 and doubled(4, minus=3) == 5


@points(4)
def test_zero(doubled, assert_positive):
    \"\"\"It doubles 0.\"\"\"
    assert_positive(1)
    doubled(0)
"""


def test_a_check_calls_functions_by_their_names_and_passes_what_follows_their_fixtures(tiny_course):
    tiny_course.checks.with_name("conftest.py").write_text(CONFTEST)
    tiny_course.checks.write_text(CHECKS)
    notebook = tiny_course.answer("def double(x):\n    return 2 * x")
    job = GradingJob(tiny_course.assignment, "double", notebook, tiny_course.assignment.released("double"))
    value, zero = grade(job).result.exercises[0].checks
    assert value.outcome == CheckOutcome.PASSED
    assert (zero.outcome, zero.message) == (CheckOutcome.FAILED, "`doubled` is 0.")


@needs_torch
def test_weights_follow_from_name_shape_and_seed():
    shapes = {"q.weight": (30, 50), "k.weight": (30, 50), "q.bias": (40,), "norm.weight": (40,)}
    weights = named_weights(shapes)
    assert {name: tuple(value.shape) for name, value in weights.items()} == shapes
    assert not weights["q.weight"].equal(weights["k.weight"])
    assert weights["q.weight"].equal(named_weights({"q.weight": (30, 50)})["q.weight"])
    assert not weights["q.weight"].equal(named_weights(shapes, seed=1)["q.weight"])
    assert weights["q.weight"].sum(dim=1).std().item() == pytest.approx(1, abs=0.4)
    assert [weights[name].mean().item() for name in ("q.bias", "norm.weight")] == pytest.approx(
        [0, 1], abs=0.2
    )
