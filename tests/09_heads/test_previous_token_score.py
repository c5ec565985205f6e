"""Checks of exercise 1: previous_token_score, on given weights."""

import torch

from gradekit.checks import assert_close, assert_unchanged, assert_varies, points


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
    for *other, length in [*([size] for size in draw.sizes(2)), (1, 521)]:
        weights = torch.softmax(draw.normal(*other, length, length), dim=-1)
        right = torch.stack([weights[..., q, q - 1] for q in range(1, length)]).mean(dim=0)
        context = f"for weights of shape {tuple(weights.shape)}"
        assert_close(student.previous_token_score(weights), right, name="score", context=context)
    weights = draw.normal(2, 5, 5).abs()
    right = torch.stack([weights[..., q, q - 1] for q in range(1, 5)]).mean(dim=0)
    context = "for weights of which no row sums to 1, as after dropout,"
    assert_close(student.previous_token_score(weights), right, name="score", context=context)


@points(2)
def test_other_axes_stay(student, assert_other_axes_stay):
    """With any number of axes before the last two, each table gets the same score as on its own."""
    assert_other_axes_stay(lambda weights, _: student.previous_token_score(weights))


@points(2, see="Where does a head look?")
def test_heads_by_hand(student):
    """A head that always looks one back scores 1, one that looks at itself or one ahead 0, at any length."""
    for length in (2, 3, 8):
        back = one_back(length)
        ahead = torch.zeros(length, length)
        ahead[:-1] = torch.eye(length)[1:]
        nearly = back.clone()
        nearly[-1] = torch.eye(length)[-1]
        heads = torch.stack([back, torch.eye(length), ahead, nearly])
        scores = student.previous_token_score(heads)
        context = (
            "of heads that look one back, at themselves, one ahead, and one back but for the last position,"
        )
        right = torch.tensor([1.0, 0.0, 0.0, (length - 2) / (length - 1)])
        assert_close(scores, right, name="scores", context=f"{context} with {length} positions,")


@points(1)
def test_weights_unchanged(student, draw):
    """The weights keep their values."""
    call = student.call("previous_token_score", draw.normal(2, 3, 4, 4))
    assert_unchanged(call)
    assert_varies(call.value, name="score")
