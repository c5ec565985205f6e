"""Wrong answers to exercise 2, `shift_right`."""

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    Mistake(
        "not_shifted",
        cell="shift_right",
        edits=[("return torch.cat([bos, targets[:, :-1]], dim=1)", "return targets.clone()")],
        about=["test_moved_one_place"],
        sentence="You don't shift the targets, so the decoder reads the token that it should write and "
        "only copies.",
    ),
    Mistake(
        "first_token_lost",
        cell="shift_right",
        edits=[("targets[:, :-1]", "targets[:, 1:]")],
        about=["test_moved_one_place"],
        sentence="You replaced the first token with BOS. Shift the whole row, so that the last token drops "
        "out.",
    ),
    Mistake(
        "shifted_left",
        cell="shift_right",
        edits=[("[bos, targets[:, :-1]]", "[targets[:, 1:], bos]")],
        about=["test_moved_one_place"],
        sentence="You shifted the targets to the left. BOS belongs in front, and the last token drops out.",
    ),
    Mistake(
        "rolled",
        cell="shift_right",
        edits=[("return torch.cat([bos, targets[:, :-1]], dim=1)", "return torch.roll(targets, 1, dims=1)")],
        about=["test_moved_one_place"],
        sentence="You moved the last token to the front. Put BOS there instead.",
    ),
    Mistake(
        "one_too_long",
        cell="shift_right",
        edits=[("targets[:, :-1]", "targets")],
        about=["test_moved_one_place", "test_shape_and_dtype"],
        sentence="Your rows are one longer than the targets. Drop the last token.",
    ),
    Mistake(
        "bos_is_always_1",
        lacks=("bos_idx",),
        cell="shift_right",
        edits=[("targets[:, :1], bos_idx)", "targets[:, :1], 1)")],
        about=["test_any_bos"],
        sentence="You always use 1 for BOS. Use bos_idx.",
    ),
    Mistake(
        "float_bos",
        cell="shift_right",
        edits=[("torch.full_like(targets[:, :1], bos_idx)", "torch.ones(len(targets), 1) * bos_idx")],
        about=["test_shape_and_dtype"],
        sentence="Your result is float, perhaps because the column of BOS is. Ids are integers.",
    ),
    Mistake(
        "targets_changed",
        cell="shift_right",
        edits=[
            (
                "return torch.cat([bos, targets[:, :-1]], dim=1)",
                "targets[:, 1:] = targets[:, :-1].clone()\n    targets[:, :1] = bos\n    return targets",
            )
        ],
        about=["test_targets_unchanged"],
        sentence="You modified the targets in place, but the loss still needs them. Create a new tensor.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The exercise is this one shift, and most checks compare the shifted ids.": [
            "not_shifted",
            "shifted_left",
            "rolled",
        ],
    },
)
