"""Checks of exercise 5: FusedMultiHeadAttention, against the formula and against itself."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_dropped_singly,
    assert_full_precision,
    assert_raises,
    assert_shape,
    assert_unchanged,
    assert_varies,
    for_checks,
    points,
)

NAMES = ["w_q", "w_k", "w_v", "w_o"]


@for_checks
def fused(student, reference, layers_of, /, d_model=8, num_heads=2, dropout=0.0, **weights):
    """The student's module with recorded weights and no biases, in evaluation mode."""
    module = student.FusedMultiHeadAttention(d_model, num_heads, dropout)
    known = reference.inputs(f"weights {d_model}", **{name: (d_model, d_model) for name in NAMES})
    values = dict(zip(NAMES, known, strict=True)) | weights
    layers_of(module, **{name: (d_model, d_model) for name in NAMES}).write(values)
    student.FusedMultiHeadAttention(3, 1, 0.9)  # another one, which must have no effect on it
    return module.eval()


@points(3, see="Splitting is more than reshaping")
def test_output_equals_the_formula(reference, fused):
    """The output is w_o applied to the concatenated heads, each of them softmax(q kᵀ / √d_head) v of its own columns."""
    query, key, value = reference.inputs("x", query=(3, 4, 8), key=(3, 4, 8), value=(3, 4, 8))
    output, _ = fused()(query / 2, key / 2, value)
    reference.assert_close(output, name="output")


@points(2, see="All heads in one product")
def test_weights_equal_the_formula(reference, fused):
    """The weights are returned second, (batch, heads, L_query, L_key): one matrix per head, whose rows sum to 1."""
    query, key, value = reference.inputs("x", query=(3, 4, 8), key=(3, 4, 8), value=(3, 4, 8))
    _, weights = fused()(query / 2, key / 2, value)
    reference.assert_close(weights, name="weights")


@points(2, see="Splitting is more than reshaping")
def test_unequal_sizes(student, draw, layers_of, oracle, helper):
    """Batch, lengths, heads and widths may all differ, inputs may have any layout in memory, and the biases are used."""
    batch, l_query, l_key, heads, d_head = draw.sizes(5)
    d_model = heads * d_head
    for number in (heads, 1):
        module = student.FusedMultiHeadAttention(d_model, number).eval()
        layers = layers_of(module, **{name: (d_model, d_model) for name in NAMES})
        for size, queries, keys in (*2 * [(batch, l_query, l_key)], (1, 43, 521)):
            query, key, value = (draw.normal(size, length, d_model) for length in (queries, keys, keys))
            value[0, 0, 0] = 40
            output, weights = module(query, key, value)
            assert_shape(output, (size, queries, d_model), name="output")
            assert_shape(weights, (size, number, queries, keys), name="weights")
            context = f"for a query of shape {tuple(query.shape)} and a key of shape {tuple(key.shape)}"
            expected = oracle(layers.read(), query, key, value, heads=number)
            assert_close(output, expected, name="output", context=context)
    x = draw.normal(batch, l_query, d_model)
    output, _ = helper.of_itself(module, x, 3)
    context = "if query, key and value are one and the same tensor"
    assert_close(output, oracle(layers.read(), x, x, x), name="output", context=context)
    inputs = [draw.normal(batch, length, d_model) for length in (l_query, l_key, l_key)]
    assert_any_layout(module, *inputs, name="output or weights")


@points(2)
def test_mask(reference, draw, fused, helper, assert_queries_matter, assert_masks_of_each):
    """A mask applies to all heads: (batch, 1, L_key), (L_query, L_key) or (batch, L_query, L_key)."""
    module = fused()
    query, key, value = reference.inputs("x", query=(3, 4, 8), key=(3, 5, 8), value=(3, 5, 8))
    assert_queries_matter(module(query, key, value)[0])
    padding = (torch.arange(5) < 3).expand(3, 1, 5)
    output, weights = module(query, key, value, padding)
    shorter = module(query, key[:, :3], value[:, :3])
    reference.assert_same(
        output,
        shorter[0],
        rule="Padding must have no effect",
        name="output",
        context="with padding",
        key="output with pads, less that without the pads",
    )
    reference.assert_same(
        weights[..., :3],
        shorter[1],
        rule="Padding must not change the weights of the other keys",
        name="weights",
        context="of the keys before the padding",
        key="weights with pads, less those without the pads",
    )
    triangle = torch.ones(4, 5, dtype=torch.bool).tril()
    for name, mask in [("(L_query, L_key)", triangle), ("(batch, L_query, L_key)", padding & triangle)]:
        output, _ = module(query, key, value, mask)
        assert_shape(output, (3, 4, 8), name="output")
        for i in range(3):
            visible = slice(i + 1)
            alone, _ = module(query[:, i : i + 1], key[:, visible], value[:, visible])
            reference.assert_same(
                output[:, i],
                alone[:, 0],
                rule="Hidden keys must have no effect",
                name="output",
                context=f"of query {i} with a mask {name}",
                key=f"output of query {i} with a mask {name}, less that of the visible keys alone",
            )
    assert_differs(
        module(query, key, value)[0], shorter[0], "Without a mask, the keys at the end have no effect."
    )
    x, mask = draw.normal(3, 5, 8), torch.ones(5, 5, dtype=torch.bool).triu()
    output, _ = helper.of_itself(module, x, 3, mask)
    context = (
        "with a mask, if query, key and value are one and the same tensor, compared with that for equal ones,"
    )
    assert_close(output, module(x, x.clone(), x.clone(), mask)[0], name="output", context=context)
    as_many = fused(num_heads=4)  # heads as tokens and sequences
    assert_masks_of_each(lambda *inputs: module(*inputs)[0], *(draw.normal(4, 4, 8) for _ in range(3)))
    assert_masks_of_each(lambda *inputs: as_many(*inputs)[0], *(draw.normal(4, 4, 8) for _ in range(3)))


