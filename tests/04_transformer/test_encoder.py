"""Checks of exercise 4: Encoder, compared with the student's own layers, called in sequence."""

import torch

from gradekit.checks import assert_close, assert_differs, assert_shape, assert_varies, points

ATOL = 1e-4  # allows a different epsilon in the final norm


@points(2, see="The encoder")
def test_runs_through_all_layers(reference, draw, make_stack):
    """Embeddings times √d plus positions pass through all layers in order, and the output of the last is the memory."""
    encoder, steps = make_stack("Encoder", 11, 6, 3, 5, 2, 13)
    src = reference.integers("src", 1, 11, (4, 7))
    memory, _ = encoder(src)
    assert_shape(memory, (4, 7, 6), name="memory")
    mask = torch.ones(4, 1, 7, dtype=torch.bool)
    reference.assert_same(
        memory,
        steps(src, mask),
        rule="The memory must be what your own layers return, called in sequence",
        name="memory",
        key="memory, less what your own layers give one after the other,",
    )

    for vocab_size, width, d_ff, batch, length in (
        draw.sizes(5, low=3, high=9),
        (90, 3, 4, 1, 521),
        (9, 3, 4, 2, 1),
    ):
        encoder, steps = make_stack("Encoder", vocab_size, 2 * width, 2, d_ff, 3, length, seed=1)
        src = draw.integers(1, vocab_size, (batch, length))
        mask = torch.ones(batch, 1, length, dtype=torch.bool)
        memory, _ = encoder(src)
        assert_shape(memory, (batch, length, 2 * width), name="memory")
        context = f"for src of shape {tuple(src.shape)}, compared with your own layers called in sequence,"
        assert_close(memory, steps(src, mask), name="memory", context=context, atol=ATOL)


@points(2)
def test_pads_are_hidden(reference, make_stack):
    """Every layer gets the padding mask, even if pad_idx is not 0, so padding has no effect on the memory of real tokens."""
    for pad_idx in (0, 4):
        encoder, steps = make_stack("Encoder", 11, 6, 3, 5, 2, 13, pad_idx=pad_idx)
        src = reference.integers(f"src {pad_idx}", 5, 11, (3, 7))
        src[0, 4:], src[1, 6:], src[2, 2] = pad_idx, pad_idx, 4 - pad_idx  # the last one is an ordinary token
        real = src != pad_idx
        reference.assert_same(
            encoder(src)[0][real],
            steps(src, real.unsqueeze(1))[real],
            rule="The memory must be what your own layers return with the padding mask",
            name="memory",
            context=f"of real tokens with pad_idx={pad_idx}",
            key=f"memory of real tokens, less that of your own layers with the mask (pad {pad_idx})",
        )
        turned, seen = src.flip(0), real.flip(0)
        reference.assert_same(
            encoder(turned)[0][seen],
            steps(turned, seen.unsqueeze(1))[seen],
            rule="The next batch must get its own padding mask",
            name="memory",
            context=f"of real tokens with pad_idx={pad_idx}",
        )
        memory, right = encoder(src[:1])[0], steps(src[:1], real[:1].unsqueeze(1))
        context = f"of the real tokens of one sequence with padding, pad_idx={pad_idx}, compared with your own layers,"
        assert_close(memory[real[:1]], right[real[:1]], name="memory", context=context, atol=ATOL)


@points(2)
def test_returns_the_mask(student, reference):
    """The mask is returned after the memory: boolean, (batch, 1, L_src), False at the padding, for any pad_idx."""
    for pad_idx in (0, 4):
        encoder = student.Encoder(11, 6, 3, 5, 1, 13, pad_idx=pad_idx)
        src = reference.integers(f"src {pad_idx}", 0, 6, (3, 7))
        src[:, 0] = 7
        _, mask = encoder(src)
        assert_shape(mask, (3, 1, 7), name="mask")
        assert mask.dtype == torch.bool, f"The mask has dtype {mask.dtype}. It has to be torch.bool."
        reference.assert_close(mask, name="mask", context=f"with pad_idx={pad_idx}")
        _, mask = encoder(src[1:, :5])
        reference.assert_close(mask, name="mask", context=f"of the next batch with pad_idx={pad_idx}")


