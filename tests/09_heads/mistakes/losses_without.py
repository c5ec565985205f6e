"""Wrong answers to exercise 7, `losses_without`."""

from gradekit.checks import mistakes_in, with_costs

EDIT = "return ablate(outputs, head, kind) if number == layer else outputs"
SECOND = "return half_losses(position_losses(logits, tokens), period)[1]"
TABLE = "[[without(layer, head) for head in heads] for layer in range(len(model.layers))]"
mistake = mistakes_in("losses_without", "without_")

MISTAKES = [
    mistake(
        "in_all_layers",
        [(EDIT, "return ablate(outputs, head, kind)")],
        ["test_one_head_at_a_time"],
        "You take the head out of all layers. `edit` is called for every layer, and should change only one.",
    ),
    mistake(
        "in_the_other_layers",
        [(EDIT, EDIT.replace("number == layer", "number != layer"))],
        ["test_one_head_at_a_time"],
        "You take the head out of all layers but the right one.",
    ),
    mistake(
        "never",
        [("logits, _ = model(tokens, edit)", "logits, _ = model(tokens)")],
        ["test_one_head_at_a_time"],
        "You call the model without `edit`, so nothing is taken out.",
    ),
    mistake(
        "first_half",
        [(SECOND, SECOND.replace("[1]", "[0]"))],
        ["test_one_head_at_a_time"],
        "You return the loss of the first half.",
    ),
    mistake(
        "whole_sequence",
        [(SECOND, "return position_losses(logits, tokens).mean().item()")],
        ["test_one_head_at_a_time"],
        "You return the loss of the whole sequence. Only the second half counts.",
    ),
    mistake(
        "difference",
        [
            (
                SECOND,
                "whole = half_losses(position_losses(model(tokens)[0], tokens), period)[1]\n        "
                + SECOND
                + " - whole",
            )
        ],
        ["test_one_head_at_a_time"],
        "You return how much the loss grows. Return the loss itself.",
    ),
    mistake(
        "up_to_this_head",
        [
            (
                EDIT,
                "return outputs if number != layer else torch.cat([0 * outputs[:, : head + 1], outputs[:, head + 1 :]], dim=1)",
            )
        ],
        ["test_one_head_at_a_time"],
        "You take out this head and all before it. Take out one at a time.",
    ),
    mistake(
        "last_head_only",
        [(EDIT, EDIT.replace("outputs, head, kind", "outputs, model.num_heads - 1, kind"))],
        ["test_one_head_at_a_time"],
        "You always take out the last head of the layer. Does the function use a variable of a loop that has gone on?",
    ),
    mistake(
        "transposed",
        [(TABLE, "[[without(layer, head) for layer in range(len(model.layers))] for head in heads]")],
        ["test_one_head_at_a_time"],
        "Your rows are heads and your columns layers. It should be the other way around.",
    ),
    mistake(
        "period_is_the_length",
        [("period = tokens.shape[1] // 2", "period = tokens.shape[1] // 2 + 1")],
        ["test_one_head_at_a_time"],
        "Your period is one too large. The tokens are two periods long.",
    ),
    mistake(
        "always_zeros",
        [(EDIT, EDIT.replace("outputs, head, kind", "outputs, head"))],
        ["test_kind_is_passed_on"],
        "You don't pass `kind` on to `ablate`.",
    ),
    mistake(
        "mean_by_default",
        [('kind="zero"):', 'kind="mean"):')],
        ["test_kind_is_passed_on"],
        'Your default kind is "mean". It should be "zero".',
    ),
    mistake(
        "with_gradients",
        [("with torch.no_grad():", "with torch.enable_grad():")],
        ["test_no_gradients_and_nothing_kept"],
        "Gradients are recorded, but not needed. Use torch.no_grad().",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "No head is taken out, so there is nothing to measure.": [
            "without_never",
        ],
        "What an entry says depends on the order of the heads.": [
            "without_up_to_this_head",
        ],
        "Entries are in the wrong places, and the shape is wrong unless there are as many heads as layers.": [
            "without_transposed",
        ],
    },
)
