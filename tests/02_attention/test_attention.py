"""Checks of exercise 2: attention without a mask."""

import math

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_fresh,
    assert_shape,
    assert_unchanged,
    points,
)


@points(6, see="Attention as a function")
def test_output_equals_the_formula(student, reference, draw, oracle):
    """The output equals softmax(q kᵀ / √d_k) v."""
    q, k, v = reference.inputs("square", q=(3, 4, 6), k=(3, 4, 6), v=(3, 4, 6))
    output, _ = student.attention(q, k, v)
    reference.assert_close(output, name="output")

    batch, length, width = draw.sizes(3)
    one_axis_of_size_1 = [((1, 43, 41), 521), ((2, 1, 5), 3), ((2, 3, 5), 1), ((2, 3, 1), 4)]
    for shape, keys in [((batch, length, width), length), *one_axis_of_size_1, ((4, 4, 4), 4)]:
        q, k, v = draw.normal(*shape), *(draw.normal(shape[0], keys, shape[2]) for _ in range(2))
        output, weights = student.attention(q, k, v)
        context = f"for q of shape {tuple(q.shape)} and k of shape {tuple(k.shape)}"
        assert_close(output, oracle(q, k, v), name="output", context=context)
        assert_shape(weights, (*shape[:2], keys), name="weights", context=context)


@points(3, see="Attention as a function")
def test_weights_equal_the_formula(student, reference):
    """The weights equal softmax(q kᵀ / √d_k): they are returned second, and every row sums to 1."""
    q, k, v = reference.inputs("square", q=(3, 4, 6), k=(3, 4, 6), v=(3, 4, 6))
    _, weights = student.attention(q, k, v)
    reference.assert_close(weights, name="weights")


@points(3, see="Attention as a function")
def test_unequal_lengths_and_widths(student, reference, assert_queries_matter):
    """L_query and L_key may differ, and so may d_k and d_v: a wider v only adds columns to the output."""
    q, k, v = reference.inputs("unequal", q=(3, 2, 5), k=(3, 4, 5), v=(3, 4, 7))
    output, weights = student.attention(q, k, v)
    assert_shape(output, (3, 2, 7), name="output")
    assert_shape(weights, (3, 2, 4), name="weights")
    assert_queries_matter(output)
    narrow, _ = student.attention(q, k, v[..., :5])
    reference.assert_same(
        output[..., :5],
        narrow,
        rule="Extra columns of v must not change the other columns of the output",
        name="output",
        context="of the first 5 columns",
        key="output, less that for the first 5 columns of v",
    )
    narrower, _ = student.attention(q, k, v[..., :1])
    assert_close(narrower, output[..., :1], name="output", context="for the first column of v alone")


@points(3)
def test_leading_axes(student, reference, draw, assert_queries_matter):
    """Any number of leading axes works, from (L, d) to (batch, heads, L, d), and each part has the same output as on its own."""
    q, k, v = reference.inputs("heads", q=(3, 2, 4, 5), k=(3, 2, 6, 5), v=(3, 2, 6, 7))
    output, weights = student.attention(q, k, v)
    assert_shape(output, (3, 2, 4, 7), name="output")
    assert_shape(weights, (3, 2, 4, 6), name="weights")
    assert_queries_matter(output)
    for head in range(2):
        alone, _ = student.attention(q[:, head], k[:, head], v[:, head])
        reference.assert_same(
            output[:, head],
            alone,
            rule="A head must have the same output with other heads as on its own",
            name="output",
            context=f"of head {head}",
            key=f"output with heads, less that of head {head} alone",
        )

    q, k, v = draw.normal(1, 3, 5), draw.normal(1, 4, 5), draw.normal(1, 4, 7)
    output, _ = student.attention(q, k, v)
    assert_close(student.attention(q[0], k[0], v[0])[0], output[0], name="output", context="for (L, d)")
    assert_close(
        student.attention(q[None, None], k[None, None], v[None, None])[0],
        output[None, None],
        name="output",
        context="with 5 axes",
    )
    q, k, v = draw.normal(2, 3, 4, 5), draw.normal(2, 3, 6, 5), draw.normal(2, 3, 6, 7)
    assert_any_layout(student.attention, q, k, v, name="output or weights")


@points(2)
def test_large_scores(student, reference):
    """For scores in the hundreds, the output is right and not NaN, although e to such a power overflows."""
    q, k, v = reference.inputs("large", q=(3, 2, 5), k=(3, 4, 5), v=(3, 4, 7))
    output, _ = student.attention(40 * q, 40 * k, v)
    reference.assert_close(output, name="output", atol=5e-3)


@points(2)
def test_gradients(draw, assert_gradients):
    """Gradients flow from the output through the weights back to q, k and v."""
    assert_gradients("attention", draw.normal(3, 2, 5), draw.normal(3, 4, 5), draw.normal(3, 4, 7))


@points(1)
def test_float64(student, draw, assert_precise):
    """For float64 inputs, the output is float64 at full precision."""
    q, k, v = (draw.normal(3, *shape, dtype=torch.float64) for shape in [(2, 5), (4, 5), (4, 7)])
    assert_precise(*student.attention(q, k, v), v, q @ k.mT / math.sqrt(5))


@points(1)
def test_inputs_unchanged(student, draw):
    """q, k and v keep their values, and each call returns new tensors."""
    q, k, v = draw.normal(3, 2, 5), draw.normal(3, 4, 5), draw.normal(3, 4, 7)
    assert_unchanged(student.call("attention", q, k, v))
    for single in (slice(None), slice(1)):  # one query and one key, whose output is the value
        few = (part[:, single] for part in (q, k, v))
        assert_fresh(student, "attention", *few, name="output or weights")
