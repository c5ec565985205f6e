"""Checks of exercise 5: CausalAttention, against the formula with the student's own rotate and grouped_attention."""

from dataclasses import replace

import torch
import torch.nn.functional as F

from gradekit.checks import (
    StudentError,
    assert_any_layout,
    assert_close,
    assert_differs,
    assert_model_kept,
    assert_reaches,
    assert_same_in_each_mode,
    assert_shape,
    assert_varies,
    fail,
    for_checks,
    points,
)


@for_checks
def attention(student, renew, shapes_of, /, d_model, heads, groups, seed=0, **options):
    """The student's module with new weights, and these: `attention(d_model, heads, groups)`."""
    module = student.CausalAttention(d_model, heads, groups, **options)
    return module, renew(module, shapes_of["CausalAttention"](d_model, heads, groups), seed)


@for_checks
def steps(student, /, weights, x, heads, groups, *base):
    """The same steps with the student's own functions; returns the output and the keys and values for the cache."""
    length = torch.arange(x.shape[1])
    q, k, v = (
        F.linear(x, weights[f"w_{name}.weight"]).unflatten(-1, (number, -1)).transpose(1, 2)
        for name, number in [("q", heads), ("k", groups), ("v", groups)]
    )
    q, k = (student.rotate(part.contiguous(), length, *base) for part in (q, k))
    mask = torch.ones(len(length), len(length), dtype=torch.bool).tril()
    output, _ = student.grouped_attention(q, k, v.contiguous(), mask)
    return F.linear(output.transpose(1, 2).flatten(2), weights["w_o.weight"]), k, v


@for_checks
def need_working_parts(student, reference, /):
    """Fail if the student's `rotate` ignores positions, or `grouped_attention` the mask: the checks below would blame the module."""
    (x,) = reference.inputs("parts", x=(1, 2, 3, 4))
    places, mask = torch.arange(3), torch.ones(3, 3, dtype=torch.bool).tril()
    if student.rotate(x, places).allclose(student.rotate(x, places + 3), atol=1e-4):
        fail(
            "Your `rotate` returns the same for other positions, so a cache can't work. Solve exercise 1 first."
        )
    if student.grouped_attention(x, x, x)[0].allclose(student.grouped_attention(x, x, x, mask)[0], atol=1e-4):
        fail("Your `grouped_attention` ignores the mask, so nothing can be causal. Solve exercise 4 first.")


@for_checks
def parts_take_bfloat16(student, draw, /):
    """Whether the student's own `rotate` and `grouped_attention` take and return bfloat16: only then can the module."""
    x = draw.normal(1, 2, 3, 4).bfloat16()
    try:
        turned = student.rotate(x, torch.arange(3))
        output, _ = student.grouped_attention(turned, turned, x, torch.ones(3, 3, dtype=torch.bool).tril())
    except StudentError:
        return False
    return turned.dtype == output.dtype == torch.bfloat16


@points(3, see="Remember what you have read")
def test_equals_the_formula(reference, draw, attention, steps):
    """Queries and keys are rotated, heads attend in groups to positions up to their own, and w_o mixes the heads."""
    module, weights = attention(16, 4, 2)
    (x,) = reference.inputs("x", x=(2, 5, 16))
    output = module(x)
    assert_shape(output, (2, 5, 16), name="output")
    context = ", minus that of the formula with your `rotate` and `grouped_attention`,"
    reference.assert_close(output - steps(weights, x, 4, 2)[0], name="output", context=context)
    groups, size, half, batch, length = draw.sizes(5, high=7)
    module, weights = attention(groups * size * 2 * half, groups * size, groups, seed=1)
    x = draw.normal(batch, length, groups * size * 2 * half)
    output = module(x)
    assert_shape(output, x.shape, name="output")
    context = ", compared with the formula with your `rotate` and `grouped_attention`,"
    assert_close(output, steps(weights, x, groups * size, groups)[0], name="output", context=context)
    module, weights = attention(8, 2, 1, seed=2)
    x = draw.normal(1, 521, 8)
    x[0, 0, 0] = 40
    context = ", for a single text of 521 tokens" + context
    assert_close(module(x), steps(weights, x, 2, 1)[0], name="output", context=context, atol=1e-3)


