"""Wrong answers to exercise 4, `train`."""

from gradekit.checks import Mistakes

TRAIN_LOSS = "sequence_loss(logits, targets, PAD)"
STOPS = "It stops with an error, or returns something of a different type."

wrong = Mistakes()

wrong.about("test_gradients_are_cleared")
wrong("gradients_not_cleared", "        optimizer.zero_grad()\n", "")
wrong.says(
    "You never clear the gradients. backward() adds to them, so call optimizer.zero_grad() in every step."
)

wrong.about("test_weights_change_in_every_step")
wrong("cleared_before_the_step", "        optimizer.zero_grad()\n", "")
wrong.edit("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n")
wrong.says("You clear the gradients between backward() and step(), so the optimizer has no gradients to use.")
wrong("no_optimizer_step", "        optimizer.step()\n", "")
wrong.says("You don't call `optimizer.step()`, so the weights never change.")
wrong("step_before_backward", "        optimizer.step()\n", "")
wrong.edit("        optimizer.zero_grad()\n")
wrong.to("        optimizer.zero_grad(set_to_none=False)\n        optimizer.step()\n")
wrong.says("You call optimizer.step() before backward(), when the gradients have just been cleared.")

wrong.about("test_weights_change_in_every_step", "test_gradients_are_cleared")
wrong("no_backward", "        loss.backward()\n", "")
wrong.says("You don't call `backward()`, so there are no gradients.")

wrong.about("test_one_optimizer")
wrong("optimizer_in_every_step")
wrong.edit("    optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))\n", "")
wrong.edit("    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)\n")
wrong.to("")
wrong.edit("        optimizer.zero_grad()\n")
wrong.to("        optimizer = torch.optim.Adam(model.parameters(), lr=lr)\n        optimizer.zero_grad()\n")
wrong.edit("        schedule.step()\n", "")
wrong.says("You create a new optimizer in every step, which forgets all earlier gradients.")
wrong.says("Create it once, before the loop.", lacks=("SGD",))

wrong("sgd", "torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))")
wrong.to("torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)")
wrong.says(
    "You train with SGD. Use Adam or AdamW, which divide each step by the size of the gradients.",
    uses=("SGD",),
)

wrong.about("test_a_new_batch_in_every_step")
wrong("one_batch_for_all", "        *inputs, targets = make_batch()  # a new one in every step\n", "")
wrong.edit("    losses = []\n", "    losses = []\n    *inputs, targets = make_batch()\n")
wrong.says("You draw one batch and train on it in every step, so the model only memorizes this batch.")
wrong.says("Draw a new one in every step.")
wrong("inputs_in_another_order", "logits = model(*inputs)", "logits = model(*inputs[::-1])")
wrong.says("You pass the inputs to the model in the wrong order.")
wrong("targets_not_shifted", "logits = model(*inputs)", "logits = model(inputs[0], targets)")
wrong.says("You pass the unshifted targets to the decoder, so it sees what it should write.")
wrong("only_one_input", "logits = model(*inputs)", "logits = model(inputs[0])")
wrong.says("You pass only one input to the model.")
wrong.says("Pass all entries of the batch but the last, as `model(*inputs)` does.")
wrong.costs(STOPS)
wrong("inputs_as_a_list", "logits = model(*inputs)", "logits = model(inputs)")
wrong.says("You pass the inputs as one argument. Unpack them: `model(*inputs)`.")
wrong.costs(STOPS)

wrong.about("test_training_mode")
wrong("mode_left_as_it_was", "    model.train()\n", "")
wrong.says(
    "The model, or a part of it, is not in training mode in some of the steps. Call model.train() first, and leave it there."
)

wrong.about("test_returned_losses")
wrong("train_counts_pads", TRAIN_LOSS, "F.cross_entropy(logits.flatten(0, 1), targets.flatten())")
wrong.says("Your loss counts the padding. Use your sequence_loss with PAD.")
wrong("train_softmax_before", TRAIN_LOSS, "sequence_loss(torch.softmax(logits, dim=-1), targets, PAD)")
wrong.says("You apply a softmax before the loss, which applies one itself. Pass it the logits.")
wrong("train_sums", TRAIN_LOSS, f"{TRAIN_LOSS} * (targets != PAD).sum()")
wrong.says("The losses are sums over the positions. They should be means.")
wrong("last_loss_only", "return losses", "return losses[-1]")
wrong.says("You return one loss. Return a list with the loss of every step.")
wrong("loss_after_the_step")
wrong.edit("losses.append(loss.item())", "losses.append(sequence_loss(model(*inputs), targets, PAD).item())")
wrong.says("You call the model once more for the loss that you return.")
wrong.says("Store the loss of the step itself, from before the weights change.")

wrong.about("test_learns_a_small_task")
wrong("climbs", "        loss.backward()\n", "        (-loss).backward()\n")
wrong.says("Your training increases the loss. Follow the gradient of the loss itself, not of its negative.")

wrong.about("test_learning_rate_is_used")
wrong("rate_ignored", "lr=lr, betas", "lr=1e-3, betas")
wrong.edit("max_lr=lr", "max_lr=1e-3")
wrong.says("You always use the same learning rate. Use lr.")

wrong.about("test_a_new_batch_in_every_step", "test_returned_losses")
wrong("one_step_too_few", "progress(steps)", "progress(steps - 1)")
wrong.says("You train one step too few.")

wrong.about("test_returned_losses", "test_losses_are_floats")
wrong("nothing_returned", "    return losses\n", "")
wrong.says("You don't return the losses.")

wrong.about("test_losses_are_floats")
wrong("losses_as_tensors", "losses.append(loss.item())", "losses.append(loss)")
wrong.says("You store the losses as tensors, which keeps the graph of every step in memory. Use loss.item().")

wrong.unnamed(
    "More mistakes than two fail the same checks with the same messages.",
    "cleared_before_the_step",
    "no_optimizer_step",
    "step_before_backward",
)
