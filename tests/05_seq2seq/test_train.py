"""Checks of exercise 4: train. Most use a small table of logits that records how it is trained."""

import pytest
import torch

from gradekit.checks import assert_close, assert_not_rounded, describe, fail, points

pytestmark = pytest.mark.side_effects  # a model that is trained is in training mode afterwards


def trained(student, watched, steps=8, lr=0.01):
    """Return the losses, and what the table recorded."""
    model, batches = watched.Watched().eval(), watched.Batches()
    losses = student.train(model, batches, steps, lr)
    return losses, watched.notes(model, batches)


@points(1)
def test_learns_a_small_task(student, watched):
    """A small model learns to reverse three numbers in 60 steps."""
    model = watched.Reverser()
    student.call("train", model, watched.get("reversal_batch"), 60, 0.05, seconds=20)
    source, decoder_input, targets = watched.reversal_batch()
    share = (model.eval()(source, decoder_input).argmax(dim=-1) == targets).float().mean().item()
    if share < 0.8:
        fail(
            f"After training, {share:.0%} of the tokens are right under teacher forcing. Nearly all of them should be."
        )


@points(1)
def test_returned_losses(student, reference, watched):
    """It returns your sequence_loss of each batch, without padding and before the weights change."""
    losses, notes = trained(student, watched, steps=5, lr=0.05)
    assert isinstance(losses, list | tuple) and len(losses) == 5, (
        f"After 5 steps `train` has to return a list of 5 losses, but it returned {describe(losses)}."
    )
    assert len(notes["logits"]) == 5, f"The model was called {len(notes['logits'])} times in 5 steps."
    own = [
        student.sequence_loss(logits, targets, 0)
        for logits, targets in zip(notes["logits"], notes["targets"], strict=False)
    ]
    reference.assert_same(
        torch.tensor([float(loss) for loss in losses]),
        torch.tensor([float(loss) for loss in own]),
        rule="Each loss must be your sequence_loss of that step's logits and targets",
        name="losses",
        key="losses, less your sequence_loss of the same logits and targets",
        atol=1e-4,
    )
    for loss, right in zip(losses, own, strict=True):
        assert_not_rounded(float(loss), float(right), name="loss")
    for steps in (6, 300):
        count = watched.steps_of_a_sure_one(student.get("train"), steps)
        assert count == steps, (
            f"For a model whose loss is 0, `train` returned {count} losses after {steps} steps. Make all steps, whatever the loss is."
        )


@points(2, see="Training")
def test_a_new_batch_in_every_step(student, watched, assert_sets_no_seed):
    """Every step calls make_batch once and passes all entries but the last to the model, in order; no random seed is set."""
    _, notes = trained(student, watched)
    given, read = notes["given"], notes["read"]
    assert len(given) == 8, (
        f"In 8 steps `make_batch` was called {len(given)} times. Every step needs a new batch."
    )
    assert read == given, "Call the model once per batch, with the arguments (source, decoder input)."
    three = watched.inputs_of_three(student.get("train"))
    assert three == [[[3, 4]], [[4, 5]], [[5, 3]]], (
        f"For a model with three inputs, `make_batch` returns four tensors, and the first three are its arguments. It got {three}."
    )
    assert_sets_no_seed("train", watched.Watched(), watched.Batches(), 2, 0.01)


@points(2, see="Training")
def test_gradients_are_cleared(student, watched):
    """Each step uses only the gradients of its own batch, which are those of your sequence_loss: old ones are cleared first."""
    _, notes = trained(student, watched)
    assert len(notes["cleared"]) == len(notes["read"]) > 0, (
        f"The model was called {len(notes['read'])} times, but gradients were computed {len(notes['cleared'])} times. "
        "Call backward() once per step."
    )
    assert all(notes["cleared"]), (
        "A step starts with the gradients of earlier steps, and backward() adds to them. Clear them first."
    )
    each = zip(notes["logits"], notes["targets"], notes["slopes"], strict=False)
    for step, (logits, targets, slope) in enumerate(each):
        right = watched.slope_of(student.get("sequence_loss"), logits, targets)
        context = f"at the logits of step {step}, compared with that of your sequence_loss,"
        assert_close(slope, right, name="gradient", context=context)


