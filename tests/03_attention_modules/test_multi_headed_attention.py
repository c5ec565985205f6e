"""Checks of exercise 4: MultiHeadedAttention, with our own heads."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_shape,
    assert_unchanged,
    fail,
    for_checks,
    points,
)


@for_checks
def linear_of(layers_of, /, module, to, width):
    """Return (weight, bias) of the student's final layer, and check its shape."""
    return layers_of(module, linear=(to, width)).read()["linear"]


@points(3, see="Several heads: a list")
def test_output_equals_the_formula(student, reference, helper, linear_of):
    """The heads' outputs are concatenated in the given order, and `linear` mixes them."""
    heads = [helper.Head(6, 5, 3) for _ in range(3)]
    for i, head in enumerate(heads):
        (weight,) = reference.inputs(f"head {i}", v=(3, 6))
        head.load_state({"v.weight": weight})
    module = student.MultiHeadedAttention(heads, 9)
    linear_of(module, 9, 9)
    (known,) = reference.inputs("linear", weight=(9, 9))
    module.load_state({"linear.weight": known})
    if "linear.bias" in module.state():
        module.load_state({"linear.bias": torch.zeros(9)})
    (x,) = reference.inputs("x", x=(2, 4, 6))
    reference.assert_close(module(x), name="output")


@points(2, see="Several heads: a list")
def test_heads_of_different_widths(student, draw, helper, linear_of):
    """Heads may differ in width: the input width of `linear` is the sum of their widths, and any output width works."""
    batch, length, input_dim, final, *widths = draw.sizes(7)
    heads = [helper.Head(input_dim, 4, width) for width in widths]
    for final_dim in (final, input_dim):
        module = student.MultiHeadedAttention(heads, final_dim)
        weight, bias = linear_of(module, final_dim, sum(widths))
        for shape in (*2 * [(batch, length, input_dim)], (1, 521, input_dim)):
            x = draw.normal(*shape)
            x[0, 0, 0] = 40
            output = module(x)
            assert_shape(output, (*shape[:2], final_dim), name="output")
            expected = F.linear(torch.cat([head(x) for head in heads], dim=-1), weight, bias)
            context = f"for x of shape {shape} and final_output_dim={final_dim}"
            assert_close(output, expected, name="output", context=context)
    assert_any_layout(module, draw.normal(batch, length, input_dim))


@points(2)
def test_heads_belong_to_the_module(student, draw, helper):
    """torch finds the parameters of `linear` and of the given heads, not of copies, whether they are passed as a list or as a ModuleList."""
    input_dim, key_dim, final, *widths = draw.sizes(5)
    heads = [helper.Head(input_dim, key_dim, width) for width in widths]
    module = student.MultiHeadedAttention(heads, final)
    names = module.parameters()
    for i in range(2):
        assert f"attn_modules.{i}.v.weight" in names, (
            f"`parameters()` does not find head {i} in `self.attn_modules`. Keep the heads in an nn.ModuleList."
        )
    count = sum(parameter.numel() for parameter in names.values())
    right = sum(p.numel() for head in heads for p in head.parameters().values()) + (sum(widths) + 1) * final
    assert count == right, (
        f"The module has {count} parameters. The heads and a linear layer with bias have {right}."
    )
    for i, head in enumerate(heads):
        assert torch.equal(names[f"attn_modules.{i}.v.weight"], head.parameters()["v.weight"]), (
            f"`self.attn_modules[{i}]` doesn't have the weights of the head {i} that was passed in. "
            "Store the heads themselves, in their order."
        )
    new = {"v.bias": torch.arange(1.0, widths[0] + 1)}
    heads[0].load_state(new)
    assert torch.equal(module.parameters()["attn_modules.0.v.bias"], new["v.bias"]), (
        "When a head that was passed in changes, the one in `self.attn_modules` does not: it is a copy. "
        "Store the heads themselves."
    )
    again = student.MultiHeadedAttention(helper.in_a_module_list(heads), final).parameters()
    assert again.keys() == names.keys(), (
        f"If the heads are passed as an nn.ModuleList, the parameters are {sorted(again)}. They should be {sorted(names)}."
    )


@points(2)
def test_mask(
    student, reference, draw, helper, assert_queries_matter, assert_hidden_like_others, assert_masks_of_each
):
    """The mask, or None, reaches every head, with the part of it that is for each sequence."""
    for number in range(2):
        heads = [helper.Head(6, 5, 3), helper.Head(6, 5, 3)]
        for i, head in enumerate(heads):
            q, k, v = reference.inputs(f"head {i}", q=(5, 6), k=(5, 6), v=(3, 6))
            # one head has values, the other outputs zeros
            head.load_state({"q.weight": q, "k.weight": k, "v.weight": v if i == number else 0 * v})
            head.load_state({"v.bias": torch.zeros(3)})
        module = student.MultiHeadedAttention(heads, 4)
        (x,) = reference.inputs("x", x=(3, 5, 6))
        assert_queries_matter(module(x))
        padding = (torch.arange(5) < 3).expand(3, 1, 5)
        reference.assert_same(
            module(x, padding)[:, :3],
            module(x[:, :3]),
            rule=f"Padding must have no effect on head {number}",
            name="output",
            context="with padding",
            key=f"contribution of head {number} with padding, less that without padding",
        )
        assert_hidden_like_others(module, x, padding)
        assert_masks_of_each(module, draw.normal(4, 4, 6))
    without_default = student.MultiHeadedAttention([helper.HeadWithoutDefault(6, 5, 3)], 4)
    if missing := helper.missing(without_default, x):
        fail(
            f"Without a mask, call each head with x and None, as in `head(x, None)`. Your call raises: {missing}."
        )
    as_many_heads = student.MultiHeadedAttention([helper.Head(4, 4, 1) for _ in range(4)], 4)
    assert_masks_of_each(as_many_heads, draw.normal(4, 4, 4))  # as tokens and sequences


@points(2)
def test_everything_learns(student, draw, helper, assert_learns, assert_the_same_function):
    """The right gradients reach x, all heads and `linear`, so that the module can be trained, and evaluation mode changes nothing."""
    heads = [helper.Head(6, 5, 3), helper.Head(6, 4, 2)]
    module = student.MultiHeadedAttention(heads, 7)
    assert_learns(module.gradients(draw.normal(2, 4, 6)))
    assert_the_same_function(module, (2, 4, 6))


@points(1)
def test_one_head_and_input_unchanged(student, draw, helper, linear_of, assert_float64):
    """A single head also works, including in float64, x keeps its values, and the heads keep their mode."""
    module = student.MultiHeadedAttention([helper.Head(6, 5, 3)], 7).to(torch.float64)
    call = module.call(draw.normal(2, 4, 6, dtype=torch.float64))
    assert_unchanged(call)
    assert_shape(call.value, (2, 4, 7), name="output")
    assert_float64(call.value)
    for width, final in ((3, 3), (3, 5), (1, 1)):
        head, x = helper.Head(3, 5, width), draw.normal(2, 4, 3)
        module = student.MultiHeadedAttention([head], final)
        expected = F.linear(head(x), *linear_of(module, final, width))
        context = f"of a single head of width {width} with final_output_dim={final}"
        assert_close(module(x), expected, name="output", context=context)

    module, x = student.MultiHeadedAttention([helper.DroppingHead(6, 5, 3)], 7), draw.normal(2, 4, 6)
    calm = module.eval()(x)
    again = module.call(x, seed=1).value
    assert_close(
        again, calm, name="output", context="of a head with dropout, after eval(), for another seed,"
    )
    assert_differs(module.train()(x), calm, "In training, a head with dropout drops nothing.")
