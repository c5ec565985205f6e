"""Wrong answers to exercise 4, `train`."""

from gradekit.checks import Mistake, with_costs

TRAIN_LOSS = "sequence_loss(logits, targets, PAD)"

MISTAKES = [
    Mistake(
        "gradients_not_cleared",
        cell="train",
        edits=[("        optimizer.zero_grad()\n", "")],
        about=["test_gradients_are_cleared"],
        sentence="You never clear the gradients. backward() adds to them, so call optimizer.zero_grad() in every step.",
    ),
    Mistake(
        "cleared_before_the_step",
        cell="train",
        edits=[
            ("        optimizer.zero_grad()\n", ""),
            ("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n"),
        ],
        about=["test_weights_change_in_every_step"],
        sentence="You clear the gradients between backward() and step(), so the optimizer has no gradients "
        "to use.",
    ),
    Mistake(
        "no_backward",
        cell="train",
        edits=[("        loss.backward()\n", "")],
        about=["test_weights_change_in_every_step", "test_gradients_are_cleared"],
        sentence="You don't call `backward()`, so there are no gradients.",
    ),
    Mistake(
        "no_optimizer_step",
        cell="train",
        edits=[("        optimizer.step()\n", "")],
        about=["test_weights_change_in_every_step"],
        sentence="You don't call `optimizer.step()`, so the weights never change.",
    ),
    Mistake(
        "step_before_backward",
        cell="train",
        edits=[
            ("        optimizer.step()\n", ""),
            (
                "        optimizer.zero_grad()\n",
                "        optimizer.zero_grad(set_to_none=False)\n        optimizer.step()\n",
            ),
        ],
        about=["test_weights_change_in_every_step"],
        sentence="You call optimizer.step() before backward(), when the gradients have just been cleared.",
    ),
    Mistake(
        "optimizer_in_every_step",
        cell="train",
        edits=[
            ("    optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))\n", ""),
            (
                "    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)\n",
                "",
            ),
            (
                "        optimizer.zero_grad()\n",
                "        optimizer = torch.optim.Adam(model.parameters(), lr=lr)\n        optimizer.zero_grad()\n",
            ),
            ("        schedule.step()\n", ""),
        ],
        about=["test_one_optimizer"],
        sentence="You create a new optimizer in every step, which forgets all earlier gradients. Create it once, before the loop.",
        lacks=("SGD",),
    ),
    Mistake(
        "one_batch_for_all",
        cell="train",
        edits=[
            ("        *inputs, targets = make_batch()  # a new one in every step\n", ""),
            ("    losses = []\n", "    losses = []\n    *inputs, targets = make_batch()\n"),
        ],
        about=["test_a_new_batch_in_every_step"],
        sentence="You draw one batch and train on it in every step, so the model only memorizes this "
        "batch. Draw a new one in every step.",
    ),
    Mistake(
        "inputs_in_another_order",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(*inputs[::-1])")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass the inputs to the model in the wrong order.",
    ),
    Mistake(
        "targets_not_shifted",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(inputs[0], targets)")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass the unshifted targets to the decoder, so it sees what it should write.",
    ),
    Mistake(
        "mode_left_as_it_was",
        cell="train",
        edits=[("    model.train()\n", "")],
        about=["test_training_mode"],
        sentence="The model is not in training mode while you train it. Call model.train() first.",
    ),
    Mistake(
        "train_counts_pads",
        cell="train",
        edits=[(TRAIN_LOSS, "F.cross_entropy(logits.flatten(0, 1), targets.flatten())")],
        about=["test_returned_losses"],
        sentence="Your loss counts the padding. Use your sequence_loss with PAD.",
    ),
    Mistake(
        "train_softmax_before",
        cell="train",
        edits=[(TRAIN_LOSS, "sequence_loss(torch.softmax(logits, dim=-1), targets, PAD)")],
        about=["test_returned_losses"],
        sentence="You apply a softmax before the loss, which applies one itself. Pass it the logits.",
    ),
    Mistake(
        "train_sums",
        cell="train",
        edits=[(TRAIN_LOSS, f"{TRAIN_LOSS} * (targets != PAD).sum()")],
        about=["test_returned_losses"],
        sentence="The losses are sums over the positions. They should be means.",
    ),
    Mistake(
        "climbs",
        cell="train",
        edits=[("        loss.backward()\n", "        (-loss).backward()\n")],
        about=["test_learns_a_small_task"],
        sentence="Your training increases the loss. Follow the gradient of the loss itself, not of its "
        "negative.",
    ),
    Mistake(
        "rate_ignored",
        cell="train",
        edits=[("lr=lr, betas", "lr=1e-3, betas"), ("max_lr=lr", "max_lr=1e-3")],
        about=["test_learning_rate_is_used"],
        sentence="You always use the same learning rate. Use lr.",
    ),
    Mistake(
        "one_step_too_few",
        cell="train",
        edits=[("progress(steps)", "progress(steps - 1)")],
        about=["test_a_new_batch_in_every_step", "test_returned_losses"],
        sentence="You train one step too few.",
    ),
    Mistake(
        "nothing_returned",
        cell="train",
        edits=[("    return losses\n", "")],
        about=["test_returned_losses", "test_losses_are_floats"],
        sentence="You don't return the losses.",
    ),
    Mistake(
        "losses_as_tensors",
        cell="train",
        edits=[("losses.append(loss.item())", "losses.append(loss)")],
        about=["test_losses_are_floats"],
        sentence="You store the losses as tensors, which keeps the graph of every step in memory. "
        "Use loss.item().",
    ),
    Mistake(
        "only_one_input",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(inputs[0])")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass only one input to the model. Pass all entries of the batch but the last, as `model(*inputs)` does.",
    ),
    Mistake(
        "inputs_as_a_list",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(inputs)")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass the inputs as one argument. Unpack them: `model(*inputs)`.",
    ),
    Mistake(
        "last_loss_only",
        cell="train",
        edits=[("return losses", "return losses[-1]")],
        about=["test_returned_losses"],
        sentence="You return one loss. Return a list with the loss of every step.",
    ),
    Mistake(
        "loss_after_the_step",
        cell="train",
        edits=[
            (
                "losses.append(loss.item())",
                "losses.append(sequence_loss(model(*inputs), targets, PAD).item())",
            )
        ],
        about=["test_returned_losses"],
        sentence="You call the model once more for the loss that you return. Store the loss of the step itself, from before the weights change.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It stops with an error, or returns something of a different type.": [
            "only_one_input",
            "inputs_as_a_list",
        ],
    },
)
