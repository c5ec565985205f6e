"""Checks of exercise 3b: keep_top_p, against a loop over the tokens."""

import torch

from gradekit.checks import assert_close, assert_shape, assert_unchanged, points


def right(probabilities, top_p):
    """Return what is kept, one token at a time, in float64."""
    kept = torch.zeros_like(probabilities, dtype=torch.float64)
    for row, result in zip(probabilities.double(), kept, strict=True):
        so_far = 0.0
        for token in row.argsort(descending=True).tolist():
            if so_far < top_p:
                result[token] = row[token]
            so_far += float(row[token])
    return (kept / kept.sum(dim=-1, keepdim=True)).to(probabilities.dtype)


def drawn_shares(draw, batch, vocab, top_p):
    """Probabilities whose sums don't come so close to `top_p` that rounding decides how many tokens are kept."""
    while True:
        shares = torch.softmax(2 * draw.normal(batch, vocab), dim=-1)
        sums = shares.double().sort(descending=True).values.cumsum(dim=-1)
        if top_p == 1 or (sums - top_p).abs().min() > 1e-5:
            return shares


@points(2, see="A cut that adapts")
def test_probabilities(student, reference, draw):
    """The likeliest tokens are kept, as few as have top_p together, at their places, and divided by their sum."""
    (logits,) = reference.inputs("logits", logits=(4, 9))
    for top_p in [
        0.35,
        0.8,
    ]:  # with 0.8, one that begins with the unlikeliest cuts as little as one that cuts nothing
        kept = student.keep_top_p(torch.softmax(2 * logits, dim=-1), top_p)
        reference.assert_close(kept, name="probabilities", context=f"with top_p={top_p}")
    for batch, vocab, top_p in [
        (3, 43, 0.9),
        (3, 43, 0.9),
        (1, 5, 0.5),
        (2, 521, 0.7),
        (2, 521, 0.99),
        (2, 9, 1.0),
    ]:
        shares = drawn_shares(draw, batch, vocab, top_p)
        kept = student.keep_top_p(shares, top_p)
        assert_shape(kept, (batch, vocab), name="probabilities")
        context = f"of shape {(batch, vocab)} with top_p={top_p}"
        assert_close(kept, right(shares, top_p), name="probabilities", context=context)


@points(2, see="A cut that adapts")
def test_which_tokens(student, reference):
    """The right tokens are kept, whatever their probabilities are now: always the likeliest, and all with top_p = 1."""
    (logits,) = reference.inputs("logits", logits=(4, 9))
    shares = torch.softmax(2 * logits, dim=-1)
    for top_p in [0.35, 0.9, 0.6, 1e-6, 1.0]:
        kept = student.keep_top_p(shares, top_p)
        reference.assert_close((kept > 0).int(), name="tokens kept", context=f"with top_p={top_p:g}")
    for row, top_p in [
        (8 * [0.125], 0.4),
        ([0.2, 0.4, 0.2, 0.2], 0.5),
        ([0.5, 0.0, 0.0, 0.5], 1.0),
        (8 * [0.125], 0.1),
        ([0.2, 0.3, 0.2, 0.3], 0.55),
    ]:
        shares = torch.tensor([row])
        kept = student.keep_top_p(shares, top_p)
        share = float(shares[kept > 0].sum())
        assert share > top_p - 1e-4, (
            f"For {row} and top_p={top_p}, tokens that have {share:.3g} together are kept. They should have at least top_p."
        )
        enough = max(value for value in row if sum(one for one in row if one >= value) > top_p - 1e-4)
        assert shares[kept > 0].min() > enough - 1e-4, (
            f"For {row} and top_p={top_p}, a token is kept that is less likely than {enough}, although those that aren't have enough."
        )
    (kept,) = student.keep_top_p(torch.tensor([[0.2, 0.5, 0.3]]), 1e-12) > 0
    assert kept.tolist() == [False, True, False], (
        "For [0.2, 0.5, 0.3] and top_p=1e-12, the likeliest token should be kept, and no other."
    )


@points(1)
def test_rows_sum_to_1(student, draw):
    """Every row sums to 1, also where little is cut, and where tokens are equally likely."""
    for batch, vocab, top_p in [(3, 11, 0.6), (2, 7, 1.0), (1, 1, 0.5), (2, 1009, 0.99)]:
        kept = student.keep_top_p(torch.softmax(draw.normal(batch, vocab), dim=-1), top_p)
        assert_shape(kept, (batch, vocab), name="probabilities")
        assert_close(kept.sum(dim=-1), torch.ones(batch), name="sums", context=f"with top_p={top_p}")
    for top_p in (0.4, 0.1):
        kept = student.keep_top_p(torch.full((1, 8), 0.125), top_p)
        context = f"for eight equally likely tokens with top_p={top_p}"
        assert_close(kept.sum(dim=-1), torch.ones(1), name="sum", context=context)


@points(1)
def test_dtype_and_probabilities_unchanged(student, draw):
    """float64 stays float64, to its last digits, and the probabilities that are passed in keep their values."""
    shares = torch.softmax(draw.normal(20, 6, dtype=torch.float64), dim=-1)
    call = student.call("keep_top_p", shares, 1.0)
    assert_unchanged(call)
    assert call.value.dtype == torch.float64, (
        f"For probabilities of float64, the result is {call.value.dtype}."
    )
    assert_close(
        call.value.sum(dim=-1), shares.sum(dim=-1), name="sums", context="in float64", atol=1e-12, rtol=0
    )
