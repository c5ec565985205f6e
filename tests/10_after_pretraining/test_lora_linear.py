"""Checks of exercise 3: LoRALinear, against the formula with known weights."""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_model_kept,
    assert_raises,
    assert_shape,
    assert_unchanged,
    fail,
    for_checks,
    points,
)


@for_checks
def wrapped(student, models, /, weight, bias, a, b, alpha):
    """The student's module around a layer with these weights, with these A and B."""
    module = student.LoRALinear(models.linear(weight, bias), len(a), alpha)
    state = module.state()
    for name, value in (("A", a), ("B", b)):
        if name not in state:
            fail(f"The module has no parameter `{name}`. There are {sorted(state)}.")
        if state[name].shape != value.shape:
            fail(f"`{name}` has shape {tuple(state[name].shape)}, but should have {tuple(value.shape)}.")
    module.load_state({"A": a.to(state["A"].dtype), "B": b.to(state["B"].dtype)})
    return module


@points(4, see="A small change: LoRA")
def test_equals_the_formula(reference, wrapped):
    """The output is W x + b + alpha / rank · B A x."""
    x, weight, bias, a, b = reference.inputs("square", x=(4, 4), weight=(4, 4), bias=(4,), a=(4, 4), b=(4, 4))
    reference.assert_close(wrapped(weight, bias, a, b, 10.0)(x), name="output")
    x, weight, bias, a, b = reference.inputs(
        "other", x=(2, 3, 5), weight=(4, 5), bias=(4,), a=(3, 5), b=(4, 3)
    )
    reference.assert_close(wrapped(weight, bias, a, b, 2.0)(x), name="output", context="of rank 3")


@points(3)
def test_any_sizes(models, draw, wrapped):
    """Any widths, ranks, alphas, inputs, other axes and layouts in memory work, with a bias and without one, and gradients flow to x."""
    d_in, d_out, rank, batch, length = draw.sizes(5)
    for r, alpha, biased in [
        (rank, 3.0, True),
        (1, 0.5, False),
        (rank, -4.0, False),
        (12, 1, True),
        (2, 0, True),
    ]:
        weight, bias = draw.normal(d_out, d_in), draw.normal(d_out) if biased else None
        a, b = draw.normal(r, d_in), draw.normal(d_out, r)
        module = wrapped(weight, bias, a, b, alpha)
        for shape in [(d_in,), (batch, length, d_in), (1, 521, d_in)]:
            x = 9 * draw.normal(*shape)
            output = module(x)
            assert_shape(output, (*shape[:-1], d_out), name="output")
            right = F.linear(x, weight, bias) + alpha / r * F.linear(F.linear(x, a), b)
            context = f"of rank {r} with alpha={alpha}, for x of shape {shape},"
            assert_close(output, right, name="output", context=context, atol=1e-3)
        assert_any_layout(module, draw.normal(2, 3, d_in))
        wanted = draw.normal(batch, d_out)
        gradient = models.gradient_of_input(module, draw.normal(batch, d_in), wanted)
        if gradient is None:
            fail("No gradient flows through the module to `x`.")
        right = wanted @ (weight + alpha / r * b @ a)
        assert_close(
            gradient, right, name="gradient of x", context=f"of rank {r} with alpha={alpha}", atol=1e-3
        )


@points(4, see="A small change: LoRA")
def test_at_the_start(student, models, draw):
    """A starts as random numbers with standard deviation 1 / √d_in, B as zeros, so nothing is changed."""
    weight, x = draw.normal(30, 400), draw.normal(3, 400)
    module = student.LoRALinear(models.linear(weight), 20, 8.0)
    state = module.state()
    assert {"A", "B"} <= set(state), f"The parameters should include A and B, but there are {sorted(state)}."
    assert_shape(state["A"], (20, 400), name="A")
    assert_shape(state["B"], (30, 20), name="B")
    assert not state["A"].eq(0).all(), (
        "A starts as zeros, and so does B. Then no gradient ever reaches either of them."
    )
    assert state["B"].eq(0).all(), "B doesn't start as zeros, so the layer is changed before it is trained."
    assert_close(module(x), F.linear(x, weight), name="output", context="before training", atol=1e-4)
    spread, mean = state["A"].std().item() * 20, state["A"].mean().item() * 20
    assert 0.9 < spread < 1.1, (
        f"The standard deviation of A is {spread:.2f} / √d_in, but should be 1 / √d_in."
    )
    assert abs(mean) < 0.1, f"The mean of A is {mean:.2f} / √d_in, but should be 0."
    far = (state["A"].abs() * 20 > 2).float().mean().item()
    assert 0.03 < far < 0.06, "The entries of A aren't normally distributed."
    other = student.call("LoRALinear", models.linear(weight), 20, 8.0, seed=1).value.state()["A"]
    assert not other.equal(state["A"]), "With another seed, A starts with the same entries."


