"""Checks of exercise 3: CrossAttention."""

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
    """The student's module (6, 6, 6, 6) with recorded weights in its layers and no biases."""
    module = student.CrossAttention(6, 6, 6, 6)
    q, k, v = reference.inputs("weights", q=(6, 6), k=(6, 6), v=(6, 6))
    layers_of(module, q=(6, 6), k=(6, 6), v=(6, 6)).write({"q": q / 2, "k": k / 2, "v": v})
    return module


@points(3, see="Cross-attention: one sequence looks at another")
def test_output_equals_the_formula(reference, with_known_weights):
    """The output, which is the only return value, is attention: queries from x by layer q, keys and values from y by k and v."""
    x, y = reference.inputs("x and y", x=(3, 4, 6), y=(3, 4, 6))
    reference.assert_close(with_known_weights()(x, y), name="output")


@points(1, see="Cross-attention: one sequence looks at another")
def test_unequal_lengths(reference, with_known_weights, assert_queries_matter):
    """x and y may differ in length: every token of x gets its row, and every token of y counts."""
    module = with_known_weights()
    for l_x, l_y in [(5, 3), (3, 5)]:
        x, y = reference.inputs(f"{l_x} and {l_y}", x=(2, l_x, 6), y=(2, l_y, 6))
        output = module(x, y)
        assert_shape(output, (2, l_x, 6), name="output")
        assert_queries_matter(output)
        backwards = module(x, y.flip(1))  # y is an unordered set: its order does not matter
        reference.assert_same(
            output,
            backwards,
            rule="The order of the tokens of y must not matter",
            name="output",
            context=f"for {l_x} and {l_y} tokens",
            key=f"output for {l_x} and {l_y} tokens, less that with y backwards",
        )
        one_by_one = torch.cat([module(x[:, i : i + 1], y) for i in range(l_x)], dim=1)
        reference.assert_same(
            output,
            one_by_one,
            rule="A token of x must have the same output with other tokens as on its own",
            name="output",
            context=f"for {l_x} and {l_y} tokens",
            key=f"output for {l_x} and {l_y} tokens, less that for the tokens of x one by one",
        )
        assert_differs(output, module(x, y[:, :2]), "The output is the same without the last tokens of y.")


@points(1)
def test_unequal_widths(student, draw, layers_of, oracle, helper):
    """x, y, keys and output may all have different widths, x and y any layout in memory, and the biases are used."""
    x_dim, y_dim, key_dim, output_dim, *sizes = draw.sizes(7)
    module = student.CrossAttention(x_dim, y_dim, key_dim, output_dim)
    layers = layers_of(module, q=(key_dim, x_dim), k=(key_dim, y_dim), v=(output_dim, y_dim))
    for batch, l_x, l_y in (sizes, sizes, (1, 43, 521)):
        x, y = draw.normal(batch, l_x, x_dim), draw.normal(batch, l_y, y_dim)
        y[0, 0, 0] = 40
        output = module(x, y)
        assert_shape(output, (batch, l_x, output_dim), name="output")
        context = f"for x of shape {tuple(x.shape)} and y of shape {tuple(y.shape)}"
        assert_close(output, oracle(layers.read(), x, y, y), name="output", context=context)
    batch, l_x, l_y = sizes
    same = student.CrossAttention(x_dim, x_dim, key_dim, output_dim)
    layers = layers_of(same, q=(key_dim, x_dim), k=(key_dim, x_dim), v=(output_dim, x_dim))
    x = draw.normal(batch, l_x, x_dim)
    right, context = oracle(layers.read(), x, x, x), "if x and y are one and the same tensor"
    assert_close(helper.of_itself(same, x, 2), right, name="output", context=context)
    assert_any_layout(module, draw.normal(batch, l_x, x_dim), draw.normal(batch, l_y, y_dim))


