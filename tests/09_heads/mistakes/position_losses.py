"""Wrong answers to exercise 3, `position_losses`."""

from gradekit.checks import mistakes_in

LOSSES = "test_losses_equal_the_formula"
SHIFT = "predictions, targets = logits[:, :-1], tokens[:, 1:]"
ENTROPY = 'F.cross_entropy(predictions.transpose(1, 2), targets, reduction="none")'
HALVES = "first, second = losses[: period - 1], losses[period:]"
MEANS = "return first.mean().item(), second.mean().item()"
mistake = mistakes_in("position_losses", "losses_")

MISTAKES = [
    mistake(
        "not_shifted",
        [(SHIFT, "predictions, targets = logits[:, :-1], tokens[:, :-1]")],
        [LOSSES],
        "You compare the logits at p with the token at p, which the model has just read. They predict the token at p + 1.",
    ),
    mistake(
        "shifted_backwards",
        [(SHIFT, "predictions, targets = logits[:, 1:], tokens[:, :-1]")],
        [LOSSES],
        "You compare the logits at p with the token at p - 1. They predict the token at p + 1.",
    ),
    mistake(
        "not_predicted_from_before",
        [(SHIFT, "predictions, targets = logits[:, 1:], tokens[:, 1:]")],
        [LOSSES],
        "You dropped the first logits. Drop the last ones: nothing comes after them.",
    ),
    mistake(
        "summed_over_the_batch",
        [("return losses.mean(dim=0)", "return losses.sum(dim=0)")],
        [LOSSES],
        "You add up the losses of the batch. Take their mean.",
    ),
    mistake(
        "mean_over_positions",
        [("return losses.mean(dim=0)", "return losses.mean(dim=1)")],
        [LOSSES],
        "You average over the positions and keep the batch. It should be the other way around.",
    ),
    mistake(
        "in_bits",
        [("return losses.mean(dim=0)", "return losses.mean(dim=0) / math.log(2)")],
        [LOSSES],
        "You use the logarithm to base 2. Cross-entropy in this course uses the natural one.",
    ),
    mistake(
        "probabilities",
        [(ENTROPY, "1 - torch.softmax(predictions, dim=-1).gather(-1, targets[..., None])[..., 0]")],
        [LOSSES],
        "You return 1 minus the probability of the right token. The cross-entropy is minus its logarithm.",
    ),
    mistake(
        "sign",
        [("return losses.mean(dim=0)", "return -losses.mean(dim=0)")],
        [LOSSES],
        "Your losses are negative. The loss is *minus* the logarithm of the probability.",
    ),
    mistake(
        "softmax_twice",
        [
            (
                "predictions.transpose(1, 2), targets",
                "torch.softmax(predictions, dim=-1).transpose(1, 2), targets",
            )
        ],
        [LOSSES],
        "You apply a softmax before `cross_entropy`, which applies one itself.",
    ),
    mistake(
        "log_of_the_softmax",
        [(ENTROPY, "-torch.softmax(predictions, dim=-1).gather(-1, targets[..., None])[..., 0].log()")],
        ["test_losses_of_any_size"],
        "For large logits, your loss is infinite: the softmax becomes 0 before you take the logarithm. Use log_softmax or cross_entropy.",
    ),
    mistake(
        "halves_with_the_seam_in_the_first",
        [(HALVES, "first, second = losses[:period], losses[period:]")],
        ["test_halves"],
        "Your first half includes entry `period` - 1, which belongs to neither: nobody can know that the repetition begins.",
    ),
    mistake(
        "halves_with_the_seam_in_the_second",
        [(HALVES, "first, second = losses[: period - 1], losses[period - 1 :]")],
        ["test_halves"],
        "Your second half includes entry `period` - 1, which belongs to neither: nobody can know that the repetition begins.",
    ),
    mistake(
        "halves_one_late",
        [(HALVES, "first, second = losses[:period], losses[period + 1 :]")],
        ["test_halves"],
        "Both of your halves begin or end one entry late. Entry `period` - 1 is the one that belongs to neither.",
    ),
    mistake(
        "halves_swapped",
        [(MEANS, "return second.mean().item(), first.mean().item()")],
        ["test_halves"],
        "You return the second half first.",
    ),
    mistake(
        "halves_summed",
        [(MEANS, "return first.sum().item(), second.sum().item()")],
        ["test_halves"],
        "You add up the losses of each half. Take their mean.",
    ),
    mistake(
        "halves_as_tensors",
        [(MEANS, "return first.mean(), second.mean()")],
        ["test_halves_are_floats"],
        "`half_losses` returns tensors. Return Python floats.",
    ),
    mistake(
        "halves_as_a_list",
        [(MEANS, "return [first.mean().item(), second.mean().item()]")],
        ["test_halves_are_floats"],
        "`half_losses` returns a list. Return a pair: a tuple.",
    ),
]