@points(2, see="A small change: LoRA")
def test_frozen(student, models, draw):
    """Only A and B are trained; the layer itself is kept as `linear`, frozen, with its values; x keeps its values, too."""
    weight, bias = draw.normal(5, 3), draw.normal(5)
    for b in (bias, None):
        module = student.LoRALinear(models.linear(weight, b), 2, 4.0)
        state = module.parameters()
        names = {"A", "B", "linear.weight"} | ({"linear.bias"} if b is not None else set())
        assert set(state) == names, f"The parameters should be {sorted(names)}, but are {sorted(state)}."
        assert state["linear.weight"].equal(weight), "The weight of the layer has changed."
        trained = models.trained(module)["names"]
        assert trained == ["A", "B"], f"Only A and B should require gradients, but these do: {trained}."
    kept = models.keeps_its_layer(student.get("LoRALinear"), models.linear(weight, bias))
    assert kept["same"], (
        "`linear` isn't the layer that was passed in, but another one. Keep that layer, and make no copy."
    )
    assert not kept["trained"], f"The layer that was passed in still requires gradients: {kept['trained']}."
    module = module.load_state({"B": draw.normal(5, 2)})
    assert_unchanged(module.call(draw.normal(4, 3)))
    assert models.trained(module)["number"] == 2 * (5 + 3), (
        "Another number of weights than rank · (d_in + d_out) is trained."
    )


@points(4, see="A small change: LoRA")
def test_merged(student, models, draw, wrapped):
    """merged() is a new linear layer that computes the same, with a bias only if there is one; the module stays as it is."""
    d_in, d_out, rank = draw.sizes(3)
    for alpha, bias, b in [
        (3.0, draw.normal(d_out), draw.normal(d_out, rank)),
        (-1.0, None, draw.normal(d_out, rank)),
        (2.0, None, torch.zeros(d_out, rank)),  # as at the start
    ]:
        weight, a, x = draw.normal(d_out, d_in), draw.normal(rank, d_in), draw.normal(2, d_in)
        module = wrapped(weight, bias, a, b, alpha)
        before = module(x)
        layer = models.merged(module)
        kind = models.kinds(layer)
        assert kind == {"": "Linear"}, f"merged() should return an nn.Linear, but contains {kind}."
        names = {"weight"} if bias is None else {"weight", "bias"}
        assert set(layer.state()) == names, (
            f"The merged layer should have {sorted(names)}, but has {sorted(layer.state())}."
        )
        assert_close(
            layer.state()["weight"],
            weight + alpha / rank * b @ a,
            name="weight",
            context="of the merged layer",
            atol=1e-4,
        )
        assert_close(layer(x), before, name="output", context="of the merged layer", atol=1e-4)
        assert module.state()["linear.weight"].equal(weight), (
            "merged() has changed the weight of the layer in the module."
        )
        assert_close(module(x), before, name="output", context="of the module, after merged()")
        assert not models.shares_memory(layer, module), (
            "The merged layer shares memory with the module. Make a new one."
        )
        module.load_state({"B": 2 * b})
        later = models.merged(module)
        context = "of a second merged layer, after B has changed"
        assert_close(later(x), module(x), name="output", context=context, atol=1e-4)
        assert not models.shares_memory(later, layer), (
            "Two merged layers share their memory. Make a new one each time."
        )
    assert_model_kept(student, module, lambda: models.call("merged", module))


@points(1)
def test_dtype_and_rank(student, models, draw):
    """A, B and the merged layer have the dtype of the layer, and a rank below 1 raises a ValueError that contains it."""
    weight, x = draw.normal(4, 3, dtype=torch.float64), draw.normal(2, 3, dtype=torch.float64)
    module = student.LoRALinear(models.linear(weight), 2, 1.0)
    kinds = {str(module.state()[name].dtype) for name in ("A", "B")}
    assert kinds == {"torch.float64"}, (
        f"For a float64 layer, A and B should be float64, but are {sorted(kinds)}."
    )
    merged = models.merged(module).state()["weight"].dtype
    assert merged == torch.float64, (
        f"For a float64 layer, the merged layer should be float64, but is {merged}."
    )
    context = "of a float64 layer, before training,"
    assert_close(module(x), F.linear(x, weight), name="output", context=context, atol=1e-10, rtol=1e-10)
    layer = models.linear(draw.normal(4, 3))
    for rank in (0, -7):
        assert_raises(
            ValueError,
            lambda rank=rank: student.LoRALinear(layer, rank, 1.0),
            (str(rank),),
            f"for the rank {rank}",
        )
