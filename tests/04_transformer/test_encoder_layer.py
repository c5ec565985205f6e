"""Checks of exercise 2: EncoderLayer, held against torch's layer with the same weights."""

import torch
import torch.nn.functional as F

from coursekit.checks import assert_close, assert_shape, assert_unchanged, points

#: leaves room for another epsilon in the norms
ATOL = 1e-4


def equals_torch(reference, draw, make_layer, norm_first):
    layer, twin = make_layer("EncoderLayer", 6, 3, 5, norm_first=norm_first)
    (x,) = reference.inputs("x", x=(2, 4, 6))
    output = layer(x)
    assert_shape(output, (2, 4, 6), name="output")
    reference.assert_close(
        output - twin(x), name="output", context=", less that of torch's layer with your weights,", atol=ATOL
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
        context=", held against that of torch's layer with your weights,",
        atol=ATOL,
    )


@points(5, see="Add & norm")
def test_post_norm(reference, draw, make_layer):
    """With norm_first=False, which is the default, the norm follows each sum."""
    equals_torch(reference, draw, make_layer, norm_first=False)


@points(5, see="Add & norm")
def test_pre_norm(reference, draw, make_layer):
    """With norm_first=True, each sublayer gets the normed vectors, and the sum is not normed."""
    equals_torch(reference, draw, make_layer, norm_first=True)


@points(3)
def test_mask(reference, make_layer):
    """What the mask hides counts for nothing, in both orders, for masks (batch, 1, L) and (L, L)."""
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
            moves, context=f"move of the other positions when a hidden one changes ({order})"
        )
        assert_close(
            before[0], plain[0], name="output", context=f"of a sequence with nothing hidden ({order})"
        )
        assert not before[1].allclose(plain[1]), f"In {order} the mask changes nothing. Is it passed on?"
        moves = (layer(later, causal) - layer(x, causal))[:, :3]
        reference.assert_close(moves, context=f"move of the earlier positions under a causal mask ({order})")


@points(3)
def test_parameters(student, draw, shapes_of):
    """The sublayers and the two norms have their names, their sizes, and parameters of their own."""
    heads, width, d_ff = draw.sizes(3, low=3, high=9)
    layer = student.EncoderLayer(heads * width, heads, d_ff)
    found = {name: tuple(value.shape) for name, value in layer.parameters().items()}
    expected = shapes_of("EncoderLayer", heads * width, d_ff)
    for name, shape in expected.items():
        assert name in found, f"There is no parameter `{name}` that is not used elsewhere, too."
        assert found[name] == shape, f"`{name}` has shape {found[name]}, but should have {shape}."
    more = ", ".join(sorted(found.keys() - expected.keys()))
    assert not more, f"There are more parameters than the layer needs: {more}."


@points(2)
def test_dropout(reference, make_layer, sublayers_drop):
    """Dropout acts in both sublayers and on what they give before it is added, and is off in eval()."""
    (x,) = reference.inputs("x", x=(2, 4, 6))
    layer, _ = make_layer("EncoderLayer", 6, 3, 20, norm_first=True, dropout=1.0)
    reference.assert_close(
        layer.train()(x) - x, context="pre-norm output in training with dropout=1, less x,"
    )
    layer, _ = make_layer("EncoderLayer", 6, 3, 20, norm_first=False, dropout=1.0)
    state, normed = layer.state(), x
    for norm in ("norm1", "norm2"):
        if f"{norm}.weight" in state:
            normed = F.layer_norm(normed, (6,), state[f"{norm}.weight"], state[f"{norm}.bias"])
    gap = layer.train()(x) - normed
    reference.assert_close(
        gap, context="post-norm output in training with dropout=1, less the normed x,", atol=ATOL
    )
    layer, _ = make_layer("EncoderLayer", 6, 3, 20, dropout=0.5)
    without, _ = make_layer("EncoderLayer", 6, 3, 20)
    assert_close(
        layer.eval()(x), without(x), name="output", context="after eval(), held against that without dropout,"
    )
    idle = ", ".join(sublayers_drop(layer, x))
    assert not idle, f"Nothing is dropped inside {idle}. Pass the probability on."


@points(1)
def test_gradients(draw, make_layer, assert_all_learn):
    """Gradients reach x and every parameter, in both orders."""
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
