"""Wrong answers to exercise 6, `ablate`."""

from gradekit.checks import mistakes_in, with_costs

REPLACE = 'changed[:, head] = alone.mean(dim=(0, 1)) if kind == "mean" else 0.0'
mistake = mistakes_in("ablate", "ablate_")

MISTAKES = [
    mistake(
        "in_place",
        [("changed = outputs.clone()", "changed = outputs")],
        ["test_a_copy"],
        "You write into `outputs`. Work on a copy.",
    ),
    mistake(
        "first_axis",
        [(REPLACE, REPLACE.replace("changed[:, head]", "changed[head % len(changed)]"))],
        ["test_zeros"],
        "You replace a sequence of the batch. The heads are on axis 1.",
    ),
    mistake(
        "position",
        [(REPLACE, REPLACE.replace("changed[:, head]", "changed[:, :, head % outputs.shape[2]]"))],
        ["test_zeros"],
        "You replace a position of all heads. The heads are on axis 1.",
    ),
    mistake(
        "all_but_this_one",
        [(REPLACE, "changed = torch.zeros_like(outputs)\n    changed[:, head] = alone")],
        ["test_zeros"],
        "You keep this head and remove the others.",
    ),
    mistake(
        "mean_of_each_position",
        [("alone.mean(dim=(0, 1))", "alone.mean(dim=0)")],
        ["test_mean"],
        "Your mean keeps the positions. Average over the batch and all positions.",
    ),
    mistake(
        "mean_of_each_sequence",
        [("alone.mean(dim=(0, 1))", "alone.mean(dim=1, keepdim=True)")],
        ["test_mean"],
        "Every sequence has its own mean. Average over the batch and all positions.",
    ),
    mistake(
        "one_number",
        [("alone.mean(dim=(0, 1))", "alone.mean()")],
        ["test_mean"],
        "Your mean is one number. It should be a vector of width d_head.",
    ),
    mistake(
        "mean_of_all_heads",
        [("alone.mean(dim=(0, 1))", "outputs.mean(dim=(0, 1, 2))")],
        ["test_mean"],
        "You average over all heads. Take the mean of the head that is replaced.",
    ),
    mistake(
        "mean_is_zero",
        [(REPLACE, "changed[:, head] = 0.0")],
        ["test_mean"],
        "You always use zeros, whatever the kind.",
    ),
    mistake(
        "always_the_mean",
        [(REPLACE, "changed[:, head] = alone.mean(dim=(0, 1))")],
        ["test_zeros"],
        "You always use the mean, whatever the kind.",
    ),
    mistake(
        "mean_by_default",
        [('kind="zero"):', 'kind="mean"):')],
        ["test_kinds"],
        'Your default kind is "mean". It should be "zero".',
    ),
    mistake(
        "any_kind",
        [('if kind not in ("zero", "mean"):', "if not kind:")],
        ["test_kinds"],
        "A kind that isn't known should raise a ValueError.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The opposite of what is asked for.": [
            "ablate_all_but_this_one",
        ],
    },
)
