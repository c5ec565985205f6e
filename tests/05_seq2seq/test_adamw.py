"""Checks of exercise 4b: adamw_step and cosine_rate, against algorithm 2 of the paper."""

import math

import pytest
import torch

from gradekit.checks import (
    assert_close,
    assert_not_rounded,
    assert_same_without_gradients,
    assert_shape,
    assert_unchanged,
    fail,
    for_checks,
    forbid,
    points,
)

no_ready_made_optimizer = forbid("AdamW", "Adam*", "adamw", "adam", "_functional", "*LR", "optim")

NAMES = ("weight", "mean", "square")
SETTINGS = {"betas": (0.7, 0.8), "eps": 0.05, "decay": 0.5}


@for_checks
def run(student, /, *arguments, **named):
    """The three tensors that the student returns."""
    found = student.adamw_step(*arguments, **named)
    if not isinstance(found, tuple | list) or len(found) != 3:
        fail("It should return three tensors: (weight, mean, square).")
    for value, name in zip(found, NAMES, strict=True):
        if not isinstance(value, torch.Tensor):
            fail(f"`{name}` should be a tensor, but is a {type(value).__name__}.")
        assert_shape(value, tuple(arguments[0].shape), name=name)
    return found


def right(weight, gradient, mean, square, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    """Return weight, mean and square after a step, computed in float64."""
    kept = weight.dtype
    weight, gradient, mean, square = (x.double() for x in (weight, gradient, mean, square))
    mean = mean + (gradient - mean) * (1 - betas[0])
    square = square + (gradient * gradient - square) * (1 - betas[1])
    scaled = (mean / (1 - betas[0] ** step)) / (eps + (square / (1 - betas[1] ** step)) ** 0.5)
    after = weight * (1 - lr * decay) - lr * scaled, mean, square
    return after if kept == torch.float64 else tuple(each.float() for each in after)


def drawn(draw, shape):
    """Return weight, gradient, mean and square, as they are in the middle of a training."""
    return draw.normal(*shape), draw.normal(*shape), draw.normal(*shape), draw.normal(*shape) ** 2 + 0.1


@points(2, see="What the optimizer does")
def test_weight(reference, draw, run):
    """The weight after a step is that of the formula, for tensors of any shape and for all settings."""
    weight, gradient, mean, square = reference.inputs("middle", a=(3, 4), b=(3, 4), c=(3, 4), d=(3, 4))
    after, _, _ = run(weight, gradient, mean, square**2 + 0.1, 3, 0.2, **SETTINGS)
    reference.assert_close(after, name="weight", context="after step 3")
    for step, shape in [(2, (5,)), (1, ()), (47, (2, 1, 3)), (4, (1, 521)), (4000, (3,))]:
        inputs = drawn(draw, shape)
        context = f"after step {step}, for tensors of shape {shape}"
        for settings in (SETTINGS, {"decay": 0.0}):
            expected = right(*inputs, step, 0.3, **settings)
            assert_close(
                run(*inputs, step, 0.3, **settings)[0], expected[0], name="weight", context=context, atol=1e-4
            )


@points(1, see="What the optimizer does")
def test_running_means(reference, draw, run):
    """The two running means are returned as they are kept, without correction."""
    weight, gradient, mean, square = reference.inputs("means", a=(2, 5), b=(2, 5), c=(2, 5), d=(2, 5))
    _, mean, square = run(weight, gradient, mean, square**2, 2, 0.2, **SETTINGS)
    reference.assert_close(torch.stack([mean, square]), name="mean and square")
    for size in (1, 1000):
        weight, gradient, *means = drawn(draw, (43,))
        inputs = weight, size * gradient, *means
        context = f"after step 5, for gradients of about {size}"
        for name, found, expected in zip(NAMES, run(*inputs, 5, 0.1), right(*inputs, 5, 0.1), strict=True):
            if name != "weight":
                assert_close(found, expected, name=name, context=context)


@points(1, see="What the optimizer does")
def test_first_step(draw, run):
    """In step 1, without decay, every weight moves by the learning rate, against its gradient, however large that is."""
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0])
    for size in (1e-3, 1.0, 1e3):
        weight, zeros = draw.normal(4), torch.zeros(4)
        after, _, _ = run(weight, size * signs, zeros, zeros, 1, 0.2, decay=0.0)
        context = f"for gradients of {size:g} and -{size:g}, in step 1"
        assert_close(weight - after, 0.2 * signs, name="way", context=context, atol=1e-3)


