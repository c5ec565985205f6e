"""Checks of exercise 4: grouped_attention, against the formula and against torch's own function."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_raises,
    assert_reaches,
    assert_shape,
    assert_unchanged,
    points,
)


@points(2, see="Heads that share keys and values")
def test_equals_the_formula(student, reference):
    """Neighboring heads share keys and values: with 6 heads and 3 groups, heads 0 and 1 use those of group 0."""
    q, k, v = reference.inputs("x", q=(2, 6, 4, 4), k=(2, 3, 4, 4), v=(2, 3, 4, 4))
    output, weights = student.grouped_attention(q, k, v)
    reference.assert_close(output, name="output")
    reference.assert_close(weights, name="weights")


@points(2)
def test_equals_torch(student, draw, of_heads):
    """For any sizes, and any layout in memory, the output equals that of torch's own function with `enable_gqa=True`."""
    for batch, groups, size, l_query, l_key, width in (
        draw.sizes(6),
        (1, 2, 2, 3, 521, 43),
        (1, 1, 2, 4, 4, 3),
    ):
        q = draw.normal(batch, groups * size, l_query, width)
        k, v = draw.normal(batch, groups, l_key, width), draw.normal(batch, groups, l_key, width)
        if batch == 1:
            q[0, 0, ..., 0] = 40
        output, weights = student.grouped_attention(q, k, v)
        assert_shape(output, q.shape, name="output")
        assert_shape(weights, (batch, groups * size, l_query, l_key), name="weights")
        right = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        context = f"for {l_query} queries and {l_key} keys, without a mask,"
        assert_close(output, right, name="output", context=context, atol=1e-4)
        sums = torch.ones(batch, groups * size, l_query)
        assert_close(weights.sum(dim=-1), sums, context=f"sum of each row of weights {context}")
    q, k, v = draw.normal(2, 4, 3, 5), draw.normal(2, 2, 6, 5), draw.normal(2, 2, 6, 5)
    output, _ = of_heads("grouped_attention", [q, k, v])
    right = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    context = "for heads that were split by a transposition"
    assert_close(output, right, name="output", context=context, atol=1e-4)
    assert_any_layout(student.grouped_attention, q, k, v, name="output or weights")


@points(2, see="Heads that share keys and values")
def test_one_group_and_one_group_per_head(student, draw):
    """With a group for each head it is multi-head attention, and with one group multi-query attention."""
    batch, heads, l_query, l_key, width = draw.sizes(5)
    q = draw.normal(batch, heads, l_query, width)
    for groups, name in [(heads, "multi-head"), (1, "multi-query")]:
        k, v = draw.normal(batch, groups, l_key, width), draw.normal(batch, groups, l_key, width)
        output, _ = student.grouped_attention(q, k, v)
        shape = (batch, heads, l_key, width)
        right = F.scaled_dot_product_attention(q, k.expand(shape), v.expand(shape))
        assert_close(output, right, name="output", context=f", compared with {name} attention,")


