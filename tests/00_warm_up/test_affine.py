"""Checks of exercise 4: Affine. Its parameters are found by their names, and the check loads its own numbers into them."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_follows_parameters,
    assert_full_precision,
    assert_reaches,
    assert_same_without_gradients,
    assert_unchanged,
    fail,
    points,
    probe,
)


@points(0.5, see="Parameters")
def test_parameters(student, draw):
    """The parameters are `scale` and `shift`, of shape (width,), and an optimizer finds both."""
    for width in (*draw.sizes(1), 1):
        found = {name: tuple(value.shape) for name, value in student.Affine(width).parameters().items()}
        if found != {"scale": (width,), "shift": (width,)}:
            listed = ", ".join(f"{name} {shape}" for name, shape in found.items()) or "none"
            fail(
                f"For width={width}, the parameters should be scale ({width},) and shift ({width},). "
                f"Yours: {listed}."
            )


@points(0.5, see="Parameters")
def test_begins_without_effect(student, reference, draw):
    """At first, `scale` is ones and `shift` is zeros, so the output is `x`."""
    layer = student.Affine(4)
    (x,) = reference.inputs("new", x=(3, 4))
    reference.assert_close(layer(x), name="output", context="of a new layer")
    for shape in [(4,), (2, 1, 5, 4)]:
        x = draw.normal(*shape)
        assert_close(layer(x), x, name="output", context=f"of a new layer for x of shape {shape}")


@points(0.5)
def test_scale_and_shift(student, reference, draw):
    """The output is x · scale + shift, each with its own number for each column."""
    x, scale, shift = reference.inputs("square", x=(4, 4), scale=(4,), shift=(4,))
    layer = student.Affine(4).load_state({"scale": scale, "shift": shift})
    reference.assert_close(layer(x), name="output")

    for shape in [(3,), (2, 43), (1, 521, 3), (2, 1, 3, 1), (2, 3, 1, 2, 2), (2, 4, 4)]:
        x, scale, shift = 50 * draw.normal(*shape), draw.normal(shape[-1]), draw.normal(shape[-1])
        scale[0] = 0  # the formula needs no division
        layer = student.Affine(shape[-1]).load_state({"scale": scale, "shift": shift})
        assert_close(layer(x), x * scale + shift, name="output", context=f"for x of shape {shape}")
    layers, x = [student.Affine(3), student.Affine(3)], draw.normal(2, 4, 3)
    states = [{"scale": draw.normal(3), "shift": draw.normal(3)} for _ in layers]
    assert_follows_parameters(
        layers, states, lambda state: x * state["scale"] + state["shift"], x, replaced=True
    )
    assert_any_layout(layers[0], x)
    assert_same_without_gradients(layers[0], x)


@points(0.5, see="Parameters")
def test_gradients_and_dtype(student, draw):
    """The gradients of the formula reach `x` and both parameters, `x` keeps its values, and in float64 the output is float64."""
    layer = student.Affine(3)
    assert_unchanged(layer.call(draw.normal(2, 3)))
    for each in (layer, student.Affine(3).eval()):
        assert_reaches(each.gradients(draw.normal(2, 3)))
    x, scale, shift = draw.normal(3, 3), draw.normal(3), draw.normal(3)
    x[1, 0] = x[2] = 0  # the formula holds there, too
    gradients = layer.load_state({"scale": scale, "shift": shift}).gradients(x)
    if torch.allclose(gradients.value, x * scale + shift, atol=1e-4):
        sign = probe(gradients.value)
        found = [gradients.inputs[0], gradients.parameters.get("scale"), gradients.parameters.get("shift")]
        right = [sign * scale, (sign * x).sum(dim=0), sign.sum(dim=0)]
        for name, each, wanted in zip(("x", "scale", "shift"), found, right, strict=True):
            if each is not None:
                assert_close(each, wanted, name=name, context=", or rather its gradient,", atol=1e-4)
    x = draw.normal(2, 3, dtype=torch.float64)
    layer = student.Affine(3).to(torch.float64)
    assert_full_precision(layer(x), x, name="output")  # scale and shift are as at first
    scale, shift = draw.normal(3, dtype=torch.float64), draw.normal(3, dtype=torch.float64)
    output = layer.load_state({"scale": scale, "shift": shift})(x)
    assert_full_precision(output, x * scale + shift, name="output")
