"""Checks of exercise 4: add_lora and merge_lora, on models whose layers are at several depths."""

import torch

from gradekit.checks import (
    assert_close,
    assert_differs,
    assert_raises,
    fail,
    for_checks,
    points,
)


@for_checks
def nested(models, /, width, wide, blocks):
    """A model with linear layers at several depths, in evaluation mode."""
    return models.Nested(width, wide, blocks).eval()


def added(model):
    """Return all A of a model."""
    return torch.cat([value.flatten() for name, value in model.state().items() if name.endswith(".A")])


def names_of(kinds, kind):
    return sorted(name for name, found in kinds.items() if found == kind)


@points(3, see="A small change: LoRA")
def test_the_right_layers(student, models, draw, nested):
    """Every linear layer with one of the names gets a LoRALinear around it, at any depth, and no other module does."""
    width, wide = draw.sizes(2)
    for names, blocks in [
        (["w_q"], 3),
        (["w_down", "w_up"], 1),
        (["w_v", "w_q", "norm"], 2),
        (["0", "down", "w"], 2),
        (["2", "w_up"], 1),
        (["tail", "0", "blocks", "w_up"], 2),  # what is in a module with one of the names isn't left out
    ]:
        model = nested(width, wide, blocks)
        before = names_of(models.kinds(model), "Linear")
        student.add_lora(model, names, 2, 4.0)
        found = names_of(models.kinds(model), "LoRALinear")
        right = sorted(name for name in before if name.rsplit(".", 1)[-1] in names)
        missing, extra = sorted(set(right) - set(found)), sorted(set(found) - set(right))
        assert not missing, (
            f"With names={names}, these linear layers have no LoRALinear around them: {missing}."
        )
        assert not extra, f"With names={names}, these have a LoRALinear, but shouldn't: {extra}."
    model = models.layers_called_linear(width)
    student.add_lora(model, ["linear"], 2, 4.0)
    found, right = names_of(models.kinds(model), "LoRALinear"), ["inner.linear", "linear"]
    assert found == right, (
        f"With two layers called `linear`, {right} should be a LoRALinear, but {found} are."
    )


@points(2, see="A small change: LoRA")
def test_all_else_is_frozen(student, models, draw, nested):
    """After it, only A and B require gradients, in all of the model, and nothing that it computes has changed."""
    ids = draw.integers(0, 7, (2, 5))
    for names in (["w_q"], ["w_up", "w_down"]):
        model = nested(6, 4, 2)
        before = model(ids)
        student.add_lora(model, names, 3, 2.0)
        trained = models.trained(model)["names"]
        others = [name for name in trained if name.rsplit(".", 1)[-1] not in ("A", "B")]
        assert not others, f"These parameters still require gradients: {', '.join(others)}."
        assert trained, "No parameter requires gradients any more, so nothing can be trained."
        assert_close(model(ids), before, name="logits", context="before any training")
    model = models.with_its_own_a(6)
    student.add_lora(model, ["linear"], 2, 2.0)
    others = [name for name in models.trained(model)["names"] if name in ("A", "other.B")]
    assert not others, (
        f"These parameters aren't those of a LoRALinear, but still require gradients: {others}."
    )
    model = nested(6, 4, 2)
    student.add_lora(model, ["w_q"], 2, 2.0)
    first = set(models.trained(model)["names"])
    student.add_lora(model, ["w_up"], 2, 2.0)
    others = sorted(first & set(models.trained(model)["names"]))
    assert not others, (
        f"After a second call, for w_up, parameters of the first, for w_q, still require gradients: {', '.join(others)}. "
        "All parameters that the model has are frozen, these too."
    )
    lost = models.loses_gradients(student.get("add_lora"), nested(6, 4, 1), ["w_up"])
    assert not lost, (
        f"The gradients that parameters held have changed, for example of {', '.join(lost[:2])}. Leave them as they are."
    )
    for training in (True, False):
        model = nested(6, 4, 1).train(training)
        student.add_lora(model, ["w_q"], 2, 2.0)
        mode = "training" if training else "evaluation"
        assert models.modes(model) == [training], f"`add_lora` got the model in {mode} mode, and changed it."


