"""Checks of exercise 6: Transformer, compared with the student's own Encoder and Decoder."""

import torch
import torch.nn.functional as F

from gradekit.checks import assert_close, assert_model_kept, assert_shape, fail, for_checks, points

SIZES = (6, 3, 5, 2, 13)  # d_model, num_heads, d_ff, num_layers, max_seq_len
DEFAULTS = (32, 4, 64, 1, 64)


@for_checks
def make_model(student, renew, /, src_vocab_size, tgt_vocab_size, seed=0, sizes=SIZES, **options):
    """The student's Transformer with new weights, and the same steps made of the student's own Encoder and Decoder."""
    given = () if sizes == DEFAULTS else sizes
    model = student.Transformer(src_vocab_size, tgt_vocab_size, *given, **options)
    student.Transformer(5, 5, pad_idx=1, dropout=0.9, norm_first=False)  # must have no effect on it
    values = renew(model, seed)
    for name in ("encoder.", "decoder.", "output."):
        if not any(key.startswith(name) for key in values):
            fail(f"The model has no part with parameters called `{name.removesuffix('.')}`.")
    options = {"norm_first": True} | options

    def steps(src, tgt):
        memory, mask = own("Encoder", src_vocab_size)(src)
        output = own("Decoder", tgt_vocab_size)(tgt, memory, mask)
        return F.linear(output, values["output.weight"], values.get("output.bias"))

    def own(kind, vocab_size):
        part = student.call(kind, vocab_size, *sizes, **options).value
        prefix, known = f"{kind.lower()}.", part.parameters()
        mine = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
        return part.load_state({name: value for name, value in mine.items() if name in known})

    return model, steps


@points(3)
def test_forward(reference, draw, make_model):
    """The logits are those of your encoder, decoder and linear layer, even for vocabularies of different sizes."""
    model, steps = make_model(11, 8)
    src, tgt = reference.integers("src", 1, 11, (2, 7)), reference.integers("tgt", 1, 8, (2, 4))
    logits = model(src, tgt)
    assert_shape(logits, (2, 4, 8), name="logits")
    reference.assert_same(
        logits,
        steps(src, tgt),
        rule="The logits must be those of your own parts, called in sequence",
        name="logits",
        key="logits, less those of your own parts,",
    )

    sizes = draw.sizes(5, low=3, high=12)
    for src_size, tgt_size, batch, l_src, l_tgt in (sizes, (90, 530, 1, 13, 11), (9, 7, 521, 5, 4)):
        model, steps = make_model(src_size, tgt_size, seed=1, norm_first=False)
        src, tgt = draw.integers(1, src_size, (batch, l_src)), draw.integers(1, tgt_size, (batch, l_tgt))
        logits = model(src, tgt)
        assert_shape(logits, (batch, l_tgt, tgt_size), name="logits")
        context = f"of a post-norm model for tgt of shape {tuple(tgt.shape)}, compared with those of your own parts,"
        assert_close(logits, steps(src, tgt), name="logits", context=context)


@points(2)
def test_pads(reference, make_model):
    """Padding is hidden in the source, the memory and the target, even if pad_idx is not 0."""
    for pad_idx in (0, 4):
        model, steps = make_model(11, 8, pad_idx=pad_idx)
        src, tgt = reference.integers("src", 5, 11, (2, 7)), reference.integers("tgt", 5, 8, (2, 6))
        src[0, 4:], src[1, 2], tgt[0, 1], tgt[1, 2] = pad_idx, 4 - pad_idx, pad_idx, 4 - pad_idx
        reference.assert_same(
            model(src, tgt),
            steps(src, tgt),
            rule="The logits must be those of your own parts with padding masks",
            name="logits",
            context=f"with pad_idx={pad_idx}",
            key=f"logits, less those of your own parts (pad {pad_idx}),",
        )
        context = f"for one sequence with padding, pad_idx={pad_idx}, compared with those of your own parts,"
        assert_close(model(src[:1], tgt[:1]), steps(src[:1], tgt[:1]), name="logits", context=context)
        for sources, targets in ((src, tgt[:, :1]), (src[:, :1], tgt)):  # as in the first step of writing
            lengths = f"a source of {sources.shape[1]} and a target of {targets.shape[1]} tokens"
            context = f"for {lengths}, with pad_idx={pad_idx}, compared with those of your own parts,"
            assert_close(model(sources, targets), steps(sources, targets), name="logits", context=context)


@points(1, see="The whole model")
def test_encode_and_decode(student, draw, make_model):
    """`encode` returns the memory and its mask, and `decode` computes the logits of `forward` from them."""
    model, _ = make_model(11, 8)
    calls = student.define(
        """
def encode(model, src):
    return model.encode(src)

def decode(model, tgt, memory, mask):
    return model.decode(tgt, memory, mask)

def encode_changed(model, src):
    '''The memory of src after its ids have changed, and that of the same ids in a new tensor.'''
    src = src.clone()
    model.encode(src)
    src.copy_(src.flip(1))
    return model.encode(src)[0], model.encode(src.clone())[0]
"""
    )
    src, tgt = draw.integers(1, 11, (2, 7)), draw.integers(1, 8, (2, 4))
    src[0, 5:] = 0
    memory, mask = calls.encode(model, src)
    assert_shape(memory, (2, 7, 6), name="memory")
    assert_shape(mask, (2, 1, 7), name="memory_mask")
    logits = model(src, tgt)
    context = "of `decode`, compared with those of `forward`,"
    assert_close(calls.decode(model, tgt, memory, mask), logits, name="logits", context=context)
    masked = calls.decode(model, tgt, memory, torch.ones_like(mask))
    assert not masked[0].allclose(logits[0]), (
        "A different memory_mask does not change the logits of `decode`. Do you pass it to the decoder?"
    )
    found, right = calls.encode_changed(model, src)
    context = "of a second call of `encode`, after the ids in the same tensor have changed,"
    assert_close(found, right, name="memory", context=context)
    assert_model_kept(student, model, lambda: calls.call("encode", model, src))
    assert_model_kept(student, model, lambda: calls.call("decode", model, tgt, memory, mask))