@points(1)
def test_mask(student, reference, draw):
    """A mask applies to every head, even if it differs between sequences or heads, and a query that may attend to nothing gets zeros.

    All masks here show the first n keys, so the right result is the student's own for these keys without a mask.
    """
    q, k, v = reference.inputs("x", q=(2, 4, 5, 3), k=(2, 2, 5, 3), v=(2, 2, 5, 3))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    padding = (torch.arange(5) < torch.tensor([5, 3])[:, None])[:, None, None]  # (2, 1, 1, 5)
    per_head = causal | (torch.arange(4) == 3)[:, None, None]  # (4, 5, 5): head 3 sees everything
    both = per_head & padding  # (2, 4, 5, 5)
    outputs, all_weights = [], []
    for n in range(1, 6):
        output, weights = student.grouped_attention(q, k[:, :, :n], v[:, :, :n])
        assert_shape(output, (2, 4, 5, 3), name="output")
        assert_shape(weights, (2, 4, 5, n), name="weights")
        outputs.append(output)
        all_weights.append(F.pad(weights, (0, 5 - n)))
    masks = {
        "(L,)": torch.arange(5) < 4,
        "(L, L)": causal,
        "(batch, 1, 1, L)": padding,
        "(1, L, L)": causal[None],
        "(heads, L, L)": per_head,
        "(1, heads, 1, L)": (torch.arange(5) < torch.tensor([5, 2, 3, 4])[:, None])[None, :, None],
        "(batch, heads, L, L)": both,
    }
    for name, mask in masks.items():
        output, weights = student.grouped_attention(q, k, v, mask)
        n = mask.expand(2, 4, 5, 5).sum(dim=-1)[None, ..., None]
        for what, found, without_mask in [("weights", weights, all_weights), ("output", output, outputs)]:
            right = torch.stack(without_mask).take_along_dim(n - 1, dim=0)[0]
            assert_shape(found, right.shape, name=what)
            context = f"with a mask {name}, minus yours for the visible keys alone,"
            reference.assert_close(found - right, name=what, context=context)
    low = 300 * torch.ones(2, 4, 5, 3), -300 * torch.ones(2, 2, 5, 3)  # all scores are far below 0
    _, weights = student.grouped_attention(*low, v, causal)
    shown = weights.tril() if weights.shape == (2, 4, 5, 5) else weights
    assert_close(shown, weights, name="weights", context="of visible keys, with very low scores, minus all,")
    rising = torch.linspace(-300, 300, 5)[:, None].expand(
        2, 2, 5, 3
    )  # hidden scores are far above visible ones
    _, weights = student.grouped_attention(low[0], rising, v, causal)
    assert_shape(weights, (2, 4, 5, 5), name="weights")
    context = "of hidden keys, whose scores are far above those of visible keys,"
    assert_close(weights.triu(1), torch.zeros(2, 4, 5, 5), name="weights", context=context)
    q4, k4, v4 = draw.normal(4, 4, 5, 3), draw.normal(4, 2, 5, 3), draw.normal(4, 2, 5, 3)
    output, _ = student.grouped_attention(q4, k4, v4, per_head)
    alone = [student.grouped_attention(q4[[i]], k4[[i]], v4[[i]], per_head)[0] for i in range(4)]
    context = "of four sequences with a mask (heads, L, L), compared with each alone,"
    assert_close(output, torch.cat(alone), name="output", context=context, atol=1e-4)
    mask = per_head.clone()
    mask[1, 2] = False
    rights = student.grouped_attention(q, k, v, per_head)
    founds = student.grouped_attention(q, k, v, mask)
    for what, found, right in zip(("output", "weights"), founds, rights, strict=True):
        context = "of a query with no key"
        assert_close(found[:, 1, 2], torch.zeros_like(found[:, 1, 2]), name=what, context=context)
        right = right.clone()
        right[:, 1, 2] = 0
        context = "when one query has no key, compared with that when it has, for the other queries,"
        assert_close(found, right, name=what, context=context)
    for number in (1, 4):  # one group, and a group for each head
        keys = draw.normal(2, number, 5, 3)
        _, weights = student.grouped_attention(q, keys, keys, causal)
        assert_shape(weights, (2, 4, 5, 5), name="weights")
        context = f"of hidden keys, with 4 heads and {number} group{'s' if number > 1 else ''},"
        assert_close(weights.triu(1), torch.zeros(2, 4, 5, 5), name="weights", context=context)
    plain, _ = student.grouped_attention(q, k, v)
    masked, _ = student.grouped_attention(q, k, v, causal)
    assert_differs(plain[:, :, :4], masked[:, :, :4], "The mask has no effect.")


@points(1)
def test_groups_of_equal_size(student, draw):
    """If the heads can't be split evenly, or are fewer than the groups, it raises a ValueError that names both numbers."""
    groups, size = draw.sizes(2, low=3, high=9)
    for heads, number in ((groups * size + 1, groups), (groups, groups * size), (1, groups)):
        q, k = draw.normal(2, heads, 3, 4), draw.normal(2, number, 3, 4)
        assert_raises(
            ValueError,
            lambda q=q, k=k: student.grouped_attention(q, k, k),
            mentions=(heads, number),
        )


@points(1)
def test_float64_gradients_and_inputs_unchanged(
    student, draw, assert_double, formulas, assert_right_gradients
):
    """float64 stays float64, bfloat16 stays bfloat16, the inputs and the mask keep their values, and the right gradients reach q, k and v, none of which is NaN, even where a query may attend to nothing."""
    q = draw.normal(2, 4, 3, 5, dtype=torch.float64)
    k, v = (draw.normal(2, 2, 3, 5, dtype=torch.float64) for _ in range(2))
    call = student.call("grouped_attention", q, k, v, torch.ones(3, 3, dtype=torch.bool).tril())
    assert_unchanged(call)
    assert_double(call.value[0])
    assert_double(call.value[1])
    assert_reaches(student.gradients("grouped_attention", q, k, v))
    without_weights = student.gradients("grouped_attention", q, k, 2 * v)
    first = student.gradients("grouped_attention", q, k, v)
    low = student.grouped_attention(q.bfloat16(), k.bfloat16(), v.bfloat16())
    for name, value in zip(("output", "weights"), low, strict=True):
        assert value.dtype == torch.bfloat16, f"For bfloat16 inputs, `{name}` is {value.dtype}."
    assert not torch.allclose(without_weights.inputs[0], first.inputs[0]), (
        "Gradients reach q through the weights, but not through the output: the weights are detached before they are used."
    )
    assert_right_gradients(first, formulas["grouped_attention"], q, k, v)
    mask = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
    empty = student.gradients("grouped_attention", q.float(), k.float(), v.float(), mask)
    assert not any(gradient.isnan().any() for gradient in empty.inputs[:3] if gradient is not None), (
        "If a query may attend to nothing, a gradient is NaN. A mask that is added to the scores and contains -inf does this."
    )
