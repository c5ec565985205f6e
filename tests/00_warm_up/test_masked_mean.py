"""Checks of exercise 3: masked_mean."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_fresh,
    assert_full_precision,
    assert_right_gradients,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)


@points(1.25, see="Masks")
def test_mean_of_the_tokens(student, reference, draw):
    """Each sentence gets the mean of its tokens, with padding at any place."""
    (x,) = reference.inputs("square", x=(4, 4, 4))
    mask = with_a_token(reference.integers("mask", 0, 2, (4, 4)).bool())
    reference.assert_close(student.masked_mean(x, mask), name="result")

    for batch, length, d in (draw.sizes(3), (1, 521, 43), (5, 1, 1)):
        x, mask = draw.normal(batch, length, d), with_a_token(draw.bools(batch, length))
        x[0, -1] = 0  # a token all the same
        right = torch.stack([row[keep].mean(0) for row, keep in zip(x, mask, strict=True)])
        context = f"for x of shape {(batch, length, d)}"
        assert_close(student.masked_mean(x, mask), right, name="result", context=context)
    numbers = draw.integers(-9, 10, (6, 30, 1)).float()  # none of them says that a token is padding
    mask = with_a_token(draw.bools(6, 30))
    right = torch.stack([row[keep].mean(0) for row, keep in zip(numbers, mask, strict=True)])
    assert_close(student.masked_mean(numbers, mask), right, name="result", context="for small integers")
    assert_any_layout(
        student.masked_mean, draw.normal(2, 3, 4), with_a_token(draw.bools(2, 3)), name="result"
    )


@points(0.75, see="Masks")
def test_padding_has_no_effect(student, reference):
    """Whatever numbers the padding contains, and however much of it there is, the result stays."""
    (x,) = reference.inputs("padded", x=(3, 5, 2))
    mask = torch.arange(5) < torch.tensor([5, 3, 1])[:, None]
    before = student.masked_mean(x, mask)
    assert_shape(before, (3, 2), name="result")
    assert_varies(before, name="result")
    other = torch.where(mask[..., None], x, 1000.0)
    longer, longer_mask = torch.cat([x, x], dim=1), torch.cat([mask, torch.zeros_like(mask)], dim=1)
    for what, args in [("other numbers", (other, mask)), ("more padding", (longer, longer_mask))]:
        reference.assert_same(
            student.masked_mean(*args),
            before,
            rule="Padding must have no effect",
            name="result",
            context=f"with {what} in the padding" if what == "other numbers" else f"with {what}",
            key=f"result with {what}, less that before",
        )


@points(0.5)
def test_sentence_without_tokens(student, reference, draw):
    """A sentence without any token gets zeros, and the others are not affected."""
    x, mask = draw.normal(3, 4, 2), with_a_token(draw.bools(3, 4))
    before = student.masked_mean(x, mask)
    assert_varies(before, name="result")
    mask[1] = False
    after = student.masked_mean(x, mask)
    assert not after[1].isnan().any(), "A sentence without tokens gets NaN. It should get zeros."
    reference.assert_close(after[1], name="result", context="of a sentence without tokens")
    assert_close(after[[0, 2]], before[[0, 2]], name="result", context="of the other sentences")
    for which in ([0, 1], [0, 1, 2]):
        mask[which] = False
        after = student.masked_mean(x, mask)
        context = f"where {len(which)} of 3 sentences have no tokens"
        assert not after.isnan().any(), f"It contains NaN {context}. Each of them should get zeros."
        assert_close(after[which], torch.zeros(len(which), 2), name="result", context=context)


@points(0.5)
def test_inputs_unchanged_and_dtype_kept(student, draw):
    """`x` and `mask` keep their values, gradients flow back to `x`, each call returns a new tensor, float64 for float64 vectors."""
    x = draw.normal(3, 8, 3, dtype=torch.float64)
    mask = torch.arange(8) < torch.tensor([7, 3, 1])[:, None]  # 1/7 and 1/3 are rounded in float32
    call = student.call("masked_mean", x, mask)
    assert_unchanged(call)
    right = torch.stack([x[0, :7].mean(dim=0), x[1, :3].mean(dim=0), x[2, 0]])
    assert_full_precision(call.value, right, name="result")
    assert_right_gradients(student.gradients("masked_mean", x, mask), student.masked_mean, name="result")
    mask[1] = False
    into_x = student.gradients("masked_mean", x, mask).inputs[0]
    assert into_x is not None, "If one sentence has no tokens, no gradient flows from the others back to `x`."
    assert not into_x.isnan().any(), (
        "The gradient of `x` contains NaN if a sentence has no tokens, even where the result has none."
    )
    assert_fresh(student, "masked_mean", draw.normal(3, 8, 3), mask)
    assert_fresh(student, "masked_mean", draw.normal(3, 1, 3), torch.ones(3, 1, dtype=torch.bool))


def with_a_token(mask):
    """The same mask, with a token at the last place of each row, so that no sentence is empty."""
    mask = mask.clone()
    mask[..., -1] = True
    return mask
