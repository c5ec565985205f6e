"""Checks of exercise 5: Decoder, compared with the student's own layers, called in sequence."""

import torch

from gradekit.checks import assert_close, assert_differs, assert_shape, assert_varies, in_kernel, points

ATOL = 1e-4  # allows a different epsilon in the final norm
MINUS = ", minus the output of your own layers called in sequence"
KEY = "output, less what your own layers give one after the other"  # the key of the recorded values
WATCH = """
import torch

def memory_is_kept(decoder, tgt, memory):
    '''For each input of a cross-attention that has the memory's shape, whether it is the memory.'''
    found = []

    def note(part, args, kwargs):
        inputs = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
        found.extend(torch.equal(each, memory) for each in inputs if each.shape == memory.shape)

    parts = [part for name, part in decoder.named_modules() if name.endswith("cross_attn")]
    hooks = [part.register_forward_pre_hook(note, with_kwargs=True) for part in parts]
    decoder(tgt, memory)
    for hook in hooks:
        hook.remove()
    return found
"""

watch = in_kernel(WATCH)


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


@points(2, see="The decoder")
def test_runs_through_all_layers(reference, draw, make_stack):
    """Embeddings plus positions pass through all layers in order, with a causal mask, and each layer reads the memory."""
    decoder, steps = make_stack("Decoder", 11, 6, 3, 5, 2, 13)
    tgt = reference.integers("tgt", 1, 11, (4, 7))
    (memory,) = reference.inputs("memory", memory=(4, 9, 6))
    output = decoder(tgt, memory)
    assert_shape(output, (4, 7, 6), name="output")
    mask = causal(7).expand(4, 7, 7)
    reference.assert_close(
        output - steps(tgt, memory, mask, None), name="output", context=f"{MINUS},", key=f"{KEY},"
    )

    for vocab_size, width, d_ff, batch, l_tgt, l_src in (
        draw.sizes(6, low=3, high=9),
        (90, 3, 4, 1, 521, 43),
    ):
        decoder, steps = make_stack("Decoder", vocab_size, 2 * width, 2, d_ff, 3, l_tgt, seed=1)
        tgt, memory = draw.integers(1, vocab_size, (batch, l_tgt)), draw.normal(batch, l_src, 2 * width)
        memory[0, 0, 0], memory[0, 1] = 40, 0  # a vector of zeros isn't hidden, either
        output = decoder(tgt, memory)
        assert_shape(output, (batch, l_tgt, 2 * width), name="output")
        right = steps(tgt, memory, causal(l_tgt).expand(batch, l_tgt, l_tgt), None)
        context = f"for tgt of shape {tuple(tgt.shape)}, compared with your own layers called in sequence,"
        assert_close(output, right, name="output", context=context, atol=ATOL if l_tgt < 10 else 5e-3)


@points(2)
def test_no_leak_of_the_future(reference, make_stack):
    """Changing a token has no effect on earlier positions."""
    (memory,) = reference.inputs("memory", memory=(3, 4, 6))
    tgt = reference.integers("tgt", 1, 6, (3, 7))
    for norm_first in (False, True):
        decoder, _ = make_stack("Decoder", 11, 6, 3, 5, 2, 13, norm_first=norm_first)
        before = decoder(tgt, memory)
        for place in (3, 6):
            later = tgt.clone()
            later[:, place] = 8
            moves = decoder(later, memory) - before
            reference.assert_close(
                moves[:, :place],
                context=f"change at the earlier positions when token {place} changes (norm_first={norm_first})",
                key=f"move of the earlier positions when token {place} changes (norm_first={norm_first})",
            )
            assert moves[:, place:].abs().amax(dim=-1).min() > 1e-4, (
                "The output at a position does not change when its own token, or an earlier one, changes."
            )
        first = decoder(tgt[:, :1], memory)
        context = (
            f"of the first of two tokens, compared with that of the first alone (norm_first={norm_first}),"
        )
        assert_close(decoder(tgt[:, :2], memory)[:, :1], first, name="output", context=context, atol=1e-4)


