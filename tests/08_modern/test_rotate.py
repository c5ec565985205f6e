"""Checks of exercise 1: rotate, against the formula, against complex multiplication, and by its properties."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_raises,
    assert_reaches,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)


def by_complex_numbers(x, positions, base=10000.0):
    """Rotate pairs of columns as complex numbers, in float64."""
    width = x.shape[-1]
    speed = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    turn = torch.polar(
        torch.ones(len(positions), width // 2, dtype=torch.float64), positions[:, None] * speed
    )
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).float()


@points(1, see="Positions that rotate")
def test_equals_the_formula(student, reference):
    """Neighboring columns form pairs, and pair i at position p is turned by p / base^(2i / width)."""
    (x,) = reference.inputs("square", x=(6, 6, 6))
    reference.assert_close(student.rotate(x, torch.arange(6)), name="result")


@points(1)
def test_any_sizes(student, draw, of_heads):
    """Any number of leading axes, any length and any even width work, any numbers, and any layout in memory."""
    batch, heads, length, half = draw.sizes(4)
    width = 2 * half
    shapes = [(length, width), (batch, length, width), (batch, heads, length, width)]
    # the last has as many heads as positions
    for shape in [*shapes, (2, 1, 2, length, width), (1, 521, 44), (2, 4, 4, 6)]:
        x, positions = draw.normal(*shape), torch.arange(shape[-2])
        if len(shape) == 5:
            x *= 40
        result = student.rotate(x, positions)
        assert_shape(result, shape, name="result")
        context = f"for x of shape {shape}"
        assert_close(result, by_complex_numbers(x, positions), name="result", context=context, atol=1e-3)
    x, positions = draw.normal(2, 3, 4, 6), torch.arange(4)
    context = "for heads that were split by a transposition"
    result = of_heads("rotate", [x], positions)
    assert_close(result, by_complex_numbers(x, positions), name="result", context=context)
    assert_any_layout(student.rotate, x, positions, name="result")


@points(1)
def test_positions_that_are_passed_in(student, reference, draw):
    """The positions are those that are passed in: they may start anywhere, have gaps, be negative, and lie between integers."""
    (x,) = reference.inputs("x", x=(2, 4, 6))
    context = "at the positions 7, 8, 20 and 3"
    reference.assert_close(student.rotate(x, torch.tensor([7, 8, 20, 3])), name="result", context=context)
    x, between = draw.normal(3, 4), torch.tensor([0.5, 1.25, 2.75])
    context = "at the positions 0.5, 1.25 and 2.75"
    assert_close(student.rotate(x, between), by_complex_numbers(x, between), name="result", context=context)
    x, start = draw.normal(4, 8), draw.sizes(1, low=30, high=90)[0]
    for positions in ([start, 0, 2 * start, start], [start, 1, 3 * start, start]):
        context, places = f"at the positions {positions}", torch.tensor(positions)
        right = by_complex_numbers(x, places)
        assert_close(student.rotate(x, places), right, name="result", context=context, atol=1e-4)
    for positions in ([-start, 1, -3, 0], [9001, 0, 4099, 6007]):
        context, places = f"at the positions {positions}", torch.tensor(positions)
        right = by_complex_numbers(x, places)
        assert_close(student.rotate(x, places), right, name="result", context=context, atol=1e-2)


@points(1, see="Positions that rotate")
def test_scores_depend_on_distances(student, draw):
    """When all positions shift, no score changes. When one token moves, its scores do."""
    length, half, shift = draw.sizes(3, low=3, high=9)
    q, k, places = draw.normal(length, 2 * half), draw.normal(length, 2 * half), torch.arange(length)

    def scores(q_places, k_places):
        return student.rotate(q, q_places) @ student.rotate(k, k_places).T

    here = scores(places, places)
    assert_varies(here, name="scores")
    assert_close(
        scores(places + 50 * shift, places + 50 * shift),
        here,
        name="scores",
        context=f", after all positions grew by {50 * shift},",
        atol=1e-3,
    )
    assert_differs(scores(places, places + 1), here, "When the keys move by one position, no score changes.")


@points(1)
def test_base(student, reference):
    """A different `base` changes the speeds, whatever was computed before."""
    (x,) = reference.inputs("x", x=(2, 4, 6))
    student.rotate(x, torch.arange(4))  # a table that is kept from here has another base
    reference.assert_close(
        student.rotate(x, torch.arange(4), base=100.0), name="result", context="with base=100"
    )
    found, right = student.rotate(x, torch.arange(4), base=2.5), by_complex_numbers(x, torch.arange(4), 2.5)
    assert_close(found, right, name="result", context="with base=2.5", atol=1e-4)


@points(1)
def test_dtype(student, draw):
    """The result has the dtype of x, and the angles are computed in float32 even for bfloat16 and float16."""
    x, positions = draw.normal(3, 4, 8), torch.tensor([1, 257, 1001, 3003])
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        found = student.rotate(x.to(dtype), positions)
        assert found.dtype == dtype, f"x is {dtype}, but the result is {found.dtype}."
    for dtype in (torch.bfloat16, torch.float16):
        exact = by_complex_numbers(x.to(dtype).float(), positions)
        gap = (student.rotate(x.to(dtype), positions).float() - exact).abs().max()
        assert gap < 0.1, (
            f"For {str(dtype).removeprefix('torch.')}, the result at positions like 257 and 3003 is wrong by up to {gap:.2f}. "
            "Compute the angles in float32."
        )


@points(1)
def test_odd_width(student, draw):
    """An odd width raises a ValueError that names it."""
    width = 2 * draw.sizes(1)[0] + 1
    for shape in ((4, width), (2, 6, 4, width)):
        x, context = draw.normal(*shape), f"for x of shape {shape}"
        assert_raises(
            ValueError, lambda x=x: student.rotate(x, torch.arange(4)), mentions=(width,), context=context
        )


@points(1)
def test_x_unchanged_and_differentiable(student, draw, assert_right_gradients):
    """x and the positions keep their values, and the right gradients reach x."""
    x, positions = draw.normal(2, 5, 6), torch.arange(5)
    call = student.call("rotate", x, positions)
    assert_unchanged(call)
    assert_varies(call.value, name="result")
    gradients = student.gradients("rotate", x, positions)
    assert_reaches(gradients)
    assert_right_gradients(gradients, by_complex_numbers, x, positions)
