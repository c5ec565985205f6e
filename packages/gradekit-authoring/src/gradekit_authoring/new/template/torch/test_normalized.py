"""Checks of exercise 1. Students read the docstring of each check."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_close,
    assert_differs,
    assert_reaches,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)


@points(40)
def test_equals_the_formula(student, reference, draw):
    """The output equals (x - μ) / √(σ² + ε), along the last axis."""
    # compare with the recorded output of the solution, so that known mistakes are recognized
    (x,) = reference.inputs("square", x=(4, 4, 4))
    reference.assert_close(student.normalized(3 * x + 1), name="output")

    # compare with torch, with sizes drawn for each submission, so that no answer can be hard-coded
    batch, length, width = draw.sizes(3, low=4, high=12)
    x = 10 * draw.normal(batch, length, width)  # spread out, so that ε makes no difference
    assert_close(student.normalized(x), F.layer_norm(x, (width,)), name="output")


@points(20)
def test_leading_axes(student, draw):
    """Any number of leading axes works, and each position has the same output as when it is passed alone."""
    x = draw.normal(2, 3, 4, 5)
    output = student.normalized(x)
    assert_shape(output, (2, 3, 4, 5), name="output")
    for place in [(0, 0, 0), (1, 2, 3)]:
        alone = student.normalized(x[place])
        assert_close(alone, output[place], name="output", context="for one position alone")
    assert_varies(output, name="output")  # two equal constants would also be close
    assert_differs(output, x, "The output equals the input.")


@points(15)
def test_eps(student, reference):
    """ε is under the square root, so it matters where the entries are nearly or exactly equal."""
    (x,) = reference.inputs("small", x=(3, 6))
    reference.assert_close(student.normalized(2e-3 * x), name="output", context="for small differences")
    equal = torch.full((2, 6), 3.0)
    reference.assert_close(student.normalized(equal), name="output", context="for equal entries")


@points(10)
def test_gradients(student, draw):
    """Gradients reach x."""
    assert_reaches(student.gradients("normalized", draw.normal(3, 5)))


@points(5)
def test_unchanged(student, draw):
    """x keeps its values."""
    assert_unchanged(student.call("normalized", draw.normal(3, 5)))
