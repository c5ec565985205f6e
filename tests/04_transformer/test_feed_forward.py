"""Checks of exercise 1: FeedForward."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_dropped_singly,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)


def formula(x, values):
    hidden = F.relu(F.linear(x, values["linear1.weight"], values["linear1.bias"]))
    return F.linear(hidden, values["linear2.weight"], values["linear2.bias"])


@points(3, see="The feed-forward network")
def test_equals_the_formula(student, reference, draw, renew):
    """The output is linear2(ReLU(linear1(x)))."""
    network = student.FeedForward(4, 7)
    renew(network)
    (x,) = reference.inputs("x", x=(2, 5, 4))
    reference.assert_close(network(x), name="output")

    d_model, d_ff, batch, length = draw.sizes(4)
    network = student.FeedForward(d_model, d_ff)
    values = renew(network, seed=1)
    for shape in ((batch, length, d_model), (1, 521, d_model)):
        x = draw.normal(*shape)
        x[0, 0, 0] = 40
        output = network(x)
        assert_shape(output, shape, name="output")
        assert_close(output, formula(x, values), name="output", context=f"for x of shape {shape}")


@points(2)
def test_parameters(student, draw):
    """`linear1` maps d_model to d_ff and `linear2` maps it back, both with a bias; there are no other parameters."""
    d_model, d_ff = draw.sizes(2, low=3, high=12)
    found = {
        name: tuple(value.shape) for name, value in student.FeedForward(d_model, d_ff).parameters().items()
    }
    expected = {
        "linear1.weight": (d_ff, d_model),
        "linear1.bias": (d_ff,),
        "linear2.weight": (d_model, d_ff),
        "linear2.bias": (d_model,),
    }
    for name, shape in expected.items():
        assert name in found, f"There is no parameter `{name}`."
        assert found[name] == shape, f"`{name}` has shape {found[name]}, but should have {shape}."
    more = ", ".join(found.keys() - expected.keys())
    assert not more, f"There are more parameters than the two layers need: {more}."


@points(1)
def test_dropout(student, reference, draw, renew):
    """Dropout is applied to each entry of the hidden vector in training, is off in eval(), and by default does nothing."""
    network = student.FeedForward(4, 30, dropout=1.0)
    bias = renew(network).get("linear2.bias", torch.zeros(4))
    (x,) = reference.inputs("x", x=(2, 5, 4))
    reference.assert_same(
        network.train()(x),
        bias.expand(2, 5, 4),
        rule="With dropout=1, only the last bias must be left",
        name="output",
        context="in training",
        key="output in training with dropout=1, less the last bias,",
    )
    x = draw.normal(2, 5, 4)
    half = student.FeedForward(4, 30, dropout=0.5)
    network = student.FeedForward(4, 30).load_state(half.parameters())
    assert_close(half.eval()(x), network(x), name="output", context="after eval(), with dropout")
    assert not half.train()(x).allclose(network(x)), "With dropout=0.5, nothing is dropped in training."

    network = student.FeedForward(8, 32, dropout=0.75)
    # with these weights and inputs each hidden entry is 1, and the first eight are the output
    weights = {"linear1.weight": torch.ones(32, 8) / 8, "linear2.weight": torch.eye(8, 32)}
    weights |= {"linear1.bias": torch.zeros(32), "linear2.bias": torch.zeros(8)}
    dropped = network.load_state(weights, strict=False).train()(torch.ones(4, 6, 8))
    context = "of 4 sequences of 6 positions in training"
    assert_dropped_singly(dropped, name="hidden vector", context=context)
    assert not dropped.equal(network(torch.ones(4, 6, 8), seed=1)), (
        "Two calls in training drop the same entries. Draw in each call which ones are dropped, as `nn.Dropout` does."
    )
    kept = dropped[dropped != 0]
    context = "in training with dropout=0.75, where a hidden entry was 1 and is not dropped,"
    assert_close(kept, torch.full_like(kept, 4.0), name="output", context=context)
    dropped, context = network(torch.ones(4, 6, 8), no_grad=True), "in training under `torch.no_grad()`"
    assert_dropped_singly(dropped, name="hidden vector", context=context)


@points(1, see="The feed-forward network")
def test_positions_are_apart(student, draw):
    """Positions are independent: each part of a sequence has the same output as on its own."""
    network = student.FeedForward(3, 7)
    x = draw.normal(2, 5, 3)
    together = network(x)
    assert_close(
        network(x[:, 3:]), together[:, 3:], name="output", context="for the last two positions alone"
    )
    assert_close(network(x[1:]), together[1:], name="output", context="for the second sequence alone")
    assert_varies(together, name="output")
    assert_differs(together, x, "The output is the input.")


@points(1)
def test_gradients_and_dtype(student, draw, assert_all_learn, assert_double, assert_the_same_function):
    """The right gradients reach x and all parameters, float64 stays float64, x keeps its values, and without dropout the mode changes nothing."""
    network = student.FeedForward(4, 30)
    x = draw.normal(2, 5, 4)
    assert_unchanged(network.call(x))
    assert_any_layout(network, x)
    assert_all_learn(network.gradients(x))
    assert_the_same_function(network, (draw.normal(2, 5, 4),), (x,))
    assert_double(network.to(torch.float64)(x.double()))