@points(2)
def test_final_norm(reference, make_stack):
    """With norm_first the layers are pre-norm and the encoder ends with its own norm; without it there is no final norm."""
    for norm_first in (True, False):
        encoder, steps = make_stack("Encoder", 11, 6, 3, 5, 2, 13, norm_first=norm_first)
        src = reference.integers("src", 1, 11, (4, 7))
        reference.assert_same(
            encoder(src)[0],
            steps(src, torch.ones(4, 1, 7, dtype=torch.bool)),
            rule="The memory must be what your own layers and the final norm of a pre-norm encoder return",
            name="memory",
            context=f"with norm_first={norm_first}",
            key=f"memory, less what your own layers give (norm_first={norm_first}),",
            atol=ATOL,
        )


@points(1)
def test_order_matters(student, make_stack, assert_nothing_cut):
    """Swapping two tokens changes the memory in more than the order of its rows, and there are max_seq_len positions."""
    encoder, _ = make_stack("Encoder", 11, 6, 3, 5, 2, 13)
    memory, _ = encoder(torch.tensor([[5, 8, 3, 9, 2]]))
    swapped, _ = encoder(torch.tensor([[8, 5, 3, 9, 2]]))
    assert_differs(
        swapped[:, [1, 0, 2, 3, 4]],
        memory,
        "Swapping two tokens only swaps the rows of the memory: the positions are missing.",
        atol=1e-3,
    )
    memory, _ = student.Encoder(11, 6, 3, 5, 1, max_seq_len=100)(torch.full((1, 100), 5))
    assert_shape(memory, (1, 100, 6), name="memory", context="of 100 tokens with max_seq_len=100")
    assert_nothing_cut(encoder, "memory", torch.full((1, 15), 5))


@points(1)
def test_embeddings_start_small(student):
    """The embeddings start with standard deviation 1/√d; the padding row starts at zero and gets no gradient."""
    for d_model, pad_idx in [(16, 0), (64, 3)]:
        encoder = student.Encoder(500, d_model, 2, 5, 1, 13, pad_idx=pad_idx)
        table = encoder.parameters()["embedding.weight"]
        assert not table[pad_idx].any(), f"With pad_idx={pad_idx}, the padding row does not start at zero."
        rows = torch.cat([table[:pad_idx], table[pad_idx + 1 :]])
        context = f"spread of the embeddings at width {d_model}"
        assert_close(rows.std().item(), d_model**-0.5, context=context, rtol=0.05)
        gradients = encoder.gradients(torch.tensor([[5, 8, pad_idx, pad_idx]]))
        gradient = gradients.parameters["embedding.weight"]
        assert gradient is None or not gradient[pad_idx].any(), (
            "A gradient reaches the padding row, so training would change it. Use padding_idx."
        )


@points(1)
def test_dropout(student, reference, assert_all_dropped):
    """Dropout is applied to the sum of embeddings and positions and in all layers, and is off in eval()."""
    src = reference.integers("src", 1, 11, (3, 7))
    for norm_first in (False, True):
        encoder = student.Encoder(11, 6, 3, 20, 2, 13, dropout=1.0, norm_first=norm_first)
        memory, _ = encoder.train()(src)
        reference.assert_close(
            memory, name="memory", context=f"in training with dropout=1 (norm_first={norm_first})"
        )
        encoder = student.Encoder(11, 6, 3, 20, 2, 13, dropout=0.5, norm_first=norm_first)
        without = student.Encoder(11, 6, 3, 20, 2, 13, norm_first=norm_first).load_state(encoder.parameters())
        memory = encoder.eval()(src)[0]
        context = "after eval(), compared with the memory without dropout,"
        assert_close(memory, without(src)[0], name="memory", context=context)
        assert_varies(memory, name="memory", context="after eval()")
    assert_all_dropped("Encoder", src)


@points(1)
def test_every_layer_learns(
    student, draw, assert_size, renew, assert_all_learn, assert_double, assert_the_same_function
):
    """Every layer has its own parameters, the right gradients reach all of them, float64 stays float64, and without dropout the mode changes nothing."""
    assert_size("Encoder")
    encoder = student.Encoder(11, 6, 3, 20, 3, 9, norm_first=True)
    renew(encoder)
    src = draw.integers(1, 11, (4, 7))
    assert_all_learn(encoder.gradients(src))
    with_padding = draw.integers(1, 11, (4, 7))
    with_padding[1, 4:] = 0
    assert_the_same_function(encoder, (with_padding,), (src,), name="memory")
    assert_double(encoder.to(torch.float64)(src)[0])
