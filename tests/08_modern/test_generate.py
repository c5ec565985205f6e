"""Checks of exercise 7: generate, on models that predict a fixed script, whatever they read."""

import torch

from gradekit.checks import assert_model_kept, assert_shape, points

PROMPT = torch.tensor([[4, 6, 8], [5, 9, 2]])
SCRIPT = torch.tensor([[9, 4, 11, 7, 6], [3, 8, 6, 10, 1]])


def script_for(prompt):
    """A row for each text of the prompt."""
    return SCRIPT.repeat(len(prompt), 1)[: len(prompt)]


def written(student, caches, new_tokens, prompt=PROMPT, blocks=3):
    """Return the tokens, and what the model recorded."""
    model = caches.Script(script_for(prompt), 12, blocks, prompt.shape[1]).train()
    tokens = student.generate(model, prompt, new_tokens)
    return tokens, caches.notes(model)


@points(2, see="Writing")
def test_writes_the_likeliest_tokens(student, reference, caches):
    """The result is the prompt, followed by the likeliest token of each step, predicted at the last position."""
    tokens, _ = written(student, caches, 5)
    reference.assert_close(tokens, name="result")
    for new_tokens in (1, 3):
        tokens, _ = written(student, caches, new_tokens)
        assert_shape(tokens, (2, 3 + new_tokens), name="result", context=f"for {new_tokens} new tokens")
    for size in (1000.0, 1e-3):
        tokens = student.generate(caches.Script(SCRIPT, 12, 1, 3, size), PROMPT, 5)
        assert tokens[:, 3:].equal(SCRIPT), f"With logits of about {size:g}, other tokens are written."
    tokens = student.generate(caches.Script(SCRIPT, 12, 1, 3, 1.0, 0.9999), PROMPT, 5)
    assert tokens[:, 3:].equal(SCRIPT), (
        "A token is the likeliest by a logit of 1 to 0.9999, but another one is written."
    )
    tokens = student.generate(caches.Script(SCRIPT, 12, 1, 3, 1.0, 0.5), PROMPT, 5)
    assert tokens[:, 3:].equal(SCRIPT), (
        "A token is clearly the likeliest of its text, but another one is written."
    )
    twice = torch.tensor([[8, 8, 8, 4, 4], [2, 2, 9, 9, 9]])  # the prompts end with 8 and 2
    for texts in (2, 1):
        tokens = student.generate(caches.Script(twice[:texts], 12, 1, 3), PROMPT[:texts], 5)
        assert tokens[:, 3:].equal(twice[:texts]), (
            "A token is likeliest twice in a row, but another one or none is written the second time."
        )
    every = torch.arange(12).expand(2, 12)
    tokens = student.generate(caches.Script(every, 12, 1, 3), PROMPT, 12)
    assert_shape(tokens, (2, 15), name="result", context="when all texts write each token once")
    assert tokens[:, 3:].equal(every), (
        "No token is special, but some of them are not written as the model predicts."
    )


@points(2, see="Writing")
def test_every_position_goes_in_once(student, caches):
    """The prompt goes in first, then each new token alone, with n calls for n tokens."""
    for prompt in (PROMPT, PROMPT[:, :2] + 1, PROMPT.repeat(1, 174), PROMPT.repeat(3, 1)[:5]):
        tokens, notes = written(student, caches, 5, prompt)
        read = notes["read"]
        sizes = [len(call[0]) for call in read]
        assert {len(call) for call in read} <= {len(prompt)}, (
            f"With {len(prompt)} texts in the prompt, some calls read only a part of them. All texts go in together."
        )
        assert sizes[:1] == [prompt.shape[1]], (
            f"The first call has to read the whole prompt of {prompt.shape[1]} tokens, but it reads {sizes[:1]}."
        )
        assert max(sizes[1:], default=1) == 1, (
            f"The calls read {sizes} positions. After the prompt, only the new token should go in: the cache has the rest."
        )
        assert len(read) == 5, f"5 new tokens need exactly 5 calls of the model, but there were {len(read)}."
        assert read[0] == prompt.tolist(), "The first call did not read the prompt."
        new = tokens[:, -5:]
        for step in range(1, 5):
            assert read[step] == new[:, step - 1 : step].tolist(), (
                f"Call {step + 1} did not read the token that was written in the step before."
            )


