"""Checks of exercise 3a: sampling_probabilities and generate_n_tokens."""

import functools

import torch

from gradekit.checks import (
    assert_close,
    assert_model_kept,
    assert_shape,
    assert_unchanged,
    fail,
    for_checks,
    points,
)


@for_checks
def likeliest(last_logits, /, table, ids, count):
    """The ids, followed by the likeliest token of each of `count` steps, for a TinyModel with this table."""
    for _ in range(count):
        ids = torch.cat([ids, last_logits(table, ids).argmax(dim=-1, keepdim=True)], dim=1)
    return ids


@points(2, see="From probabilities to a text")
def test_temperature(student, reference):
    """sampling_probabilities divides the logits by the temperature, then takes the softmax."""
    (logits,) = reference.inputs("logits", logits=(3, 9))
    for temperature in [1.0, 0.4, 2.5, 30.0]:
        reference.assert_close(
            student.sampling_probabilities(2 * logits, temperature),
            name="probabilities",
            context=f"at temperature {temperature}",
        )


@points(2, see="From probabilities to a text")
def test_top_k(student, reference):
    """With top_k, only the k most likely tokens have a probability above 0, at any temperature."""
    (logits,) = reference.inputs("logits", logits=(3, 9))
    for k in [4, 1]:
        p = student.sampling_probabilities(2 * logits, 1.0, k)
        reference.assert_close(p, name="probabilities", context=f"with top_k={k}")
    p = student.sampling_probabilities(logits - 5, temperature=1e-4, top_k=2)
    reference.assert_close(
        p, name="probabilities", context="of negative logits at temperature 0.0001 with top_k=2"
    )
    p = student.sampling_probabilities(2 * logits, temperature=2.5, top_k=3)
    reference.assert_close(p, name="probabilities", context="at temperature 2.5 with top_k=3")
    for row, temperature, k, context in [
        (torch.arange(9.0).roll(4) - 1e5, 1.0, 2, "of logits of about -100000"),
        (torch.arange(9.0).roll(4), 1e4, 3, "at temperature 10000"),
        (torch.linspace(0, 60, 31).roll(9), 30.0, 20, "of logits from 0 to 60 at temperature 30"),
    ]:
        top = row.topk(k)
        right = torch.zeros_like(row).scatter(
            -1, top.indices, torch.softmax(top.values / temperature, dim=-1)
        )
        p = student.sampling_probabilities(row[None], temperature, k)
        context = f"{context} with top_k={k}"
        assert_close(p, right[None], name="probabilities", context=context, atol=0.02 if k == 2 else 1e-5)
    for row in ([1.0, 1.0, 1.0, 1.0, 1.0], [4.0, 2.0, 2.0, 2.0, 0.0]):
        (p,) = student.sampling_probabilities(torch.tensor([row]), 1.0, 2)
        kept = p[p > 0]
        assert (
            len(kept) >= 2 and abs(p.sum() - 1) < 1e-5 and p.max() == p[torch.tensor(row) == max(row)].max()
        ), (
            f"For the logits {row} and top_k=2, at least two tokens should be kept and sum to 1, but the probabilities are {p.tolist()}."
        )


@points(1)
def test_all_tokens(student, draw):
    """Without top_k, or with one at least as large as the vocabulary, all tokens are kept."""
    for logits in (draw.normal(3, 7), draw.normal(3, 7), 40 * draw.normal(1, 521)):
        vocab = logits.shape[1]
        for top_k in [None, vocab, vocab + 5]:
            p = student.sampling_probabilities(logits, top_k=top_k)
            context = f"with top_k={top_k}, for {vocab} tokens,"
            assert_close(p, torch.softmax(logits, dim=-1), name="probabilities", context=context)
    logits = draw.normal(2, 521)
    p = student.sampling_probabilities(logits)
    assert_close(p, torch.softmax(logits, dim=-1), name="probabilities", context="by default")
    logits = draw.normal(3, 7) + 2000 * torch.arange(3)[:, None]
    p = student.sampling_probabilities(logits)
    context = "for sequences of which each has logits that are thousands above those of another"
    right = torch.softmax(logits, dim=-1)
    assert_close(p, right, name="probabilities", context=context, atol=0.02)  # a difference is rounded


