"""Checks of exercise 2: EncoderLayer, compared with torch's layer with the same weights."""

import torch

from gradekit.checks import assert_close, assert_unchanged, points


@points(4, see="Add & norm")
def test_post_norm(reference, assert_equals_torch):
    """With norm_first=False, which is the default, the norm follows each sum."""
    assert_equals_torch("EncoderLayer", False, *reference.inputs("x", x=(2, 4, 6)))


@points(4, see="Add & norm")
def test_pre_norm(reference, assert_equals_torch):
    """With norm_first=True, each sublayer gets normalized vectors, and the sum is not normalized."""
    assert_equals_torch("EncoderLayer", True, *reference.inputs("x", x=(2, 4, 6)))


@points(3)
def test_mask(reference, make_layer, assert_masks_hide_keys_only):
    """What the mask hides has no effect as a key, in pre-norm and post-norm, for masks (batch, 1, L) and (L, L)."""
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
        assert_masks_hide_keys_only("EncoderLayer", norm_first, x)


@points(3)
def test_parameters(assert_parts):
    """The sublayers and the two norms have the right names and sizes, and share no parameters."""
    assert_parts("EncoderLayer")


@points(2)
def test_dropout(reference, assert_drops):
    """Dropout is applied inside both sublayers and to their outputs before the sum, and is off in eval()."""
    assert_drops("EncoderLayer", "x", *reference.inputs("x", x=(2, 4, 6)))


@points(1)
def test_gradients(draw, make_layer, assert_all_learn, assert_the_same_function):
    """The right gradients reach x and every parameter, in pre-norm and post-norm, and without dropout the mode changes nothing."""
    for norm_first in (False, True):
        layer, _ = make_layer("EncoderLayer", 6, 3, 20, norm_first=norm_first)
        assert_all_learn(layer.gradients(draw.normal(2, 4, 6)))
        x, y = draw.normal(2, 4, 6), draw.normal(2, 4, 6)
        mask = torch.ones(4, 4, dtype=torch.bool).tril()
        assert_the_same_function(layer, (y,), (x,), (y, mask), (x, mask.flip(0)), (x, mask))


@points(1)
def test_x_unchanged_and_dtype_kept(draw, make_layer, assert_double):
    """x and the mask keep their values, and float64 stays float64."""
    x, mask = draw.normal(2, 4, 6), torch.ones(4, 4, dtype=torch.bool).tril(-1)
    for norm_first in (False, True):
        layer, _ = make_layer("EncoderLayer", 6, 3, 5, norm_first=norm_first)
        assert_unchanged(layer.call(x, mask))
        assert_double(layer.to(torch.float64)(x.double(), mask))
