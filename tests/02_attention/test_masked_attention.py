"""Checks of exercise 4: attention with a mask. None of them uses the student's other answers."""

import math

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_fresh,
    assert_shape,
    assert_unchanged,
    assert_varies,
    fail,
    points,
)


@points(4, see="Masked attention")
def test_output_equals_the_formula(student, reference, draw, oracle):
    """With a mask (batch, L_query, L_key), the output is the weighted average over the visible keys only."""
    q, k, v = reference.inputs("square", q=(3, 4, 6), k=(3, 4, 6), v=(3, 4, 6))
    mask = reference.integers("mask", 0, 2, (3, 4, 4)).bool() | torch.eye(4, dtype=torch.bool)
    output, _ = student.masked_attention(q, k, v, mask)
    reference.assert_close(output, name="output")

    for batch, l_query, l_key, d_k, d_v in (draw.sizes(5), (1, 43, 521, 5, 7), (4, 4, 4, 4, 4)):
        q, k = draw.normal(batch, l_query, d_k), draw.normal(batch, l_key, d_k)
        v = draw.normal(batch, l_key, d_v)
        mask = with_a_key(draw.bools(batch, l_query, l_key))
        output, _ = student.masked_attention(q, k, v, mask)
        context = f"for q of shape {tuple(q.shape)} and k of shape {tuple(k.shape)}"
        assert_close(output, oracle(q, k, v, mask), name="output", context=context)


@points(3, see="Masked attention")
def test_weights_equal_the_formula(student, reference):
    """The weights of hidden keys are 0, and those of the visible keys sum to 1."""
    q, k, v = reference.inputs("square", q=(3, 4, 6), k=(3, 4, 6), v=(3, 4, 6))
    mask = reference.integers("mask", 0, 2, (3, 4, 4)).bool() | torch.eye(4, dtype=torch.bool)
    _, weights = student.masked_attention(q, k, v, mask)
    reference.assert_close(weights, name="weights")
    if (weights[~mask] != 0).any():
        fail("A hidden key has a tiny weight. It should be 0: its score has to be lower.")


@points(2)
def test_without_a_mask(student, reference, oracle):
    """Without a mask, it computes plain attention, even with unequal lengths and widths, and for large scores."""
    q, k, v = reference.inputs("unequal", q=(3, 2, 5), k=(3, 4, 5), v=(3, 4, 7))
    output, _ = student.masked_attention(q, k, v)
    reference.assert_close(output, name="output")
    context = ", for scores in the hundreds,"
    large, _ = student.masked_attention(40 * q, 40 * k, v)
    assert_close(large, oracle(40 * q, 40 * k, v), name="output", context=context, atol=5e-3)


@points(3, see="The masks in pictures")
def test_causal_mask(student, reference, assert_queries_matter):
    """A causal mask (L, L) hides the future, and combined with padding to (batch, L, L) it hides both."""
    q, k, v = reference.inputs("sentences", q=(3, 5, 6), k=(3, 5, 6), v=(3, 5, 4))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    both = causal & padding_of_lengths([5, 3, 2])
    for name, mask in [("a causal mask", causal), ("padding & causal", both)]:
        output, _ = student.masked_attention(q, k, v, mask)
        assert_shape(output, (3, 5, 4), name="output")
        assert_queries_matter(output)
        alone = visible_keys_alone(student, q, k, v, mask.expand(3, 5, 5))
        reference.assert_same(
            output,
            alone,
            rule="Hidden keys must have no effect",
            name="output",
            context=f"with {name}",
            key=f"output with {name}, less that of the visible keys alone",
        )