@points(1, see="The whole model")
def test_logits_are_not_probabilities(student, draw, make_model):
    """The logits are the unchanged output of the linear layer: adding 1 to all its biases adds 1 to all logits."""
    model, _ = make_model(11, 8)
    src, tgt = draw.integers(1, 11, (2, 7)), draw.integers(1, 8, (2, 4))
    before = model(src, tgt)
    bias = model.parameters().get("output.bias")
    assert bias is not None, "The linear layer has no bias."
    model.load_state({"output.bias": bias + 1})
    context = "change of the logits when all biases grow by 1"
    assert_close(model(src, tgt) - before, torch.ones_like(before), context=context)


@points(2)
def test_sizes_and_defaults(student, draw, make_model, shapes_of):
    """All sizes and options reach both halves, and the defaults match the signature."""

    def right(src_size, tgt_size, d_model=32, d_ff=64, num_layers=1, norm_first=True):
        layers = shapes_of("EncoderLayer", d_model, d_ff), shapes_of("DecoderLayer", d_model, d_ff)
        layer = sum(torch.Size(shape).numel() for shapes in layers for shape in shapes.values())
        ends = 4 * d_model if norm_first else 0
        return (src_size + tgt_size) * d_model + num_layers * layer + ends + (d_model + 1) * tgt_size

    def count(*sizes, **options):
        return sum(value.numel() for value in student.Transformer(*sizes, **options).parameters().values())

    assert count(11, 7) == right(11, 7), (
        f"Transformer(11, 7) has {count(11, 7)} parameters, not {right(11, 7)}."
    )
    src_size, tgt_size, width, d_ff, num_layers = draw.sizes(5, low=2, high=12)
    found = count(src_size, tgt_size, 2 * width, 2, d_ff, num_layers, norm_first=False)
    expected = right(src_size, tgt_size, 2 * width, d_ff, num_layers, norm_first=False)
    assert found == expected, (
        f"With other sizes and norm_first=False, the model has {found} parameters, not {expected}."
    )
    for vocab_size, layers in ((150, 1), (7, 3)):
        found = count(vocab_size, vocab_size, num_layers=layers)
        expected = right(vocab_size, vocab_size, num_layers=layers)
        assert found == expected, (
            f"With two vocabularies of {vocab_size} and {layers} layers, the model has {found} parameters, not {expected}."
        )

    halves = student.Transformer(500, 400, 16, 2, 5, 1, 9, pad_idx=3).parameters()
    for half in ("encoder", "decoder"):
        table = halves[f"{half}.embedding.weight"]
        assert not table[3].any(), (
            f"With pad_idx=3, the padding row of the {half}'s embedding does not start at zero."
        )
        rows, context = torch.cat([table[:3], table[4:]]), f"spread of the {half}'s embeddings at width 16"
        assert_close(rows.std().item(), 1 / 4, context=context, rtol=0.05)

    model, steps = make_model(9, 7, sizes=DEFAULTS)
    src, tgt = draw.integers(1, 9, (2, 7)), draw.integers(1, 7, (2, 5))
    context = "with the default sizes, compared with those of your own parts,"
    assert_close(model(src, tgt), steps(src, tgt), name="logits", context=context)

    src = draw.integers(1, 7, (2, 64))
    assert_shape(student.Transformer(9, 7)(src, src), (2, 64, 7), name="logits", context="at 64 positions")
    longer = draw.integers(1, 7, (1, 70))
    model = student.Transformer(9, 7, max_seq_len=70)
    assert_shape(model(longer, longer), (1, 70, 7), name="logits", context="with max_seq_len=70")

    model = student.Transformer(9, 7, dropout=1.0)
    bias = model.parameters()["output.bias"].expand(2, 64, 7)
    context = "in training with dropout=1, compared with the bias of the output layer,"
    assert_close(model.train()(src, src), bias, name="logits", context=context)
    model = student.Transformer(9, 7, dropout=0.5).eval()
    without = student.Transformer(9, 7).load_state(model.parameters())
    context = "after eval(), compared with the logits without dropout,"
    assert_close(model(src, src), without(src, src), name="logits", context=context)


@points(1)
def test_gradients_and_dtype(student, draw, renew, assert_all_learn, assert_double, assert_the_same_function):
    """The right gradients reach every parameter of both halves, a call leaves the model and its mode as they are, and float64 stays float64."""
    model = student.Transformer(11, 8, 6, 3, 20, 2, 13)
    renew(model)
    src, tgt = draw.integers(1, 11, (4, 7)), draw.integers(1, 8, (4, 5))
    assert_all_learn(model.gradients(src, tgt))
    others = draw.integers(1, 11, (4, 7)), draw.integers(1, 8, (4, 5))
    assert_the_same_function(model, others, (src, tgt), name="logits")
    assert_model_kept(student, model, lambda: model.call(src, tgt))
    assert_double(model.to(torch.float64)(src, tgt))
