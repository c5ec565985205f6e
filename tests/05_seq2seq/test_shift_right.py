"""Checks of exercise 2: shift_right."""

import torch

from gradekit.checks import assert_close, assert_shape, assert_unchanged, points


@points(3, see="What the decoder reads: teacher forcing")
def test_moved_one_place(student, reference, draw):
    """The result is BOS, followed by the targets without their last column, whatever ids are in it: EOS and PAD, too."""
    targets = reference.integers("targets", 3, 31, (3, 5))
    reference.assert_close(student.shift_right(targets, 1), name="result")

    for shape, least in (((3, 5), 3), ((1, 521), 3), ((5, 40), 0), ((3, 6), 3)):
        targets = draw.integers(least, 31, shape)  # from 0 on: with PAD, BOS and EOS
        if shape == (3, 6):
            targets[:, 0] = 1  # every row begins with BOS
        elif least == 0:
            targets[0, 0] = 0
        result = student.shift_right(targets, 1)
        assert (result[:, 0] == 1).all(), "In some rows, the first id is not bos_idx."
        context = f"behind BOS, for targets of shape {shape},"
        assert_close(result[:, 1:], targets[:, :-1], name="result", context=context)


@points(1)
def test_any_bos(student, reference):
    """BOS is the argument bos_idx, not always 1."""
    targets = reference.integers("targets", 3, 31, (2, 4))
    with_17 = student.shift_right(targets, 1)
    with_17[:, 0] = 17
    reference.assert_same(
        student.shift_right(targets, 17),
        with_17,
        rule="Another bos_idx must change BOS and nothing else",
        name="result",
        context="with bos_idx = 17",
        key="result with bos_idx = 17, less that with 1",
    )


@points(1)
def test_shape_and_dtype(student, draw):
    """Shape and dtype stay the same, even for a single column."""
    for length in [1, 6]:
        for dtype in [torch.int64, torch.int32]:
            shifted = student.shift_right(draw.integers(3, 31, (3, length)).to(dtype), 1)
            assert_shape(shifted, (3, length), name="result")
            assert shifted.dtype == dtype, f"The targets are {dtype}, but the result is {shifted.dtype}."
            assert (shifted[:, 0] == 1).all(), (
                f"For targets of shape (3, {length}), the first ids are not all bos_idx."
            )


@points(1)
def test_targets_unchanged(student, draw):
    """The targets keep their values."""
    assert_unchanged(student.call("shift_right", draw.integers(3, 31, (3, 5)), 1))