@points(2)
def test_mask_broadcasts(student, reference, assert_queries_matter):
    """Missing axes and those of size 1 in the mask broadcast: (batch, 1, L_key), and (1, 1, L_query, L_key) with heads."""
    q, k, v = reference.inputs("padded", q=(3, 5, 6), k=(3, 5, 6), v=(3, 5, 4))
    mask = padding_of_lengths([5, 3, 2])
    output, _ = student.masked_attention(q, k, v, mask)
    assert_shape(output, (3, 5, 4), name="output")
    assert_queries_matter(output)
    alone = visible_keys_alone(student, q, k, v, mask.expand(3, 5, 5))
    reference.assert_same(
        output,
        alone,
        rule="Hidden keys must have no effect",
        name="output",
        context="with a mask (batch, 1, L_key)",
        key="output with (batch, 1, L_key), less that of the visible keys alone",
    )

    q, k, v = reference.inputs("heads", q=(3, 2, 4, 6), k=(3, 2, 5, 6), v=(3, 2, 5, 7))
    for shape in [(5,), (1, 1, 4, 5), (4, 5), (2, 4, 5), (3, 1, 1, 5), (3, 2, 4, 5)]:
        mask = with_a_key(reference.integers(f"mask {shape}", 0, 2, shape).bool())
        output, _ = student.masked_attention(q, k, v, mask)
        assert_shape(output, (3, 2, 4, 7), name="output")
        parts = [t.flatten(0, 1) for t in (q, k, v, mask.expand(3, 2, 4, 5))]  # (batch · heads, L, d)
        alone = student.masked_attention(*parts)[0].unflatten(0, (3, 2))
        reference.assert_same(
            output,
            alone,
            rule="A head must have the same output with other heads as on its own",
            name="output",
            context=f"with heads and a mask {shape}",
            key=f"output with heads and a mask {shape}, less that of each head alone",
        )
    alone, its_weights = student.masked_attention(q[0, 0], k[0, 0], v[0, 0], mask[0, 0])
    output, weights = student.masked_attention(q, k, v, mask)
    context = "of (L, d) with a mask (L_query, L_key), compared with the same head among others,"
    assert_close(alone, output[0, 0], name="output", context=context)
    assert_close(its_weights, weights[0, 0], name="weights", context=context)
    more = student.masked_attention(q[None], k[None], v[None], mask[None])[0][0]
    assert_close(more, output, name="output", context="with 5 axes, compared with that with 4,")
    assert_any_layout(student.masked_attention, q, k, v, mask, name="output or weights")

    x, mask = torch.arange(150.0).sin().view(5, 5, 6), torch.ones(5, 5, dtype=torch.bool).tril()
    many = x, x.flip(1), x[..., :4]
    output, right = (student.masked_attention(*many, each)[0] for each in (mask, mask.expand(5, 5, 5)))
    context = "for as many sequences as queries with a mask (L_query, L_key), compared with this mask for each sequence,"
    assert_close(output, right, name="output", context=context)


@points(3, see="Masked attention")
def test_scores_of_any_size(student, reference):
    """Hidden keys have no effect, however large their scores and however low the visible ones."""
    noise_q, noise_k, v = reference.inputs("extreme", q=(3, 2, 4), k=(3, 6, 4), v=(3, 6, 5))
    mask = torch.tensor([True, False, True, True, False, True])  # (L_key,)
    for size in [
        -800,
        800,
        -2_000_000,
        -8_000_000,
    ]:  # rough size of the visible scores; the hidden ones are in the thousands
        q = 20 + 0.1 * noise_q
        k = 12 * noise_k + torch.where(mask, size / 40, 100.0)[:, None]
        output, _ = student.masked_attention(q, k, v, mask[None, None])
        reference.assert_close(
            output, name="output", context=f"with visible scores of about {size}", atol=1e-3
        )


