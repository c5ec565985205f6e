"""Checks of exercise 2: EncoderLayer, compared with torch's layer with the same weights."""

import torch
import torch.nn.functional as F

from gradekit.checks import assert_close, assert_shape, assert_unchanged, points

#: allows a different epsilon in the norms
ATOL = 1e-4


def equals_torch(reference, draw, make_layer, norm_first):
    layer, twin = make_layer("EncoderLayer", 6, 3, 5, norm_first=norm_first)
    (x,) = reference.inputs("x", x=(2, 4, 6))
    output = layer(x)
    assert_shape(output, (2, 4, 6), name="output")
    reference.assert_same(
        output,
        twin(x),
        rule="Your layer must return what torch's layer returns with your weights",
        name="output",
        key="output, less that of torch's layer with your weights,",
        atol=ATOL,
    )

    heads, width, d_ff, batch, length = draw.sizes(5)
    layer, twin = make_layer("EncoderLayer", heads * width, heads, d_ff, seed=1, norm_first=norm_first)
    x = draw.normal(batch, length, heads * width)
    output = layer(x)
    assert_shape(output, (batch, length, heads * width), name="output")
    assert_close(
        output,
        twin(x),
        name="output",
        context=", compared with the output of torch's layer with your weights,",
        atol=ATOL,
    )
    x = draw.normal(batch, length + 1, heads * width)
    assert_close(
        layer(x),
        twin(x),
        name="output",
        context="of the next, longer batch, compared with the output of torch's layer with your weights,",
        atol=ATOL,
    )


@points(5, see="Add & norm")
def test_post_norm(reference, draw, make_layer):
    """With norm_first=False, which is the default, the norm follows each sum."""
    equals_torch(reference, draw, make_layer, norm_first=False)


@points(5, see="Add & norm")
def test_pre_norm(reference, draw, make_layer):
    """With norm_first=True, each sublayer gets normalized vectors, and the sum is not normalized."""
    equals_torch(reference, draw, make_layer, norm_first=True)


@points(3)
def test_mask(reference, make_layer):
    """What the mask hides has no effect, in pre-norm and post-norm, for masks (batch, 1, L) and (L, L)."""
    x, other = reference.inputs("x", x=(2, 5, 6), other=(2, 5, 6))
    padding = torch.tensor([[[True] * 5], [[True] * 3 + [False] * 2]])
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    changed = x.clone()
    changed[1, 3:] = other[1, 3:]
    later = x.clone()
    later[:, 3:] = other[:, 3:]
    for norm_first in (False, True):
        layer, _ = make_layer("EncoderLayer", 6, 3, 5, norm_first=norm_first)
        plain, order = layer(x), "pre-norm" if norm_first else "post-norm"
        before = layer(x, padding)
        moves = (layer(changed, padding) - before)[1, :3]
        reference.assert_close(
            moves,
            context=f"change at the other positions when a hidden one changes ({order})",
            key=f"move of the other positions when a hidden one changes ({order})",
        )
        assert_close(
            before[0], plain[0], name="output", context=f"of a sequence with nothing hidden ({order})"
        )
        assert not before[1].allclose(plain[1]), (
            f"With {order}, the mask has no effect. Do you pass it to the attention?"
        )
        moves = (layer(later, causal) - layer(x, causal))[:, :3]
        reference.assert_close(
            moves,
            context=f"change at the earlier positions under a causal mask ({order})",
            key=f"move of the earlier positions under a causal mask ({order})",
        )


@points(3)
def test_parameters(student, draw, shapes_of):
    """The sublayers and the two norms have the right names and sizes, and share no parameters."""
    heads, width, d_ff = draw.sizes(3, low=3, high=9)
    layer = student.EncoderLayer(heads * width, heads, d_ff)
    found = {name: tuple(value.shape) for name, value in layer.parameters().items()}
    expected = shapes_of("EncoderLayer", heads * width, d_ff)
    for name, shape in expected.items():
        assert name in found, (
            f"There is no separate parameter `{name}`: it is missing, or shared with another part."
        )
        assert found[name] == shape, f"`{name}` has shape {found[name]}, but should have {shape}."
    more = ", ".join(sorted(found.keys() - expected.keys()))
    assert not more, f"There are more parameters than the layer needs: {more}."


@points(2)
def test_dropout(reference, make_layer, sublayers_drop):
    """Dropout is applied inside both sublayers and to their outputs before the sum, and is off in eval()."""
    (x,) = reference.inputs("x", x=(2, 4, 6))
    layer, _ = make_layer("EncoderLayer", 6, 3, 20, norm_first=True, dropout=1.0)
    reference.assert_same(
        layer.train()(x),
        x,
        rule="With dropout=1, only the residual x must be left",
        name="output",
        context="of a pre-norm layer in training",
        key="pre-norm output in training with dropout=1, less x,",
    )
    layer, _ = make_layer("EncoderLayer", 6, 3, 20, norm_first=False, dropout=1.0)
    state, normed = layer.state(), x
    for norm in ("norm1", "norm2"):
        if f"{norm}.weight" in state:
            normed = F.layer_norm(normed, (6,), state[f"{norm}.weight"], state[f"{norm}.bias"])
    reference.assert_same(
        layer.train()(x),
        normed,
        rule="With dropout=1, only the normalized residual x must be left",
        name="output",
        context="of a post-norm layer in training",
        key="post-norm output in training with dropout=1, less the normed x,",
        atol=ATOL,
    )
    layer, _ = make_layer("EncoderLayer", 6, 3, 20, dropout=0.5)
    without, _ = make_layer("EncoderLayer", 6, 3, 20)
    assert_close(
        layer.eval()(x),
        without(x),
        name="output",
        context="after eval(), compared with the output without dropout,",
    )
    idle = ", ".join(sublayers_drop(layer, x))
    assert not idle, f"Nothing is dropped inside {idle}. Pass the dropout probability on."


@points(1)
def test_gradients(draw, make_layer, assert_all_learn):
    """Gradients reach x and every parameter, in pre-norm and post-norm."""
    for norm_first in (False, True):
        layer, _ = make_layer("EncoderLayer", 6, 3, 20, norm_first=norm_first)
        assert_all_learn(layer.gradients(draw.normal(2, 4, 6)))


@points(1)
def test_x_unchanged_and_dtype_kept(draw, make_layer, assert_double):
    """x and the mask keep their values, and float64 stays float64."""
    x, mask = draw.normal(2, 4, 6), torch.ones(4, 4, dtype=torch.bool).tril()
    for norm_first in (False, True):
        layer, _ = make_layer("EncoderLayer", 6, 3, 5, norm_first=norm_first)
        assert_unchanged(layer.call(x, mask))
        assert_double(layer.to(torch.float64)(x.double(), mask))
