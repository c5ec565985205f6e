"""Checks of exercise 8: one step of training, on a tiny model and with plain gradient descent."""

import pytest
import torch
import torch.nn.functional as F

from gradekit.checks import assert_close, assert_not_rounded, assert_seed_kept, points

pytestmark = pytest.mark.side_effects  # a model that is trained may be in training mode afterwards


@points(2, see="How it learned: five steps")
def test_loss(student, reference, tiny, draw):
    """The loss is the mean cross-entropy between the logits of a position and the next token, before the step."""
    (table,) = reference.inputs("model", table=(11, 11))
    ids = reference.integers("ids", 0, 11, (3, 6))
    model = tiny.TinyModel(table)
    reference.assert_close(student.training_step(model, tiny.sgd(model, 2.0), ids), name="loss")

    for shape in [(1, 2), (1, 521)]:
        table, ids = draw.normal(43, 43), draw.integers(0, 43, shape)
        model, rows = tiny.TinyModel(table), (ids * torch.arange(1, shape[1] + 1)).cumsum(dim=1) % 43
        loss = student.training_step(model, tiny.sgd(model, 0.5), ids)
        right = F.cross_entropy(table[rows][:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        assert_close(loss, right, name="loss", context=f"for ids of shape {shape}", atol=1e-4)
        if shape == (1, 521):
            assert_not_rounded(float(loss), right.item(), name="loss")
    shift = draw.normal(43)
    model = tiny.TinyModel(table, shift=shift)
    loss = student.training_step(model, tiny.sgd(model, 2.0), ids)
    right = F.cross_entropy((table[rows][:, :-1] + shift).flatten(0, 1), ids[:, 1:].flatten())
    assert_close(loss, right, name="loss", context="of a model with two parameters", atol=1e-4)
    model = tiny.Dropping(table)
    loss = student.training_step(model, tiny.sgd(model, 2.0), ids)
    context = "of a model with dropout, compared with that of its first run in the step,"
    assert_close(loss, tiny.loss_of_the_first_run(model, ids), name="loss", context=context, atol=1e-4)


@points(3, see="How it learned: five steps")
def test_parameters_after_one_step(student, reference, tiny):
    """After one step, every parameter has moved against the gradient of that loss, however large it is."""
    (table,) = reference.inputs("model", table=(11, 11))
    ids = reference.integers("ids", 0, 11, (3, 6))
    model = tiny.TinyModel(table)
    student.training_step(model, tiny.sgd(model, 2.0), ids)
    moved = model.state()["own_rows"] - table
    reference.assert_close(moved, context="change of the parameters")
    assert moved.any(), "The parameters did not change."
    model = tiny.TinyModel(table, scale=100.0)
    student.training_step(model, tiny.sgd(model, 2.0), ids)
    moved = model.state()["own_rows"] - table
    reference.assert_close(moved, context="change of the parameters, for large gradients")


@points(3, see="How it learned: five steps")
def test_gradients_start_from_zero(student, reference, tiny):
    """A second step moves the parameters as if it were the first: gradients left over from earlier steps have no effect."""
    (table,) = reference.inputs("model", table=(11, 11))
    first, second = (reference.integers(name, 0, 11, (3, 6)) for name in ["first", "second"])
    model = tiny.TinyModel(table)
    optimizer = tiny.sgd(model, 2.0)
    student.training_step(model, optimizer, first)
    between = model.state()["own_rows"]
    assert not torch.equal(between, table), "The parameters did not change in the first step."
    student.training_step(model, optimizer, second)
    fresh = tiny.TinyModel(between)
    student.training_step(fresh, tiny.sgd(fresh, 2.0), second)
    reference.assert_same(
        model.state()["own_rows"],
        fresh.state()["own_rows"],
        rule="Gradients of earlier steps must have no effect",
        name="parameters",
        context="after the second step",
        key="second step, less that of a fresh model,",
    )

    model = tiny.TinyModel(table, shift=torch.zeros(11))
    optimizer = tiny.sgd(model, 2.0)
    student.training_step(model, optimizer, first)
    between = model.state()
    fresh = tiny.TinyModel(between["own_rows"], shift=between["shift"])
    student.training_step(model, optimizer, second)
    student.training_step(fresh, tiny.sgd(fresh, 2.0), second)
    context = "of a model with two parameters, after the second step, compared with that of a fresh model,"
    for name, right in fresh.state().items():
        assert_close(model.state()[name], right, name=name, context=context)

    model = tiny.TinyModel(table)
    optimizer, where, speed = tiny.sgd(model, 2.0, momentum=0.5), table, 0
    for ids in (first, second):
        student.training_step(model, optimizer, ids)
        fresh = tiny.TinyModel(where)
        student.training_step(fresh, tiny.sgd(fresh, 1.0), ids)
        speed = 0.5 * speed + where - fresh.state()["own_rows"]
        where = where - 2.0 * speed
    context = "after two steps with momentum, for which gradients of earlier steps must not count twice,"
    assert_close(model.state()["own_rows"], where, name="parameters", context=context, atol=1e-4)


@points(1)
def test_float_and_any_size(student, tiny, draw):
    """The loss is a Python float, any batch size and length works, down to two tokens, dropout stays on and drops different numbers in each call, and the ids stay."""
    batch, length, vocab = draw.sizes(3, low=3)
    for shape in [(batch, length), (1, 2)]:
        table, ids = draw.normal(vocab, vocab), draw.integers(0, vocab, shape)
        model = tiny.TinyModel(table)
        call = student.call("training_step", model, tiny.sgd(model, 0.5), ids)
        assert not call.changed, "training_step changed the ids in place."
        loss = call.value
        assert isinstance(loss, float), "The loss should be a Python float. Call `.item()` on the tensor."
        again = student.training_step(model, tiny.sgd(model, 0.5), ids)
        assert again < loss, (
            f"After two steps on the same ids of shape {shape}, the second loss is not lower than the first."
        )
        assert_close(min(loss, again), again, name="loss", context=", at most that of the previous step,")
        assert all(tiny.in_training_mode(model)), (
            "The model was passed in training mode, but run in evaluation mode, so its dropout was off."
        )
    model = tiny.TinyModel(table)
    assert_seed_kept(
        lambda seed: student.call("training_step", model, tiny.sgd(model, 0.5), ids, seed=seed),
    )
