"""Wrong answers to exercise 7, `losses_without`."""

from gradekit.checks import Mistakes

EDIT = "return ablate(outputs, head, kind) if number == layer else outputs"
SECOND = "return half_losses(position_losses(logits, tokens), period)[1]"
TABLE = "[[without(layer, head) for head in heads] for layer in range(len(model.layers))]"

wrong = Mistakes("without_")

wrong.about("test_one_head_at_a_time")
wrong("in_all_layers", EDIT, "return ablate(outputs, head, kind)")
wrong.says("You take the head out of all layers.")
wrong.says("`edit` is called for every layer, and should change only one.")
wrong("in_the_other_layers", EDIT, EDIT.replace("number == layer", "number != layer"))
wrong.says("You take the head out of all layers but the right one.")
wrong("never", "logits, _ = model(tokens, edit)", "logits, _ = model(tokens)")
wrong.says("You call the model without `edit`, so nothing is taken out.")
wrong.costs("No head is taken out, so there is nothing to measure.")
wrong("first_half", SECOND, SECOND.replace("[1]", "[0]"))
wrong.says("You return the loss of the first half.")
wrong("whole_sequence", SECOND, "return position_losses(logits, tokens).mean().item()")
wrong.says("You return the loss of the whole sequence. Only the second half counts.")
wrong("difference", SECOND)
wrong.to(
    "whole = half_losses(position_losses(model(tokens)[0], tokens), period)[1]\n        "
    + SECOND
    + " - whole",
)
wrong.says("You return how much the loss grows. Return the loss itself.")
wrong(
    "up_to_this_head",
    EDIT,
    "return outputs if number != layer else torch.cat([0 * outputs[:, : head + 1], outputs[:, head + 1 :]], dim=1)",
)
wrong.says("You take out this head and all before it. Take out one at a time.")
wrong.costs("What an entry says depends on the order of the heads.")
wrong("last_head_only", EDIT, EDIT.replace("outputs, head, kind", "outputs, model.num_heads - 1, kind"))
wrong.says("You always take out the last head of the layer.")
wrong.says("Does the function use a variable of a loop that has gone on?")
wrong("late_binding", TABLE)
wrong.to("[[without(len(model.layers) - 1, model.num_heads - 1) for head in heads] for _ in model.layers]")
wrong.says("All entries of your table are the same loss.")
wrong.says("A function that is made in a loop and called after it sees the last layer and head of the loop.")
wrong.costs("The table says nothing about any head but one.")
wrong("transposed", TABLE, "[[without(layer, head) for layer in range(len(model.layers))] for head in heads]")
wrong.says("Your rows are heads and your columns layers. It should be the other way around.")
wrong.costs(
    "Entries are in the wrong places, and the shape is wrong unless there are as many heads as layers."
)
wrong("period_is_the_length", "period = tokens.shape[1] // 2", "period = tokens.shape[1] // 2 + 1")
wrong.says("Your period is one too large. The tokens are two periods long.")

wrong.about("test_kind_is_passed_on")
wrong("always_zeros", EDIT, EDIT.replace("outputs, head, kind", "outputs, head"))
wrong.says("You don't pass `kind` on to `ablate`.")
wrong("mean_by_default", 'kind="zero"):', 'kind="mean"):')
wrong.says('Your default kind is "mean". It should be "zero".')

wrong.about("test_no_gradients_and_nothing_kept")
wrong("with_gradients", "with torch.no_grad():", "with torch.enable_grad():")
wrong.says("Gradients are recorded, but not needed. Use torch.no_grad().")
