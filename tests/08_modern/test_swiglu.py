"""Checks of exercise 3: SwiGLU, against the formula with the student's own weights."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_model_kept,
    assert_reaches,
    assert_shape,
    assert_unchanged,
    for_checks,
    points,
)

NAMES = ["w_gate.weight", "w_up.weight", "w_down.weight"]


@for_checks
def with_weights(student, write, /, d_model, d_ff, *weights):
    """The student's module with the given weights."""
    return write(student.SwiGLU(d_model, d_ff), dict(zip(NAMES, weights, strict=True)))


@points(3, see="A feed-forward network with a gate")
def test_equals_the_formula(reference, with_weights):
    """The output is w_down(silu(w_gate(x)) · w_up(x))."""
    x, *weights = reference.inputs("square", x=(5, 5), gate=(5, 5), up=(5, 5), down=(5, 5))
    reference.assert_close(with_weights(5, 5, *weights)(x), name="output")


@points(1)
def test_any_sizes(draw, inputs_of_any_size, with_weights):
    """Any widths, any number of other axes, any numbers and any layout in memory work."""
    batch, length, d_model, d_ff = draw.sizes(4)
    gate, up, down = draw.normal(d_ff, d_model), draw.normal(d_ff, d_model), draw.normal(d_model, d_ff)
    module = with_weights(d_model, d_ff, gate, up, down)
    for x in inputs_of_any_size(length, d_model, batch):
        output = module(x)
        assert_shape(output, x.shape, name="output")
        right, largest = F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down), x.abs().max().item()
        context = f"for x of shape {tuple(x.shape)}"
        assert_close(output, right, name="output", context=context, atol=1e-4 * max(1, largest))
    assert_any_layout(module, draw.normal(2, 3, d_model))


@points(1)
def test_parameters(student, draw):
    """There are three linear layers with the right names and widths, and no bias."""
    d_model, d_ff = draw.sizes(2)
    shapes = {name: tuple(value.shape) for name, value in student.SwiGLU(d_model, d_ff).parameters().items()}
    right = dict(zip(NAMES, [(d_ff, d_model), (d_ff, d_model), (d_model, d_ff)], strict=True))
    for name, shape in right.items():
        assert name in shapes, f"There is no separate parameter `{name}`. There are {sorted(shapes)}."
        assert shapes[name] == shape, f"`{name}` has shape {shapes[name]}, but should have {shape}."
    more = sorted(shapes.keys() - right.keys())
    assert not more, f"There are more parameters than the three weights: {', '.join(more)}."


@points(1)
def test_float64_gradients_and_x_unchanged(
    student, draw, assert_double, with_weights, assert_right_gradients
):
    """float64 stays float64, x and the module stay as they are, and the right gradients reach x and all weights."""
    weights = [draw.normal(6, 4), draw.normal(6, 4), draw.normal(4, 6)]
    module = with_weights(4, 6, *weights).to(torch.float64)
    x = draw.normal(2, 3, 4, dtype=torch.float64)
    module.eval().call(x)  # what this changes counts, too
    call = module.train().call(x)
    assert_unchanged(call)
    assert_double(call.value)
    gradients = module.gradients(x)
    assert_reaches(gradients)

    def formula(x, weights):
        gate, up, down = (weights[name] for name in NAMES)
        return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)

    assert_right_gradients(gradients, formula, x, weights=dict(zip(NAMES, weights, strict=True)))
    far = module.gradients(1000 * x)
    found = [far.inputs[0], *far.parameters.values()]
    assert not any(one is not None and one.isnan().any() for one in found), (
        "A gradient is NaN where gates are far from 0."
    )
    assert_model_kept(student, module, lambda: module.call(x))
