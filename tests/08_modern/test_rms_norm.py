"""Checks of exercise 2: RMSNorm, against the formula and against torch's own function."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_model_kept,
    assert_reaches,
    assert_shape,
    assert_unchanged,
    points,
)


@points(2, see="A simpler norm")
def test_equals_the_formula(student, reference, write):
    """The output is weight · x / √(mean of x² + eps), along the last axis."""
    x, weight = reference.inputs("square", x=(4, 4, 4), weight=(4,))
    module = write(student.RMSNorm(4), {"weight": weight})
    reference.assert_close(module(2 * x + 1), name="output")


@points(1)
def test_any_sizes(student, draw, inputs_of_any_size, write):
    """Any width, any number of other axes and any numbers work."""
    batch, length, width = draw.sizes(3)
    weight = draw.normal(width)
    module = write(student.RMSNorm(width), {"weight": weight})
    for x in inputs_of_any_size(length, width, batch, 2):
        output = module(3 * x)
        assert_shape(output, x.shape, name="output")
        right = F.rms_norm(3 * x, (width,), weight, 1e-6)
        assert_close(output, right, name="output", context=f"for x of shape {tuple(x.shape)}")


@points(1)
def test_eps(student, reference):
    """`eps` is added under the root, is 1e-6 by default, and keeps zeros from becoming NaN."""
    (x,) = reference.inputs("x", x=(3, 5))
    reference.assert_close(student.RMSNorm(5, eps=0.5)(x), name="output", context="with eps=0.5")
    reference.assert_close(student.RMSNorm(5)(1e-3 * x), name="output", context="for numbers near 0.001")
    reference.assert_close(student.RMSNorm(5)(0 * x), name="output", context="for zeros")
    small = (0.01 * x).bfloat16()
    output = student.RMSNorm(5).to(torch.bfloat16)(small)
    right = F.rms_norm(small.float(), (5,), eps=1e-6)
    context = "for numbers near 0.01, in bfloat16,"
    assert_close(output.float(), right, name="output", context=context, atol=0.1)


@points(1)
def test_parameters(student, draw):
    """The only parameter is `weight`, all ones at the start."""
    (width,) = draw.sizes(1)
    parameters = student.RMSNorm(width).parameters()
    assert list(parameters) == ["weight"], (
        f"The parameters are {list(parameters)}, but there should only be `weight`."
    )
    assert_shape(parameters["weight"], (width,), name="weight")
    assert (parameters["weight"] == 1).all(), "`weight` should be all ones at the start."


@points(1)
def test_dtype_gradients_and_x_unchanged(student, draw, assert_double, assert_right_gradients):
    """float64, bfloat16 and float16 stay what they are, and so do x and the module, and the right gradients reach x and the weight."""
    x = draw.normal(2, 3, 5, dtype=torch.float64)
    module = student.RMSNorm(5).to(torch.float64)
    module.eval().call(x)  # what this changes counts, too
    call = module.train().call(x)
    assert_unchanged(call)
    assert_double(call.value)
    assert_any_layout(module, x)
    gradients = module.gradients(x)
    assert_reaches(gradients)
    assert_right_gradients(
        gradients,
        lambda x, weights: F.rms_norm(x, (5,), weights["weight"], 1e-6),
        x,
        weights={"weight": torch.ones(5)},
    )
    assert_model_kept(student, module, lambda: module.call(x))
    for dtype in (torch.bfloat16, torch.float16):
        low = student.RMSNorm(5).to(dtype)(x.to(dtype))
        assert low.dtype == dtype, f"After .to({dtype}), the output is {low.dtype}."
