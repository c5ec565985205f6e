"""Wrong answers to exercise 8, `training_step`."""

from gradekit.checks import Mistakes

NEVER_MOVE = "The parameters never move, and most checks are about how they move."

wrong = Mistakes()

wrong.about("test_loss", "test_parameters_after_one_step")
wrong("targets_not_shifted", "logits[:, :-1]", "logits")
wrong.edit("input_ids[:, 1:]", "input_ids")
wrong.says("You don't shift the targets: each position predicts its own token. Its target is the next token.")
wrong("targets_shifted_back", "logits[:, :-1]", "logits[:, 1:]")
wrong.edit("input_ids[:, 1:]", "input_ids[:, :-1]")
wrong.says("Your targets are the previous tokens. The logits of position i predict token i + 1.")
wrong("both_cut_at_the_end", "input_ids[:, 1:]", "input_ids[:, :-1]")
wrong.says("You cut logits and targets at the same end, so nothing is shifted.")
wrong.says("Drop the first token of the targets.")
wrong("only_the_last_target", "logits[:, :-1]", "logits[:, -2:-1]")
wrong.edit("input_ids[:, 1:]", "input_ids[:, -1:]")
wrong.says("Your loss uses only the last token. Every position with a next token has a target.")
wrong("softmax_before_the_loss")
wrong.edit("F.cross_entropy(logits.flatten(0, 1)", "F.cross_entropy(logits.flatten(0, 1).softmax(dim=-1)")
wrong.says("You passed probabilities to `cross_entropy`, which applies the softmax itself.")
wrong.says("Pass it the logits.")
wrong("summed_loss", "targets.flatten())", 'targets.flatten(), reduction="sum")')
wrong.says("You took the sum of the losses. Take the mean over all positions that have a target.")

wrong.about("test_gradients_start_from_zero")
wrong("zero_grad_forgotten", "    optimizer.zero_grad()\n", "")
wrong.says("You keep the gradients of the previous step, and backward adds to them.")
wrong.says("Call `optimizer.zero_grad()`.")

wrong.about("test_parameters_after_one_step")
wrong("zero_grad_after_backward", "    optimizer.zero_grad()\n    loss.backward()\n")
wrong.to("    loss.backward()\n    optimizer.zero_grad()\n")
wrong.says("The parameters don't change. Call `backward` after `zero_grad`, and `step` after both.")
wrong.costs(NEVER_MOVE)
wrong("no_step", "    optimizer.step()\n", "")
wrong.says("Nothing moves. Does `backward` come after `zero_grad`, and `step` after both?")
wrong.costs(NEVER_MOVE)
wrong("step_before_backward")
wrong.edit("    loss.backward()\n    optimizer.step()\n", "    optimizer.step()\n    loss.backward()\n")
wrong.says("Nothing moves. Does `backward` come after `zero_grad`, and `step` after both?")
wrong.costs(NEVER_MOVE)

wrong.about("test_loss")
wrong("loss_after_the_step", "return loss.item()")
wrong.to("""with torch.no_grad():
        after = model(input_ids).logits[:, :-1]
    return F.cross_entropy(after.flatten(0, 1), targets.flatten()).item()""")
wrong.says("You return the loss after the step. Return the one from which the gradients were computed.")

wrong.about("test_float_and_any_size")
wrong("loss_tensor", "return loss.item()", "return loss.detach()")
wrong.says("You return a tensor. Convert it to a float with `.item()`.")
