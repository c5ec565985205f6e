"""Checks of exercise 8: SortingTransformer, with weights that the checks set by name."""

import torch
import torch.nn.functional as F
from torch import nn

from gradekit.checks import assert_close, assert_differs, assert_right_gradients, assert_shape, fail, points

VOCAB, WIDTH, LENGTH = 11, 8, 6


def shapes(num_layers, vocab=VOCAB, width=WIDTH, length=LENGTH):
    """Return name -> shape of every parameter."""
    found = {"embedding.token.weight": (vocab, width), "embedding.position.weight": (length, width)}
    for i in range(num_layers):
        for name in "qkvo":
            found[f"layers.{i}.self_attn.w_{name}.weight"] = (width, width)
            found[f"layers.{i}.self_attn.w_{name}.bias"] = (width,)
        found[f"layers.{i}.feed_forward.linear1.weight"] = (2 * width, width)
        found[f"layers.{i}.feed_forward.linear1.bias"] = (2 * width,)
        found[f"layers.{i}.feed_forward.linear2.weight"] = (width, 2 * width)
        found[f"layers.{i}.feed_forward.linear2.bias"] = (width,)
        for name in ("norm1", "norm2"):
            found[f"layers.{i}.{name}.weight"] = found[f"layers.{i}.{name}.bias"] = (width,)
    found["norm.weight"] = found["norm.bias"] = (width,)
    return found | {"output.weight": (vocab, width), "output.bias": (vocab,)}


def with_weights(student, reference, num_layers=2):
    """Return a model with recorded weights, for those parameters that it has."""
    model = student.SortingTransformer(VOCAB, WIDTH, LENGTH, num_layers)
    wanted = shapes(num_layers)
    weights = dict(zip(wanted, reference.inputs("weights", **wanted), strict=True))
    own = model.parameters()
    model.load_state({name: 0.7 * weights[name] for name in own if own[name].shape == wanted.get(name)})
    return model.eval()


def with_torch(weights, ids, width, num_layers):
    """Return the logits of torch's layers between the student's embedding, norm and linear layer."""
    x = weights["embedding.token.weight"][ids] + weights["embedding.position.weight"][: ids.shape[1]]
    for i in range(num_layers):
        own = {
            name.removeprefix(f"layers.{i}."): value
            for name, value in weights.items()
            if name.startswith(f"layers.{i}.")
        }
        named = {
            name.removeprefix("feed_forward."): own[name] for name in own if not name.startswith("self_attn")
        }
        for part in ("weight", "bias"):
            named[f"self_attn.in_proj_{part}"] = torch.cat([own[f"self_attn.w_{x}.{part}"] for x in "qkv"])
            named[f"self_attn.out_proj.{part}"] = own[f"self_attn.w_o.{part}"]
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True, norm_first=True)
        layer.load_state_dict(named)
        with torch.no_grad():
            x = layer(x)
    x = F.layer_norm(x, (width,), weights["norm.weight"], weights["norm.bias"])
    return F.linear(x, weights["output.weight"], weights["output.bias"])


@points(1)
def test_output(student, reference, draw):
    """With given weights, the logits are those of the model in the table: pre-norm layers with 4 heads, layer norm, linear layer."""
    model = with_weights(student, reference)
    ids = reference.integers("ids", 1, VOCAB, (3, 5))
    logits = model(ids)
    reference.assert_close(logits, name="logits", atol=1e-4)
    context = "in training mode, compared with those in evaluation mode: no dropout was asked for"
    assert_close(model.train()(ids), logits, name="logits", context=context)

    for width, num_layers in ((WIDTH, 2), (12, 2), (4, 2), (WIDTH, 1), (WIDTH, 6)):
        sizes = (90, width, 521) if num_layers == 2 else (90, width, 521, num_layers)  # two by default
        model, ids = student.SortingTransformer(*sizes).eval(), draw.integers(0, 90, (1, 521))
        ids[0, 3] = 0
        weights, wanted = model.parameters(), shapes(num_layers, 90, width, 521)
        if all(name in weights and weights[name].shape == shape for name, shape in wanted.items()):
            right = with_torch(weights, ids, width, num_layers)
            context = f"at width {width} with {num_layers} layers, for a single row of 521 numbers, compared with torch's layers with your weights,"
            assert_close(model(ids), right, name="logits", context=context, atol=1e-4)