@points(1)
def test_base(draw, attention, steps, caches):
    """`base` is passed on to `rotate`, for the queries and for the keys."""
    for base in (50.0, 500_000.0):
        module, weights = attention(16, 4, 2, base=base)
        x = draw.normal(2, 5, 16)
        context = f"with base={base:g}, compared with the formula with your `rotate` and `grouped_attention`,"
        assert_close(module(x), steps(weights, x, 4, 2, base)[0], name="output", context=context)
        output, *_ = caches.in_pieces(module, x, [3, 2])
        assert_close(
            output,
            module(x),
            name="output",
            context=f"with base={base:g} and a cache, compared with that without,",
        )


@points(2, see="Remember what you have read")
def test_causal(reference, attention, need_working_parts, parts_take_bfloat16, draw):
    """Later tokens have no effect on earlier positions, in bfloat16 either, but earlier tokens, and their order, do affect later positions."""
    need_working_parts()
    module, _ = attention(16, 4, 2)
    (x,) = reference.inputs("x", x=(2, 6, 16))
    whole = module(x)
    reference.assert_close(
        whole[:, :4] - module(x[:, :4]),
        context="the change of positions 0 to 3 when two more tokens follow",
    )
    assert_differs(whole[:, 3:], module(x[:, 3:]), "Tokens 0 to 2 have no effect on those after them.")
    swapped = module(x[:, [1, 0, 2, 3, 4, 5]])
    assert_differs(
        swapped[:, 2:],
        whole[:, 2:],
        "Swapping tokens 0 and 1 changes nothing after them. Do you rotate queries and keys?",
    )
    assert_same_in_each_mode(module, (x,))
    if parts_take_bfloat16():  # in bfloat16, 259 is 260
        low, x = module.to(torch.bfloat16), draw.normal(1, 300, 16).bfloat16()
        other = torch.cat([x[:, :260], 10 * x[:, 260:]], dim=1)
        context = "at positions 0 to 259, in bfloat16, when later tokens change,"
        before, after = (low(each)[:, :260].float() for each in (x, other))
        assert_close(after, before, name="output", context=context, atol=1e-2)


@points(3, see="Remember what you have read")
def test_cache_gives_the_same_output(reference, draw, attention, caches, need_working_parts):
    """Read token by token or in pieces, with a cache, a text gets the same output as in one go."""
    need_working_parts()
    module, _ = attention(16, 4, 2)
    (x,) = reference.inputs("x", x=(2, 7, 16))
    whole = module(x)
    assert_varies(whole, name="output")
    assert_differs(whole[:, 3:], module(x[:, 3:]), "Tokens 0 to 2 have no effect on those after them.")
    for name, sizes in [
        ("token by token", [1] * 7),
        ("in pieces of 3, 1 and 3", [3, 1, 3]),
        ("in one piece", [7]),
    ]:
        output, *_ = caches.in_pieces(module, x, sizes)
        assert_shape(output, (2, 7, 16), name="output", context=f"with a cache, {name}")
        context = f"with a cache, {name}, minus the output without a cache,"
        reference.assert_close(output - whole, name="output", context=context)
    through = caches.with_cache(module).gradients(x).value
    context = "in three pieces with a cache and with gradients, compared with one piece,"
    assert_close(through, whole, name="output", context=context)
    batch, length, half = draw.sizes(3, low=3, high=9)
    x = draw.normal(batch, length, 6 * half)
    context = "with a cache, minus the output without a cache,"
    for groups in (3, 1):
        module, _ = attention(6 * half, 3, groups, seed=1)
        output, *_ = caches.in_pieces(module, x, [1, length - 1])
        assert_close(output, module(x), name="output", context=context)
    assert_close(module(x, caches.KVCache()), module(x), name="output", context=context)
    x = draw.normal(1, 521, 6 * half)
    output, *_ = caches.in_pieces(module, x, [500, 1, 20])
    assert_close(
        output, module(x), name="output", context="for a single text of 521 tokens, " + context, atol=1e-3
    )