@points(1)
def test_the_same_caches_in_every_call(student, caches):
    """All calls for one text get the same caches, one for each block, which are empty at first, also for a second text."""
    _, notes = written(student, caches, 4, blocks=2)
    assert notes["caches"] and all(len(call) == 2 for call in notes["caches"]), (
        "A model of 2 blocks needs a list of 2 caches in every call."
    )
    assert len(set(notes["caches"][0])) == 2, "The blocks share one cache. Each needs its own."
    assert notes["lengths"][0] == [0, 0], "The caches are not empty when the prompt is read."
    read = 0
    for number, (ids, lengths) in enumerate(zip(notes["read"], notes["lengths"], strict=True), start=1):
        assert lengths == [read, read], (
            f"Before call {number}, the caches hold {lengths} positions, but {read} were read. "
            "Make the caches once, and pass the same ones to every call."
        )
        read += len(ids[0])
    for blocks in (1, 5):
        _, notes = written(student, caches, 2, blocks=blocks)
        assert {len(call) for call in notes["caches"]} == {blocks}, (
            f"A model of {blocks} blocks needs a list of {blocks} caches in every call."
        )
    model = caches.Script(SCRIPT, 12, 2, PROMPT.shape[1])
    student.generate(model, PROMPT, 2)
    caches.restart(model)
    student.generate(model, PROMPT, 2)
    lengths = caches.notes(model)["lengths"]
    assert lengths and lengths[0] == [0, 0], (
        "When the same model writes a second text, the caches still hold the first one. Make new caches for each text."
    )


@points(1)
def test_evaluation_mode_without_gradients(student, caches):
    """The model runs in evaluation mode and stays in it, even if it is passed in training mode, no gradients are recorded, and the model can be trained as before."""
    model = caches.Script(SCRIPT, 12, 3, PROMPT.shape[1]).train()
    student.generate(model, PROMPT, 2)
    notes = caches.notes(model)
    assert notes["modes"] and not any(notes["modes"]), (
        "The model is in training mode. Call model.eval() first."
    )
    assert not caches.in_training(model), (
        "Afterwards the model is in training mode again. It should stay in evaluation mode."
    )
    assert not any(notes["grad"]), "Gradients are recorded, but not needed. Use torch.no_grad()."
    student.call("generate", model, PROMPT, 2, no_grad=True)  # what is left switched on afterwards fails
    assert_model_kept(student, model, lambda: student.call("generate", model, PROMPT, 2), but=["mode"])


@points(1)
def test_prompt_unchanged(student, draw, caches):
    """The prompt keeps its values, prompts of other sizes work, and the result is int64."""
    for prompt in (
        PROMPT,
        torch.tensor([[1], [2]]),
        draw.integers(0, 43, (5, 4)),
        draw.integers(0, 43, (1, 521)),
    ):
        script = script_for(prompt)
        model = caches.Script(script, 43, 1, prompt.shape[1]).eval()
        call = student.call("generate", model, prompt, 3)
        assert not call.changed, "generate changed the prompt in place. Create a new tensor instead."
        assert_shape(call.value, (len(prompt), prompt.shape[1] + 3), name="result")
        assert call.value.dtype == torch.int64, f"The result is {call.value.dtype}, but ids should be int64."
        assert call.value[:, : prompt.shape[1]].equal(prompt), "The result doesn't begin with the prompt."
        assert call.value[:, prompt.shape[1] :].equal(script[:, :3]), "The new tokens are wrong."