@points(1)
def test_logits_unchanged(student, draw):
    """The logits keep their values."""
    assert_unchanged(student.call("sampling_probabilities", draw.normal(3, 7), 0.7, 4))


@points(3, see="From probabilities to a text")
def test_greedy(student, reference, tiny, draw, likeliest):
    """At temperature 0, which is the default, generate_n_tokens appends the most likely token at every step."""
    (table,) = reference.inputs("model", table=(23, 23))
    ids = reference.integers("ids", 0, 23, (3, 4))
    reference.assert_close(student.generate_n_tokens(tiny.TinyModel(table), ids, 6), name="ids")

    table = draw.normal(43, 43)
    model = tiny.TinyModel(table)
    for shape in [(3, 4), (3, 4), (1, 41), (1, 521), (2, 5)]:
        if shape == (2, 5):  # logits as large as those of real models, or larger
            table = 40 * table
            model = tiny.TinyModel(table)
        ids = draw.integers(0, 43, shape)
        found = student.generate_n_tokens(model, ids, 3)
        assert_close(found, likeliest(table, ids, 3), name="ids", context=f"after ids of shape {shape}")

    prompt = torch.arange(10).view(2, 5)
    for token in (0, 42):
        table = draw.normal(43, 43)
        table[:, token] = 9
        found = student.generate_n_tokens(tiny.TinyModel(table), prompt, 4)
        longer = torch.cat([prompt, torch.full((2, 4), token)], dim=1)
        assert_close(found, longer, name="ids", context=f"where the likeliest of 43 tokens is always {token}")
    table = torch.eye(5).roll(1, dims=1)  # writes each of five tokens
    prompt = torch.tensor([[0, 1], [2, 3]])
    found = student.generate_n_tokens(tiny.TinyModel(table), prompt, 12)
    context = "of a model that writes each of its five tokens, 0 included,"
    assert_close(found, likeliest(table, prompt, 12), name="ids", context=context)
    table = draw.normal(43, 43)
    table[:, 0] = -9  # after a 0, this model would write it for ever
    found = student.generate_n_tokens(tiny.TinyModel(table), prompt, 60)
    assert_close(found, likeliest(table, prompt, 60), name="ids", context="of 60 new tokens")


@points(2)
def test_sees_the_whole_sequence(student, tiny, draw, assert_int64):
    """At every step, the model is given all ids so far, and the result starts with the given ids; ids stay int64."""
    length, count, vocab = draw.sizes(3, low=4)
    model, ids = tiny.TinyModel(draw.normal(vocab, vocab)), draw.integers(0, vocab, (2, length))
    new_ids = student.generate_n_tokens(model, ids, count, temperature=1.0)
    assert_shape(new_ids, (2, length + count), name="ids")
    assert torch.equal(new_ids[:, :length], ids), "The result does not start with the given ids."
    assert_int64(new_ids, name="ids")
    lengths = tiny.lengths(model)
    assert len(lengths) >= count, f"The model ran {len(lengths)} times for {count} tokens."
    assert lengths[:count] == list(range(length, length + count)), (
        "The model was not given the whole sequence so far, which grows by one token at every step."
    )


