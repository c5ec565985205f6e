"""Checks of exercise 7: a layer of a checkpoint in the student's EncoderLayer, and vectors of sentences.

Checkpoints are tiny and random. The oracle for a layer is torch's own layer with GELU.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gradekit.checks import (
    assert_close,
    assert_same_in_each_mode,
    assert_shape,
    assert_unchanged,
    fail,
    forbid,
    points,
    probe,
)

only_own_layers = forbid("TransformerEncoder*", "_transformer_encoder_layer_fwd", "BertLayer", "BertModel")

#: the parts of a layer in the checkpoint, and what torch's layer calls them
NAMES = {
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "output.LayerNorm": "norm2",
}


#: in the student's kernel: whether the checkpoint keeps its numbers when the layer's parameters change, and which can't
SEPARATE = """
import torch


def frozen(layer):
    return [name for name, parameter in layer.named_parameters() if not parameter.requires_grad]


def separate(load_layer, weights):
    before = {name: each.clone() for name, each in weights.items()}
    with torch.no_grad():
        for parameter in load_layer(weights, 0, 2).parameters():
            parameter.add_(1)
    return all(torch.equal(each, before[name]) for name, each in weights.items())
"""


def shapes(d_model, d_ff):
    attention = {f"attention.self.{part}": (d_model, d_model) for part in ("query", "key", "value")}
    return attention | {
        "attention.output.dense": (d_model, d_model),
        "attention.output.LayerNorm": (d_model,),
        "intermediate.dense": (d_ff, d_model),
        "output.dense": (d_model, d_ff),
        "output.LayerNorm": (d_model,),
    }


def make_checkpoint(normal, layers, d_model, d_ff):
    """Return names and tensors, drawn by `normal(*shape)`; some of them belong to no layer."""
    weights = {"embeddings.LayerNorm.weight": normal(d_model), "pooler.dense.bias": normal(d_model)}
    for number in range(layers):
        for part, shape in shapes(d_model, d_ff).items():
            name = f"encoder.layer.{number}.{part}"
            weights[f"{name}.weight"] = normal(*shape) / math.sqrt(shape[-1])
            weights[f"{name}.bias"] = normal(shape[0])
    return weights


@pytest.fixture
def fixed():
    """Numbers that are the same for everybody, so that wrong outputs can be recognized."""
    generator = torch.Generator().manual_seed(0)
    return lambda *shape: torch.randn(*shape, generator=generator)


def twin(weights, number, num_heads, eps):
    """Return torch's layer with these weights, as a function of x and a mask (batch, length) of the real tokens."""
    own = {
        name.removeprefix(f"encoder.layer.{number}."): value
        for name, value in weights.items()
        if name.startswith(f"encoder.layer.{number}.")
    }
    d_ff, d_model = own["intermediate.dense.weight"].shape
    layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, 0.0, F.gelu, eps, batch_first=True)
    state = {}
    for kind in ("weight", "bias"):
        parts = [own[f"attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
        state[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
        state |= {f"{name}.{kind}": own[f"{part}.{kind}"] for part, name in NAMES.items()}
    layer.load_state_dict(state)

    def run(x, real):
        with torch.no_grad():
            return layer(x, src_key_padding_mask=~real)

    return run


@points(1, see="A real model on your own layers")
def test_gelu(student, reference, draw):
    """GeluFeedForward is linear1, GELU, linear2."""
    network = student.GeluFeedForward(3, 5)
    inputs = reference.inputs("feed-forward", x=(2, 4, 3), w1=(5, 3), b1=(5,), w2=(3, 5), b2=(3,))
    x, *values = inputs
    names = ["linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]
    network.load_state(dict(zip(names, values, strict=True)))
    output = network(x)
    assert_shape(output, (2, 4, 3), name="output")
    reference.assert_close(output, name="output")

    w1, b1, w2, b2 = values
    for longer in (draw.normal(2, 7, 3), 40 * draw.normal(1, 521, 3)):
        expected = F.linear(F.gelu(F.linear(longer, w1, b1)), w2, b2)
        context = f"of the next, longer batch of shape {tuple(longer.shape)}"
        assert_close(network(longer), expected, name="output", context=context, atol=1e-3)
    found, own = network.gradients(x), x.clone().requires_grad_()
    expected = F.linear(F.gelu(F.linear(own, w1, b1)), w2, b2)
    (right,) = torch.autograd.grad((expected * probe(expected.detach())).sum(), own)
    assert found.inputs[0] is not None, "No gradient reaches x."
    assert_close(found.inputs[0], right, name="gradient", context="of x", atol=1e-4)
    plain = student.FeedForward(3, 5).load_state(network.state())
    expected = F.linear(F.linear(x, w1, b1).relu(), w2, b2)
    assert_close(plain(x), expected, name="output", context="of FeedForward, which should still have a ReLU,")


@points(1)
def test_dropout(student, reference):
    """The hidden vector still goes through the dropout of FeedForward, which does nothing in evaluation mode."""
    network = student.GeluFeedForward(3, 30, dropout=1.0)
    (x,) = reference.inputs("dropout", x=(2, 4, 3))
    reference.assert_same(
        network.train()(x),
        network.state()["linear2.bias"].expand(2, 4, 3),
        rule="With dropout=1, only the last bias must be left",
        name="output",
        context="in training",
        key="output in training with dropout=1",
    )
    lone = student.GeluFeedForward(3, 1, dropout=0.5)  # one hidden number: either 0, or twice what it is
    state = {"linear1.weight": torch.ones(1, 3), "linear1.bias": torch.zeros(1)}
    state |= {"linear2.weight": torch.ones(3, 1), "linear2.bias": torch.zeros(3)}
    many = torch.full((1, 200, 3), 0.4)
    found = lone.load_state(state).train()(many)
    kept = found[found != 0]
    assert len(kept), "With dropout=0.5, the whole output is 0 in training, at each of 200 places."
    assert_close(
        kept,
        2 * F.gelu(torch.full(kept.shape, 1.2)),
        name="output",
        context="in training with dropout=0.5, where it is not 0: dropout comes after GELU",
    )
    half = student.GeluFeedForward(3, 30, dropout=0.5)
    plain = student.GeluFeedForward(3, 30).load_state(half.state())
    assert_close(half.eval()(x), plain(x), name="output", context="after eval(), with dropout")


@points(3, see="A real model on your own layers")
def test_layer(student, reference, draw):
    """The layer computes what torch's layer with GELU computes with the same numbers, padding hidden."""
    values = reference.inputs(
        "layer",
        **{
            f"{part}.{kind}".replace(".", "_"): shape if kind == "weight" else shape[:1]
            for part, shape in shapes(6, 5).items()
            for kind in ("weight", "bias")
        },
    )
    names = [f"encoder.layer.0.{part}.{kind}" for part in shapes(6, 5) for kind in ("weight", "bias")]
    (x,) = reference.inputs("x", x=(2, 4, 6))
    layer = student.load_layer(dict(zip(names, values, strict=True)), 0, 3)
    if not hasattr(layer, "state"):
        fail(f"load_layer returns a {type(layer).__name__}, but should return an EncoderLayer.")
    reference.assert_close(layer(x), name="output", atol=1e-4)

    heads, width, batch, length = draw.sizes(4)
    weights = make_checkpoint(draw.normal, 2, heads * width, heads * width + 3)
    x, real = draw.normal(batch, length, heads * width), draw.bools(batch, length)
    real[:, 0] = True
    layer = student.load_layer(weights, 1, heads)
    student.load_layer(weights, 0, 1, eps=0.5)  # another one, which must have no effect on it
    assert_close(
        layer(x, real.unsqueeze(1))[real],
        twin(weights, 1, heads, 1e-12)(x, real)[real],
        name="output",
        context=", compared with that of torch's layer with the same numbers,",
        atol=1e-4,
    )
    other = draw.normal(batch, length, heads * width)
    assert_same_in_each_mode(layer, (x,), (other,), (x, real.unsqueeze(1)), (other, real.unsqueeze(1)))


@points(1)
def test_number(student, reference, fixed):
    """From a checkpoint with twelve layers, it loads the one that was asked for."""
    weights = make_checkpoint(fixed, 12, 4, 6)
    (x,) = reference.inputs("number", x=(1, 3, 4))
    real = torch.ones(1, 3, dtype=torch.bool)
    for number in (1, 11, 0, 10):
        reference.assert_same(
            student.load_layer(weights, number, 2)(x),
            twin(weights, number, 2, 1e-12)(x, real),
            rule=f"Layer {number} of twelve must be layer {number} of the checkpoint",
            name="output",
            key=f"output of layer {number}",
            atol=1e-4,
        )


@points(1, see="A real model on your own layers")
def test_eps(student, reference, fixed):
    """Both norms have the eps that was asked for, by default 1e-12."""
    weights = make_checkpoint(fixed, 1, 4, 6)
    for name in ("attention.output.dense", "output.dense"):  # only the norms are left
        for kind in ("weight", "bias"):
            weights[f"encoder.layer.0.{name}.{kind}"] *= 0
    (x,) = reference.inputs("eps", x=(2, 3, 4))
    x, real = 1e-4 * x, torch.ones(2, 3, dtype=torch.bool)
    weights["encoder.layer.0.attention.output.LayerNorm.weight"] *= 1e-4
    weights["encoder.layer.0.attention.output.LayerNorm.bias"] *= 0
    for options, eps in [({"eps": 0.5}, 0.5), ({"eps": 1e-6}, 1e-6), ({}, 1e-12)]:
        reference.assert_same(
            student.load_layer(weights, 0, 2, **options)(x),
            twin(weights, 0, 2, eps)(x, real),
            rule=f"Both norms must have eps = {eps:g}",
            name="output",
            context="for vectors with tiny entries",
            key=f"output with eps {eps:g}",
            atol=1e-4,
        )


@points(2, see="From tokens to a vector for the sentence")
def test_sentence_vectors(student, reference, draw):
    """sentence_vectors is the mean of the real tokens, scaled to length 1."""
    (hidden,) = reference.inputs("hidden", hidden=(3, 5, 4))
    mask = torch.tensor([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 1, 0]])
    reference.assert_close(student.sentence_vectors(hidden, mask), name="vectors")

    sizes = tuple(draw.sizes(3, low=3))
    for shape, scale in [(sizes, 1), (sizes, 1e-4), ((1, 521, 43), 40)]:
        hidden, mask = scale * draw.normal(*shape), draw.integers(0, 2, shape[:2])
        mask[:, 1] = 1  # the real tokens may be anywhere
        vectors = student.sentence_vectors(hidden, mask)
        assert_shape(vectors, (shape[0], shape[2]), name="vectors")
        means = torch.stack([row[real.bool()].mean(dim=0) for row, real in zip(hidden, mask, strict=True)])
        context = f"for tokens of shape {shape}, with numbers of about {scale:g}"
        assert_close(vectors, F.normalize(means, dim=-1), name="vectors", context=context, atol=1e-4)
    hidden = draw.normal(2, 3, 4)
    right = F.normalize(hidden[:, 1], dim=-1)
    hidden[:, 0], hidden[:, 2] = 1e30, -3e30
    vectors = student.sentence_vectors(hidden, torch.tensor([[0, 1, 0], [0, 1, 0]]))
    context = "where the vectors of padding hold 1e30 and -3e30"
    assert_close(vectors, right, name="vectors", context=context)


@points(1)
def test_unchanged(student, draw):
    """The vectors of the tokens, the mask and the checkpoint keep their values, also when the loaded layer is trained."""
    assert_unchanged(
        student.call("sentence_vectors", draw.normal(2, 3, 4), torch.tensor([[1, 1, 0], [1, 1, 1]]))
    )
    weights = make_checkpoint(draw.normal, 1, 4, 6)
    call = student.call("load_layer", weights, 0, 2)
    assert not call.changed, "load_layer changed the tensors of the checkpoint that it was given."
    if not hasattr(call.value, "state"):
        return
    helper = student.define(SEPARATE)
    if not helper.separate(student.get("load_layer"), weights):
        fail("The checkpoint changes when the layer's parameters do: they share memory. Copy the numbers.")
    if frozen := helper.frozen(call.value):
        fail(
            f"The loaded layer can't be trained: its parameter `{frozen[0]}` doesn't require gradients. Leave that switched on."
        )