@points(1)
def test_query_with_no_key(reference, draw, fused):
    """A query that may attend to nothing gets zeros from every head, so the bias of w_o, and no NaN; the other queries are not affected."""
    module = fused()
    query, key, value = reference.inputs("x", query=(3, 4, 8), key=(3, 5, 8), value=(3, 5, 8))
    before, _ = module(query, key, value)
    mask = torch.ones(3, 4, 5, dtype=torch.bool)
    mask[0, 1] = False
    output, weights = module(query, key, value, mask)
    reference.assert_close(weights[0, :, 1], name="weights", context="of a query with no key")
    reference.assert_close(
        output[0, 1], name="output", context="of a query with no key, with all biases at 0"
    )
    output[0, 1] = before[0, 1]
    assert_close(output, before, name="output", context="of the other queries")
    assert_varies(before, name="output", context="of the other queries")
    _, weights = module(query, key, value, torch.zeros_like(mask))
    context = "if the mask hides everything"
    assert_close(weights, torch.zeros_like(weights), name="weights", context=context)
    if "w_o.bias" in module.state():  # a missing one is for another check
        module.load_state({"w_o.bias": draw.normal(8)})
        zeros, _ = module(query, torch.zeros_like(key), torch.zeros_like(value))
        output, _ = module(query, key, value, mask)
        context = "of a query with no key, compared with that of zeros as keys and values, with a bias of w_o that isn't 0,"
        assert_close(output[0, 1], zeros[0, 1], name="output", context=context)


@points(2)
def test_heads_must_share_the_width(student, draw):
    """A width that is not divisible by the number of heads raises a ValueError that names both numbers."""
    d_head, num_heads = draw.sizes(2, low=3, high=9)
    for d_model in (d_head * num_heads + 1, num_heads - 1):
        assert_raises(
            ValueError,
            lambda d_model=d_model: student.FusedMultiHeadAttention(d_model, num_heads),
            mentions=(d_model, num_heads),
        )
    student.FusedMultiHeadAttention(d_head * num_heads, num_heads)  # this one is valid


@points(1)
def test_dropout_in_training(reference, fused):
    """In training, dropout applies to the weights before they are multiplied by the values, in every call, with and without a mask or gradients, and to nothing else."""
    module = fused(4, 2, dropout=0.25, w_v=torch.eye(4), w_o=torch.eye(4)).train()
    query, key = reference.inputs("x", query=(12, 9, 4), key=(12, 7, 4))
    ones = torch.ones(12, 7, 4)  # so each number of the output is the sum of the remaining weights
    output, _ = module(query, key, ones)
    assert (output - 1).abs().max() > 0.01, "In training, with dropout=0.25, no weight is dropped."
    other, _ = module.call(query, key, ones, seed=1).value
    assert_differs(other, output, "In training, two calls drop the same weights. Drop others in every call.")
    masked, _ = module(query, key, ones, (torch.arange(7) < 6).expand(9, 7))
    assert (masked - 1).abs().max() > 0.01, "In training, with a mask, no weight is dropped."
    no_grad, _ = module(query, key, ones, no_grad=True)
    assert (no_grad - 1).abs().max() > 0.01, (
        "In training mode, under `torch.no_grad()`, no weight is dropped. Whether gradients are recorded has nothing to do with it."
    )
    assert (output[:, 1:] - output[:, :1]).abs().max() > 0.01, (
        "All queries of a sequence lose the same weights. Apply dropout to each weight on its own."
    )
    kept = torch.tensor([0, 1, 1 / 0.75])
    assert ((output[..., None] - kept).abs().amin(dim=-1) > 0.01).any(), (
        "Apply dropout to the individual weights. Yours is applied after the weights are used."
    )
    assert abs(output.mean() - 1) < 0.1, (
        "On average the remaining weights should sum to 1: nn.Dropout scales them up by 1 / (1 - p)."
    )
    single, _ = module(query, key[:, :1], torch.ones(12, 1, 4))
    assert abs(single.max() - 1 / 0.75) < 0.01, (
        "With dropout=0.25 and a single key, its weight should be 0 or 1 / 0.75. Which probability do you pass to nn.Dropout?"
    )
    assert_dropped_singly(single[..., ::2], name="output", context="of the heads, for a single key")
    many = fused(4, 2, dropout=0.75, w_v=torch.eye(4), w_o=torch.eye(4)).train()
    gone, _ = many(query, key, torch.ones(12, 7, 4))
    assert gone.std() > 1.5 * output.std(), (
        "With dropout=0.75 the output should vary more than with 0.25. Which probability do you pass to nn.Dropout?"
    )


