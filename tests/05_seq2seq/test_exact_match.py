"""Checks of exercise 6: exact_match."""

import torch

from gradekit.checks import assert_close, points


@points(1, see="How many are right?")
def test_share_of_whole_rows(student, reference, draw):
    """The result is the share of rows that are right from the first token to the last."""
    expected = torch.tensor([[9, 4, 7, 2], [5, 6, 2, 0], [3, 2, 0, 0], [8, 8, 8, 2], [4, 9, 2, 0]])
    predicted = expected.clone()
    predicted[0, 1] = 7  # a wrong token
    predicted[3] = torch.tensor([8, 8, 2, 0])  # too short
    predicted[4] = torch.tensor([9, 4, 2, 0])  # the right tokens in the wrong order
    reference.assert_close(student.exact_match(predicted, expected), name="share", context="with wrong rows")
    expected, predicted = (
        torch.tensor([[9, 0, 4, 2], [3, 2, 0, 0]]),
        torch.tensor([[9, 4, 2, 0], [3, 2, 0, 0]]),
    )
    context = "with PAD in the middle of a row"
    assert_close(student.exact_match(predicted, expected), 0.5, name="share", context=context)

    expected = torch.tensor([[9, 4, 2], [3, 8, 2], [5, 6, 2]])
    share = student.exact_match(expected[[1, 0, 2]], expected)
    assert_close(share, 1 / 3, name="share", context="if two of three predicted rows are exchanged")

    rows, wrong = sorted(draw.sizes(2, low=3, high=20), reverse=True)
    expected = draw.integers(3, 9, (rows, 5))
    predicted = expected.clone()
    predicted[:wrong, draw.sizes(1, low=0, high=4)[0]] += 1
    assert_close(student.exact_match(predicted, expected), 1 - wrong / rows, name="share")

    expected = draw.integers(3, 9, (7, 4))
    predicted = expected.clone()
    predicted[:2, 1] += 1
    share = student.exact_match(predicted, expected)
    context = "if 5 of 7 rows are right"
    assert_close(share, 5 / 7, name="share", context=context, atol=1e-6, rtol=0)

    expected = draw.integers(3, 90, (1, 521))
    predicted = expected.clone()
    for share in (1.0, 0.0):
        context = "for a single row of 521 tokens" + (" of which the last is wrong" if not share else "")
        assert_close(student.exact_match(predicted, expected), share, name="share", context=context)
        predicted[0, -1] = 2


@points(1)
def test_all_and_none(student, draw):
    """The result is 1 if all rows are right, and 0 if none is right."""
    expected = draw.integers(3, 9, (4, 6))
    assert_close(student.exact_match(expected, expected), 1.0, name="share", context="if all rows are right")
    predicted = expected.clone()
    predicted[:, -1] = 2
    assert_close(
        student.exact_match(predicted, expected), 0.0, name="share", context="if every last token is wrong"
    )

    large = torch.full((1, 3), 2**24)
    share = student.exact_match(large, large + 1)
    assert_close(share, 0.0, name="share", context="if ids above 2²⁴ differ by 1")


@points(1, see="How many are right?")
def test_unequal_widths(student, reference):
    """Whichever argument is narrower is treated as padded with PAD."""
    short = torch.tensor([[9, 4, 2], [5, 2, 0], [7, 8, 9]])
    wide = torch.tensor([[9, 4, 2, 0, 0], [5, 2, 0, 6, 0], [7, 8, 9, 2, 0]])
    reference.assert_close(
        student.exact_match(short, wide), name="share", context="if the prediction is narrower"
    )
    wide = torch.tensor([[9, 4, 2, 0, 0], [5, 2, 0, 6, 0], [7, 8, 9, 0, 0]])
    reference.assert_close(
        student.exact_match(wide, short), name="share", context="if the prediction is wider"
    )


@points(1)
def test_returns_a_float(student, draw):
    """It returns a Python float and does not change its arguments."""
    expected = draw.integers(3, 9, (4, 6))
    call = student.call("exact_match", expected, expected.clone())
    assert isinstance(call.value, float), (
        f"`exact_match` returned a {type(call.value).__name__}. It has to return a float."
    )
    assert not call.changed, "`exact_match` changed one of its arguments in place."
