"""Checks of exercise 5: answer_log_probs, against the formula, one token at a time."""

import torch
from shared import any_batches, right_log_probs, some_counts

from gradekit.checks import (
    assert_close,
    assert_reaches,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)

COUNTS = torch.tensor([[1, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 1]]).bool()
IDS = torch.tensor([[1, 4, 2, 0, 3, 5], [2, 0, 5, 1, 4, 3], [0, 3, 1, 5, 2, 4], [5, 2, 4, 3, 0, 1]])


def right_sums(logits, ids, counts):
    return torch.tensor([float(sum(row)) for row in right_log_probs(logits, ids, counts)])


@points(3, see="Which answer is better?")
def test_equals_the_formula(student, reference):
    """Each row has the sum of the log-probabilities of its tokens that count."""
    (logits,) = reference.inputs("logits", x=(4, 6, 6))
    reference.assert_close(student.answer_log_probs(2 * logits, IDS, COUNTS), name="log_probs")


@points(1)
def test_any_sizes(student, draw):
    """Any batch, length and vocabulary work, including one row, two tokens, large logits and long texts."""
    for logits, ids, counts in any_batches(draw):
        found = student.answer_log_probs(logits, ids, counts)
        assert_shape(found, (len(ids),), name="log_probs")
        context, right = f"for logits of shape {tuple(logits.shape)}", right_sums(logits, ids, counts)
        assert_close(found, right, name="log_probs", context=context, atol=1e-3)


@points(1, see="Which answer is better?")
def test_each_row_on_its_own(student, draw):
    """A row has the same sum among others as alone."""
    logits, ids, counts = draw.normal(4, 7, 5), draw.integers(0, 5, (4, 7)), some_counts(draw, 4, 7)
    found = student.answer_log_probs(logits, ids, counts)
    assert_shape(found, (4,), name="log_probs")
    assert_varies(found, name="log_probs")
    for row in range(4):
        one = slice(row, row + 1)
        alone = student.answer_log_probs(logits[one], ids[one], counts[one])
        assert_close(found[one], alone, name="log_probs", context="of a row among others", atol=1e-4)


@points(1, see="Which answer is better?")
def test_what_does_not_count(student, draw):
    """What doesn't count makes no difference, and a row in which nothing counts has 0."""
    logits, ids, counts = draw.normal(3, 7, 5), draw.integers(0, 5, (3, 7)), some_counts(draw, 3, 7)
    counts[2] = False
    counts[2, 0] = True
    found = student.answer_log_probs(logits, ids, counts)
    assert_shape(found, (3,), name="log_probs")
    assert_varies(found, name="log_probs")
    assert_close(found[2], torch.tensor(0.0), name="log_probs", context="of a row in which nothing counts")
    context = "of a batch in which nothing counts"
    none = student.answer_log_probs(logits, ids, torch.zeros_like(counts))
    assert_close(none, torch.zeros(3), name="log_probs", context=context)
    changed = logits.clone()
    changed[:, :-1][~counts[:, 1:]] += 3 * draw.normal(5)
    changed[:, -1] = 7.0
    context = "with other logits where nothing counts"
    assert_close(student.answer_log_probs(changed, ids, counts), found, name="log_probs", context=context)


@points(2)
def test_gradients_and_inputs_unchanged(student, draw):
    """Gradients flow to the logits, and the inputs keep their values."""
    logits, ids = draw.normal(2, 4, 3), draw.integers(0, 3, (2, 4))
    counts = torch.tensor([[True, True, True, False], [False, False, False, True]])
    call = student.call("answer_log_probs", logits, ids, counts)
    assert_unchanged(call)
    assert_varies(call.value, name="log_probs")
    assert_reaches(student.gradients("answer_log_probs", logits, ids, counts))