@points(2)
def test_contents_of_the_cache(
    reference, attention, steps, caches, need_working_parts, parts_take_bfloat16, draw
):
    """The cache gets the rotated keys and the values of the groups, each position once, in bfloat16 too."""
    need_working_parts()
    module, weights = attention(16, 4, 2)
    (x,) = reference.inputs("x", x=(2, 6, 16))
    _, k, v, lengths = caches.in_pieces(module, x, [2, 3, 1])
    assert lengths == [6], f"After 6 tokens, in pieces of 2, 3 and 1, the cache holds {lengths[0]} positions."
    assert_shape(k, (2, 2, 6, 4), name="cache.k")
    assert_shape(v, (2, 2, 6, 4), name="cache.v")
    _, right_k, right_v = steps(weights, x, 4, 2)
    reference.assert_close(
        k - right_k, name="cache.k", context=", minus the keys that your `rotate` makes at these positions,"
    )
    reference.assert_close(v - right_v, name="cache.v", context=", minus the values from w_v,")
    if parts_take_bfloat16():
        low, x = module.to(torch.bfloat16), draw.normal(1, 300, 16).bfloat16()
        _, k, _, _ = caches.in_pieces(low, x, [280, 20])
        _, right_k, _ = steps({name: value.bfloat16() for name, value in weights.items()}, x, 4, 2)
        context = "in bfloat16, compared with the keys that your `rotate` makes at positions 0 to 299,"
        assert_close(k.float(), right_k.float(), name="cache.k", context=context, atol=0.1, rtol=0.05)


@points(1)
def test_nothing_is_kept_elsewhere(student, draw, caches, shapes_of, renew):
    """What one call has read has no effect on the next call with another cache, or with none."""
    module = student.CausalAttention(16, 4, 2)
    renew(module, shapes_of["CausalAttention"](16, 4, 2))
    x, other = draw.normal(2, 5, 16), draw.normal(3, 4, 16)
    before = module(x)
    assert_varies(before, name="output")
    caches.in_pieces(module, other, [2, 2])
    assert_close(module(x), before, name="output", context="after another text was read with a cache")
    output, *_ = caches.in_pieces(module, x, [3, 2])
    assert_close(output, before, name="output", context="with a new cache, after another text was read")
    output = caches.in_turn(module, x, draw.normal(2, 5, 16), [2, 2, 1])
    assert_close(
        output, before, name="output", context="when two texts are read in turn, each with its cache,"
    )


@points(1)
def test_parameters(student, draw, shapes_of):
    """There are four linear layers with the right names and widths, and no bias."""
    groups, size, half = draw.sizes(3, high=7)
    d_model = groups * size * 2 * half
    module = student.CausalAttention(d_model, groups * size, groups)
    found = {name: tuple(value.shape) for name, value in module.parameters().items()}
    for name, shape in shapes_of["CausalAttention"](d_model, groups * size, groups).items():
        assert name in found, f"There is no separate parameter `{name}`. There are {sorted(found)}."
        assert found.pop(name) == shape, f"`{name}` has the wrong shape; it should have {shape}."
    assert not found, f"There are more parameters than the four weights: {', '.join(sorted(found))}."


@points(2)
def test_float64_gradients_and_x_unchanged(
    student, draw, shapes_of, renew, formulas, assert_right_gradients, caches
):
    """x keeps its values, float64 stays float64, and the right gradients reach x and all weights, with a cache too."""
    module = student.CausalAttention(12, 3, 1)
    weights = renew(module, shapes_of["CausalAttention"](12, 3, 1))
    x = draw.normal(2, 5, 12)
    call = module.call(x)
    assert not call.changed, "The module changed x in place. Create a new tensor instead."
    assert_varies(call.value, name="output")
    assert_any_layout(module, x)
    gradients = module.gradients(x)
    assert_reaches(gradients)
    formula = formulas["CausalAttention"]
    assert_right_gradients(gradients, lambda x, weights: formula(x, weights, 3, 1), x, weights=weights)
    with_cache = caches.with_cache(module)
    through_cache = with_cache.gradients(x)
    assert_reaches(through_cache)
    assert_right_gradients(
        through_cache,
        lambda x, parts: formula(x, {name.removeprefix("module."): parts[name] for name in parts}, 3, 1),
        x,
        weights={f"module.{name}": value for name, value in weights.items()},
    )
    assert_model_kept(student, module, lambda: replace(with_cache.call(x), name="CausalAttention"))
    output = module.to(torch.float64)(x.double())
    assert output.dtype == torch.float64, f"After .to(torch.float64) the output is {output.dtype}."
