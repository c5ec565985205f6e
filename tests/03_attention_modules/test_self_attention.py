"""Checks of exercise 1: SelfAttention."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_full_precision,
    assert_shape,
    assert_unchanged,
    for_checks,
    points,
)


@for_checks
def with_known_weights(student, reference, layers_of, /):
    """The student's module (6, 6, 6) with recorded weights in its layers and no biases."""
    module = student.SelfAttention(6, 6, 6)
    q, k, v = reference.inputs("weights", q=(6, 6), k=(6, 6), v=(6, 6))
    layers_of(module, q=(6, 6), k=(6, 6), v=(6, 6)).write({"q": q / 2, "k": k / 2, "v": v})
    return module


@points(3, see="Self-attention: three layers, three roles")
def test_output_equals_the_formula(reference, with_known_weights):
    """The output, which is the only return value, is attention: queries from layer q, keys from k, values from v."""
    (x,) = reference.inputs("x", x=(3, 4, 6))
    reference.assert_close(with_known_weights()(x), name="output")


@points(2)
def test_unequal_widths(student, draw, layers_of, oracle):
    """Input, keys and output may all have different widths, x any layout in memory, and the biases are used."""
    input_dim, key_dim, output_dim, batch, length = draw.sizes(5)
    module = student.SelfAttention(input_dim, key_dim, output_dim)
    layers = layers_of(module, q=(key_dim, input_dim), k=(key_dim, input_dim), v=(output_dim, input_dim))
    for shape in ((batch, length, input_dim), (batch, length, input_dim), (1, 521, input_dim)):
        x = draw.normal(*shape)
        x[0, 0, 0] = 40
        output = module(x)
        assert_shape(output, (*shape[:2], output_dim), name="output")
        assert_close(output, oracle(layers.read(), x, x, x), name="output", context=f"for x of shape {shape}")
    assert_any_layout(module, draw.normal(batch, length, input_dim))


@points(2)
def test_mask(
    reference,
    draw,
    with_known_weights,
    assert_queries_matter,
    assert_hidden_like_others,
    assert_masks_of_each,
):
    """Hidden tokens have no effect: padding (batch, 1, L), the future (L, L), or both (batch, L, L)."""
    module = with_known_weights()
    (x,) = reference.inputs("x", x=(3, 5, 6))
    assert_queries_matter(module(x))
    padding = (torch.arange(5) < 3).expand(3, 1, 5)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    shorter = module(x[:, :3])
    reference.assert_same(
        module(x, padding)[:, :3],
        shorter,
        rule="Padding must have no effect",
        name="output",
        context="with padding",
        key="output with pads, less that without the pads",
    )
    for name, mask in [("the future", causal), ("both", padding & causal)]:
        output = module(x, mask)
        for i in range(3):
            alone = module(x[:, : i + 1])[:, i]
            reference.assert_same(
                output[:, i],
                alone,
                rule="Hidden tokens must have no effect",
                name="output",
                context=f"of token {i} with {name} hidden",
                key=f"output of token {i} with {name} hidden, less that of the tokens up to {i} alone",
            )
    assert_differs(module(x)[:, :3], shorter, "Without a mask, the tokens at the end of x have no effect.")
    assert_hidden_like_others(module, x, padding)
    assert_masks_of_each(module, draw.normal(4, 4, 6))


@points(1)
def test_query_with_no_key(draw, with_known_weights, assert_zeros_without_a_key):
    """A query that may attend to nothing gets zeros and no NaN; the others are not affected."""
    x = draw.normal(3, 5, 6)
    assert_zeros_without_a_key(with_known_weights(), x)


@points(2)
def test_everything_learns(
    student, draw, assert_learns, assert_learns_without_a_key, assert_the_same_function
):
    """The right gradients reach x and all parameters, none is NaN, even where a token may attend to nothing, and evaluation mode changes nothing."""
    module = student.SelfAttention(6, 3, 5)
    assert_learns(module.gradients(draw.normal(2, 4, 6)))
    assert_learns_without_a_key(module, draw.normal(2, 4, 6))
    assert_the_same_function(module, (2, 4, 6))


@points(1, see="Self-attention: three layers, three roles")
def test_three_layers(student, layers_of, assert_created_in_order):
    """q, k and v are three layers, created in this order, each with its own weights and a bias."""
    module = student.SelfAttention(7, 3, 5)
    layers_of(module, q=(3, 7), k=(3, 7), v=(5, 7))
    count = sum(parameter.numel() for parameter in module.parameters().values())
    right = 2 * (3 * 7 + 3) + 5 * 7 + 5
    assert count == right, (
        f"The module has {count} parameters. Three separate layers with biases have {right}."
    )
    assert_created_in_order("SelfAttention", 7, 3, 5, q=(3, 7), k=(3, 7), v=(5, 7))


@points(1)
def test_float64_and_input_unchanged(student, draw, layers_of, oracle, assert_float64):
    """After .to(torch.float64) it computes at full precision, and x keeps its values."""
    module = student.SelfAttention(6, 3, 5).to(torch.float64)
    x = draw.normal(2, 4, 6, dtype=torch.float64)
    call = module.call(x)
    assert_unchanged(call)
    assert_float64(call.value)
    layers = layers_of(module, q=(3, 6), k=(3, 6), v=(5, 6)).read()
    assert_full_precision(call.value, oracle(layers, x, x, x), name="output")
    context = ", compared with the output for x repeated twice,"
    assert_close(call.value, module(torch.cat([x, x], 1))[:, :4], name="output", context=context, atol=1e-10)
