"""Checks of exercise 2: stable_softmax."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_fresh,
    assert_full_precision,
    assert_right_gradients,
    assert_shape,
    assert_unchanged,
    assert_varies,
    fail,
    points,
)


@points(1.25, see="The softmax along an axis")
def test_equals_the_formula(student, reference, draw):
    """The weights are the powers of e, divided by their sum along the last axis."""
    (x,) = reference.inputs("square", x=(4, 4))
    reference.assert_close(student.stable_softmax(x, -1), name="weights")

    sizes = draw.sizes(2)
    for shape in (sizes, sizes, (2, 521), (5, 1), (1, 6), (2, 1, 3, 2, 4)):
        x = draw.normal(*shape)
        right = torch.softmax(x, dim=-1)
        context = f"for x of shape {tuple(shape)}"
        assert_close(student.stable_softmax(x, dim=-1), right, name="weights", context=context)
    assert_any_layout(student.stable_softmax, draw.normal(2, 3, 4), -1, name="weights")


@points(0.75, see="The softmax along an axis")
def test_any_axis(student, reference):
    """Along any axis of any number of axes, it does what it does along the last one."""
    for shape, dims in [((5,), [0, -1]), ((4, 4), [0, -2]), ((2, 4, 3), [0, 1, -3]), ((2, 1, 4, 3, 2), [2])]:
        (x,) = reference.inputs(f"{len(shape)} axes", x=shape)
        for dim in dims:
            weights = student.stable_softmax(x, dim=dim)
            last = student.stable_softmax(x.movedim(dim, -1), dim=-1)
            assert_shape(weights, shape, name="weights", context=f"with dim={dim}")
            assert_varies(weights, name="weights", context=f"with dim={dim}")
            assert_differs(weights, x, "The weights are `x` itself.")
            reference.assert_same(
                weights,
                last.movedim(-1, dim),
                rule="An axis must have the same weights wherever it is",
                name="weights",
                context=f"for x of shape {shape} with dim={dim}",
                key=f"weights for {shape} with dim={dim}, less those of the same numbers on the last axis",
            )


@points(0.5, see="The softmax along an axis")
def test_large_numbers(student, reference):
    """Numbers of 1000 and of -1000 work: what all numbers of a row have in common changes no weight."""
    (x,) = reference.inputs("a few", x=(3, 5))
    before = student.stable_softmax(x, -1)
    assert_varies(before, name="weights")

    def assert_same(after, right, rule, case, key):
        if after.isnan().any():
            fail(f"The weights contain NaN {case}.")
        reference.assert_same(after, right, rule=rule, name="weights", context=case, key=key, atol=1e-3)

    for more in [1000, -1000]:
        after = student.stable_softmax(x + more, -1)
        rule = f"Adding {more} to all numbers must change no weight"
        assert_same(
            after,
            before,
            rule,
            "with larger numbers" if more > 0 else "with smaller numbers",
            f"weights with {more} more, less those before",
        )

    ahead, far = torch.zeros(1, 4), torch.zeros(1, 4)
    ahead[0, 2], far[0, 2] = 50, 1000  # both get all of the weight, in float32
    after, right = student.stable_softmax(far, -1), student.stable_softmax(ahead, -1)
    rule = "A number that is far ahead must get all the weight"
    assert_same(
        after, right, rule, "if one number is 1000 and the rest 0", "weights for 1000, less those for 50"
    )

    apart = x + torch.tensor([[0.0], [1000.0], [-1000.0]])
    after = student.stable_softmax(apart, -1)
    rule = "Adding a number to a row must change no weight"
    assert_same(
        after,
        before,
        rule,
        "if one row is 1000 below another",
        "weights of rows far apart, less those before",
    )


@points(0.5)
def test_input_unchanged_and_dtype_kept(student, draw):
    """`x` keeps its values, gradients flow back to it, each call returns a new tensor, float64 and as precise for float64 numbers."""
    x = draw.normal(2, 3, dtype=torch.float64)
    assert_unchanged(student.call("stable_softmax", x, 0))
    for numbers in (x, x[:, :1]):
        context = f"for x of shape {tuple(numbers.shape)} with dim=1"
        right = torch.softmax(numbers, dim=1)
        assert_full_precision(student.stable_softmax(numbers, 1), right, name="weights", context=context)
    gradients = student.gradients("stable_softmax", x, 1)
    assert_right_gradients(gradients, student.stable_softmax, name="weights")
    assert_fresh(student, "stable_softmax", draw.normal(2, 3), -1, name="weights")
    gradient = student.gradients("stable_softmax", torch.tensor([[1000.0, -1000.0, 999.0]]), -1).inputs[0]
    assert gradient is None or gradient.isfinite().all(), (
        "The weights of 1000, -1000 and 999 have a gradient that isn't finite."
    )
    x = torch.tensor([[0.0, -25.0, 5.0], [-90.0, 3.0, -300.0]], dtype=torch.float64) + x
    weights = student.stable_softmax(x, -1)
    context = "of numbers far below the largest one"
    assert_full_precision(weights, torch.softmax(x, dim=-1), name="weights", context=context, each=True)
