"""Assertions that a right formula also holds in double precision, in any memory layout, in each mode and beside another module, and
that its gradients are right."""

import numpy as np
import pytest

from gradekit.checks import CheckFailure, assert_full_precision, assert_not_rounded
from gradekit.checks.variants import Variant
from gradekit_authoring.grade_variants import grade_variant

from .needs import needs_torch

pytestmark = needs_torch

CHECKS = """
import torch
from gradekit.checks import assert_any_layout, assert_full_precision, points


@points(1)
def test_precision(student, draw):
    x = draw.normal(2, 3, dtype=torch.float64)
    assert_full_precision(student.double(x), 2 * x, name="output")


@points(1)
def test_layout(student, draw):
    assert_any_layout(student.double, draw.normal(2, 3, 4))
"""
WITHOUT_GRADIENTS = """
from gradekit.checks import assert_same_without_gradients, points


@points(1)
def test_without_gradients(student, draw):
    assert_same_without_gradients(student.double, draw.normal(2, 3))
"""
FRESH = """
from gradekit.checks import assert_fresh, points


@points(1)
def test_fresh(student, draw):
    assert_fresh(student, "double", draw.normal(2, 3))
"""
SEED = """
from gradekit.checks import assert_seed_kept, points


@points(1)
def test_seed(student):
    def draws(seed):
        return student.call("double", 1, seed=seed)

    assert_seed_kept(draws)
"""
MODULE_CHECKS = """
from gradekit.checks import assert_follows_parameters, points


@points(1)
def test_parameters(student, draw):
    modules, x = [student.double(2), student.double(2)], draw.normal(3, 2)
    states = [{"scale": draw.normal(2)} for _ in modules]
    assert_follows_parameters(modules, states, lambda state: x * state["scale"], x)
"""
MODES = """
from gradekit.checks import assert_same_in_each_mode, points


@points(1)
def test_modes(student, draw):
    assert_same_in_each_mode(student.double(2), (draw.normal(3, 2),), (draw.normal(3, 2),))
"""
GRADIENTS = """
import torch
from gradekit.checks import assert_right_gradients, points


@points(1)
def test_gradients(student, draw):
    module, x = student.double(2).to(torch.float64), draw.normal(3, 2, dtype=torch.float64)
    assert_right_gradients(module.gradients(x), module)
"""
MODULE = """
import torch
shared = torch.nn.Parameter(torch.ones(2))
class double(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = {parameter}
        self.kept = None
    def forward(self, x):
        {body}
"""


def failed(course, checks: str, source: str) -> dict[str, str]:
    """The messages of the checks that an answer fails, by name."""
    course.checks.write_text(checks)
    result = grade_variant(course.assignment, Variant("answer", "double", source=source)).result
    return {
        check.name: check.message
        for exercise in result.exercises
        for check in exercise.checks
        if check.message
    }


@pytest.mark.parametrize(
    ("body", "name", "words"),
    [
        ("2 * x", "", ""),
        ("2.0002 * x", "test_precision", "right only to about 4 digits"),
        ("(2 * x).float()", "test_precision", "`output` is float32"),
        ("2 * x.float().double()", "test_precision", "a step on the way is computed in it"),
        ("3 * x", "", ""),  # that is for the check of the formula
        ("(2 * x.view(-1)).view(x.shape)", "test_layout", "aren't contiguous in memory"),
    ],
)
def test_what_holds_for_contiguous_float32_numbers_must_hold_for_others(tiny_course, body, name, words):
    messages = failed(tiny_course, CHECKS, f"def double(x):\n    return {body}")
    assert list(messages) == ([name] if name else [])
    assert all(words in message for message in messages.values())


@pytest.mark.parametrize(
    ("parameter", "body", "words"),
    [
        ("torch.nn.Parameter(torch.ones(2))", "return x * self.scale", ""),
        ("shared", "return x * self.scale", "one of two modules in training mode"),
        (
            "torch.nn.Parameter(torch.ones(2))",
            "return x * self.scale if self.training else x",
            "in evaluation mode",
        ),
        (
            "torch.nn.Parameter(torch.ones(2))",
            "self.kept = self.scale.clone() if self.kept is None else self.kept\n        return x * self.kept",
            "after its parameters have changed",
        ),
    ],
)
def test_a_module_must_compute_with_its_own_parameters_as_they_are_now(tiny_course, parameter, body, words):
    messages = failed(tiny_course, MODULE_CHECKS, MODULE.format(parameter=parameter, body=body))
    assert bool(messages) == bool(words)
    assert all(words in message for message in messages.values())


def test_a_module_that_keeps_its_first_parameters_elsewhere_does_not_follow_new_ones(tiny_course):
    keeps = MODULE.format(
        parameter="torch.nn.Parameter(torch.ones(2))", body="return x * self._all[0]"
    ).replace("self.kept = None", "self._all = [self.scale]")
    assert not failed(tiny_course, MODULE_CHECKS, keeps)
    messages = failed(
        tiny_course, MODULE_CHECKS.replace('["scale"], x)', '["scale"], x, replaced=True)'), keeps
    )
    assert all("replaced by other `nn.Parameter`s" in message for message in messages.values()) and messages


