"""Checks of exercise 4: look_back. The student chooses the width, so only the scores are compared."""

import math

import torch

from gradekit.checks import assert_close, assert_shape, fail, points


def scores_of(student, length, *strength):
    """Return q kᵀ / √width, (length, length)."""
    q, k = student.look_back(length, *strength)
    for name, value in [("q", q), ("k", k)]:
        if not isinstance(value, torch.Tensor) or value.dim() != 2 or len(value) != length:
            found = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
            fail(f"`{name}` should have the shape ({length}, width), but is {found}.")
    if q.shape != k.shape:
        fail(
            f"`q` and `k` should have the same width, but have the shapes {tuple(q.shape)} and {tuple(k.shape)}."
        )
    return q.float() @ k.float().T / math.sqrt(q.shape[1])


def one_below(length):
    return torch.diag(torch.ones(length - 1), diagonal=-1)


@points(5, see="The same, by hand")
def test_scores_where_they_belong(student, reference, draw):
    """Each position has its one high score at the position before, and the same score everywhere."""
    scores = scores_of(student, 6)
    highest = scores.max().clamp(min=1e-6)
    reference.assert_close(scores / highest, name="scores", context="divided by the highest score")
    for length in (*draw.sizes(1), 43, 521):
        scores = scores_of(student, length)
        highest = scores.max()
        assert highest > 0, "No score is positive, so the position before can't stand out."
        assert_close(
            scores / highest, one_below(length), name="scores", context="divided by the highest score"
        )


@points(4, see="The same, by hand")
def test_scores_are_strength(student, reference, draw):
    """After the division by √width, the score is `strength`, which is 100 by default."""
    settings = [(6,), (6, 3.0), (9, 3.0), (4, 0.5), (9, 2.0), (12, 5.0)]
    highest = torch.stack([scores_of(student, *setting).max() for setting in settings])
    reference.assert_close(highest, name="highest scores", context="for six lengths and strengths")
    length, strength = draw.sizes(2, low=3)  # in two positions, nothing is two back
    for positions, wanted in [
        (length, strength + 0.5),
        (43, strength + 0.5),
        (length, 500.0),
        (43, strength),
    ]:
        highest = scores_of(student, positions, wanted).max()
        context = f"with strength={wanted}, {positions} positions,"
        assert_close(highest, torch.tensor(float(wanted)), name="highest score", context=context)
    none = scores_of(student, length, 0.0)
    assert_close(none, torch.zeros(length, length), name="scores", context="with strength=0,")


@points(2, see="The same, by hand")
def test_looks_one_back_under_a_causal_mask(student, draw):
    """With the causal mask, the weight of the position before is 1, up to rounding."""
    (length,) = draw.sizes(1)
    scores = scores_of(student, length)
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    assert_close(
        weights.diagonal(offset=-1), torch.ones(length - 1), name="weights", context="of the position before"
    )


@points(1)
def test_position_0_and_short_texts(student):
    """Position 0 scores 0 with every key, and lengths 1 and 2 work."""
    for length in (1, 2, 5):
        scores = scores_of(student, length)
        assert_shape(scores, (length, length), name="scores")
        assert_close(
            scores[0], torch.zeros(length), name="scores", context=f"of position 0, with {length} positions,"
        )
        assert length == 1 or scores.max() > 0, f"With {length} positions, no score is positive."
