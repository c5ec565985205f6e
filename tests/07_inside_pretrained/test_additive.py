"""Checks of exercise 6: additive_mask and attention_with_additive_mask."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_shape,
    assert_unchanged,
    forbid_in,
    points,
)

READY_MADE = [".scaled_dot_product_attention", ".multi_head_attention_forward", ".MultiheadAttention"]

only_own_code = forbid_in(["additive_mask", "attention_with_additive_mask"], "masked_attention", *READY_MADE)


def with_a_key(mask):
    """Make key 0 visible to every query."""
    mask = mask.clone()
    mask[..., 0] = True
    return mask


@points(2, see="The additive mask")
def test_hides_what_is_false(student, reference):
    """The softmax of scores plus additive_mask(mask) equals the softmax under the boolean mask."""
    (scores,) = reference.inputs("scores", scores=(4, 6))
    mask = with_a_key(reference.integers("mask", 0, 2, (4, 6)).bool())
    weights = torch.softmax(scores + student.additive_mask(mask), dim=-1)
    reference.assert_close(weights, context="softmax of scores plus your mask")


@points(1, see="The additive mask")
def test_zero_where_true(student, draw):
    """The additive mask is a float tensor, and exactly 0 where the boolean mask is True."""
    for shape in [(5, 7), (5, 7), (1, 1, 521), (2, 1, 3, 2, 4), (6,)]:
        mask = with_a_key(draw.bools(*shape))
        added = student.additive_mask(mask)
        assert_shape(added, shape, name="mask")
        assert added.is_floating_point(), f"The mask has dtype {added.dtype}, but should be a float tensor."
        assert (added[mask] == 0).all(), (
            f"For a mask of shape {shape}, there are values other than 0 where it is True."
        )


@points(2)
def test_any_shape_and_any_score(student, draw):
    """The shape of the mask is kept, whatever it is, and hidden keys have weight 0, however large their scores."""
    batch, heads, l_query, l_key = draw.sizes(4, low=3)
    for shape in [
        (l_query, l_key),
        (batch, 1, l_key),
        (1, 1, l_query, l_key),
        (batch, heads, l_query, l_key),
    ]:
        mask = with_a_key(draw.bools(*shape))
        added = student.additive_mask(mask)
        assert_shape(added, shape, name="mask")
        scores = 1e6 * draw.normal(batch, heads, l_query, l_key)
        added, mask = (added[:, None], mask[:, None]) if len(shape) == 3 else (added, mask)
        hidden = torch.softmax(scores + added, dim=-1)[~mask.expand_as(scores)]
        assert (hidden == 0).all(), "With scores in the millions, a hidden key still has a weight above 0."


@points(3, see="The additive mask")
def test_attention(student, reference, draw):
    """attention_with_additive_mask is softmax(q kᵀ / √d_k + M) v, for any numbers in M."""
    q, k, v, m = reference.inputs("unequal", q=(3, 2, 5), k=(3, 4, 5), v=(3, 4, 7), m=(2, 4))
    output, weights = student.attention_with_additive_mask(q, k, v, m)
    reference.assert_close(weights, name="weights")
    reference.assert_close(output, name="output")
    for shape in ((4,), (2, 1), (1, 4), (3, 1, 4)):
        other = 500 * draw.normal(*shape)  # any numbers, and it broadcasts
        output, weights = student.attention_with_additive_mask(q, k, v, other)
        right = torch.softmax(q @ k.mT / 5**0.5 + other, dim=-1)
        context = f"for an M of shape {shape} with numbers in the hundreds"
        assert_close(weights, right, name="weights", context=context)
        assert_close(output, right @ v, name="output", context=context, atol=1e-4)
    rows = torch.tensor([[0.0], [-5000.0]])
    _, weights = student.attention_with_additive_mask(q, k, v, rows)
    right = torch.softmax(q @ k.mT / 5**0.5 + rows, dim=-1)
    context = "for an M whose rows are 0 and -5000"
    assert_close(weights, right, name="weights", context=context, atol=0.02)  # a difference is rounded

    batch, heads, l_query, l_key, d_k, d_v = draw.sizes(6)
    for leading in [(batch,), (batch,), (batch, heads), (), (2, 1, 2), (1,)]:
        if leading == (1,):
            l_query, l_key, d_k = 2, 521, 43
        q, k = draw.normal(*leading, l_query, d_k), draw.normal(*leading, l_key, d_k)
        q[..., 0, :] *= 40 if leading == (1,) else 1
        v, mask = draw.normal(*leading, l_key, d_v), with_a_key(draw.bools(*leading, l_query, l_key))
        added = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
        output, _ = student.attention_with_additive_mask(q, k, v, added)
        expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        context = f"with a mask of 0 and -inf, of shape {tuple(mask.shape)}"
        assert_close(output, expected, name="output", context=context, atol=1e-4)
    _, weights = student.attention_with_additive_mask(1e6 * q, k, v, added)
    hidden = weights[~mask.expand_as(weights)]
    assert (hidden == 0).all(), (
        "With scores in the millions, a key that M hides with -inf has a weight above 0."
    )


@points(1)
def test_inputs_unchanged(student, draw):
    """The boolean mask, M and q, k, v keep their values."""
    mask = with_a_key(draw.bools(3, 4))
    assert_unchanged(student.call("additive_mask", mask))
    inputs = draw.normal(2, 3, 5), draw.normal(2, 4, 5), draw.normal(2, 4, 7), draw.normal(3, 4)
    assert_unchanged(student.call("attention_with_additive_mask", *inputs))
    several = draw.normal(2, 2, 3, 5), draw.normal(2, 2, 4, 5), draw.normal(2, 2, 4, 7), draw.normal(3, 4)
    assert_any_layout(student.attention_with_additive_mask, *several)
    # the other way to hide; the caller's tensor must not change
    hidden = torch.zeros(mask.shape).masked_fill(~mask, -2e9)
    assert_unchanged(student.call("attention_with_additive_mask", *inputs[:3], hidden))
