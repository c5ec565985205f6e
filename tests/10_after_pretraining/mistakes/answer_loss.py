"""Wrong answers to exercise 2, `answer_loss`."""

from gradekit.checks import Mistakes

COUNTED = "counted = counts[:, 1:]"
RETURN = "return F.cross_entropy(logits[:, :-1][counted], ids[:, 1:][counted])"
EACH = 'each = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")\n    '

wrong = Mistakes("loss_")

wrong.about("test_equals_the_formula")
wrong(
    "everything_counts", RETURN, "return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())"
)
wrong.says("All tokens count in your loss. Only those that `counts` marks should.")
wrong("not_shifted", COUNTED, "counted = counts & (torch.arange(ids.shape[1]) > 0)")
wrong.edit(RETURN, "return F.cross_entropy(logits[counted], ids[counted])")
wrong.says(
    "You compare the logits at t with the token at t, which the model has just read. They predict the token at t + 1."
)
wrong("mask_not_shifted", COUNTED, "counted = counts[:, :-1]")
wrong.says(
    "You shift logits and ids, but `counts` in the other way: a token counts, so drop the first column."
)
wrong.costs("Other tokens count, also where only position 0 is marked.")
wrong("shifted_backwards", RETURN, "return F.cross_entropy(logits[:, 1:][counted], ids[:, :-1][counted])")
wrong.says("You compare the logits at t with the token at t - 1. They predict the token at t + 1.")
wrong("sum", RETURN, 'return F.cross_entropy(logits[:, :-1][counted], ids[:, 1:][counted], reduction="sum")')
wrong.says("You add up the losses of the tokens. Take their mean.")
wrong("mean_of_means", RETURN)
wrong.to(
    EACH
    + "return (torch.where(counted, each, 0.0).sum(dim=1) / counted.sum(dim=1).clamp(min=1))[counted.any(dim=1)].mean()"
)
wrong.says(
    "You take the mean of each row, and then the mean of these. Every token should have the same weight."
)
wrong("over_all_positions", RETURN, EACH + "return torch.where(counted, each, 0.0).mean()")
wrong.says("You divide by the number of all positions. Divide by the number of tokens that count.")
wrong("mask_inverted", RETURN, "counted = ~counted\n    " + RETURN)
wrong.says("Your mask is the wrong way around: you leave out what counts.")
wrong("sign", RETURN, RETURN.replace("return ", "return -"))
wrong.says("Your loss is negative. The loss is *minus* the logarithm of the probability.")
wrong(
    "softmax_twice",
    RETURN,
    RETURN.replace("logits[:, :-1][counted]", "torch.softmax(logits[:, :-1][counted], dim=-1)"),
)
wrong.says("You apply a softmax before `cross_entropy`, which applies one itself.")

wrong.about("test_what_does_not_count")
wrong("multiplied_by_the_mask", RETURN, EACH + "return (each * counted).sum() / counted.sum()")
wrong.says("You multiply by 0 what doesn't count. But 0 · NaN is NaN: pick out what counts first.")
wrong(
    "position_0_in_the_number", RETURN, EACH + "return torch.where(counted, each, 0.0).sum() / counts.sum()"
)
wrong.says(
    "You divide by all that `counts` marks, with position 0. Nothing predicts position 0, so it doesn't count."
)

wrong.about("test_nothing_counts")
wrong("nan_if_nothing_counts", "if not counted.any():", "if counts is None:")
wrong.says("If no token counts, you return NaN. Raise a ValueError.")
wrong("position_0_is_enough", "if not counted.any():", "if not counts.any():")
wrong.says(
    "If only position 0 is marked, you raise no error. Nothing predicts it, so then no token counts, either."
)

wrong.about("test_gradients_and_inputs_unchanged")
wrong("detached", RETURN, RETURN + ".detach()")
wrong.says("Your loss is cut off from the gradients, so nothing can be trained with it.")
wrong("counts_changed", COUNTED, "counts[:, 0] = False\n    counted = counts[:, 1:]")
wrong.says("You write into `counts`. Leave the arguments as they are.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.", "multiplied_by_the_mask"
)
