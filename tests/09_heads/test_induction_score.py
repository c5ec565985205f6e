"""Checks of exercise 2: induction_score, on given weights."""

import torch

from gradekit.checks import assert_close, assert_raises, assert_unchanged, assert_varies, points


def looking_at(length, period, step):
    """A head that looks `step` after the previous occurrence; without one, at the position that `step` would lead to."""
    weights = torch.zeros(length, length)
    for query in range(length):
        weights[query, max(query - period + step, 0)] = 1.0
    return weights


@points(4, see="Where does a head look?")
def test_equals_the_formula(student, reference, draw):
    """The score is the mean weight that query p puts on position p - period + 1, for p = period and later, at any period."""
    (scores,) = reference.inputs("square", x=(2, 3, 12, 12))
    result = student.induction_score(torch.softmax(scores, dim=-1), 5)
    reference.assert_close(result, name="score")
    (period,) = draw.sizes(1)
    lengths = [(period, [length]) for length in (2 * period, period + 1, 3 * period - 1)]
    for period, (*other, length) in [*lengths, (43, [1, 521]), (1, [7]), (1, [2])]:
        weights = torch.softmax(draw.normal(*other, length, length), dim=-1)
        right = torch.stack([weights[..., q, q - period + 1] for q in range(period, length)]).mean(dim=0)
        context = f"for period {period} and length {length}"
        assert_close(student.induction_score(weights, period), right, name="score", context=context)
    weights = torch.softmax(draw.normal(2, 9, 9), dim=-1)
    weights[:, ::2] *= 0.5
    weights[:, 5] = 0
    right = torch.stack([weights[..., q, q - 2] for q in range(3, 9)]).mean(dim=0)
    context = "of weights whose rows don't sum to 1"
    assert_close(student.induction_score(weights, 3), right, name="score", context=context)


@points(3)
def test_other_axes_stay(student, assert_other_axes_stay):
    """With any number of axes before the last two, each table gets the same score as on its own."""
    assert_other_axes_stay(student.induction_score, periods=2)


@points(3, see="Where does a head look?")
def test_heads_by_hand(student):
    """A perfect induction head scores 1; looking at the same token, or one back, scores 0."""
    for period, length in [(3, 6), (7, 14), (4, 11)]:
        perfect = looking_at(length, period, 1)
        perfect[:period] = 0.0
        perfect[:period, 0] = 1.0  # where nothing has occurred before
        others = [looking_at(length, period, 0), looking_at(length, period, period - 1)]
        first_half = looking_at(length, period, 1)
        first_half[period:] = torch.eye(length)[period:]  # right only where no query counts
        heads = torch.stack([perfect, *others, first_half])
        assert_close(
            student.induction_score(heads, period),
            torch.tensor([1.0, 0.0, 0.0, 0.0]),
            name="scores",
            context=(
                f"of a perfect induction head, of one that looks at the same token, one that looks one back, and one "
                f"that is right only before position {period}, with period {period} and {length} positions,"
            ),
        )


@points(1)
def test_nothing_is_repeated(student, draw):
    """If the length isn't larger than the period, it raises a ValueError that names both."""
    for length, period, compared in [(6, 6, "equals"), (5, 8, "is smaller than")]:
        weights = torch.softmax(draw.normal(2, length, length), dim=-1)
        assert_raises(
            ValueError,
            lambda weights=weights, period=period: student.induction_score(weights, period),
            mentions=(length, period),
            context=f"if the length {compared} the period",
        )


@points(1)
def test_weights_unchanged(student, draw):
    """The weights keep their values."""
    call = student.call("induction_score", draw.normal(2, 3, 7, 7), 3)
    assert_unchanged(call)
    assert_varies(call.value, name="score")