@points(3, see="From probabilities to a text")
def test_draws(student, tiny, draw, last_logits, likeliest):
    """Above temperature 0, each sequence gets its own draws, with the right frequencies, for every temperature and top_k."""
    table, ids = 1.5 * draw.normal(6, 6), draw.integers(0, 6, (1, 3)).repeat(2, 1)
    ids[1, -1] = (ids[0, -1] + 1) % 6
    rows = (ids * torch.arange(1, 4)).sum(dim=1) % 6
    table[rows[1]] = table[rows[0]].roll(2)  # the two sequences have different likeliest tokens
    model, many, logits = tiny.TinyModel(table), ids.repeat(4000, 1), last_logits(table, ids)
    for temperature, top_k in [(1.0, None), (2.5, None), (1.5, 3), (0.5, None), (0.7, 2)]:
        drawn = student.generate_n_tokens(model, many, 1, temperature=temperature, top_k=top_k)
        assert_shape(drawn, (8000, 4), name="ids")
        last = drawn[:, -1].reshape(4000, 2)
        if (last == last[0]).all():
            assert last[0, 0] != last[0, 1], (
                "All sequences of the batch get the same token, however they differ."
            )
            fail(f"At temperature {temperature}, 4000 draws after the same ids are all the same token.")
        for place, which in enumerate(["first", "second"]):
            kept = logits[place]
            if top_k is not None:
                kept = kept.masked_fill(kept < kept.topk(top_k).values[-1], -torch.inf)
            right = torch.softmax(kept / temperature, dim=-1)
            found = torch.stack([(last[:, place] == token).float().mean() for token in range(6)])
            assert not found[right == 0].any(), f"With top_k={top_k}, a token outside the top k was drawn."
            context = (
                f"frequencies after the {which} of two texts, at temperature {temperature} and top_k {top_k}"
            )
            assert_close(found, right, context=context, atol=0.045)
    sure = 0 * table
    sure[:, 4] = 60.0
    drawn = student.generate_n_tokens(tiny.TinyModel(sure), ids, 3, temperature=1.0)
    assert (drawn[:, -3:] == 4).all(), (
        "Token 4 has a probability of 1 at each of three steps, but another one was drawn. It may be drawn again and again."
    )
    drawn = student.generate_n_tokens(model, ids, 5, temperature=20.0, top_k=1)
    context = "with top_k=1, which leaves the likeliest at each step"
    assert_close(drawn, likeliest(table, ids, 5), name="ids", context=context)
    start = torch.zeros(8000, 1, dtype=torch.long)
    for temperature in (1.0, 0.01):
        wide = tiny.TinyModel(temperature * torch.linspace(0, 1, 83).repeat(83, 1))
        drawn = student.generate_n_tokens(wide, start, 1, temperature=temperature)
        count = len(drawn[:, -1].unique())
        assert count == 83, (
            f"Of 83 tokens that are about equally likely at temperature {temperature}, only {count} were drawn in 8000 draws "
            "without top_k."
        )
    drawn = student.generate_n_tokens(wide, start[:1000], 2, temperature=temperature)
    share = (drawn[:, 1] == drawn[:, 2]).float().mean().item()
    assert share < 0.5, (
        f"Of 1000 texts with two drawn tokens, {share:.0%} have the same token twice, although 83 tokens are about equally "
        "likely. Draw again at each step."
    )
    twice = [
        student.call("generate_n_tokens", model, many, 1, temperature=1.0, seed=seed).value for seed in (0, 1)
    ]
    assert not torch.equal(*twice), (
        "The same tokens are drawn in every call, whatever the random seed. Leave the seed to the caller."
    )


@points(1)
def test_without_gradients(student, tiny, draw, assert_evaluated):
    """The model runs without gradients and without dropout, input_ids keeps its values, and for n_tokens=0 the ids are returned unchanged."""
    model, ids = tiny.TinyModel(draw.normal(9, 9)).eval(), draw.integers(0, 9, (2, 4))
    assert_unchanged(student.call("generate_n_tokens", model, ids, 3, temperature=0.8, top_k=4))
    assert_evaluated(model)
    for temperature in (0.0, 0.8):
        # gradients that the caller has switched off stay so: what is left switched on fails
        student.call("generate_n_tokens", model, ids, 2, temperature=temperature, no_grad=True)
        call = functools.partial(student.call, "generate_n_tokens", model, ids, 2, temperature=temperature)
        assert_model_kept(student, model, call, but=["mode"])
    assert_close(student.generate_n_tokens(model, ids, 0), ids, name="ids", context="with n_tokens=0")
