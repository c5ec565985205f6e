"""Checks of exercise 6: copy_heads, between our own modules, so that no other answer is needed."""

import torch

from gradekit.checks import (
    assert_close,
    assert_full_precision,
    assert_model_kept,
    fail,
    for_checks,
    points,
)


@for_checks
def pair(student, reference, helper, /, number=3, dtype=torch.float32):
    """A list of 3 heads with recorded weights, or of another number or dtype, and a fused module after copying."""
    heads, fused = helper.Heads(12, number), helper.call("Fused", 12, number, seed=1).value
    heads.to(dtype), fused.to(dtype)
    if dtype == torch.float64:
        heads.load_state({name: value / 3 for name, value in heads.state().items()})
    elif number == 3:
        names = sorted(heads.state())
        shapes = {name.replace(".", "_"): tuple(heads.state()[name].shape) for name in names}
        heads.load_state(dict(zip(names, reference.inputs("heads", **shapes), strict=True)))
    student.copy_heads(heads, fused)
    return heads, fused


def assert_stacked(pair, part):
    """Fail unless the weights or biases of another number of heads are stacked in the fused module, and in float64 all digits."""
    for number, context in ((12, "for a list of 12 heads"), (1, "for a single head")):
        heads, fused = (module.state() for module in pair(number))
        for name in "qkv":
            assert_close(
                fused[f"w_{name}.{part}"],
                stacked(heads, name, part),
                name=f"w_{name}.{part}",
                context=context,
            )
    heads, fused = (module.state() for module in pair(3, torch.float64))
    for name in "qkv":
        assert_full_precision(fused[f"w_{name}.{part}"], stacked(heads, name, part), name=f"w_{name}.{part}")


def stacked(heads, name, part):
    """The weights or biases of all heads, one below the other."""
    return torch.cat([value for key, value in heads.items() if key.endswith(f".{name}.{part}")])


@points(3)
def test_weights_of_the_heads(reference, pair):
    """The weights of w_q, w_k and w_v are the heads' weights stacked, with head 0 at the top."""
    state = pair()[1].state()
    for name in ["w_q", "w_k", "w_v"]:
        reference.assert_close(state[f"{name}.weight"], name=f"{name}.weight")
    assert_stacked(pair, "weight")


@points(1)
def test_biases_of_the_heads(reference, pair):
    """The biases of w_q, w_k and w_v are the heads' biases, one after the other."""
    state = pair()[1].state()
    for name in ["w_q", "w_k", "w_v"]:
        reference.assert_close(state[f"{name}.bias"], name=f"{name}.bias")
    assert_stacked(pair, "bias")


@points(2)
def test_final_layer(reference, pair):
    """The weight and bias of `linear` are copied to w_o."""
    state = pair()[1].state()
    for name in ["w_o.weight", "w_o.bias"]:
        reference.assert_close(state[name], name=name)
    heads, fused = (module.state() for module in pair(3, torch.float64))
    for part in ("weight", "bias"):
        assert_full_precision(fused[f"w_o.{part}"], heads[f"linear.{part}"], name=f"w_o.{part}")


@points(1)
def test_list_unchanged(student, helper):
    """Copying does not change the list of heads, nor its mode, its gradients, or what is frozen in it."""
    heads, fused = helper.Heads(6, 2).eval(), helper.call("Fused", 6, 2, seed=1).value.eval()
    before, fresh = heads.state(), fused.state()
    student.copy_heads(heads, fused)
    after = heads.state()
    if any(not torch.equal(before[name], after[name]) for name in before):
        fail("The list of heads has changed. Copy from it into the fused module, not the other way around.")
    if all(torch.equal(fresh[name], value) for name, value in fused.state().items()):
        fail("The fused module has not changed. Write into its parameters in place.")
    assert_model_kept(student, heads, lambda: student.call("copy_heads", heads, fused))
    mode = ["weights", "frozen", "gradients"]  # new parameters are accepted
    assert_model_kept(student, fused, lambda: student.call("copy_heads", heads, fused), but=mode)


@points(1)
def test_no_shared_memory(pair, helper):
    """The weights are copied, not shared: later changes to the list do not affect the fused module, and both can still be trained."""
    fresh = helper.call("Fused", 12, 3, seed=1).value.state()
    for number in (3, 1):
        heads, fused = pair(number)
        before = fused.state()
        heads.load_state({name: 0 * value for name, value in heads.state().items()})
        after = fused.state()
        for name, value in before.items():
            if not torch.equal(value, after[name]):
                fail(
                    f"When the list changes, `{name}` of the fused module changes with it. Copy the numbers."
                )
        if not any(value.any() for value in after.values()):
            fail("The fused module contains only zeros.")
        if missing := fresh.keys() - fused.parameters().keys():
            fail(
                f"After copying, `{min(missing)}` is no parameter of the fused module any more, so it can't be trained."
            )
        if name := helper.frozen(heads, fused):
            fail(
                f"After copying, `{name}` can't be trained any more: its `requires_grad` is off. Leave it on, and copy "
                "under `torch.no_grad()`."
            )
        if all(torch.equal(fresh[name], value) for name, value in before.items()):
            fail("The fused module has not changed. Write into its parameters in place.")
