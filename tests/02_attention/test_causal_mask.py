"""Checks of exercise 3b: make_causal_mask. 0 and 1 instead of False and True cost one point."""

import torch

from gradekit.checks import assert_fresh, assert_varies, fail, points


@points(3, see="The future")
def test_hides_the_future(student, reference):
    """The mask is False where the key comes after the query: above the diagonal."""
    mask = student.make_causal_mask(6).squeeze()
    reference.assert_close(mask.triu(1), name="mask", context="above the diagonal")
    assert_varies(mask, name="mask")
    for length in (2, 3, 300):
        mask = student.make_causal_mask(length)
        if tuple(mask.shape) == (length, length) and mask.triu(1).any():
            fail(f"For length {length}, the mask shows a key that comes after the query.")


@points(2, see="The future")
def test_shows_the_past(student, reference):
    """The mask is True where the key comes before the query: below the diagonal."""
    mask = student.make_causal_mask(6).squeeze()
    reference.assert_close(mask.tril(-1), name="mask", context="below the diagonal")
    assert_varies(mask, name="mask")
    for length in (2, 3, 300):
        mask = student.make_causal_mask(length)
        if tuple(mask.shape) == (length, length) and not mask[below(length)].all():
            fail(f"For length {length}, the mask hides a key that comes before the query.")


@points(2, see="The future")
def test_sees_itself(student, reference):
    """The mask is True on the diagonal: a position may attend to itself."""
    diagonal = student.make_causal_mask(6).squeeze().diagonal()
    if tuple(diagonal.shape) == (6,) and not diagonal.any():
        fail("Your mask is False on its whole diagonal, so no position may attend to itself.")
    reference.assert_close(diagonal, context="diagonal of the mask")
    for length in (2, 3, 300):
        mask = student.make_causal_mask(length)
        if tuple(mask.shape) == (length, length) and not mask.diagonal().all():
            fail(f"For length {length}, the mask hides a position from itself.")


@points(2)
def test_shape(student, draw):
    """The shape is (length, length) for every length, without a batch axis."""
    for length in [*draw.sizes(1), 1, 521]:
        shape = tuple(student.make_causal_mask(length).shape)
        assert shape == (length, length), f"For length {length}, the mask has shape {shape}."


@points(1)
def test_is_boolean(student):
    """The mask is a boolean tensor, and each call makes a new one."""
    mask = student.make_causal_mask(4)
    assert mask.dtype == torch.bool, f"The mask has dtype {mask.dtype}. It has to be torch.bool."
    assert_fresh(student, "make_causal_mask", 4, name="mask")


def below(length: int) -> torch.Tensor:
    """True below the diagonal."""
    return torch.ones(length, length, dtype=torch.bool).tril(-1)
