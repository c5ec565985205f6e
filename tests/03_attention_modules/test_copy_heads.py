"""Checks of exercise 6: copy_heads, between our own modules, so that no other answer is needed."""

import torch

from gradekit.checks import assert_close, assert_model_kept, fail, for_checks, points


@for_checks
def pair(student, reference, helper, /, number=3):
    """A list of 3 heads with recorded weights, or of another number, and a fused module after copying."""
    heads, fused = helper.Heads(12, number), helper.call("Fused", 12, number, seed=1).value
    if number == 3:
        names = sorted(heads.state())
        shapes = {name.replace(".", "_"): tuple(heads.state()[name].shape) for name in names}
        heads.load_state(dict(zip(names, reference.inputs("heads", **shapes), strict=True)))
    student.copy_heads(heads, fused)
    return heads, fused


def assert_stacked(pair, part, number):
    """Fail unless the weights or biases of this many heads are stacked in the fused module."""
    heads, fused = (module.state() for module in pair(number))
    for name in "qkv":
        right = torch.cat([heads[f"attn_modules.{head}.{name}.{part}"] for head in range(number)])
        context = f"for a list of {number} heads" if number > 1 else "for a single head"
        assert_close(fused[f"w_{name}.{part}"], right, name=f"w_{name}.{part}", context=context)


@points(3)
def test_weights_of_the_heads(reference, pair):
    """The weights of w_q, w_k and w_v are the heads' weights stacked, with head 0 at the top."""
    state = pair()[1].state()
    for name in ["w_q", "w_k", "w_v"]:
        reference.assert_close(state[f"{name}.weight"], name=f"{name}.weight")
    for number in (6, 1):
        assert_stacked(pair, "weight", number)


@points(1)
def test_biases_of_the_heads(reference, pair):
    """The biases of w_q, w_k and w_v are the heads' biases, one after the other."""
    state = pair()[1].state()
    for name in ["w_q", "w_k", "w_v"]:
        reference.assert_close(state[f"{name}.bias"], name=f"{name}.bias")
    for number in (6, 1):
        assert_stacked(pair, "bias", number)


@points(2)
def test_final_layer(reference, pair):
    """The weight and bias of `linear` are copied to w_o."""
    state = pair()[1].state()
    for name in ["w_o.weight", "w_o.bias"]:
        reference.assert_close(state[name], name=name)


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
        if name := helper.frozen(heads, fused):
            fail(
                f"After copying, `{name}` can't be trained any more: its `requires_grad` is off. Leave it on, and copy "
                "under `torch.no_grad()`."
            )
        if all(torch.equal(fresh[name], value) for name, value in before.items()):
            fail("The fused module has not changed. Write into its parameters in place.")
