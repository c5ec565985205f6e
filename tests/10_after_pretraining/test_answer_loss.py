"""Checks of exercise 2: answer_loss, against the formula, one token at a time."""

import torch
from shared import any_batches, right_log_probs

from gradekit.checks import assert_close, assert_raises, assert_shape, assert_unchanged, fail, points

COUNTS = torch.tensor([[1, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 1]]).bool()
IDS = torch.tensor([[1, 4, 2, 0, 3, 5], [2, 0, 5, 1, 4, 3], [0, 3, 1, 5, 2, 4], [5, 2, 4, 3, 0, 1]])


def right_loss(logits, ids, counts):
    rows = right_log_probs(logits, ids, counts)
    tokens = [chance for row in rows for chance in row]
    return -torch.stack(tokens).mean().float()


@points(4, see="Only the answer counts")
def test_equals_the_formula(student, reference):
    """The loss is the mean over all tokens that count; logits at t are compared with the token at t + 1."""
    found = []
    for label in ("a", "b", "c"):
        (logits,) = reference.inputs(label, x=(4, 6, 6))
        found.append(student.answer_loss(2 * logits, IDS, COUNTS).reshape(()))
    reference.assert_close(torch.stack(found), name="loss", context="of three batches")


@points(2)
def test_any_sizes(student, draw):
    """Any batch, length and vocabulary work, including one row, two tokens, large logits and long texts."""
    for logits, ids, counts in any_batches(draw):
        loss = student.answer_loss(logits, ids, counts)
        assert_shape(loss, (), name="loss")
        context = f"for logits of shape {tuple(logits.shape)}"
        assert_close(loss, right_loss(logits, ids, counts), name="loss", context=context)


@points(2, see="Only the answer counts")
def test_what_does_not_count(student, draw):
    """Logits that aren't used make no difference, not even NaN or infinite ones, and neither does counts[:, 0]."""
    logits, ids = draw.normal(3, 7, 5), draw.integers(0, 5, (3, 7))
    counts = torch.zeros(3, 7, dtype=torch.bool)
    counts[0, 3:5] = counts[1, 2] = counts[2, 5:7] = True
    first = student.answer_loss(logits, ids, counts)
    assert_shape(first, (), name="loss")
    for value in (3.0, float("nan"), float("inf"), -float("inf")):
        changed = logits.clone()
        changed[:, :-1][~counts[:, 1:]] = value
        changed[:, -1] = value
        loss = student.answer_loss(changed, ids, counts)
        assert_close(loss, first, name="loss", context=f"with logits of {value} that don't count")
    changed = logits.clone()
    target = torch.nn.functional.one_hot(ids[:, 1:], 5).bool()
    changed[:, :-1][~counts[:, 1:, None] & target] = -float("inf")
    loss = student.answer_loss(changed, ids, counts)
    assert_close(loss, first, name="loss", context="where tokens that don't count have logits of -inf")
    counts[:, 0] = True
    assert_close(
        student.answer_loss(logits, ids, counts), first, name="loss", context="with counts[:, 0] = True"
    )
    if first.item() == 0:
        fail("The loss of random logits is 0.")


@points(2)
def test_nothing_counts(student, draw):
    """If no token counts after position 0, it raises a ValueError."""
    logits, ids = draw.normal(2, 4, 5), draw.integers(0, 5, (2, 4))
    counts = torch.zeros(2, 4, dtype=torch.bool)
    assert_raises(ValueError, lambda: student.answer_loss(logits, ids, counts), context="if nothing counts")
    counts[:, 0] = True
    assert_raises(
        ValueError, lambda: student.answer_loss(logits, ids, counts), context="if only position 0 is marked"
    )
    counts[0, 2] = True
    if not torch.isfinite(student.answer_loss(logits, ids, counts)):
        fail("With a single token that counts, the loss should be a finite number.")


@points(2)
def test_gradients_and_inputs_unchanged(student, models, draw):
    """Gradients flow to the logits, and the inputs keep their values."""
    logits, ids = draw.normal(2, 5, 4), draw.integers(0, 4, (2, 5))
    counts = torch.tensor([[False, False, True, True, False], [True, False, False, False, True]])
    assert_unchanged(student.call("answer_loss", logits, ids, counts))
    gradient = models.gradient_of_loss(student.get("answer_loss"), logits, ids, counts)
    if gradient is None:
        fail("No gradient flows from the loss to the logits.")
    assert gradient.abs().sum() > 0, "The gradient of the logits is 0 everywhere."
