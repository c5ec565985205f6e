"""Checks of exercise 1: previous_token_score, on given weights."""

import torch

from gradekit.checks import (
    assert_close,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)


def one_back(length):
    """Weights of a head that always looks one back, and at itself at position 0."""
    weights = torch.zeros(length, length)
    weights[0, 0] = 1.0
    for query in range(1, length):
        weights[query, query - 1] = 1.0
    return weights


@points(3, see="Where does a head look?")
def test_equals_the_formula(student, reference, draw):
    """The score is the mean of the weights one place below the diagonal."""
    (scores,) = reference.inputs("square", x=(5, 5, 5, 5))
    result = student.previous_token_score(torch.softmax(scores, dim=-1))
    reference.assert_close(result, name="score")
    for length in draw.sizes(2):
        weights = torch.softmax(draw.normal(length, length), dim=-1)
        right = torch.stack([weights[q, q - 1] for q in range(1, length)]).mean()
        assert_close(student.previous_token_score(weights), right, name="score")


@points(2)
def test_other_axes_stay(student, reference, draw):
    """With any number of axes before the last two, each table gets the same score as on its own."""
    layers, batch, heads, length = draw.sizes(4)
    for shape in [(heads,), (batch, heads), (layers, batch, heads)]:
        weights = torch.softmax(draw.normal(*shape, length, length), dim=-1)
        score = student.previous_token_score(weights)
        assert_shape(score, shape, name="score", context=f"for weights of shape {tuple(weights.shape)}")
        assert_varies(score, name="score")
        last = tuple(size - 1 for size in shape)
        for place in [(0,) * len(shape), last]:
            alone = student.previous_token_score(weights[place])
            reference.assert_same(
                score[place],
                alone,
                rule="A table must have the same score among others as on its own",
                name="score",
                key=f"{len(shape)} {place == last}",
            )


@points(2, see="Where does a head look?")
def test_heads_by_hand(student):
    """A head that always looks one back scores 1, one that looks at itself or one ahead 0, at any length."""
    for length in (2, 3, 8):
        back = one_back(length)
        ahead = torch.zeros(length, length)
        ahead[:-1] = torch.eye(length)[1:]
        heads = torch.stack([back, torch.eye(length), ahead])
        scores = student.previous_token_score(heads)
        assert_close(
            scores,
            torch.tensor([1.0, 0.0, 0.0]),
            name="scores",
            context=f"of heads that look one back, at themselves and one ahead, with {length} positions,",
        )


@points(1)
def test_weights_unchanged(student, draw):
    """The weights keep their values."""
    call = student.call("previous_token_score", draw.normal(2, 3, 4, 4))
    assert_unchanged(call)
    assert_varies(call.value, name="score")
