"""Checks of exercise 5: greedy_decode, on models that write a fixed script, whatever they read."""

import torch

from gradekit.checks import assert_close, assert_shape, points

EOS, BOS = 7, 5  # not the usual ones, so that they can't be hard-coded


def decoded(student, scripted, script, max_len, source=None):
    """Return the tokens that were written, and what the model recorded."""
    model = scripted.Scripted(script, 12).train()
    source = torch.full((len(script), 3), 4) if source is None else source
    tokens = student.greedy_decode(model, source, max_len, BOS, EOS)
    return tokens, scripted.notes(model)


@points(3, see="Decoding")
def test_writes_the_likeliest_tokens(student, reference, scripted):
    """At every step it writes the most likely token at the last position, whatever its id; the result includes EOS but not BOS."""
    script = torch.tensor([[9, 4, 11, EOS], [3, 3, 6, EOS]])
    tokens, _ = decoded(student, scripted, script, 9)
    reference.assert_close(tokens, name="tokens")

    script = torch.tensor([[9, 4, 11, 3, EOS]])
    tokens, _ = decoded(student, scripted, script, 9, source=torch.full((1, 521), 40))
    assert_close(tokens, script, name="tokens", context="for a single source of 521 tokens")

    script = torch.tensor([[9, 0, 1, 2, BOS, 3, EOS], [0, 2, 4, 1, 6, 0, 8], [2, 9, EOS, 0, 0, 0, 0]])
    tokens, _ = decoded(student, scripted, script, 7)
    context = f"if PAD, {BOS}, 1 and 2 are the likeliest tokens, and EOS is {EOS}"
    assert_close(tokens, script, name="tokens", context=context)
    script = torch.tensor([[0, 9, 0, 0, EOS]])
    single, _ = decoded(student, scripted, script, 9)
    assert_close(single, script, name="tokens", context="for a single row that writes PAD before its EOS")
    assert tokens.dtype == torch.int64, f"The tokens are {tokens.dtype}, but should be int64."


@points(1)
def test_stops_at_eos(student, reference, scripted):
    """It stops as soon as every row has written EOS, and not before."""
    script = torch.tensor([[9, EOS, 6, 6, 6, 6, 6], [8, 4, 10, EOS, 6, 6, 6], [3, 4, EOS, 6, 6, 6, 6]])
    tokens, notes = decoded(student, scripted, script, 7)
    calls = len(notes["read"])
    assert calls <= 4, f"After 4 steps all rows have written EOS, but the decoder was called {calls} times."
    reference.assert_close(tokens.shape[1], context="number of tokens")
    tokens, notes = decoded(student, scripted, torch.tensor([[EOS, 6, 6], [EOS, 6, 6]]), 3)
    assert len(notes["read"]) == tokens.shape[1] == 1, (
        f"All rows write EOS at once, but the decoder was called {len(notes['read'])} times, and there are {tokens.shape[1]} columns."
    )


@points(1)
def test_pads_behind_eos(student, reference, scripted):
    """After its EOS, a row is filled with PAD until the last row has ended."""
    script = torch.tensor([[9, EOS, 6, 6, 3, 8], [8, 4, 10, 3, EOS, 6], [3, 4, EOS, 6, EOS, 8]])
    tokens, _ = decoded(student, scripted, script, 6)
    reference.assert_close(tokens[:, :5], name="tokens")

    script = torch.full((4, 67), 6)
    for row, end in enumerate((12, 66, 33, 9)):
        script[row, end] = EOS
        script[row, end + 1 :] = 8
    tokens, _ = decoded(student, scripted, script, 67)
    context = "for rows that end after 13, 67, 34 and 10 tokens"
    assert_close(tokens, script.masked_fill(script == 8, 0), name="tokens", context=context)


