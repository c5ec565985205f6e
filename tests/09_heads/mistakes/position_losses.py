"""Wrong answers to exercise 3, `position_losses`."""

from gradekit.checks import Mistakes

LOSSES = "test_losses_equal_the_formula"
SHIFT = "predictions, targets = logits[:, :-1], tokens[:, 1:]"
ENTROPY = 'F.cross_entropy(predictions.transpose(1, 2), targets, reduction="none")'
HALVES = "first, second = losses[: period - 1], losses[period:]"
MEANS = "return first.mean().item(), second.mean().item()"

wrong = Mistakes("losses_")

wrong.about(LOSSES)
wrong("not_shifted", SHIFT, "predictions, targets = logits[:, :-1], tokens[:, :-1]")
wrong.says("You compare the logits at p with the token at p, which the model has just read.")
wrong.says("They predict the token at p + 1.")
wrong("shifted_backwards", SHIFT, "predictions, targets = logits[:, 1:], tokens[:, :-1]")
wrong.says("You compare the logits at p with the token at p - 1. They predict the token at p + 1.")
wrong("not_predicted_from_before", SHIFT, "predictions, targets = logits[:, 1:], tokens[:, 1:]")
wrong.says("You dropped the first logits. Drop the last ones: nothing comes after them.")
wrong("summed_over_the_batch", "return losses.mean(dim=0)", "return losses.sum(dim=0)")
wrong.says("You add up the losses of the batch. Take their mean.")
wrong("mean_over_positions", "return losses.mean(dim=0)", "return losses.mean(dim=1)")
wrong.says("You average over the positions and keep the batch. It should be the other way around.")
wrong("in_bits", "return losses.mean(dim=0)", "return losses.mean(dim=0) / math.log(2)")
wrong.says("You use the logarithm to base 2. Cross-entropy in this course uses the natural one.")
wrong("probabilities")
wrong.edit(ENTROPY, "1 - torch.softmax(predictions, dim=-1).gather(-1, targets[..., None])[..., 0]")
wrong.says("You return 1 minus the probability of the right token. The cross-entropy is minus its logarithm.")
wrong("sign", "return losses.mean(dim=0)", "return -losses.mean(dim=0)")
wrong.says("Your losses are negative. The loss is *minus* the logarithm of the probability.")
wrong("softmax_twice", "predictions.transpose(1, 2), targets")
wrong.to("torch.softmax(predictions, dim=-1).transpose(1, 2), targets")
wrong.says("You apply a softmax before `cross_entropy`, which applies one itself.")

wrong.about("test_losses_of_any_size")
wrong("log_of_the_softmax")
wrong.edit(ENTROPY, "-torch.softmax(predictions, dim=-1).gather(-1, targets[..., None])[..., 0].log()")
wrong.says("For large logits, your loss is infinite: the softmax becomes 0 before you take the logarithm.")
wrong.says("Use log_softmax or cross_entropy.")

wrong.about("test_halves")
wrong("halves_with_the_seam_in_the_first", HALVES, "first, second = losses[:period], losses[period:]")
wrong.says(
    "Your first half includes entry `period` - 1, which belongs to neither: nobody can know that the "
    "repetition begins."
)
wrong("halves_with_the_seam_in_the_second")
wrong.edit(HALVES, "first, second = losses[: period - 1], losses[period - 1 :]")
wrong.says(
    "Your second half includes entry `period` - 1, which belongs to neither: nobody can know that the "
    "repetition begins."
)
wrong("halves_one_late", HALVES, "first, second = losses[:period], losses[period + 1 :]")
wrong.says("Both of your halves begin or end one entry late.")
wrong.says("Entry `period` - 1 is the one that belongs to neither.")
wrong("halves_swapped", MEANS, "return second.mean().item(), first.mean().item()")
wrong.says("You return the second half first.")
wrong("halves_summed", MEANS, "return first.sum().item(), second.sum().item()")
wrong.says("You add up the losses of each half. Take their mean.")

wrong.about("test_halves_are_floats")
wrong("halves_as_tensors", MEANS, "return first.mean(), second.mean()")
wrong.says("`half_losses` returns tensors. Return Python floats.")
wrong("halves_as_a_list", MEANS, "return [first.mean().item(), second.mean().item()]")
wrong.says("`half_losses` returns a list. Return a pair: a tuple.")

wrong.unnamed("Its checks compare values for drawn inputs, of which none are recorded.", "log_of_the_softmax")
