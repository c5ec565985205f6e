"""Checks of exercise 3: DecoderLayer, compared with torch's layer with the same weights."""

import torch
import torch.nn.functional as F

from gradekit.checks import assert_close, assert_shape, assert_unchanged, assert_varies, points

#: allows a different epsilon in the norms
ATOL = 1e-4


def equals_torch(reference, draw, make_layer, norm_first):
    layer, twin = make_layer("DecoderLayer", 6, 3, 5, norm_first=norm_first)
    y, memory = reference.inputs("inputs", y=(2, 4, 6), memory=(2, 7, 6))
    output = layer(y, memory)
    assert_shape(output, (2, 4, 6), name="output")
    reference.assert_same(
        output,
        twin(y, memory),
        rule="Your layer must return what torch's layer returns with your weights",
        name="output",
        key="output, less that of torch's layer with your weights,",
        atol=ATOL,
    )

    heads, width, d_ff, batch, l_tgt, l_src = draw.sizes(6)
    layer, twin = make_layer("DecoderLayer", heads * width, heads, d_ff, seed=1, norm_first=norm_first)
    y, memory = draw.normal(batch, l_tgt, heads * width), draw.normal(batch, l_src, heads * width)
    output = layer(y, memory)
    assert_shape(output, (batch, l_tgt, heads * width), name="output")
    assert_close(
        output,
        twin(y, memory),
        name="output",
        context=", compared with the output of torch's layer with your weights,",
        atol=ATOL,
    )
    y = draw.normal(batch, l_tgt + 1, heads * width)
    assert_close(
        layer(y, memory),
        twin(y, memory),
        name="output",
        context="of the next, longer batch, compared with the output of torch's layer with your weights,",
        atol=ATOL,
    )


@points(4, see="Add & norm")
def test_post_norm(reference, draw, make_layer):
    """With norm_first=False, which is the default, the norm follows each of the three sums."""
    equals_torch(reference, draw, make_layer, norm_first=False)


@points(4, see="Add & norm")
def test_pre_norm(reference, draw, make_layer):
    """With norm_first=True, each sublayer gets normalized vectors; the memory and the sums are not normalized."""
    equals_torch(reference, draw, make_layer, norm_first=True)


@points(3, see="The decoder layer")
def test_no_leak_of_the_future(reference, make_layer):
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


@points(3, see="The decoder layer")
def test_memory_mask(reference, make_layer):
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
def test_parameters(student, draw, shapes_of):
    """The three sublayers and the three norms have the right names and sizes, and share no parameters."""
    heads, width, d_ff = draw.sizes(3, low=3, high=9)
    layer = student.DecoderLayer(heads * width, heads, d_ff)
    found = {name: tuple(value.shape) for name, value in layer.parameters().items()}
    expected = shapes_of("DecoderLayer", heads * width, d_ff)
    for name, shape in expected.items():
        assert name in found, (
            f"There is no separate parameter `{name}`: it is missing, or shared with another part."
        )
        assert found[name] == shape, f"`{name}` has shape {found[name]}, but should have {shape}."
    more = ", ".join(sorted(found.keys() - expected.keys()))
    assert not more, f"There are more parameters than the layer needs: {more}."


@points(1)
def test_dropout(reference, make_layer, sublayers_drop):
    """Dropout is applied inside all three sublayers and to their outputs before the sum, and is off in eval()."""
    y, memory = reference.inputs("inputs", y=(2, 4, 6), memory=(2, 5, 6))
    layer, _ = make_layer("DecoderLayer", 6, 3, 20, norm_first=True, dropout=1.0)
    reference.assert_same(
        layer.train()(y, memory),
        y,
        rule="With dropout=1, only the residual y must be left",
        name="output",
        context="of a pre-norm layer in training",
        key="pre-norm output in training with dropout=1, less y,",
    )
    layer, _ = make_layer("DecoderLayer", 6, 3, 20, norm_first=False, dropout=1.0)
    state, normed = layer.state(), y
    for norm in ("norm1", "norm2", "norm3"):
        if f"{norm}.weight" in state:
            normed = F.layer_norm(normed, (6,), state[f"{norm}.weight"], state[f"{norm}.bias"])
    reference.assert_same(
        layer.train()(y, memory),
        normed,
        rule="With dropout=1, only the normalized residual y must be left",
        name="output",
        context="of a post-norm layer in training",
        key="post-norm output in training with dropout=1, less the normed y,",
        atol=ATOL,
    )
    layer, _ = make_layer("DecoderLayer", 6, 3, 20, dropout=0.5)
    without, _ = make_layer("DecoderLayer", 6, 3, 20)
    assert_close(
        layer.eval()(y, memory),
        without(y, memory),
        name="output",
        context="after eval(), compared with the output without dropout,",
    )
    idle = ", ".join(sublayers_drop(layer, y))
    assert not idle, f"Nothing is dropped inside {idle}. Pass the dropout probability on."


@points(1)
def test_gradients(draw, make_layer, assert_all_learn):
    """Gradients reach y, the memory and every parameter, in pre-norm and post-norm."""
    for norm_first in (False, True):
        layer, _ = make_layer("DecoderLayer", 6, 3, 20, norm_first=norm_first)
        assert_all_learn(layer.gradients(draw.normal(2, 4, 6), draw.normal(2, 5, 6)))


@points(1)
def test_inputs_unchanged_and_dtype_kept(draw, make_layer, assert_double):
    """y, the memory and the masks keep their values, and float64 stays float64."""
    y, memory, mask = draw.normal(2, 4, 6), draw.normal(2, 5, 6), torch.ones(4, 4, dtype=torch.bool).tril()
    for norm_first in (False, True):
        layer, _ = make_layer("DecoderLayer", 6, 3, 5, norm_first=norm_first)
        assert_unchanged(layer.call(y, memory, mask))
        assert_double(layer.to(torch.float64)(y.double(), memory.double(), mask))
