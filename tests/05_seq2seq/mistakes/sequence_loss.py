"""Wrong answers to exercise 3, `sequence_loss`."""

from gradekit.checks import Mistakes

CASES = "F.cross_entropy(cases, classes, ignore_index=pad_idx)"
OTHER_NUMBER = "It computes a different number for every input."
STOPS = "It stops with an error, or returns something of a different type."

wrong = Mistakes()

wrong.about("test_pads_do_not_count")
wrong("pads_count", ", ignore_index=pad_idx", "")
wrong.says("Your loss counts the padding. Leave out the positions whose target is padding.")
wrong("pads_in_the_mean")
wrong.edit(CASES, 'F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction="none").mean()')
wrong.says(
    "Padding adds nothing to your sum, but you divide by the number of all positions, including padding."
)
wrong("mean_of_rows", f"return {CASES}")
wrong.to("""rows = zip(logits, targets)
    return torch.stack([F.cross_entropy(*row, ignore_index=pad_idx) for row in rows]).mean()""")
wrong.says("You averaged each sequence first, so a position of a short sequence counts more.")
wrong.says("Take one mean over all positions.")

wrong.about("test_any_pad")
wrong("pad_is_always_0", "ignore_index=pad_idx", "ignore_index=0")
wrong.says("You always use 0 for the padding. Use pad_idx.")

wrong.about("test_mean_cross_entropy")
wrong("summed", "ignore_index=pad_idx)", 'ignore_index=pad_idx, reduction="sum")')
wrong.says("You took the sum over the positions. Take the mean, or larger batches get larger losses.")
wrong("sum_over_batch")
wrong.edit(CASES, 'F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction="sum") / len(targets)')
wrong.says("You divided by the number of sequences. Divide by the number of positions that count.")
wrong.costs(OTHER_NUMBER)
wrong("softmax_before", "logits.flatten(0, 1)", "torch.softmax(logits, dim=-1).flatten(0, 1)")
wrong.says("You applied a softmax before the loss, but cross_entropy applies one too. Pass it the logits.")
wrong("no_log_softmax", CASES, "F.nll_loss(cases, classes, ignore_index=pad_idx)")
wrong.says("`nll_loss` expects log probabilities, but you passed it logits. Use cross_entropy.")
wrong("classes_mixed_with_positions")
wrong.edit("logits.flatten(0, 1)", "logits.transpose(1, 2).reshape(-1, logits.shape[-1])")
wrong.says("You mixed the vocabulary axis with the position axis before flattening.")
wrong.costs(OTHER_NUMBER)
wrong("flattened_in_another_order", "targets.flatten()", "targets.T.flatten()")
wrong.says("You flatten logits and targets in different orders, so cases get the wrong targets.")
wrong.costs(OTHER_NUMBER)
wrong("last_position_only", "logits.flatten(0, 1)", "logits[:, -1]")
wrong.edit("targets.flatten()", "targets[:, -1]")
wrong.says("You used only the last position. In training, every position is a case.")
wrong.costs(OTHER_NUMBER)
wrong("first_position_left_out", "logits.flatten(0, 1)", "logits[:, :-1].flatten(0, 1)")
wrong.edit("targets.flatten()", "targets[:, 1:].flatten()")
wrong.says("You shifted the targets again inside the loss. Logits and targets already match.")
wrong.costs(OTHER_NUMBER)
wrong("not_flattened", "logits.flatten(0, 1)", "logits")
wrong.edit("targets.flatten()", "targets")
wrong.says("You pass logits with three axes to cross_entropy, which takes axis 1 for the classes.")
wrong.says("Flatten logits and targets, or move the last axis to axis 1.")
wrong.costs(STOPS)
wrong("reshaped_instead_of_moved")
wrong.edit("logits.flatten(0, 1)", "logits.reshape(logits.shape[0], logits.shape[2], -1)")
wrong.edit("targets.flatten()", "targets")
wrong.says("You moved the classes to axis 1 with `reshape`, which mixes up the numbers.")
wrong.says("Use `transpose(1, 2)`, or flatten logits and targets.")
wrong.costs(OTHER_NUMBER)

wrong.about("test_large_logits")
wrong("log_of_a_softmax")
wrong.edit(CASES, "F.nll_loss(torch.softmax(cases, dim=-1).log(), classes, ignore_index=pad_idx)")
wrong.says(
    "You take the logarithm of a softmax. If a probability is too small for a float, that is the logarithm "
    "of 0. Use log_softmax or cross_entropy.",
    uses=("*.softmax", "softmax"),
    lacks=("*log_softmax", "*cross_entropy", "*logsumexp"),
)

wrong.about("test_gradients")
wrong("detached", "logits.flatten(0, 1)", "logits.detach().flatten(0, 1)")
wrong.says("No gradient flows from the loss back to the logits, so the model learns nothing.")

wrong.about("test_scalar_of_the_same_dtype", "test_gradients")
wrong("loss_as_float", f"return {CASES}", f"return {CASES}.item()")
wrong.says("You returned a Python float. Return the tensor, because backward() starts from it.")

wrong.about("test_scalar_of_the_same_dtype")
wrong("float32_inside", "logits.flatten(0, 1)", "logits.float().flatten(0, 1)")
wrong.says("You converted the logits to float32, which loses precision if they are float64.")
wrong("not_averaged", "ignore_index=pad_idx", "ignore_index=pad_idx, reduction='none'")
wrong.says("You return the loss of every position.")
wrong.says("Return their mean over the positions that are not padding.")
wrong.costs(STOPS)
