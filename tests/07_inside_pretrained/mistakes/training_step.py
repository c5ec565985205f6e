"""Wrong answers to exercise 7, `training_step`."""

from gradekit.checks import mistakes_in, with_costs

mistake = mistakes_in("training_step")

MISTAKES = [
    mistake(
        "targets_not_shifted",
        [("logits[:, :-1]", "logits"), ("input_ids[:, 1:]", "input_ids")],
        ["test_loss", "test_parameters_after_one_step"],
        "You don't shift the targets: each position predicts its own token. Its target is the next token.",
    ),
    mistake(
        "targets_shifted_back",
        [("logits[:, :-1]", "logits[:, 1:]"), ("input_ids[:, 1:]", "input_ids[:, :-1]")],
        ["test_loss", "test_parameters_after_one_step"],
        "Your targets are the previous tokens. The logits of position i predict token i + 1.",
    ),
    mistake(
        "both_cut_at_the_end",
        ("input_ids[:, 1:]", "input_ids[:, :-1]"),
        ["test_loss", "test_parameters_after_one_step"],
        "You cut logits and targets at the same end, so nothing is shifted. "
        "Drop the first token of the targets.",
    ),
    mistake(
        "only_the_last_target",
        [("logits[:, :-1]", "logits[:, -2:-1]"), ("input_ids[:, 1:]", "input_ids[:, -1:]")],
        ["test_loss", "test_parameters_after_one_step"],
        "Your loss uses only the last token. Every position with a next token has a target.",
    ),
    mistake(
        "softmax_before_the_loss",
        ("F.cross_entropy(logits.flatten(0, 1)", "F.cross_entropy(logits.flatten(0, 1).softmax(dim=-1)"),
        ["test_loss", "test_parameters_after_one_step"],
        "You passed probabilities to `cross_entropy`, which applies the softmax itself. Pass it the logits.",
    ),
    mistake(
        "summed_loss",
        ("targets.flatten())", 'targets.flatten(), reduction="sum")'),
        ["test_loss", "test_parameters_after_one_step"],
        "You took the sum of the losses. Take the mean over all positions that have a target.",
    ),
    mistake(
        "zero_grad_forgotten",
        ("    optimizer.zero_grad()\n", ""),
        ["test_gradients_start_from_zero"],
        "You keep the gradients of the previous step, and backward adds to them. "
        "Call `optimizer.zero_grad()`.",
    ),
    mistake(
        "zero_grad_after_backward",
        [
            (
                "    optimizer.zero_grad()\n    loss.backward()\n",
                "    loss.backward()\n    optimizer.zero_grad()\n",
            )
        ],
        ["test_parameters_after_one_step"],
        "The parameters don't change. Call `backward` after `zero_grad`, and `step` after both.",
    ),
    mistake(
        "no_step",
        ("    optimizer.step()\n", ""),
        ["test_parameters_after_one_step"],
        "Nothing moves. Does `backward` come after `zero_grad`, and `step` after both?",
    ),
    mistake(
        "step_before_backward",
        [("    loss.backward()\n    optimizer.step()\n", "    optimizer.step()\n    loss.backward()\n")],
        ["test_parameters_after_one_step"],
        "Nothing moves. Does `backward` come after `zero_grad`, and `step` after both?",
    ),
    mistake(
        "loss_after_the_step",
        (
            "return loss.item()",
            "with torch.no_grad():\n"
            "        after = model(input_ids).logits[:, :-1]\n"
            "    return F.cross_entropy(after.flatten(0, 1), targets.flatten()).item()",
        ),
        ["test_loss"],
        "You return the loss after the step. Return the one from which the gradients were computed.",
    ),
    mistake(
        "loss_tensor",
        ("return loss.item()", "return loss.detach()"),
        ["test_float_and_any_size"],
        "You return a tensor. Convert it to a float with `.item()`.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The parameters never move, and most checks are about how they move.": [
            "zero_grad_after_backward",
            "no_step",
            "step_before_backward",
        ],
    },
)
