"""Checks of exercise 2: next_token_probabilities and generate_step."""

import torch

from gradekit.checks import (
    assert_close,
    assert_model_kept,
    assert_not_rounded,
    assert_shape,
    assert_unchanged,
    fail,
    points,
)


def read(candidates):
    """Return (tokens, probabilities) of the candidates, or fail the check."""
    if not isinstance(candidates, list | tuple):
        fail("The candidates should be a list of pairs (token, probability).")
    for pair in candidates:
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            fail("Every candidate should be a pair (token, probability), and the token a string.")
        if not isinstance(pair[1], float):
            fail("The probability of a candidate should be a Python float.")
    return [token for token, _ in candidates], torch.tensor([share for _, share in candidates])


@points(3, see="What comes out")
def test_after_the_last_token(student, reference, tiny):
    """next_token_probabilities is the softmax of the logits after the last token, one row per sequence."""
    (table,) = reference.inputs("model", table=(23, 23))
    ids = reference.integers("ids", 0, 23, (3, 5))
    reference.assert_close(student.next_token_probabilities(tiny.TinyModel(table), ids), name="probabilities")


@points(1)
def test_rows_sum_to_1(student, tiny, draw):
    """Every row of the probabilities sums to 1 over the vocabulary, and none of them is negative."""
    batch, length, vocab = draw.sizes(3, low=3)
    model = tiny.TinyModel(draw.normal(vocab, vocab))
    p = student.next_token_probabilities(model, draw.integers(0, vocab, (batch, length)))
    assert_shape(p, (batch, vocab), name="probabilities")
    assert (p >= 0).all(), "A probability is negative."
    assert_close(p.sum(dim=-1), torch.ones(batch), context="sums of the rows")


@points(1)
def test_any_batch_and_length(student, tiny, draw, last_logits):
    """Any batch size and length works, including a single token."""
    batch, length, vocab = draw.sizes(3, low=3)
    for shape in [(batch, length), (1, length), (batch, 1), (1, 1), (1, 521)]:
        words = vocab if shape[1] < 521 else 43
        table, ids = draw.normal(words, words), draw.integers(0, words, shape)
        p = student.next_token_probabilities(tiny.TinyModel(table), ids)
        context = f"for ids {shape}"
        assert_close(p, torch.softmax(last_logits(table, ids), dim=-1), name="probabilities", context=context)
    table, ids = 300 * draw.normal(vocab, vocab), draw.integers(0, vocab, (batch, length))
    p = student.next_token_probabilities(tiny.TinyModel(table), ids)
    right = torch.softmax(last_logits(table, ids), dim=-1)
    assert_close(p, right, name="probabilities", context="for logits in the hundreds")
    table, ids = table + 2000 * torch.arange(vocab)[:, None], torch.arange(vocab)[:, None]
    p = student.next_token_probabilities(tiny.TinyModel(table), ids)
    right = torch.softmax(last_logits(table, ids), dim=-1)
    context = "for sequences of which each has logits that are thousands above those of another"
    assert_close(p, right, name="probabilities", context=context, atol=0.02)  # a difference is rounded


@points(3)
def test_candidates(student, reference, tiny, tokens, draw, last_logits):
    """The candidates of generate_step are the most likely tokens with their probabilities, most likely first."""
    (table,) = reference.inputs("model", table=(23, 23))
    ids = reference.integers("ids", 0, 23, (1, 4))
    _, candidates = student.generate_step(tiny.TinyModel(table), tiny.TinyTokenizer(tokens), ids)
    found, shares = read(candidates)
    reference.assert_close(shares, name="probabilities", context="of the candidates")
    for token in found:
        if token not in tokens:
            fail("A candidate is not one of the tokens that `convert_ids_to_tokens` returns.")
    order = last_logits(table, ids)[0].argsort(descending=True).tolist()
    assert found == [tokens[number] for number in order[: len(found)]], (
        "The tokens of the candidates don't match their probabilities."
    )
    model = tiny.TinyModel(300 * table)
    _, candidates = student.generate_step(model, tiny.TinyTokenizer(tokens), ids, k=1)
    _, shares = read(candidates)
    right = torch.softmax(300 * last_logits(table, ids)[0], dim=-1).max()[None]
    assert_close(
        shares, right, name="probabilities", context="of the likeliest token, for logits in the hundreds"
    )
    table, names = draw.normal(521, 521), [f"token{number}" for number in range(521)]
    _, candidates = student.generate_step(tiny.TinyModel(table), tiny.TinyTokenizer(names), ids, k=43)
    _, shares = read(candidates)
    right = torch.softmax(last_logits(table, ids)[0], dim=-1).topk(43).values
    assert_not_rounded(candidates[0][1], right[0].item(), name="probability", digits=7)
    assert_close(shares, right, name="probabilities", context="of 43 candidates, among 521 tokens")