@points(1)
def test_parameters(student):
    """The model has the parameters of the table by name, num_layers layers, and d_ff twice the width."""
    for num_layers in [1, 3]:
        own = {
            name: tuple(t.shape)
            for name, t in student.SortingTransformer(13, 8, 5, num_layers).parameters().items()
        }
        wanted = shapes(num_layers, 13, 8, 5)
        for name, shape in wanted.items():
            if name not in own:
                fail(f"With num_layers = {num_layers}, the model has no parameter `{name}`.")
            if own[name] != shape:
                fail(
                    f"The parameter `{name}` has shape {own[name]}. Compare it with the table of the exercise."
                )
        extra = sorted(set(own) - set(wanted))
        if extra:
            fail(f"With num_layers = {num_layers}, the model has an extra parameter `{extra[0]}`.")
    own, wanted = student.SortingTransformer(13, 12, 5).parameters(), shapes(2, 13, 12, 5)
    for name, shape in wanted.items():
        if name not in own or own[name].shape != shape:
            found = tuple(own[name].shape) if name in own else "missing"
            fail(f"With embed_dim = 12, the parameter `{name}` should have shape {shape}, but is {found}.")
    own = student.SortingTransformer(13, 8, 5).parameters()
    assert "layers.1.norm1.weight" in own and "layers.2.norm1.weight" not in own, (
        "By default, the model should have two layers."
    )


@points(1, see="Sorting, without a decoder")
def test_positions_matter(student, reference):
    """The same number has different logits at different positions."""
    model = with_weights(student, reference)
    ids = torch.tensor([[4, 4, 4, 4, 4]])
    logits = model(ids)
    assert_shape(logits, (1, 5, VOCAB), name="logits")
    assert_differs(
        logits[:, 0],
        logits[:, 3],
        "Five equal numbers get the same logits at every position. Add the positions to the embeddings.",
        atol=1e-4,
    )


@points(1, see="Sorting, without a decoder")
def test_every_place_sees_every_number(student, reference):
    """Every position sees every number, before and after it, and no other row of the batch."""
    model = with_weights(student, reference)
    ids = reference.integers("ids", 1, 10, (3, 5))
    logits = model(ids)
    assert_shape(logits, (3, 5, VOCAB), name="logits")
    for place in (0, 4):
        changed = ids.clone()
        changed[1, place] = 10
        moved = (model(changed) - logits).abs().amax(dim=-1) > 1e-6  # (3, 5)
        assert moved[1].all(), (
            f"Changing the number at position {place} does not change the logits at every position. Don't use a mask here."
        )
        assert not moved[0].any() and not moved[2].any(), "A row of the batch depends on another row."


@points(1)
def test_every_layer_counts(student, reference):
    """Every layer is used: changing its weights changes the logits."""
    model = with_weights(student, reference, num_layers=3)
    ids = reference.integers("ids", 1, VOCAB, (2, 5))
    for i in range(3):
        before = model(ids)
        name = f"layers.{i}.feed_forward.linear2.bias"
        if name not in model.parameters():
            fail(f"The model has no parameter `{name}`, although num_layers is 3.")
        model.load_state({name: torch.arange(8.0)})
        assert_differs(model(ids), before, f"Layer {i} has no effect on the logits.", atol=1e-4)


@points(1)
def test_gradients(student, reference):
    """Gradients reach every parameter."""
    model = with_weights(student, reference)
    assert model.parameters(), "The model has no parameters."
    gradients = model.gradients(reference.integers("ids", 1, VOCAB, (3, 6))).parameters
    lost = [name for name, gradient in gradients.items() if gradient is None]
    assert not lost, f"No gradient reaches the parameter `{lost[0]}`."
    model = with_weights(student, reference).to(torch.float64)
    ids = reference.integers("ids", 1, VOCAB, (3, 6))
    assert_right_gradients(model.gradients(ids), model, name="logits")