@points(1)
def test_weights_before_dropout(reference, fused):
    """The returned weights are those before dropout: the same in training and in evaluation."""
    query, key, value = reference.inputs("x", query=(3, 4, 8), key=(3, 5, 8), value=(3, 5, 8))
    _, calm = fused(dropout=0.5)(query, key, value)
    _, weights = fused(dropout=0.5).train()(query, key, value)
    reference.assert_same(
        weights,
        calm,
        rule="Dropout must not show in the returned weights",
        name="weights",
        context="in training",
        key="weights in training, less those in evaluation",
    )
    assert_varies(weights, name="weights")


@points(2)
def test_no_dropout_otherwise(reference, fused):
    """After eval(), and with the default dropout=0.0 in training, nothing is dropped."""
    query, key, value = reference.inputs("x", query=(3, 4, 8), key=(3, 5, 8), value=(3, 5, 8))
    calm, _ = fused(dropout=0.5)(query, key, value)
    again, _ = fused(dropout=0.5).call(query, key, value, seed=1).value
    assert_close(
        again, calm, name="output", context="after eval(), compared with the output for another seed,"
    )
    without, _ = fused().train()(query, key, value)
    context = "in training without dropout, compared with the output after eval(),"
    assert_close(without, calm, name="output", context=context)
    dropped, _ = fused(dropout=0.5).train()(query, key, value)
    assert_differs(dropped, calm, "In training, with dropout=0.5, nothing is dropped.")


@points(2)
def test_everything_learns(
    student, draw, assert_learns, assert_learns_without_a_key, assert_the_same_function
):
    """The right gradients reach query, key, value and the parameters of four linear layers with bias, and none is NaN, even where a query may attend to nothing."""
    module = student.FusedMultiHeadAttention(6, 2)
    count = sum(parameter.numel() for parameter in module.parameters().values())
    assert count == 4 * (36 + 6), (
        f"The module has {count} parameters. Four separate linear layers with biases have 168."
    )
    inputs = draw.normal(2, 4, 6), draw.normal(2, 5, 6), draw.normal(2, 5, 6)
    gradients = module.gradients(*inputs)
    assert_learns(gradients)
    with_other_values = module.gradients(*inputs[:2], 2 * inputs[2])
    assert not torch.allclose(gradients.inputs[0], with_other_values.inputs[0]), (
        "Gradients reach the query through the weights that you return, but not through the output: "
        "the weights are detached before they are multiplied by the values."
    )
    assert_learns_without_a_key(module, *inputs)
    assert_the_same_function(module, (2, 4, 6), (2, 5, 6), (2, 5, 6), name="output or weights")


@points(1)
def test_float64_and_inputs_unchanged(student, draw, layers_of, oracle, assert_float64):
    """After .to(torch.float64) it computes at full precision, and the inputs, including the mask, keep their values."""
    module = student.FusedMultiHeadAttention(6, 2).to(torch.float64).eval()
    query, key, value = (draw.normal(2, length, 6, dtype=torch.float64) for length in (4, 5, 5))
    assert_unchanged(module.call(query, key, value, torch.ones(4, 5, dtype=torch.bool)))
    output, weights = module(query, key, value)
    assert_float64(output)
    assert_float64(weights)
    layers = layers_of(module, **{name: (6, 6) for name in NAMES}).read()
    assert_full_precision(output, oracle(layers, query, key, value, heads=2), name="output")
    twice, _ = module(query, torch.cat([key, key], 1), torch.cat([value, value], 1))
    context = ", compared with the output for all keys and values repeated twice,"
    assert_close(output, twice, name="output", context=context, atol=1e-10, rtol=1e-10)