@points(2, see="The decoder")
def test_pads_of_the_target_are_hidden(reference, make_stack):
    """Padding in the target is hidden as keys, wherever it is, even if pad_idx is not 0."""
    (memory,) = reference.inputs("memory", memory=(3, 4, 6))
    for pad_idx in (0, 4):
        decoder, steps = make_stack("Decoder", 11, 6, 3, 5, 2, 13, pad_idx=pad_idx)
        tgt = reference.integers(f"tgt {pad_idx}", 5, 11, (3, 7))
        tgt[0, 2:4], tgt[1, :2], tgt[1, 5:], tgt[2, 3] = pad_idx, pad_idx, pad_idx, 4 - pad_idx
        real = tgt != pad_idx
        gap = decoder(tgt, memory) - steps(tgt, memory, real.unsqueeze(1) & causal(7), None)
        reference.assert_close(
            gap[real],
            name="output",
            context=f"{MINUS} with the target mask (pad_idx={pad_idx}),",
            key=f"{KEY} with the target mask (pad {pad_idx}),",
        )

        turned, seen = tgt.flip(0), real.flip(0)
        gap = decoder(turned, memory) - steps(turned, memory, seen.unsqueeze(1) & causal(7), None)
        reference.assert_close(
            gap[seen],
            name="output",
            context=f"for the next batch, with other padding{MINUS} (pad_idx={pad_idx}),",
        )

        one, seen = tgt[:1], real[:1]
        output, right = decoder(one, memory[:1]), steps(one, memory[:1], seen.unsqueeze(1) & causal(7), None)
        context = f"of the real tokens of one sequence with padding, pad_idx={pad_idx}, compared with your own layers,"
        assert_close(output[seen], right[seen], name="output", context=context, atol=ATOL)

        tgt, real = tgt[1:, :5], real[1:, :5]
        gap = decoder(tgt, memory[1:]) - steps(tgt, memory[1:], real.unsqueeze(1) & causal(5), None)
        reference.assert_close(
            gap[real], name="output", context=f"for the next, shorter batch{MINUS} (pad_idx={pad_idx}),"
        )


@points(2)
def test_memory_mask(reference, make_stack):
    """Every layer gets the memory mask."""
    # as long as the target, so that swapped masks don't raise an error
    (memory,) = reference.inputs("memory", memory=(3, 7, 6))
    tgt = reference.integers("tgt", 1, 11, (3, 7))
    mask = torch.tensor([[[True] * 5 + [False] * 2], [[True] * 3 + [False] * 4], [[False] + [True] * 6]])
    decoder, steps = make_stack("Decoder", 11, 6, 3, 5, 2, 13)
    gap = decoder(tgt, memory, mask) - steps(tgt, memory, causal(7).expand(3, 7, 7), mask)
    reference.assert_close(
        gap, name="output", context=f"{MINUS} with the memory mask,", key=f"{KEY} with the memory mask,"
    )
    decoder, steps = make_stack("Decoder", 11, 6, 3, 5, 4, 13)
    first = tgt[:, :1]  # as in the first step of writing
    right = steps(first, memory, causal(1).expand(3, 1, 1), mask)
    context = (
        "for a target of one token with a memory mask, compared with your own layers called in sequence,"
    )
    assert_close(decoder(first, memory, mask), right, name="output", context=context, atol=ATOL)


@points(1)
def test_final_norm(reference, make_stack):
    """With norm_first the layers are pre-norm and the decoder ends with its own norm; without it there is no final norm."""
    (memory,) = reference.inputs("memory", memory=(4, 9, 6))
    tgt = reference.integers("tgt", 1, 11, (4, 7))
    for norm_first in (True, False):
        decoder, steps = make_stack("Decoder", 11, 6, 3, 5, 2, 13, norm_first=norm_first)
        gap = decoder(tgt, memory) - steps(tgt, memory, causal(7).expand(4, 7, 7), None)
        reference.assert_close(
            gap,
            name="output",
            context=f"{MINUS} (norm_first={norm_first}),",
            key=f"{KEY} (norm_first={norm_first}),",
            atol=ATOL,
        )