@points(1, see="What the optimizer does")
def test_decay(draw, run):
    """Where there is no gradient, a weight shrinks by lr · decay of itself, and the running means stay 0."""
    weight, zeros = draw.normal(6), torch.zeros(6)
    for decay, lr in [(0.4, 0.5), (0.1, 0.05)]:
        after, mean, square = run(weight, zeros, zeros, zeros, 1, lr, decay=decay)
        context = f"without a gradient, with lr={lr} and decay={decay}"
        assert_close(after, (1 - lr * decay) * weight, name="weight", context=context)
        assert_close(torch.stack([mean, square]), torch.zeros(2, 6), name="mean and square", context=context)


@points(1)
def test_defaults_dtype_and_inputs_unchanged(student, reference, draw, run):
    """The defaults are those of the text, float64 stays float64, and the arguments keep their values."""
    weight, gradient, mean, square = reference.inputs("defaults", a=(3, 2), b=(3, 2), c=(3, 2), d=(3, 2))
    tiny = [each.double() for each in (weight, gradient / 1e7, mean / 1e7, square**2 / 1e14)]
    found = run(*tiny, 900, 0.5)
    for name, value in zip(NAMES, found, strict=True):
        assert value.dtype == torch.float64, f"For tensors of float64, `{name}` is {value.dtype}."
    context = "with the defaults for betas, eps and decay"
    reference.assert_close(found[0].float(), name="weight", context=context)

    inputs = [each.double() for each in drawn(draw, (3,))]
    for name, value, expected in zip(NAMES, run(*inputs, 2, 0.1), right(*inputs, 2, 0.1), strict=True):
        assert_close(value, expected, name=name, context="in float64", atol=1e-9, rtol=1e-9)
    assert_unchanged(student.call("adamw_step", *drawn(draw, (2, 3)), 2, 0.1))
    assert_same_without_gradients(student.adamw_step, *drawn(draw, (2, 3)), 2, 0.1)


@points(2, see="What the optimizer does")
def test_cosine_rate(student):
    """The learning rate rises linearly to lr in step `warmup`, and falls to 0 along half a cosine."""
    for steps, lr, warmup in [(40, 0.5, 8), (9, 2.0, 1), (7, 0.3, 0), (600, 1e-2, 200), (30, 0.5, 25)]:
        early = {1, 2, warmup // 2 + 1, max(1, warmup - 1), max(1, warmup), warmup + 1}
        places = sorted(early | {(steps + warmup) // 2, steps - 1, steps})
        for step in places:
            rate = student.cosine_rate(step, steps, lr, warmup)
            if isinstance(rate, bool) or not isinstance(rate, float | int):
                fail(f"`cosine_rate` should return a Python float, but returned a {type(rate).__name__}.")
            share = (step - warmup) / (steps - warmup)
            expected = lr * step / warmup if step <= warmup else lr * math.cos(math.pi / 2 * share) ** 2
            assert rate == pytest.approx(expected, abs=1e-5 * lr), (
                f"Of {steps} steps, with lr={lr:g} and {warmup} of warm-up, step {step} should have the rate "
                f"{expected:.5g}, but has {rate:.5g}."
            )
    right = 3e-3 / 2 * (1 + math.cos(math.pi * 7 / 19))
    assert_not_rounded(student.cosine_rate(9, 21, 3e-3, 2), right, name="rate", digits=6)