@points(1)
def test_mask(reference, draw, with_known_weights, assert_queries_matter, assert_masks_of_each):
    """Hidden tokens have no effect: padding in y (batch, 1, L_y), or different tokens for each query (L_x, L_y)."""
    module = with_known_weights()
    x, y = reference.inputs("x and y", x=(3, 4, 6), y=(3, 5, 6))
    assert_queries_matter(module(x, y))
    padding = (torch.arange(5) < 3).expand(3, 1, 5)
    reference.assert_same(
        module(x, y, padding),
        module(x, y[:, :3]),
        rule="Padding in y must have no effect",
        name="output",
        context="with padding in y",
        key="output with pads in y, less that without the pads",
    )
    reference.assert_same(
        module(x, y, torch.arange(5) > 0),
        module(x, y[:, 1:]),
        rule="What is hidden must have no effect",
        name="output",
        context="with a mask that hides the first token of y",
        key="output with the first token of y hidden, less that without it",
    )
    mask = torch.ones(4, 5, dtype=torch.bool).tril()
    output = module(x, y, mask)
    for i in range(4):
        alone = module(x[:, i : i + 1], y[:, : i + 1])[:, 0]
        reference.assert_same(
            output[:, i],
            alone,
            rule="Hidden tokens must have no effect",
            name="output",
            context=f"of token {i} with a mask (L_x, L_y)",
            key=f"output of token {i} with a mask (L_x, L_y), less that of the visible tokens alone",
        )
    assert_differs(module(x, y), module(x, y[:, :3]), "Without a mask, the last tokens of y have no effect.")
    assert_masks_of_each(module, draw.normal(4, 4, 6), draw.normal(4, 4, 6))


@points(1)
def test_query_with_no_key(draw, with_known_weights, assert_zeros_without_a_key):
    """A token of x that may attend to nothing gets zeros and no NaN; the others are not affected."""
    assert_zeros_without_a_key(with_known_weights(), draw.normal(3, 4, 6), draw.normal(3, 5, 6))


@points(1)
def test_everything_learns(
    student, draw, assert_learns, assert_learns_without_a_key, assert_the_same_function
):
    """The right gradients reach x, y and all parameters, none is NaN, even where a token of x may attend to nothing, and evaluation mode changes nothing."""
    module = student.CrossAttention(6, 7, 3, 5)
    assert_learns(module.gradients(draw.normal(2, 4, 6), draw.normal(2, 4, 7)))
    assert_learns_without_a_key(module, draw.normal(2, 4, 6), draw.normal(2, 4, 7))
    assert_the_same_function(module, (2, 4, 6), (2, 3, 7))


@points(1)
def test_three_layers(student, layers_of, assert_created_in_order):
    """q, k and v are three layers, created in this order, each with its own weights and a bias."""
    module = student.CrossAttention(6, 7, 3, 5)
    layers_of(module, q=(3, 6), k=(3, 7), v=(5, 7))
    count = sum(parameter.numel() for parameter in module.parameters().values())
    right = 3 * 6 + 3 + 3 * 7 + 3 + 5 * 7 + 5
    assert count == right, (
        f"The module has {count} parameters. Three separate layers with biases have {right}."
    )
    assert_created_in_order("CrossAttention", 6, 7, 3, 5, q=(3, 6), k=(3, 7), v=(5, 7))


@points(1)
def test_float64_and_inputs_unchanged(student, draw, layers_of, oracle, assert_float64):
    """After .to(torch.float64) it computes at full precision, and x and y keep their values."""
    module = student.CrossAttention(6, 7, 3, 5).to(torch.float64)
    x, y = draw.normal(2, 4, 6, dtype=torch.float64), draw.normal(2, 3, 7, dtype=torch.float64)
    call = module.call(x, y)
    assert_unchanged(call)
    assert_float64(call.value)
    layers = layers_of(module, q=(3, 6), k=(3, 7), v=(5, 7)).read()
    assert_full_precision(call.value, oracle(layers, x, y, y), name="output")
    context = ", compared with the output for y repeated twice,"
    assert_close(call.value, module(x, torch.cat([y, y], 1)), name="output", context=context, atol=1e-10)