@points(1, see="The decoder")
def test_order_matters(student, draw, make_stack, assert_nothing_cut):
    """Swapping two earlier tokens changes the output at the last position, and there are max_seq_len positions."""
    decoder, _ = make_stack("Decoder", 11, 6, 3, 5, 1, 13)
    memory = draw.normal(1, 4, 6)
    before = decoder(torch.tensor([[5, 8, 3, 9, 2]]), memory)[:, -1]
    swapped = decoder(torch.tensor([[8, 5, 3, 9, 2]]), memory)[:, -1]
    assert_differs(
        swapped,
        before,
        "Swapping two earlier tokens does not change the output at the last position: the positions are missing.",
        atol=1e-4,
    )
    output = student.Decoder(11, 6, 3, 5, 1, max_seq_len=100)(torch.full((1, 100), 5), memory)
    assert_shape(output, (1, 100, 6), name="output", context="for 100 tokens with max_seq_len=100")
    assert_nothing_cut(decoder, "output", torch.full((1, 15), 5), memory)


@points(1)
def test_embeddings_and_dropout(student, reference, assert_all_dropped, watch):
    """Embeddings start with standard deviation 1/√d; the padding row is zero and stays so; dropout is as in the encoder."""
    for d_model in (16, 64):
        decoder = student.Decoder(500, d_model, 2, 5, 1, 13, pad_idx=3)
        table = decoder.parameters()["embedding.weight"]
        assert not table[3].any(), "With pad_idx=3, the padding row does not start at zero."
        rows = torch.cat([table[:3], table[4:]])
        context = f"spread of the embeddings at width {d_model}"
        assert_close(rows.std().item(), d_model**-0.5, context=context, rtol=0.05)
    gradients = decoder.gradients(torch.tensor([[5, 8, 3, 3]]), torch.ones(1, 4, 64))
    gradient = gradients.parameters["embedding.weight"]
    assert gradient is None or not gradient[3].any(), (
        "A gradient reaches the padding row, so training would change it. Use padding_idx."
    )

    tgt, (memory,) = reference.integers("tgt", 1, 11, (3, 7)), reference.inputs("memory", memory=(3, 4, 6))
    decoder = student.Decoder(11, 6, 3, 20, 2, 13, dropout=1.0)
    reference.assert_close(decoder.train()(tgt, memory), name="output", context="in training with dropout=1")
    decoder = student.Decoder(11, 6, 3, 20, 2, 13, dropout=0.5)
    without = student.Decoder(11, 6, 3, 20, 2, 13).load_state(decoder.parameters())
    output = decoder.eval()(tgt, memory)
    context = "after eval(), compared with the output without dropout,"
    assert_close(output, without(tgt, memory), name="output", context=context)
    assert_varies(output, name="output", context="after eval()")
    assert_all_dropped("Decoder", tgt, memory)
    assert all(watch.memory_is_kept(decoder.train(), tgt, memory)), (
        "In training with dropout=0.5, cross-attention doesn't get the memory as it was passed to the decoder. Dropout acts on the "
        "sum of embeddings and positions, and in the layers."
    )


@points(1)
def test_every_layer_learns(
    student, draw, assert_size, renew, assert_all_learn, assert_double, assert_the_same_function
):
    """Every layer has its own parameters, the right gradients reach all of them and the memory, float64 stays float64, and without dropout the mode changes nothing."""
    assert_size("Decoder")
    decoder = student.Decoder(11, 6, 3, 20, 3, 9, norm_first=True)
    renew(decoder)
    tgt, memory = draw.integers(1, 11, (4, 7)), draw.normal(4, 5, 6)
    assert_all_learn(decoder.gradients(tgt, memory))
    with_padding, other = draw.integers(1, 11, (4, 7)), draw.normal(4, 5, 6)
    with_padding[1, 4:] = 0
    visible = (torch.arange(5) < 3).expand(4, 1, 5)
    calls = (
        (with_padding, other),
        (tgt, memory),
        (with_padding, other, visible),
        (tgt, memory, ~visible),
        (tgt, memory),
    )
    assert_the_same_function(decoder, *calls)
    assert_double(decoder.to(torch.float64)(tgt, memory.double()))
