"""Checks of exercise 6: Block and DecoderOnly, made of the student's own parts with new weights."""

import math

import torch

from gradekit.checks import (
    assert_close,
    assert_differs,
    assert_model_kept,
    assert_reaches,
    assert_same_in_each_mode,
    assert_same_without_gradients,
    assert_shape,
    assert_varies,
    fail,
    for_checks,
    points,
)

SIZES = {"d_model": 8, "num_heads": 4, "num_groups": 2, "d_ff": 6}


def part_of(values, prefix):
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


@for_checks
def block_steps(student, write, /, weights, x, num_heads, num_groups, d_ff, base=10000.0, eps=1e-6):
    """The steps of a block with the student's own norm, attention and feed-forward network."""
    d_model = x.shape[-1]
    norm = student.RMSNorm(d_model, eps)
    attention = student.CausalAttention(d_model, num_heads, num_groups, base)
    write(attention, part_of(weights, "attention."))
    feed_forward = write(student.SwiGLU(d_model, d_ff), part_of(weights, "feed_forward."))
    x = x + attention(write(norm, {"weight": weights["norm1.weight"]})(x))
    return x + feed_forward(write(norm, {"weight": weights["norm2.weight"]})(x))


@for_checks
def model(
    student,
    renew,
    shapes_of,
    /,
    vocab_size,
    num_layers,
    d_model,
    num_heads,
    num_groups,
    d_ff,
    seed=0,
    **options,
):
    """The student's model with new weights, and these: `model(vocab_size, num_layers, **sizes)`."""
    found = student.DecoderOnly(vocab_size, d_model, num_heads, num_groups, d_ff, num_layers, **options)
    if not any(name.startswith("blocks.0.") for name in found.state()):
        fail(
            "The parameters of the blocks were not found. Keep the blocks in an nn.ModuleList called `blocks`."
        )
    shapes = {"embedding.weight": (vocab_size, d_model), "norm.weight": (d_model,)}
    for number in range(num_layers):
        shapes |= shapes_of["Block"](d_model, num_heads, num_groups, d_ff, f"blocks.{number}.")
    return found, renew(found, shapes, seed)


@points(2, see="The model")
def test_block(student, reference, draw, renew, shapes_of, block_steps):
    """A block normalizes what goes into the attention and the feed-forward network, and adds what comes out."""
    for seed, sizes in enumerate([(8, 4, 2, 6), (draw.sizes(1)[0] * 12, 6, 3, draw.sizes(1)[0])]):
        d_model, heads, groups, d_ff = sizes
        block = student.Block(d_model, heads, groups, d_ff)
        weights = renew(block, shapes_of["Block"](d_model, heads, groups, d_ff), seed)
        x = reference.inputs("x", x=(2, 5, 8))[0] if seed == 0 else draw.normal(2, 5, d_model)
        output = block(x)
        assert_shape(output, x.shape, name="output")
        gap, context = (
            output - block_steps(weights, x, heads, groups, d_ff),
            ", minus that of your own parts in sequence,",
        )
        if seed == 0:
            reference.assert_close(gap, name="output", context=context)
        assert_varies(output, name="output")
        assert_close(gap, torch.zeros_like(gap), name="output", context=context, atol=1e-4)
    assert_same_without_gradients(block, draw.normal(2, 3, d_model))
    long = draw.normal(1, 521, d_model)
    long[0, 0, 0] = 40
    right = block_steps(weights, long, heads, groups, d_ff)
    context = ", for a single text of 521 tokens, compared with that of your own parts in sequence,"
    assert_close(block(long), right, name="output", context=context, atol=1e-3)


@points(2, see="The model")
def test_model(student, reference, draw, model, block_steps, write):
    """The ids pass through the embedding, all blocks in order and the final norm, and the table turns the result into logits."""
    d_ff, vocab_size = draw.sizes(2, low=3, high=9)
    drawn = {"d_model": 12, "num_heads": 6, "num_groups": 3, "d_ff": d_ff}
    settings = [(11, 2, SIZES, (3, 5)), (vocab_size, 3, drawn, (2, 4)), (43, 1, SIZES, (1, 521))]
    for seed, (words, layers, sizes, shape) in enumerate(settings):
        found, weights = model(words, layers, **sizes, seed=seed)
        ids = reference.integers("ids", 0, 11, (3, 5)) if seed == 0 else draw.integers(0, words, shape)
        logits = found(ids)
        assert_shape(logits, (*ids.shape, words), name="logits")
        rest = {name: size for name, size in sizes.items() if name != "d_model"}
        x = weights["embedding.weight"][ids]
        for number in range(layers):
            x = block_steps(part_of(weights, f"blocks.{number}."), x, **rest)
        norm = write(student.RMSNorm(sizes["d_model"]), {"weight": weights["norm.weight"]})
        gap = logits - norm(x) @ weights["embedding.weight"].T
        context = f"for ids of shape {tuple(ids.shape)}, minus those of your own parts in sequence,"
        if seed == 0:
            reference.assert_close(gap, name="logits", context=context, atol=1e-4)
        assert_varies(logits, name="logits")
        assert_close(gap, torch.zeros_like(gap), name="logits", context=context, atol=1e-4)


