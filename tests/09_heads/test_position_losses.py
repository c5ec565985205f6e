"""Checks of exercise 3: position_losses and half_losses."""

import torch

from gradekit.checks import (
    assert_close,
    assert_not_rounded,
    assert_reaches,
    assert_right_gradients,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)

HALVES = "first half", "second half"


def right_losses(logits, tokens):
    """Return the losses, (length - 1,), one prediction at a time."""
    chances = torch.log_softmax(logits, dim=-1)
    batch, length = tokens.shape
    rows = [[-chances[b, p, tokens[b, p + 1]] for p in range(length - 1)] for b in range(batch)]
    return torch.tensor(rows).mean(dim=0)


@points(4, see="Has it looked back?")
def test_losses_equal_the_formula(student, reference):
    """Entry p is the cross-entropy of the logits at p for the token at p + 1, averaged over the batch."""
    (logits,) = reference.inputs("logits", x=(6, 6, 6))
    tokens = torch.tensor([[(3 * b + p * (b + 1)) % 6 for p in range(6)] for b in range(6)])
    reference.assert_close(student.position_losses(2 * logits, tokens), name="losses")


@points(2)
def test_losses_of_any_size(student, draw):
    """Any batch, length and vocabulary work, including a single sequence, a long one and large logits."""
    batch, length, vocabulary = draw.sizes(3)
    sizes = length, vocabulary
    for shape, scale in [
        ((batch, *sizes), 1.0),
        ((1, *sizes), 1.0),
        ((batch, *sizes), 200.0),
        ((1, 521, 43), 1.0),
        ((3, 2, 5), 1.0),
    ]:
        logits = scale * draw.normal(*shape)
        tokens = draw.integers(
            0, max(shape[2] - 2, 1), shape[:2]
        )  # some tokens of the vocabulary don't occur
        losses = student.position_losses(logits, tokens)
        assert_shape(losses, (shape[1] - 1,), name="losses")
        context = f"for logits of shape {shape}"
        assert_close(losses, right_losses(logits, tokens), name="losses", context=context)


@points(1, see="Has it looked back?")
def test_a_model_that_knows(student, draw):
    """A model that is sure of every next token has the loss 0 everywhere, whatever it says at the last position."""
    tokens = draw.integers(0, 7, (3, 8))
    logits = torch.zeros(3, 8, 7)
    logits[:, :-1] = 60.0 * torch.nn.functional.one_hot(tokens[:, 1:], 7)
    logits[:, -1] = 5 * draw.normal(3, 7)
    losses = student.position_losses(logits, tokens)
    assert_close(losses, torch.zeros(7), name="losses", context="of a model that knows every next token")


@points(3, see="Has it looked back?")
def test_halves(student, reference, draw):
    """The halves are the means of predictions 0 … period - 2 and period … 2 · period - 2."""
    (losses,) = reference.inputs("losses", x=(13,))
    halves = [float(half) for half in student.half_losses(losses.abs(), 7)]
    reference.assert_close(torch.tensor(halves), name="halves")
    for period in [*draw.sizes(3), 263, 263]:
        losses = 40 * draw.normal(2 * period - 1).abs()
        losses[::3] = 0  # of predictions that are sure, and right
        context = f"for period {period}"
        right = losses[: period - 1].mean(), losses[period:].mean()
        for name, half, wanted in zip(HALVES, student.half_losses(losses, period), right, strict=True):
            assert_close(torch.tensor(float(half)), wanted, name=name, context=context)
            assert_not_rounded(float(half), wanted.item(), name=name)


@points(1)
def test_halves_are_floats(student, draw):
    """`half_losses` returns a pair of Python floats, even for the shortest period, 2, and for losses that require gradients."""
    for period in (2, 5):
        halves = student.half_losses(draw.normal(2 * period - 1), period)
        assert isinstance(halves, tuple) and len(halves) == 2, (
            f"It should return a pair, but returns {halves!r}."
        )
        kinds = [type(half).__name__ for half in halves]
        assert kinds == ["float", "float"], f"Both should be Python floats, but they are {kinds}."
        assert halves[0] == halves[0] and halves[1] == halves[1], (
            f"One of the means is NaN for period {period}."
        )
    student.gradients("half_losses", draw.normal(9), 5)


@points(1)
def test_inputs_unchanged(student, draw):
    """Logits, tokens and losses keep their values, and gradients flow through `position_losses` back to the logits."""
    logits, tokens = draw.normal(2, 5, 4), draw.integers(0, 4, (2, 5))
    call = student.call("position_losses", logits, tokens)
    assert_unchanged(call)
    assert_varies(call.value, name="losses")
    halves = student.call("half_losses", draw.normal(9), 5)
    assert not halves.changed, "half_losses changed the losses in place."
    gradients = student.gradients("position_losses", logits.double(), tokens)
    assert_reaches(gradients)
    assert_right_gradients(gradients, student.position_losses, name="losses")
