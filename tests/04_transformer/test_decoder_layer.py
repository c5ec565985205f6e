"""Checks of exercise 3: DecoderLayer, compared with torch's layer with the same weights."""

import torch

from gradekit.checks import assert_close, assert_unchanged, assert_varies, points


@points(3, see="Add & norm")
def test_post_norm(reference, assert_equals_torch):
    """With norm_first=False, which is the default, the norm follows each of the three sums."""
    inputs = reference.inputs("inputs", y=(2, 4, 6), memory=(2, 7, 6))
    assert_equals_torch("DecoderLayer", False, *inputs)


@points(3, see="Add & norm")
def test_pre_norm(reference, assert_equals_torch):
    """With norm_first=True, each sublayer gets normalized vectors; the memory and the sums are not normalized."""
    inputs = reference.inputs("inputs", y=(2, 4, 6), memory=(2, 7, 6))
    assert_equals_torch("DecoderLayer", True, *inputs)


@points(3, see="The decoder layer")
def test_no_leak_of_the_future(reference, make_layer, assert_masks_hide_keys_only):
    """Under a causal target mask, changing a position has no effect on earlier ones, in pre-norm and post-norm."""
    y, other, memory = reference.inputs("inputs", y=(2, 5, 6), other=(2, 5, 6), memory=(2, 4, 6))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    later = y.clone()
    later[:, 3] = other[:, 3]
    for norm_first in (False, True):
        layer, _ = make_layer("DecoderLayer", 6, 3, 5, norm_first=norm_first)
        order = "pre-norm" if norm_first else "post-norm"
        moves = layer(later, memory, causal) - layer(y, memory, causal)
        reference.assert_close(
            moves[:, :3],
            context=f"change at the earlier positions ({order})",
            key=f"move of the earlier positions ({order})",
        )
        assert moves[:, 3:].abs().amax(dim=-1).min() > 1e-4, (
            f"With {order}, the output at a position does not change when it, or an earlier one, changes."
        )
        both = causal & (torch.arange(5) != torch.tensor([1, 2])[:, None, None])  # (2, 5, 5)
        output = layer(y, memory, both)
        alone = [layer(y[[i]], memory[[i]], both[[i]]) for i in range(2)]
        context = f"with a target mask (2, 5, 5), compared with each sequence alone with its own ({order}),"
        assert_close(output, torch.cat(alone), name="output", context=context, atol=1e-4)
        assert_masks_hide_keys_only("DecoderLayer", norm_first, y, memory)


@points(3, see="The decoder layer")
def test_memory_mask(reference, draw, make_layer):
    """What the memory mask hides has no effect, in pre-norm and post-norm, even where L_src and L_tgt differ."""
    y, memory, other = reference.inputs("inputs", y=(2, 5, 6), memory=(2, 4, 6), other=(2, 4, 6))
    mask = torch.tensor([[[True] * 4], [[True, True, False, False]]])  # (2, 1, 4)
    changed = memory.clone()
    changed[1, 2:] = other[1, 2:]
    for norm_first in (False, True):
        layer, _ = make_layer("DecoderLayer", 6, 3, 5, norm_first=norm_first)
        order = "pre-norm" if norm_first else "post-norm"
        before = layer(y, memory, memory_mask=mask)
        moves = layer(y, changed, memory_mask=mask) - before
        reference.assert_close(
            moves,
            context=f"change of the output when a hidden part of the memory changes ({order})",
            key=f"move of the output when a hidden part of the memory changes ({order})",
        )
        plain = layer(y, memory)
        assert_close(
            before[0], plain[0], name="output", context=f"of a sequence with nothing hidden ({order})"
        )
        assert not before[1].allclose(plain[1]), (
            f"With {order}, memory_mask has no effect. Do you pass it to the cross-attention?"
        )
        moves = layer(y, other, memory_mask=mask & False) - layer(y, memory, memory_mask=mask & False)
        context = f"change of the output with the memory, if its mask hides everything ({order})"
        reference.assert_close(moves, context=context, key=context)
        causal = torch.ones(5, 5, dtype=torch.bool).tril()
        first, context = layer(y, memory, causal, mask)[:, :1], f"for a target of one vector ({order})"
        assert_close(
            layer(y[:, :1], memory, memory_mask=mask), first, name="output", context=context, atol=1e-4
        )
        own = draw.bools(2, 5, 4)
        own[..., 0], own[..., 3], own[:, 2, 3] = True, False, True
        for each in (own, own[0]):
            output = layer(y, memory, memory_mask=each)
            for query in range(5):
                same = layer(y, memory, memory_mask=each[..., query, :].expand(2, 4).unsqueeze(1))
                shape = tuple(each.shape)
                context = f"of query {query} with a memory mask {shape}, compared with that if all queries have its row ({order}),"
                assert_close(output[:, query], same[:, query], name="output", context=context, atol=1e-4)


