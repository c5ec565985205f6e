"""Checks of exercise 5: induction_by_hand. Each step is compared with the student's own step before it."""

import math

import torch
import torch.nn.functional as F

from gradekit.checks import assert_close, assert_shape, fail, for_checks, points

TOKENS = torch.tensor([3, 0, 5, 1, 1, 3, 0, 4])  # 3 0 is repeated, and so is 1, right after itself


@for_checks
def run(student, /, tokens, vocab_size, *strength):
    """Call the student's function; fail unless it returns three tensors of the right shapes."""
    found = student.induction_by_hand(tokens, vocab_size, *strength)
    if not isinstance(found, tuple | list) or len(found) != 3:
        fail("It should return three tensors: (predicted, first, second).")
    shapes = [(len(tokens), vocab_size)] + 2 * [(len(tokens), len(tokens))]
    for value, name, shape in zip(found, ["predicted", "first", "second"], shapes, strict=True):
        assert_shape(value, shape, name=name)
    return found


def masked_softmax(scores, mask):
    """Weights; zeros in a row whose keys are all hidden."""
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask.any(dim=-1, keepdim=True)


def of_head_1(student, length, *strength):
    q, k = student.look_back(length, *strength)
    mask = torch.ones(length, length, dtype=torch.bool).tril(-1)
    return masked_softmax(q @ k.T / math.sqrt(q.shape[1]), mask)


def of_head_2(first, tokens, vocab_size, strength):
    one_hot = F.one_hot(tokens, vocab_size).float()
    mask = torch.ones(len(tokens), len(tokens), dtype=torch.bool).tril()
    return masked_softmax(strength * one_hot @ (first @ one_hot).T, mask)


@points(4, see="The same, by hand")
def test_head_1(student, reference, draw, run):
    """`first` is attention with your `look_back`, to positions before the query only, and zeros at position 0."""
    _, first, _ = run(TOKENS, 6, 2.0)
    context = ", minus the weights that follow from your `look_back`,"
    reference.assert_close(first - of_head_1(student, 8, 2.0), name="first", context=context)
    length, vocabulary = draw.sizes(2)
    for strength in ((), (1.5,), (0.0,)):
        _, first, _ = run(draw.integers(0, vocabulary, (length,)), vocabulary, *strength)
        context = "compared with your `look_back`"
        assert_close(first, of_head_1(student, length, *strength), name="first", context=context)


@points(5, see="The same, by hand")
def test_head_2(reference, draw, run):
    """`second` compares the query's token with the token before each key, both as one-hot vectors."""
    _, first, second = run(TOKENS, 11, 3.0)  # another width than there are positions
    context = ", minus the weights that follow from your `first`,"
    reference.assert_close(second - of_head_2(first, TOKENS, 11, 3.0), name="second", context=context)
    length, vocabulary = draw.sizes(2)
    for strength in (1.0, 4.0, 0.0):
        tokens = draw.integers(0, vocabulary, (length,))
        _, first, second = run(tokens, vocabulary, strength)
        right = of_head_2(first, tokens, vocabulary, strength)
        assert_close(
            second, right, name="second", context=f"with strength={strength}, compared with your `first`,"
        )
    tokens = torch.tensor([1, 2, 1, 3, 1, 0, 1])
    _, first, second = run(tokens, 5, 100.0)
    context = "for a token that has occurred three times, compared with your `first`,"
    assert_close(second, of_head_2(first, tokens, 5, 100.0), name="second", context=context)


@points(3, see="The same, by hand")
def test_what_is_predicted(reference, draw, run):
    """`predicted` is the share of attention that each token gets from head 2."""
    predicted, _, second = run(TOKENS, 8, 3.0)
    reference.assert_close(
        predicted - second @ F.one_hot(TOKENS, 8).float(),
        name="predicted",
        context=", minus what follows from your `second`,",
    )
    sizes = draw.sizes(2)
    for length, vocabulary in (sizes, sizes, (521, 43)):
        tokens = draw.integers(0, vocabulary, (length,))
        predicted, _, second = run(tokens, vocabulary)
        assert_close(
            predicted.sum(dim=-1), torch.ones(length), name="predicted", context="summed over all tokens"
        )
        context = f"from your `second`, for {length} tokens,"
        wanted = second @ F.one_hot(tokens, vocabulary).float()
        assert_close(predicted, wanted, name="predicted", context=context)


@points(2, see="The same, by hand")
def test_predicts_what_came_after(draw, run):
    """On sequences that repeat themselves, every token of the second half is predicted, at any period."""
    for period in draw.sizes(3):
        once = draw.normal(period + 2).argsort()[:period]
        tokens = torch.cat([once, once])
        predicted, first, second = run(tokens, period + 2)
        assert_close(
            predicted[period:-1],
            F.one_hot(tokens[period + 1 :], period + 2).float(),
            name="predicted",
            context=f"in the second half, with period {period},",
        )
        assert_close(first.diagonal(offset=-1), torch.ones(2 * period - 1), name="first", context="one back")
        queries = torch.arange(period, 2 * period)
        found = second[queries, queries - period + 1]
        assert_close(
            found, torch.ones(period), name="second", context="on the token after the previous occurrence"
        )


@points(2)
def test_default_strength_and_tokens_unchanged(student, run):
    """Both strengths are 100 by default, tokens keep their values, and a single token works."""
    by_default, given = run(TOKENS, 6), run(TOKENS, 6, 100.0)
    for name, one, other in zip(["predicted", "first", "second"], by_default, given, strict=True):
        assert one.equal(other), f"`{name}` is different without a strength and with strength=100."
    weak = run(TOKENS, 6, 1.0)
    assert not weak[1].allclose(by_default[1]), "With strength=1, head 1 looks as sure as with 100."
    assert not weak[2].allclose(by_default[2]), "With strength=1, head 2 looks as sure as with 100."
    call = student.call("induction_by_hand", TOKENS, 6)
    assert not call.changed, "The tokens were changed in place."
    predicted, first, second = run(torch.tensor([2]), 4)
    assert first.item() == 0 and second.item() == 1, (
        f"For a single token, `first` should be 0 and `second` 1, but they are {first.item():g} and {second.item():g}."
    )
    assert_close(
        predicted[0], torch.tensor([0.0, 0.0, 1.0, 0.0]), name="predicted", context="for a single token"
    )
