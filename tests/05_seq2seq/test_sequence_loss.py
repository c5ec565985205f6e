"""Checks of exercise 3: sequence_loss."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_close,
    assert_differs,
    assert_reaches,
    assert_right_gradients,
    assert_shape,
    points,
)


@points(2, see="The loss")
def test_mean_cross_entropy(student, reference, draw):
    """Without padding, the loss is the mean of -log softmax(logits) at the right tokens."""
    (logits,) = reference.inputs("logits", logits=(2, 3, 5))
    targets = reference.integers("targets", 1, 5, (2, 3))
    reference.assert_close(student.sequence_loss(logits, targets, 0), name="loss")

    for batch, length, vocab in (draw.sizes(3, low=3), (1, 521, 43)):
        logits, targets = draw.normal(batch, length, vocab), draw.integers(1, vocab, (batch, length))
        expected = F.cross_entropy(logits.movedim(2, 1), targets)
        context = f"for logits of shape {tuple(logits.shape)}"
        assert_close(student.sequence_loss(logits, targets, 0), expected, name="loss", context=context)


@points(1, see="The loss")
def test_pads_do_not_count(student, reference):
    """Positions whose target is padding count neither in the sum nor in the number that it is divided by."""
    (logits,) = reference.inputs("logits", logits=(3, 4, 6))
    targets = reference.integers("targets", 1, 6, (3, 4))
    targets[0, 1:] = 0
    targets[2, 3:] = 0
    with_pads = student.sequence_loss(logits, targets, 0)
    places = targets != 0
    kept = student.sequence_loss(logits[places][None], targets[places][None], 0)  # one row without padding
    reference.assert_same(
        with_pads,
        kept,
        rule="Padding must not change the loss",
        name="loss",
        context="with padding",
        key="loss with pads, less that without these positions",
    )
    other = student.sequence_loss(3 * logits, targets, 0)
    assert_differs(with_pads, other, "The loss does not change with the logits.")
    targets[1] = 0  # nothing but padding in a whole row
    loss, right = (student.sequence_loss(logits[rows], targets[rows], 0) for rows in ([0, 1, 2], [0, 2]))
    assert_close(
        loss,
        right,
        name="loss",
        context="with a row of nothing but padding, compared with that without this row,",
    )


@points(1)
def test_any_pad(student, reference):
    """The padding id is the argument, not always 0, and padding may be anywhere in a row."""
    (logits,) = reference.inputs("logits", logits=(2, 4, 6))
    targets = torch.tensor([[0, 4, 2, 4], [4, 5, 0, 1]])
    reference.assert_close(student.sequence_loss(logits, targets, 4), name="loss", context="with pad_idx = 4")


@points(1, see="The loss")
def test_large_logits(student, reference):
    """For logits in the hundreds, the loss is right and not infinite."""
    (logits,) = reference.inputs("logits", logits=(2, 3, 5))
    targets = reference.integers("targets", 1, 5, (2, 3))
    reference.assert_close(student.sequence_loss(300 * logits, targets, 0), name="loss", atol=1e-2)


@points(1)
def test_gradients(student, draw):
    """Gradients reach the logits, except where the target is padding."""
    targets = torch.tensor([[2, 3, 0], [4, 0, 0]])
    gradients = student.gradients("sequence_loss", draw.normal(2, 3, 5), targets, 0)
    assert_reaches(gradients)
    gradient = gradients.inputs[0]
    assert not gradient[targets == 0].any(), (
        "The loss depends on logits at positions whose target is padding."
    )
    assert gradient[targets != 0].abs().sum(dim=1).all(), (
        "The loss does not depend on every position whose target is a real token."
    )
    gradients = student.gradients("sequence_loss", draw.normal(2, 3, 5, dtype=torch.float64), targets, 0)
    assert_right_gradients(gradients, student.sequence_loss, name="loss")


@points(1)
def test_scalar_of_the_same_dtype(student, draw):
    """The loss is a scalar tensor, and for float64 logits the loss is float64."""
    logits, targets = draw.normal(2, 3, 5, dtype=torch.float64), draw.integers(1, 5, (2, 3))
    loss = student.sequence_loss(logits, targets, 0)
    assert_shape(loss, (), name="loss")
    assert loss.dtype == torch.float64, f"The logits are float64, but the loss is {loss.dtype}."
