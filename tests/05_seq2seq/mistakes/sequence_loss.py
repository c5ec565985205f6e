"""Wrong answers to exercise 3, `sequence_loss`."""

from gradekit.checks import Mistake, with_costs

CASES = "F.cross_entropy(cases, classes, ignore_index=pad_idx)"

MISTAKES = [
    Mistake(
        "pads_count",
        cell="sequence_loss",
        edits=[(", ignore_index=pad_idx", "")],
        about=["test_pads_do_not_count"],
        sentence="Your loss counts the padding. Leave out the positions whose target is padding.",
    ),
    Mistake(
        "pads_in_the_mean",
        cell="sequence_loss",
        edits=[(CASES, 'F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction="none").mean()')],
        about=["test_pads_do_not_count"],
        sentence="Padding adds nothing to your sum, but you divide by the number of all positions, "
        "including padding.",
    ),
    Mistake(
        "pad_is_always_0",
        cell="sequence_loss",
        edits=[("ignore_index=pad_idx", "ignore_index=0")],
        about=["test_any_pad"],
        sentence="You always use 0 for the padding. Use pad_idx.",
    ),
    Mistake(
        "summed",
        cell="sequence_loss",
        edits=[("ignore_index=pad_idx)", 'ignore_index=pad_idx, reduction="sum")')],
        about=["test_mean_cross_entropy"],
        sentence="You took the sum over the positions. Take the mean, or larger batches get larger losses.",
    ),
    Mistake(
        "sum_over_batch",
        cell="sequence_loss",
        edits=[
            (CASES, 'F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction="sum") / len(targets)')
        ],
        about=["test_mean_cross_entropy"],
        sentence="You divided by the number of sequences. Divide by the number of positions that count.",
    ),
    Mistake(
        "mean_of_rows",
        cell="sequence_loss",
        edits=[
            (
                f"return {CASES}",
                "rows = zip(logits, targets)\n"
                "    return torch.stack([F.cross_entropy(*row, ignore_index=pad_idx) for row in rows]).mean()",
            )
        ],
        about=["test_pads_do_not_count"],
        sentence="You averaged each sequence first, so a position of a short sequence counts more. "
        "Take one mean over all positions.",
    ),
    Mistake(
        "softmax_before",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "torch.softmax(logits, dim=-1).flatten(0, 1)")],
        about=["test_mean_cross_entropy"],
        sentence="You applied a softmax before the loss, but cross_entropy applies one too. "
        "Pass it the logits.",
    ),
    Mistake(
        "no_log_softmax",
        cell="sequence_loss",
        edits=[(CASES, "F.nll_loss(cases, classes, ignore_index=pad_idx)")],
        about=["test_mean_cross_entropy"],
        sentence="`nll_loss` expects log probabilities, but you passed it logits. Use cross_entropy.",
    ),
    Mistake(
        "log_of_a_softmax",
        uses=("*.softmax", "softmax"),
        lacks=("*log_softmax", "*cross_entropy", "*logsumexp"),
        cell="sequence_loss",
        edits=[(CASES, "F.nll_loss(torch.softmax(cases, dim=-1).log(), classes, ignore_index=pad_idx)")],
        about=["test_large_logits"],
        sentence="You take the logarithm of a softmax. If a probability is too small for a float, that is "
        "the logarithm of 0. Use log_softmax or cross_entropy.",
    ),
    Mistake(
        "classes_mixed_with_positions",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits.transpose(1, 2).reshape(-1, logits.shape[-1])")],
        about=["test_mean_cross_entropy"],
        sentence="You mixed the vocabulary axis with the position axis before flattening.",
    ),
    Mistake(
        "flattened_in_another_order",
        cell="sequence_loss",
        edits=[("targets.flatten()", "targets.T.flatten()")],
        about=["test_mean_cross_entropy"],
        sentence="You flatten logits and targets in different orders, so cases get the wrong targets.",
    ),
    Mistake(
        "last_position_only",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits[:, -1]"), ("targets.flatten()", "targets[:, -1]")],
        about=["test_mean_cross_entropy"],
        sentence="You used only the last position. In training, every position is a case.",
    ),
    Mistake(
        "first_position_left_out",
        cell="sequence_loss",
        edits=[
            ("logits.flatten(0, 1)", "logits[:, :-1].flatten(0, 1)"),
            ("targets.flatten()", "targets[:, 1:].flatten()"),
        ],
        about=["test_mean_cross_entropy"],
        sentence="You shifted the targets again inside the loss. Logits and targets already match.",
    ),
    Mistake(
        "detached",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits.detach().flatten(0, 1)")],
        about=["test_gradients"],
        sentence="You detached the logits, so no gradient reaches the model.",
    ),
    Mistake(
        "loss_as_float",
        cell="sequence_loss",
        edits=[(f"return {CASES}", f"return {CASES}.item()")],
        about=["test_scalar_of_the_same_dtype", "test_gradients"],
        sentence="You returned a Python float. Return the tensor, because backward() starts from it.",
    ),
    Mistake(
        "float32_inside",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits.float().flatten(0, 1)")],
        about=["test_scalar_of_the_same_dtype"],
        sentence="You converted the logits to float32, which loses precision if they are float64.",
    ),
    Mistake(
        "not_flattened",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits"), ("targets.flatten()", "targets")],
        about=["test_mean_cross_entropy"],
        sentence="You pass logits with three axes to cross_entropy, which takes axis 1 for the classes. Flatten logits and targets, or move the last axis to axis 1.",
    ),
    Mistake(
        "reshaped_instead_of_moved",
        cell="sequence_loss",
        edits=[
            ("logits.flatten(0, 1)", "logits.reshape(logits.shape[0], logits.shape[2], -1)"),
            ("targets.flatten()", "targets"),
        ],
        about=["test_mean_cross_entropy"],
        sentence="You moved the classes to axis 1 with `reshape`, which mixes up the numbers. Use `transpose(1, 2)`, or flatten logits and targets.",
    ),
    Mistake(
        "not_averaged",
        cell="sequence_loss",
        edits=[("ignore_index=pad_idx", "ignore_index=pad_idx, reduction='none'")],
        about=["test_scalar_of_the_same_dtype"],
        sentence="You return the loss of every position. Return their mean over the positions that are not padding.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different number for every input.": [
            "sum_over_batch",
            "classes_mixed_with_positions",
            "flattened_in_another_order",
            "reshaped_instead_of_moved",
            "last_position_only",
            "first_position_left_out",
        ],
        "It stops with an error, or returns something of a different type.": [
            "not_flattened",
            "not_averaged",
        ],
    },
)
