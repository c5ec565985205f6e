"""Checks of exercise 3a: make_padding_mask. 0 and 1 instead of False and True cost one point."""

import torch

from gradekit.checks import assert_close, assert_fresh, assert_shape, assert_unchanged, assert_varies, points


@points(4, see="Padding")
def test_hides_the_pads(student, reference):
    """The mask is False at every padding token, wherever it is, and True at every other token."""
    ids = reference.integers("ids", 0, 3, (3, 7))  # about a third is padding, at any position
    mask = student.make_padding_mask(ids)
    reference.assert_close(mask.flatten(), name="mask")

    ids = reference.integers("ids of another batch", 0, 3, (2, 5))
    mask = student.make_padding_mask(ids)
    reference.assert_close(mask.flatten(), name="mask", context="of another batch")

    ids = torch.tensor([[0, 0, 0], [3, 0, 4]])
    mask = student.make_padding_mask(ids)
    assert_close(mask.flatten(), (ids != 0).flatten(), name="mask", context="where a sequence is all padding")

    ids = 7 * (torch.arange(521) % 90)[None]
    mask = student.make_padding_mask(ids)
    assert_close(mask.flatten(), (ids != 0).flatten(), name="mask", context="of one long sequence")


@points(2)
def test_shape(student, reference):
    """The shape is (batch, 1, length): keys are the last axis, and the 1 is the axis of the queries."""
    mask = student.make_padding_mask(reference.integers("ids", 0, 3, (3, 7)))
    reference.assert_close(torch.ones_like(mask, dtype=torch.bool), name="mask")  # only the shape counts here
    for shape in [(1, 6), (4, 1)]:
        mask = student.make_padding_mask(reference.integers(f"ids {shape}", 0, 3, shape))
        assert_shape(mask, (shape[0], 1, shape[1]), name="mask", context=f"for ids of shape {shape}")


@points(2)
def test_other_pad_id(student, reference):
    """The padding id is the argument pad_idx, and 0 is then an ordinary token."""
    some = reference.integers("ids of another vocabulary", 0, 5, (3, 7))
    for ids, pad_idx in [(1 + some, 3), (some, 2), (some, 4)]:  # without any 0, with some
        mask = student.make_padding_mask(ids, pad_idx=pad_idx).flatten()
        swapped = torch.where(ids == pad_idx, 0, torch.where(ids == 0, pad_idx, ids))
        same = student.make_padding_mask(swapped, 0).flatten()
        reference.assert_close(
            mask.ne(same),
            name="mask",
            context=f"for pad_idx={pad_idx}, compared with the mask for swapped ids 0 and {pad_idx},",
            key=f"mask for pad_idx={pad_idx}, less that with 0 and {pad_idx} swapped",
        )
        assert_varies(mask, name="mask", context=f"for pad_idx={pad_idx}")
    small = torch.tensor([[3, 1, 2, 0, 3], [4, 3, 3, 5, 6]])
    large = torch.tensor([[300, 44, 256, 0, 300], [512, 300, 300, 45, 65_836]])  # some are equal as bytes
    for pad_idx, same_idx in [(300, 3), (0, 0)]:
        mask = student.make_padding_mask(large, pad_idx).flatten()
        same = student.make_padding_mask(small, same_idx).flatten()
        reference.assert_close(
            mask.ne(same),
            name="mask",
            context=f"for pad_idx={pad_idx} and large ids, compared with the mask for small ids,",
            key=f"mask for pad_idx={pad_idx} and large ids, less that for small ids",
        )


@points(1)
def test_is_boolean(student, draw):
    """The mask is a boolean tensor."""
    mask = student.make_padding_mask(draw.integers(0, 3, (3, 7)))
    assert mask.dtype == torch.bool, f"The mask has dtype {mask.dtype}. It has to be torch.bool."


@points(1)
def test_ids_unchanged(student, draw):
    """`ids` keeps its values, and each call returns a new tensor."""
    ids = draw.integers(0, 3, (3, 7))
    assert_unchanged(student.call("make_padding_mask", ids, 1))
    assert_fresh(student, "make_padding_mask", ids, 1, name="mask")