@points(1)
def test_mask_of_the_source(student, reference, scripted):
    """The mask that `encode` returns is passed to `decode` at every step, and the source is left as it is."""
    source = torch.tensor([[4, 6, 2, 9], [5, 2, 0, 0], [3, 0, 0, 0]])
    model = scripted.CountsTheVisible().train()
    call = student.call("greedy_decode", model, source, 3, 1, 2)
    tokens = call.value
    reference.assert_close(
        tokens[:, -1],
        context="last token of a model that counts the visible source positions",
        key="last token of a model that counts what it may see",
    )
    assert all(scripted.notes(model)["masks"]), "`decode` did not get the mask that `encode` returned."
    assert not call.changed, "`greedy_decode` changed the source in place."
    for other, right in (
        (source.flip(0), tokens.flip(0)),
        (source[1:], tokens[1:]),
        (source[1:2], tokens[1:2]),
    ):
        context = "of the same model for another source"
        assert_close(student.greedy_decode(model, other, 3, 1, 2), right, name="tokens", context=context)


@points(1)
def test_max_len(student, scripted):
    """Without EOS, it writes max_len tokens."""
    script = torch.tensor([[9, 4, 11, 8, 6, 3], [3, 4, 6, 9, 8, 8]])
    for max_len in [1, 4]:
        tokens, _ = decoded(student, scripted, script, max_len)
        assert_shape(tokens, (2, max_len), name="tokens", context=f"with max_len = {max_len}")


@points(1, see="Decoding")
def test_reads_what_it_wrote(student, scripted):
    """At every step the decoder reads bos_idx and all tokens written so far."""
    start = torch.tensor([[9, 4, 11], [3, 8, 6]])
    script = torch.cat([start.repeat(1, 22), torch.tensor([[EOS], [EOS]])], dim=1)
    tokens, notes = decoded(student, scripted, script, 67)
    assert len(notes["read"]) > 2, "The decoder was not called for every token."
    written = tokens[:, -len(notes["read"]) :].tolist()
    for step, read in enumerate(notes["read"]):
        assert read == [[BOS, *row[:step]] for row in written], (
            f"At step {step} the decoder did not read bos_idx and the {step} tokens written so far."
        )


@points(1)
def test_evaluation_mode(student, scripted):
    """The model runs in evaluation mode, even if it is passed in training mode, and stays in evaluation mode."""
    _, notes = decoded(student, scripted, torch.tensor([[9, 4, EOS]]), 5)
    assert notes["modes"] and not any(notes["modes"]), (
        "Dropout is on while decoding. Call model.eval() first."
    )
    assert not notes["encoding"]["training"], (
        "The source is encoded in training mode, so dropout is on. Call model.eval() before you encode."
    )
    model = scripted.Scripted(torch.tensor([[9, 4, EOS]]), 12).eval()
    student.greedy_decode(model, torch.full((1, 3), 4), 5, BOS, EOS)
    assert not scripted.notes(model)["training"], (
        "A model that was in evaluation mode is in training mode after decoding."
    )
    assert not notes["training"], (
        "A model that was in training mode is in training mode again after decoding. Leave it in evaluation mode."
    )


@points(1)
def test_no_gradients(student, scripted):
    """No gradients are recorded, and afterwards they are on again."""
    _, notes = decoded(student, scripted, torch.tensor([[9, 4, EOS]]), 5)
    assert notes["grad"] and not any(notes["grad"]), (
        "While decoding, torch records operations for gradients that are not needed. Use torch.no_grad()."
    )
    assert not notes["encoding"]["grad"], (
        "While the source is encoded, torch records operations for gradients that are not needed. Encode under torch.no_grad(), too."
    )
    model = scripted.Scripted(torch.tensor([[9, 4, EOS]]), 12)
    # in one request: torch's settings are restored before each
    on = scripted.gradients_after(student.get("greedy_decode"), model, torch.full((1, 3), 4), 5, BOS, EOS)
    assert on, "Gradients are still off after decoding. Use `with torch.no_grad():`."


@points(1, see="Decoding")
def test_encodes_once(student, scripted):
    """The source is encoded once, not at every step."""
    _, notes = decoded(student, scripted, torch.tensor([[9, 4, 11, EOS]]), 9)
    assert notes["encoded"] == 1, f"The source was encoded {notes['encoded']} times. Once is enough."