@pytest.mark.parametrize(
    ("share", "words"), [(1e-12, ""), (1e-9, ""), (1e-4, "right only to about 3 digits")]
)
def test_each_number_can_be_asked_to_be_right_to_its_own_digits(share, words):
    right = np.array([1.0, 1e-9])
    found = right * np.array([1, 1 + share])
    assert_full_precision(found, right, name="weights")
    if not words and share < 1e-10:
        return assert_full_precision(found, right, name="weights", each=True)
    with pytest.raises(CheckFailure, match=words or "right only to about"):
        assert_full_precision(found, right, name="weights", each=True)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("2 * x", ""),
        ("x.new_zeros(1).expand(x.shape)", ""),  # nobody can change it in place
        ("kept.setdefault(x.shape, 2 * x)", "after the first result was changed in place"),
        ("kept.setdefault(x.shape, x > 0)", "after the first result was changed in place"),
        ("kept.setdefault(x.shape, x.clone()).copy_(2 * x)", "overwrote the result of the first"),
        ("kept.setdefault(id(x), 2 * x)", "after the first result was changed in place"),
        ("kept.setdefault(id(x), 2 * x).clone()", "after the numbers in the same tensors have changed"),
    ],
)
def test_a_result_must_not_be_returned_or_overwritten_after_its_caller_changed_it(tiny_course, body, words):
    messages = failed(tiny_course, FRESH, f"kept = {{}}\ndef double(x):\n    return {body}")
    assert bool(messages) == bool(words)
    assert all(words in message for message in messages.values())


@pytest.mark.parametrize(
    ("lines", "is_named"),
    [
        ("y = torch.randn(3)", False),
        ("y = torch.randn(3, generator=torch.Generator().manual_seed(5))", False),
        ("with torch.random.fork_rng():\n        torch.manual_seed(5)\n        y = torch.randn(3)", False),
        ("torch.manual_seed(0)\n    y = torch.randn(3)", True),
    ],
)
def test_a_function_that_draws_must_leave_the_seed_where_a_check_asks_for_that(tiny_course, lines, is_named):
    source = f"import torch\ndef double(x):\n    {lines}\n    return y"
    assert bool(failed(tiny_course, SEED, source)) == is_named
    assert not failed(tiny_course, SEED.replace("assert_seed_kept(draws)", "draws(3)"), source)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return x * self.scale", ""),
        ("return x * self.scale if self.training else x / 2", "in evaluation mode"),
        (
            "if self.kept is None or self.training:\n            self.kept = x * self.scale\n        return self.kept",
            "in evaluation mode",
        ),
    ],
)
def test_a_module_whose_mode_changes_nothing_returns_the_same_in_each(tiny_course, body, words):
    messages = failed(
        tiny_course, MODES, MODULE.format(parameter="torch.nn.Parameter(torch.ones(2))", body=body)
    )
    assert bool(messages) == bool(words)
    assert all(words in message for message in messages.values())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return x + torch.relu(x * self.scale)", ""),
        ("return x.detach() + torch.relu(x * self.scale)", "The gradient of argument `x` is wrong"),
        ("return x + x * self.scale.detach()", "A gradient of the parameters is wrong"),
        (
            "y = x * self.scale\n        y.data[y.data < 0] = 0\n        return y",
            "The gradient of argument `x` is wrong",
        ),
        ("return (x.detach() * self.scale).float()", ""),  # that is for the check of the dtype
    ],
)
def test_gradients_must_be_the_slopes_of_the_result(tiny_course, body, words):
    source = MODULE.format(parameter="torch.nn.Parameter(torch.ones(2))", body=body)
    messages = failed(tiny_course, GRADIENTS, source)
    assert bool(messages) == bool(words)
    assert all(words in message for message in messages.values())


@pytest.mark.parametrize(
    ("number", "rounded_to"),
    [
        (2.345678, ""),
        (2.3456779, ""),
        (2.35, "2 decimals"),
        (2.3, "1 decimal"),
        (2.0, "0 decimals"),
        (2.34567, "5 decimals"),
    ],
)
def test_a_number_may_be_as_near_as_float32_but_not_rounded(number, rounded_to):
    if not rounded_to:
        return assert_not_rounded(number, 2.345678, name="loss")
    with pytest.raises(CheckFailure, match=f"`loss` is .*, a number rounded to {rounded_to}"):
        assert_not_rounded(number, 2.345678, name="loss")


def test_a_number_with_few_decimals_may_be_returned_where_the_right_one_has_no_more():
    assert_not_rounded(1.4998, 1.5, name="loss")
    assert_not_rounded(1.5, 1.5, name="loss")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 2 * x", ""),
        (
            "return 2 * x if torch.is_grad_enabled() else x.mul_(2)",
            "`double` changed its argument `x` in place.",
        ),
        ("return 2 * x if torch.is_grad_enabled() else 3 * x", "under `torch.no_grad()`"),
        (
            "torch.set_grad_enabled(False)\n    y = 2 * x\n    torch.set_grad_enabled(True)\n    return y",
            "and leaves them switched on",
        ),
        (
            "with torch.enable_grad():\n        return torch.ones(1, requires_grad=True) * 2 * x",
            "records gradients for its result all the same",
        ),
    ],
)
def test_what_holds_with_gradients_must_hold_without(tiny_course, body, words):
    messages = failed(tiny_course, WITHOUT_GRADIENTS, f"def double(x):\n    {body}")
    assert bool(messages) == bool(words)
    assert all(words in message for message in messages.values())