@points(2, see="The decoder layer")
def test_reads_all_of_the_memory(reference, make_layer):
    """Every target position reads every vector of the memory, including the last, even under a causal target mask."""
    y, memory, other = reference.inputs("inputs", y=(2, 5, 6), memory=(2, 5, 6), other=(2, 5, 6))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    for norm_first in (False, True):
        layer, _ = make_layer("DecoderLayer", 6, 3, 5, norm_first=norm_first)
        order = "pre-norm" if norm_first else "post-norm"
        before = layer(y, memory, causal)
        for place in (0, 4):
            changed = memory.clone()
            changed[:, place] = other[:, place]
            moves = (layer(y, changed, causal) - before).abs().amax(dim=-1)  # (2, 5)
            still = (moves < 1e-5).any(dim=0)
            reference.assert_close(
                still,
                context=f"set of positions that vector {place} of the memory does not reach ({order})",
                key=f"positions that vector {place} of the memory does not reach ({order})",
            )
        assert_varies(before, name="output", context=f"({order})")


@points(1)
def test_parameters(assert_parts):
    """The three sublayers and the three norms have the right names and sizes, and share no parameters."""
    assert_parts("DecoderLayer")


@points(1)
def test_dropout(reference, assert_drops):
    """Dropout is applied inside all three sublayers and to their outputs before the sum, and is off in eval()."""
    assert_drops("DecoderLayer", "y", *reference.inputs("inputs", y=(2, 4, 6), memory=(2, 5, 6)))


@points(1)
def test_gradients(draw, make_layer, assert_all_learn, assert_the_same_function):
    """The right gradients reach y, the memory and every parameter, in pre-norm and post-norm, and without dropout the mode changes nothing."""
    for norm_first in (False, True):
        layer, _ = make_layer("DecoderLayer", 6, 3, 20, norm_first=norm_first)
        assert_all_learn(layer.gradients(draw.normal(2, 4, 6), draw.normal(2, 5, 6)))
        (y, memory), other = [[draw.normal(2, length, 6) for length in (4, 5)] for _ in range(2)]
        mask, visible = torch.ones(4, 4, dtype=torch.bool).tril(), (torch.arange(5) < 3).expand(2, 1, 5)
        last = (y, memory, mask, visible)
        assert_the_same_function(layer, other, (y, memory), (*other, mask), (y, memory, mask, ~visible), last)


@points(1)
def test_inputs_unchanged_and_dtype_kept(draw, make_layer, assert_double):
    """y, the memory and the masks keep their values, and float64 stays float64."""
    y, memory, mask = draw.normal(2, 4, 6), draw.normal(2, 5, 6), torch.ones(4, 4, dtype=torch.bool).tril(-1)
    for norm_first in (False, True):
        layer, _ = make_layer("DecoderLayer", 6, 3, 5, norm_first=norm_first)
        assert_unchanged(layer.call(y, memory, mask))
        assert_double(layer.to(torch.float64)(y.double(), memory.double(), mask))
