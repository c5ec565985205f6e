"""Checks of exercise 2: equivariance_gap, on our own modules."""

import torch

from gradekit.checks import assert_close, assert_model_kept, assert_seed_kept, points


@points(3, see="Does the order of the tokens matter?")
def test_module_that_depends_on_the_order(student, reference, helper):
    """For a running sum along the sequence, the gap is the largest difference between permuting before and after it."""
    (x,) = reference.inputs("x", x=(4, 4, 4))
    order = torch.tensor([2, 0, 3, 1])
    reference.assert_close(student.equivariance_gap(helper.RunningSum(), x, order), name="gap")


@points(2, see="Does the order of the tokens matter?")
def test_equivariant_modules(student, draw, helper):
    """The gap is nearly 0 for modules that can't see the order: token by token, among all tokens, or with dropout off."""
    batch, length, width = draw.sizes(3, low=3)
    order = torch.arange(length).roll(1)
    x = draw.normal(batch, length, width)
    kept = helper.Head(width, 2, 3)
    assert_model_kept(student, kept, lambda: student.call("equivariance_gap", kept, x, order))
    for module in [helper.Squares(), helper.Among(), helper.Dropping().eval()]:
        gap = student.equivariance_gap(module, x, order)
        assert gap < 1e-4, (
            f"For a module that can't see the order, your gap is {gap:.3g}. "
            "Are both results in the same order when you compare them, and the module in the mode it came in?"
        )


@points(1)
def test_unequal_sizes(student, draw, helper):
    """The gap covers the whole batch, the whole length and the whole width, even when all sizes differ."""
    batch, length, width = draw.sizes(3, low=3)
    order = torch.arange(length).roll(1)
    x = draw.normal(batch, length, width)
    for place in range(length):
        table = torch.zeros(batch, length, width)
        table[-(place % 2), place, -1] = (
            3.0  # only here does the order matter: in the first or the last sequence
        )
        assert_close(student.equivariance_gap(helper.Places(table), x, order), 3.0, name="gap")

    x, table = draw.normal(batch, length, 1), torch.zeros(batch, length, 3)
    table[0, 0, 2] = 3.0
    gap = student.equivariance_gap(helper.Places(table), x, order)
    assert_close(gap, 3.0, name="gap", context="for a module that makes 3 columns out of 1")

    x, table = draw.normal(1, 521, 43), torch.zeros(1, 521, 43)
    x[0, 0], table[0, 520, 42] = 40, 3.0
    gap = student.equivariance_gap(helper.Places(table), x, torch.arange(521).flip(0))
    assert_close(gap, 3.0, name="gap", context="for a long sequence")


@points(1)
def test_a_float_at_least_0(student, helper):
    """The gap is a Python float, the largest absolute difference, however small or large."""
    table = torch.tensor([0.0, 1.0, 2.0])[None, :, None]
    gap = student.equivariance_gap(helper.Places(table), torch.zeros(1, 3, 1), torch.tensor([2, 0, 1]))
    assert isinstance(gap, float), f"The result is a {type(gap).__name__}. It has to be a float."
    other = student.equivariance_gap(helper.Places(-table), torch.zeros(1, 3, 1), torch.tensor([2, 0, 1]))
    assert abs(gap - other) < 1e-5, (
        f"When all outputs change their sign, the gap changes from {gap:g} to {other:g}. Take absolute values."
    )
    for size in (3, 2e-4, 300, 2.345e-5):
        x, order = torch.zeros(1, 3, 1), torch.tensor([2, 0, 1])
        other = student.equivariance_gap(helper.Places(size * table), x, order)
        assert abs(other - size * gap) < 0.01 * size * gap, (
            f"For a module that depends {size:g} times as much on the order, the gap should be {size:g} times as large, but "
            f"changes from {gap:g} to {other:g}. Return it as it is, however small or large."
        )
    gap = student.equivariance_gap(helper.Places(1e-9 * table.double()), 1 + x.double(), order)
    assert_close(gap, 2e-9, name="gap", context="of 2e-9, for a module and tokens in float64,", atol=1e-12)


@points(1)
def test_inputs_unchanged(student, draw, helper):
    """`x` and `order` keep their values, and the random seed is not set."""
    given = helper.RunningSum(), draw.normal(2, 4, 3), torch.tensor([2, 0, 3, 1])
    call = student.call("equivariance_gap", *given)
    assert not call.changed, "You changed x or order in place. Make new tensors instead."
    assert isinstance(call.value, float | torch.Tensor), "`equivariance_gap` returned no number."
    assert_seed_kept(lambda seed: student.call("equivariance_gap", *given, seed=seed))
