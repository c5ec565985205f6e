"""Checks of exercise 6: dpo_loss, against equation 7 of the paper."""

import torch

from gradekit.checks import (
    assert_close,
    assert_differs,
    assert_shape,
    assert_unchanged,
    assert_varies,
    fail,
    for_checks,
    points,
)


@for_checks
def run(student, /, *arguments, **named):
    """The pair that the student returns."""
    found = student.dpo_loss(*arguments, **named)
    if not isinstance(found, tuple | list) or len(found) != 2:
        fail("It should return a pair: (loss, margins).")
    for value, name, shape in zip(found, ["loss", "margins"], [(), tuple(arguments[0].shape)], strict=True):
        if not isinstance(value, torch.Tensor):
            fail(f"`{name}` should be a tensor, but is a {type(value).__name__}.")
        assert_shape(value, shape, name=name)
    return found


def right(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    """Return loss and margins, one pair at a time, in float64."""
    margins = [
        beta * ((float(a) - float(c)) - (float(b) - float(d)))
        for a, b, c, d in zip(
            policy_chosen, policy_rejected, reference_chosen, reference_rejected, strict=True
        )
    ]
    margins = torch.tensor(margins, dtype=torch.float64)
    return torch.log1p(torch.exp(-margins)).mean().float(), margins.float()


@points(3, see="The loss")
def test_margins(reference, draw, run):
    """A margin is beta times what the chosen answer has gained more than the rejected one."""
    inputs = reference.inputs("pairs", a=(6,), b=(6,), c=(6,), d=(6,))
    _, margins = run(*(4 * one for one in inputs), 0.7)
    reference.assert_close(margins, name="margins")
    (batch,) = draw.sizes(1)
    for number, beta in [(batch, 0.1), (1, 2.5), (521, 0.4)]:
        inputs = [3 * draw.normal(number) - 20 for _ in range(4)]
        _, margins = run(*inputs, beta)
        context = f"of {number} with beta={beta}"
        assert_close(margins, right(*inputs, beta)[1], name="margins", context=context)


@points(3, see="The loss")
def test_loss(reference, draw, run):
    """The loss is the mean of -log σ(margin) over the batch."""
    losses = []
    for label in ("a", "b", "c"):
        inputs = reference.inputs(label, a=(5,), b=(5,), c=(5,), d=(5,))
        losses.append(run(*(3 * one for one in inputs), 0.7)[0])
    reference.assert_close(torch.stack(losses), name="loss", context="of three batches")
    (batch,) = draw.sizes(1)
    for number, beta in [(batch, 0.2), (1, 1.5), (521, 0.4)]:
        inputs = [2 * draw.normal(number) - 15 for _ in range(4)]
        loss, _ = run(*inputs, beta)
        context = f"of {number} with beta={beta}"
        assert_close(loss, right(*inputs, beta)[0], name="loss", context=context, atol=1e-4)


@points(1, see="The loss")
def test_only_changes_count(reference, draw, run):
    """Without a change, the loss is log 2, and what both models say of both answers makes no difference."""
    chosen, rejected, common = 5 * draw.normal(6) - 20, 5 * draw.normal(6) - 20, 9 * draw.normal(6)
    loss, margins = run(chosen, rejected, chosen, rejected, 0.9)
    assert_close(loss, torch.tensor(2.0).log(), name="loss", context="of a policy that is the reference")
    assert_close(margins, torch.zeros(6), name="margins", context="of a policy that is the reference")
    gained = draw.normal(6)
    _, one = run(chosen + gained, rejected, chosen, rejected, 0.9)
    _, other = run(chosen + common + gained, rejected - common, chosen + common, rejected - common, 0.9)
    rule = "If an answer is likelier to policy and reference alike, no margin may change"
    reference.assert_same(one, other, rule=rule, name="margins", key="common", atol=1e-4)


@points(2)
def test_large_margins(student, models, run):
    """Margins of 1000 and -1000, and larger ones, have the loss 0 and 1000, and gradients of 0 and -1 for the chosen answer."""
    zero, large = torch.zeros(1), torch.tensor([1000.0])
    cases = [
        (-large, 1000.0, -1.0),
        (large, 0.0, 0.0),
        (-4 * large, 4000.0, -1.0),
        (4 * large, 0.0, 0.0),
    ]
    for policy, value, slope in cases:
        loss, margins = run(policy, zero, zero, zero, 1.0)
        assert_close(loss, torch.tensor(value), name="loss", context=f"with a margin of {policy.item():g}")
        assert_close(margins, policy, name="margins", context=f"that should be {policy.item():g}")
        inputs = [policy, zero, zero, zero]
        gradient, *_ = models.gradients_of_dpo(student.get("dpo_loss"), inputs, 1.0)["inputs"]
        if gradient is None or not torch.isfinite(gradient).all():
            fail(f"With a margin of {policy.item():g}, the gradient isn't a finite number: {gradient}.")
        context = f"of the chosen answer, with a margin of {policy.item():g}"
        assert_close(gradient, torch.tensor([slope]), name="gradient", context=context)


@points(2, see="The loss")
def test_gradients(student, models, draw, run):
    """Gradients flow to the policy's log-probabilities only; the margins are cut off from them."""
    inputs = [draw.normal(4) for _ in range(4)]
    found = models.gradients_of_dpo(student.get("dpo_loss"), inputs, 0.6)
    chosen, rejected, *reference = found["inputs"]
    for answers, gradient in [("chosen", chosen), ("rejected", rejected)]:
        assert gradient is not None, (
            f"No gradient flows to the policy's log-probabilities of {answers} answers."
        )
    assert all(one is None or not one.any() for one in reference), (
        "A gradient flows to the log-probabilities of the reference. Detach them."
    )
    assert found["kept"], (
        "After the call, some of the log-probabilities that were passed in don't require gradients any more. Detach them, and "
        "leave the tensors of the caller as they are."
    )
    assert not found["margins"], "The margins are not cut off from the gradients. Detach what you return."
    assert (chosen < 0).all(), "The loss should fall if the chosen answer gets likelier, but it doesn't."
    assert (rejected > 0).all(), "The loss should rise if the rejected answer gets likelier, but it doesn't."
    chosen, rejected = draw.normal(4), draw.normal(4)
    gradient, *_ = models.gradients_of_dpo(
        student.get("dpo_loss"), [chosen, rejected, chosen, rejected], 0.6
    )["inputs"]
    losses = [float(run(chosen + step, rejected, chosen, rejected, 0.6)[0]) for step in (0.01, -0.01)]
    slope = (losses[0] - losses[1]) / 0.02
    assert abs(float(gradient.sum()) - slope) < 0.05 * abs(slope) + 1e-3, (
        f"Where training starts, with margins of 0, the gradients of the chosen answers sum to {float(gradient.sum()):.3g}, but "
        f"if all of these get likelier, the loss changes at a rate of {slope:.3g}."
    )


@points(1)
def test_default_and_inputs_unchanged(student, reference, draw, run):
    """Without a beta it is 0.1, and the inputs keep their values."""
    inputs = [4 * draw.normal(5) for _ in range(4)]
    default, given = run(*inputs), run(*inputs, 0.1)
    assert_varies(default[1], name="margins")
    for name, one, other in zip(["loss", "margins"], default, given, strict=True):
        rule = "Without a beta, the result must be that for beta=0.1"
        reference.assert_same(one, other, rule=rule, name=name, key=f"default {name}")
    assert_differs(
        run(*inputs, beta=2.0)[1], default[1], "With beta=2.0, the margins are the same as without a beta."
    )
    assert_unchanged(student.call("dpo_loss", *inputs, 0.5))
