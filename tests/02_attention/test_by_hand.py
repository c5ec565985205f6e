"""Checks of exercise 1: scores, weights and result, each also compared with the step before it."""

import torch

from gradekit.checks import assert_close, assert_shape, assert_varies, points


def given_x():
    return torch.randn(1, 1, 4, 8, generator=torch.Generator().manual_seed(42)) * 0.5


@points(3, see="By hand")
def test_scores(student, reference):
    """`scores` is q kᵀ / √d_k: one score per query and key, divided by the square root of the width."""
    scores = student.get("scores")
    assert_shape(scores, (1, 1, 4, 4), name="scores")
    reference.assert_close(scores, name="scores")


@points(2, see="By hand")
def test_weights_follow_from_scores(student):
    """`weights` is the softmax of your `scores` along each row, over the keys."""
    scores, weights = student.get("scores"), student.get("weights")
    assert_close(weights, torch.softmax(scores, dim=-1), name="weights")


@points(2)
def test_result_follows_from_weights(student):
    """`result` is your `weights` times v."""
    weights, result = student.get("weights"), student.get("result")
    assert_close(result, weights @ given_x(), name="result")
    assert_varies(result, name="result")


@points(3)
def test_weights_and_result(student, reference):
    """The final `weights` and `result` are right."""
    reference.assert_close(student.get("weights"), name="weights")
    reference.assert_close(student.get("result"), name="result")
