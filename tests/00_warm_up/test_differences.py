"""Checks of exercise 1: differences."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_fresh,
    assert_full_precision,
    assert_right_gradients,
    assert_shape,
    assert_unchanged,
    points,
)


@points(0.75)
def test_every_difference(student, reference, draw):
    """At [i, j] is a[i] - b[j], for a few vectors and for hundreds of them."""
    a, b = reference.inputs("square", a=(4, 4), b=(4, 4))
    reference.assert_close(student.differences(a, b), name="result")

    sizes = draw.sizes(3)
    for n, m, d in (sizes, sizes, (2, 521, 43), (521, 2, 7), (1, 5, 3), (5, 1, 3), (3, 4, 1)):
        a, b = draw.normal(n, d), 100 * draw.normal(m, d)
        right = torch.stack([row - b for row in a])
        assert_close(student.differences(a, b), right, name="result", context=f"for {n} and {m} vectors")
    assert_any_layout(student.differences, draw.normal(2, 3), draw.normal(4, 3), name="result")


@points(0.5, see="Shapes and broadcasting")
def test_shape(student, draw):
    """The shape is (n, m, d), also for a single vector, and for vectors of one number."""
    for n, m, d in (draw.sizes(3), (1, 5, 3), (5, 1, 3), (4, 6, 1), (1, 1, 1)):
        result = student.differences(draw.normal(n, d), draw.normal(m, d))
        assert_shape(result, (n, m, d), name="result", context=f"for n={n}, m={m}, d={d}")


@points(0.75)
def test_inputs_unchanged_and_dtype_kept(student, draw):
    """`a` and `b` keep their values, gradients flow back to both, each call returns a new tensor, float64 for float64 vectors."""
    a, b = draw.normal(2, 3, dtype=torch.float64), draw.normal(5, 3, dtype=torch.float64)
    call = student.call("differences", a, b)
    assert_unchanged(call)
    assert_full_precision(call.value, a[:, None] - b, name="result")
    assert_right_gradients(student.gradients("differences", a, b), student.differences, name="result")
    assert_fresh(student, "differences", draw.normal(2, 3), draw.normal(4, 3))