@points(1, see="Training")
def test_weights_change_in_every_step(student, watched):
    """All weights change in every step, stay as the last one left them, and can be trained again afterwards."""
    _, notes = trained(student, watched, steps=12)
    moves = notes["moves"][1:8]  # in the last steps of a schedule the learning rate may be nearly 0
    assert moves and all(moves), (
        "In some steps no weight changes. Does each step call backward() and then optimizer.step()?"
    )
    for steps in (1, 5):
        count, last, trainable = watched.updates(student.get("train"), steps)
        assert count == steps, (
            f"With steps={steps}, the optimizer makes {count} updates. Call optimizer.step() once in each step, the last one included."
        )
        assert last, (
            f"With steps={steps}, the weights after training are not those that the last step of the optimizer has left."
        )
        assert trainable, (
            "After training, the weights require no gradients any more, so the model can't be trained again."
        )
    never = watched.never_moved(student.get("train"))
    assert not never, (
        f"In a model with one linear layer, {' and '.join(f'`{name}`' for name in never)} never changes. Train all parameters."
    )


@points(1)
def test_learning_rate_is_used(student, watched):
    """The learning rate is used: with a tenth of it, the weights move about a tenth as far, and about as far as Adam moves them."""
    far, near = (trained(student, watched, lr=lr)[1]["moved"] for lr in (1e-2, 1e-3))
    assert far > 0, "No weight has changed."
    assert not 0.99 < near / far < 1.01, (
        "With a tenth of the learning rate the weights move just as far. Is `lr` used?"
    )
    assert 5 < far / max(near, 1e-12) < 20, (
        f"With a tenth of the learning rate the weights move {near / far:.2f} times as far. Is `lr` used?"
    )
    # where the rate is 1, the weight decay of AdamW soon holds the weights back
    for lr, steps, least in ((0.01, 300, 0.6), (1.0, 60, 0.2), (1e-5, 300, 0.6)):
        highest = max(watched.moves_of_two(student.get("train"), lr, steps)[0]) / lr
        assert least < highest < 1.5, (
            f"Under gradients that all push a weight one way, a step of Adam moves it by about the learning rate. In {steps} steps "
            f"with lr = {lr:g}, the largest is {highest:.2g} times `lr`, which should be the highest rate. Is it?"
        )


@points(1, see="Training")
def test_one_optimizer(student, watched):
    """One optimizer does all steps, Adam or AdamW: it remembers the gradients of earlier steps, and divides by their size."""
    before, after = watched.pushed_up_then_down(student.get("train"))
    assert before * after > 0, (
        "After five gradients that push a weight one way, a single one that pushes it the other way turns it around. "
        "Adam would still follow the earlier ones. Is it created once, before the first step?"
    )
    large, small = watched.moves_of_two(student.get("train"), 0.01, 60)
    assert sum(small) > 0.5 * sum(large), (
        "A weight whose gradients are always a hundred times smaller than those of another moves less. Adam would move both "
        "about as far, since it divides by the size of the gradients. Which optimizer do you use?"
    )


@points(1)
def test_training_mode(student, watched):
    """The model and its parts are in training mode in each step, even if it is passed in evaluation mode."""
    _, notes = trained(student, watched, steps=100)
    assert notes["modes"] and all(notes["modes"]), (
        "In some steps the model, or a part of it, was in evaluation mode: dropout is off. Call model.train() first, and leave "
        "it there."
    )


@points(1)
def test_losses_are_floats(student, watched):
    """The losses are a list of Python floats, not tensors."""
    losses, _ = trained(student, watched)
    assert isinstance(losses, list), f"The losses have to be a list, but `train` returned {describe(losses)}."
    assert all(isinstance(loss, float) for loss in losses), (
        "The losses have to be a list of Python floats: a tensor keeps the whole graph of its step alive."
    )