@points(3)
def test_rank_alpha_and_number(student, models, draw, nested):
    """`rank` and `alpha` are those of each LoRALinear, and the number of weights that can be trained is returned."""
    width, wide = draw.sizes(2)
    for rank, alpha in [(2, 6.0), (3, 1.5)]:
        model = nested(width, wide, 2)
        number = student.add_lora(model, ["w_q", "w_down"], rank, alpha)
        right = 3 * rank * 2 * width + 2 * rank * (wide + width)
        there = models.trained(model)["number"]
        assert there == right, f"With rank {rank}, {right} weights should be trained, but {there} are."
        assert number == right, f"{right} weights can be trained, but you return {number!r}."
        simple = models.two_layers(width, wide)
        number = student.add_lora(simple, ["0", "1"], rank, alpha)
        right = 2 * rank * (width + wide)
        assert number == right, (
            f"In a model of two layers, {right} weights can be trained, but you return {number!r}."
        )
        found = models.alphas(model)
        wrong = {name: value for name, value in found.items() if abs(value - alpha) > 1e-3}
        assert not wrong, (
            f"With alpha={alpha} and rank={rank}, alpha is another number in {', '.join(wrong)}."
        )
    model = nested(width, wide, 1)
    student.add_lora(model, ["w_q"], 2, 1.0)
    number, there = student.add_lora(model, ["w_up"], 2, 1.0), models.trained(model)["number"]
    assert number == there, (
        f"After a second call, for w_up, {there} weights can be trained, but you return {number!r}."
    )


@points(2, see="A small change: LoRA")
def test_merge(student, models, draw, nested):
    """merge_lora leaves an ordinary model that computes the same, and returns how many layers it has replaced."""
    ids = draw.integers(0, 7, (3, 4))
    for names, blocks, right in [(["w_q", "w_up"], 3, 7), (["w_down", "2"], 2, 3)]:
        model = nested(5, 8, blocks)
        layers = sorted(models.kinds(model))
        start = model(ids)
        student.add_lora(model, names, 2, 3.0)
        models.fill_changes(model, 1)
        changed = model(ids)
        assert_differs(changed, start, "Other entries in A and B make no difference to the model.")
        right_merged = models.logits_merged(model, ids)
        copied = models.copied(model)
        student.merge_lora(copied)
        assert not names_of(models.kinds(copied), "LoRALinear"), (
            "In a copy of a model, made with copy.deepcopy, merge_lora leaves each LoRALinear as it is."
        )
        number = student.merge_lora(model)
        left = names_of(models.kinds(model), "LoRALinear")
        assert not left, f"After merge_lora, these are still a LoRALinear: {', '.join(left)}."
        assert sorted(models.kinds(model)) == layers, (
            "After merge_lora, the linear layers aren't where they were before."
        )
        context = "after merging, compared with your own `merged()`,"
        assert_close(model(ids), right_merged, name="logits", context=context, atol=1e-4)
        assert number == right, f"{right} layers were replaced, but merge_lora returns {number!r}."
        student.add_lora(model, names, 2, 3.0)
        number = student.merge_lora(model)
        assert number == right, (
            f"Before any training, {right} layers were replaced, but merge_lora returns {number!r}."
        )
        again = student.merge_lora(model)
        assert again == 0, f"There is nothing left to merge, but merge_lora returns {again!r}."
    model = nested(5, 8, 2)
    student.add_lora(model, ["w_up"], 2, 3.0)
    freed = models.merged_unfrozen(student.get("merge_lora"), model)
    assert not freed, f"merge_lora unfreezes parameters that it doesn't merge: {', '.join(freed)}."


@points(1)
def test_no_such_layer(student, models, nested):
    """If there is no linear layer with one of the names, it raises a ValueError that contains them."""
    for names in (["w_x", "query"], ["embedding"], ["norm", "w_v"]):
        assert_raises(
            ValueError,
            lambda names=names: student.add_lora(nested(4, 3, 1), names, 1, 1.0),
            mentions=tuple(names),
        )


@points(1)
def test_a_second_model(student, models, draw, nested):
    """A second model gets its own change, and a model that is merged can be changed again."""
    ids = draw.integers(0, 7, (2, 3))
    first, second = nested(4, 6, 1), nested(4, 6, 1)
    numbers = [
        student.call("add_lora", model, ["w_up"], 1, 1.0, seed=s).value
        for s, model in enumerate((first, second))
    ]
    if numbers[0] != numbers[1]:
        fail("Two equal models have different numbers of weights that can be trained.")
    assert not added(first).equal(added(second)), (
        "With another random seed, all A start with the same entries. Leave the seed to the caller."
    )
    before = first(ids)
    models.fill_changes(second, 3)
    assert_close(first(ids), before, name="logits", context="of a model, after another one was changed")
    student.merge_lora(second)
    merged = second(ids)
    student.add_lora(second, ["w_up", "w_q"], 2, 1.0)
    assert_close(second(ids), merged, name="logits", context="of a merged model with a new change", atol=1e-4)
    assert not torch.allclose(merged, before), "Another model returns the same."