@points(1)
def test_base_and_eps(student, draw, model, block_steps, write):
    """`base` reaches the attention of every block, and `eps` every norm; without them, they are 10000 and 1e-6."""
    options = {"base": 50.0, "eps": 0.3}
    sizes = SIZES | {"num_heads": 2}  # heads of width 2 have no use for a base
    for layers, blocks in ((2, "2 blocks"), (1, "a single block")):
        found, weights = model(11, layers, **sizes, **options)
        ids = draw.integers(0, 11, (2, 5))
        x = weights["embedding.weight"][ids]
        for number in range(layers):
            x = block_steps(part_of(weights, f"blocks.{number}."), x, 2, 2, 6, **options)
        norm = write(student.RMSNorm(8, options["eps"]), {"weight": weights["norm.weight"]})
        right = norm(x) @ weights["embedding.weight"].T
        context = f"of {blocks} with base=50 and eps=0.3, compared with those of your own parts with these,"
        assert_close(found(ids), right, name="logits", context=context, atol=1e-4)
    ids, logits = draw.integers(0, 11, (2, 60)), []
    for options in ({}, {"base": 10_000.0, "eps": 1e-6}):
        found, weights = model(11, 2, **sizes, **options)
        write(found, {name: value / (1000 if "embedding" in name else 1) for name, value in weights.items()})
        logits.append(1000 * found(ids))
    context = "(times 1000) of a model made without base and eps, compared with base=10000.0 and eps=1e-6,"
    assert_close(*logits, name="logits", context=context, atol=1e-3)


@points(1, see="The model")
def test_tied(student, shapes_of, renew, formulas, assert_right_gradients, caches):
    """The output layer is the embedding table: there is no other parameter, and all learn as they should, with caches too, in any dtype."""
    found = student.DecoderOnly(10, 8, 4, 2, 6, 2)
    shapes = {name: tuple(value.shape) for name, value in found.parameters().items()}
    right = {"embedding.weight": (10, 8), "norm.weight": (8,)}
    for number in range(2):
        right |= shapes_of["Block"](8, 4, 2, 6, f"blocks.{number}.")
    for name, shape in right.items():
        assert name in shapes, f"There is no separate parameter `{name}`."
        assert shapes[name] == shape, f"`{name}` has shape {shapes[name]}, but should have {shape}."
    more = ", ".join(sorted(shapes.keys() - right.keys()))
    assert not more, f"There are more parameters than the model needs: {more}."
    weights = renew(found, right)  # some start with zeros in the last layer of each part
    ids = torch.tensor([[0, 4, 1, 3], [2, 0, 0, 4]])
    gradients = found.gradients(ids)
    assert_reaches(gradients)
    formula = formulas["DecoderOnly"]
    assert_right_gradients(
        gradients, lambda ids, weights: formula(ids, weights, 4, 2, 2), ids, weights=weights
    )
    if not gradients.parameters["embedding.weight"][5:].any():
        fail("No gradient reaches the table through the logits: was the table detached?")
    in_pieces = caches.with_cache(found, 2)
    assert_reaches(in_pieces.gradients(ids))
    assert_model_kept(student, found, lambda: in_pieces.call(ids))
    logits = found.to(torch.float64)(ids)
    assert logits.dtype == torch.float64, f"After .to(torch.float64) the logits are {logits.dtype}."


@points(2)
def test_caches(student, draw, model, caches):
    """Every block gets its own cache, so a text read in pieces gets the same logits as in one go."""
    block, x = student.Block(8, 4, 2, 6), draw.normal(2, 6, 8)
    context = "of a block with a cache, compared with that without,"
    assert_close(block(x, caches.KVCache()), block(x), name="output", context=context)
    found, _ = model(11, 3, **SIZES)
    ids = draw.integers(0, 11, (2, 6))
    whole = found(ids)
    assert_varies(whole, name="logits")
    context = "read in one piece with caches, compared with those without,"
    empty = [caches.KVCache() for _ in range(3)]
    assert_close(found(ids, empty), whole, name="logits", context=context)
    assert_same_in_each_mode(found, (ids,), (draw.integers(0, 11, (2, 6)),), name="logits")
    for training, sizes in [(True, [1] * 6), (False, [4, 1, 1]), (True, [2, 4])]:
        found.train(training)
        logits, _, _, lengths = caches.in_pieces(found, ids, sizes, 3)
        mode = f"in {'training' if training else 'evaluation'} mode"
        assert lengths == [6, 6, 6], (
            f"After 6 tokens {mode}, the caches of the 3 blocks hold {lengths} positions."
        )
        context = f"read in pieces of {sizes} {mode}, compared with one piece,"
        assert_close(logits, whole, name="logits", context=context)
    through = caches.with_cache(found, 3).gradients(ids)
    context = "read in three pieces in training mode, with gradients, compared with one piece,"
    assert_close(through.value, whole, name="logits", context=context)
    context = "without caches, after texts were read with them, compared with those before,"
    assert_close(found(ids), whole, name="logits", context=context)


@points(1)
def test_small_start(student):
    """The embedding starts with standard deviation 1 / √d_model."""
    for width in (16, 64):
        table = student.DecoderOnly(200, width, 4, 2, 8, 1).parameters()["embedding.weight"]
        spread = table.std().item() * math.sqrt(width)
        assert 0.85 < spread < 1.15, (
            f"At width {width}, the embedding starts with a standard deviation of {spread:.2f} / √d_model. It should be 1 / √d_model."
        )


@points(1)
def test_order_matters(draw, model):
    """Each position sees itself and the tokens before it, in their order."""
    found, _ = model(11, 2, **SIZES)
    ids = draw.integers(1, 10, (2, 6))
    other = ids.clone()
    other[:, 4:] = 10
    context = "at positions 0 to 3, when later ids change,"
    assert_close(found(other)[:, :4], found(ids)[:, :4], name="logits", context=context)
    other = ids.clone()
    other[:, 0] = 10
    assert_differs(
        found(other)[:, 5], found(ids)[:, 5], "The first token has no effect on the last position."
    )