@points(3, see="Masked attention")
def test_query_with_no_key(student, reference, assert_queries_matter):
    """A query that may attend to nothing gets zeros as weights and output; the other queries are not affected."""
    q, k, v = reference.inputs("no key", q=(3, 2, 5), k=(3, 4, 5), v=(3, 4, 7))
    mask = with_a_key(reference.integers("visible", 0, 2, (3, 2, 4)).bool())
    before = torch.cat(student.masked_attention(q, k, v, mask), dim=-1)  # output and weights, side by side
    assert_queries_matter(before)
    mask[0, 1] = False
    after = torch.cat(student.masked_attention(q, k, v, mask), dim=-1)
    reference.assert_close(after[0, 1], name="output", context="and weights of a query with no key")
    after[0, 1] = before[0, 1]
    assert_close(after, before, name="output", context="and weights of the other queries")
    assert_varies(after[..., :7], name="output", context="of the other queries")

    mask = torch.tensor([True, False, True])[:, None, None].repeat(1, 1, 4)  # (batch, 1, L_key)
    output, weights = student.masked_attention(q, k, v, mask)
    reference.assert_close(
        torch.cat([output[1], weights[1]], dim=-1), name="output", context="and weights of an empty sequence"
    )
    after = torch.cat(student.masked_attention(q, k, v, torch.zeros_like(mask)), dim=-1)
    assert_close(
        after, torch.zeros(3, 2, 11), name="output", context="and weights of a batch with no key at all"
    )
    alone = torch.cat(student.masked_attention(q, k[:, :1], v[:, :1], mask[..., :1] & False), dim=-1)
    assert_close(
        alone, torch.zeros(3, 2, 8), name="output", context="and weights of a single key that is hidden"
    )
    # a mask with any number of axes can leave a query without keys
    for shape in [(4,), (2, 4), (1, 2, 4), (3, 1, 1, 4), (3, 2, 2, 4)]:
        heads = (
            [t.unsqueeze(1).expand(3, 2, *t.shape[1:]) for t in (q, k, v)] if len(shape) > 3 else [q, k, v]
        )
        mask = torch.ones(shape, dtype=torch.bool)
        mask[(*[0] * (len(shape) - 2), -1, slice(None)) if len(shape) > 1 else slice(None)] = False
        after = torch.cat(student.masked_attention(*heads, mask), dim=-1)
        hidden = ~mask.any(dim=-1, keepdim=True).expand(*after.shape[:-1], 1)
        context = f"and weights of a query with no key, for a mask {shape},"
        assert_close(after * hidden, torch.zeros_like(after), name="output", context=context)


@points(1)
def test_gradients(draw, assert_gradients):
    """Gradients reach q, k and v and contain no NaN, even where a query may attend to nothing."""
    mask = with_a_key(draw.bools(3, 2, 4))
    mask[0] = True
    mask[1, 1] = False  # this query may attend to nothing
    assert_gradients(
        "masked_attention", draw.normal(3, 2, 5), draw.normal(3, 4, 5), draw.normal(3, 4, 7), mask
    )


@points(1)
def test_inputs_unchanged_and_dtype_kept(student, draw, assert_precise):
    """The inputs, including the mask, keep their values, each call returns new tensors, and for float64 inputs the output is float64 at full precision."""
    q, k, v = (draw.normal(3, *shape, dtype=torch.float64) for shape in [(2, 5), (4, 5), (4, 7)])
    mask = visible = with_a_key(draw.bools(3, 2, 4))
    call = student.call("masked_attention", q, k, v, mask)
    assert_unchanged(call)
    mask = mask.clone()
    mask[1, 1] = False  # this query may attend to nothing
    assert_unchanged(student.call("masked_attention", q, k, v, mask))
    assert_fresh(student, "masked_attention", q, k, v, mask, name="output or weights")
    one = [part[:, :1] for part in (q, k, v)]  # one query and one key, whose output is the value
    for seen in ([], [torch.ones(3, 1, 1, dtype=torch.bool)]):
        assert_fresh(student, "masked_attention", *one, *seen, name="output or weights")
    scores = (q @ k.mT / math.sqrt(5)).masked_fill(~visible, -torch.inf)
    assert_precise(*call.value, v, scores)


def with_a_key(mask):
    """Make the first key visible to every query, so that none is left without a key."""
    mask = mask.clone()
    mask[..., 0] = True
    return mask


def padding_of_lengths(lengths):
    return (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).unsqueeze(1)  # (batch, 1, longest)


def visible_keys_alone(student, q, k, v, mask):
    """Return the student's output with the hidden keys removed and nothing masked; a batch for each number of keys."""
    output = torch.zeros(*q.shape[:-1], v.shape[-1])
    for count in mask.sum(-1).unique().tolist():
        b, i = torch.where(mask.sum(-1) == count)
        keys = mask[b, i].nonzero()[:, 1].reshape(-1, count)  # those that each of these queries may attend to
        everything = torch.ones(1, 1, count, dtype=torch.bool)
        alone, _ = student.masked_attention(
            q[b, i][:, None], k[b[:, None], keys], v[b[:, None], keys], everything
        )
        output[b, i] = alone[:, 0]
    return output