@points(2)
def test_number_of_candidates(student, tiny, tokens, draw):
    """There are k candidates, by default ten, or the whole vocabulary if it is smaller."""
    model, tokenizer = tiny.TinyModel(draw.normal(23, 23)), tiny.TinyTokenizer(tokens)
    ids = draw.integers(0, 23, (1, 4))
    sure = tiny.TinyModel(40 * draw.normal(23, 23))
    small = tiny.TinyModel(draw.normal(7, 7)), tiny.TinyTokenizer(tokens[:7]), draw.integers(0, 7, (1, 4))
    for given, wanted, call in [
        ("k=3", 3, lambda: student.generate_step(model, tokenizer, ids, k=3)),
        ("no k", 10, lambda: student.generate_step(model, tokenizer, ids)),
        ("a k above ten", 17, lambda: student.generate_step(model, tokenizer, ids, k=17)),
        ("a k of all 23 tokens", 23, lambda: student.generate_step(model, tokenizer, ids, k=23)),
        ("one token far likelier than the others", 10, lambda: student.generate_step(sure, tokenizer, ids)),
        ("7 tokens in the vocabulary", 7, lambda: student.generate_step(*small)),
    ]:
        count = len(read(call()[1])[0])
        assert count == wanted, f"With {given}, there should be {wanted} candidates, but there are {count}."


@points(1)
def test_appends_the_likeliest(student, reference, tiny, tokens, draw, last_logits, assert_int64):
    """The result is the unchanged ids, followed by the id of the most likely token, all of them int64."""
    (table,) = reference.inputs("model", table=(23, 23))
    ids = torch.tensor(
        [[0, 1, 2, 3]]
    )  # a Ġb c Ġd: converted to text and back, these would become other tokens, aĠb cĠd
    new_ids, _ = student.generate_step(tiny.TinyModel(table), tiny.TinyTokenizer(tokens), ids)
    reference.assert_close(new_ids, context="new ids")
    assert_int64(new_ids, name="new_ids")

    table, names = draw.normal(43, 43), [f"token{number}" for number in range(43)]
    model, tokenizer = tiny.TinyModel(table), tiny.TinyTokenizer(names)
    for length in (4, 4, 521):
        ids = draw.integers(0, 43, (1, length))
        new_ids, _ = student.generate_step(model, tokenizer, ids)
        right = torch.cat([ids, last_logits(table, ids).argmax(dim=-1, keepdim=True)], dim=1)
        assert_close(new_ids, right, context=f"new ids, after {length} tokens")
    table[:, 42] = 40  # the likeliest token after any, itself included
    new_ids, _ = student.generate_step(tiny.TinyModel(table), tokenizer, torch.tensor([[3, 42]]))
    context = "new ids, where the likeliest token is the last one again"
    assert_close(new_ids, torch.tensor([[3, 42, 42]]), context=context)


@points(1)
def test_without_gradients(student, tiny, tokens, draw, assert_evaluated):
    """The model runs without gradients and without dropout, and input_ids keeps its values."""
    model, tokenizer = tiny.TinyModel(draw.normal(23, 23)).eval(), tiny.TinyTokenizer(tokens)
    ids = draw.integers(0, 23, (1, 4))
    assert_unchanged(student.call("next_token_probabilities", model, ids))
    assert_unchanged(student.call("generate_step", model, tokenizer, ids))
    assert_evaluated(model)
    # gradients that the caller has switched off stay so: what is left switched on fails
    student.call("next_token_probabilities", model, ids, no_grad=True)
    student.call("generate_step", model, tokenizer, ids, no_grad=True)
    for call in (
        lambda: student.call("next_token_probabilities", model, ids),
        lambda: student.call("generate_step", model, tokenizer, ids),
    ):
        assert_model_kept(student, model, call, but=["mode"])
