"""Wrong answers to exercise 6, `exact_match`."""

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    Mistake(
        "share_of_tokens",
        cell="exact_match",
        edits=[("(predicted == expected).all(dim=1)", "predicted == expected")],
        about=["test_share_of_whole_rows"],
        sentence="You computed the share of right tokens. A sequence is right only if all its tokens are.",
    ),
    Mistake(
        "any_token",
        uses=("*any",),
        cell="exact_match",
        edits=[(".all(dim=1)", ".any(dim=1)")],
        about=["test_share_of_whole_rows"],
        sentence="A row counts as right as soon as one token is right. All of them have to be.",
    ),
    Mistake(
        "along_the_batch",
        cell="exact_match",
        edits=[(".all(dim=1)", ".all(dim=0)")],
        about=["test_share_of_whole_rows"],
        sentence="You combined the values of each column. A sequence is a row: use dim=1.",
    ),
    Mistake(
        "number_of_rows",
        uses=("*sum",),
        lacks=("*mean",),
        cell="exact_match",
        edits=[("right.float().mean().item()", "float(right.sum())")],
        about=["test_share_of_whole_rows"],
        sentence="You count the right rows. Divide by the number of rows.",
    ),
    Mistake(
        "order_ignored",
        cell="exact_match",
        edits=[
            (
                "(predicted == expected).all",
                "(predicted.sort(dim=1).values == expected.sort(dim=1).values).all",
            )
        ],
        about=["test_share_of_whole_rows"],
        sentence="You ignore the order of the tokens. Compare them position by position.",
    ),
    Mistake(
        "pads_not_compared",
        cell="exact_match",
        edits=[("(predicted == expected).all", "((predicted == expected) | (expected == PAD)).all")],
        about=["test_unequal_widths"],
        sentence="You accept anything where padding is expected. "
        "A sequence that goes on after its end is wrong.",
    ),
    Mistake(
        "cut_to_the_shorter",
        uses=("min", "*minimum"),
        cell="exact_match",
        edits=[
            ("width = max(", "width = min("),
        ],
        about=["test_unequal_widths"],
        sentence="You cut both to the smaller width, which ignores missing or extra tokens at the end.",
    ),
    Mistake(
        "equal_widths_only",
        cell="exact_match",
        edits=[
            (
                "    width = max",
                "    if predicted.shape != expected.shape:\n        return 0.0\n    width = max",
            ),
        ],
        about=["test_unequal_widths"],
        sentence="If the widths differ, you count nothing as right. Pad the narrower one with PAD.",
    ),
    Mistake(
        "padded_on_the_left",
        cell="exact_match",
        edits=[
            (
                "F.pad(predicted, (0, width - predicted.shape[1])",
                "F.pad(predicted, (width - predicted.shape[1], 0)",
            ),
            (
                "F.pad(expected, (0, width - expected.shape[1])",
                "F.pad(expected, (width - expected.shape[1], 0)",
            ),
        ],
        about=["test_unequal_widths"],
        sentence="You pad on the left, which moves the tokens. Pad on the right: `F.pad(ids, (0, n))`.",
    ),
    Mistake(
        "widths_not_equalized",
        cell="exact_match",
        edits=[
            (
                "    predicted = F.pad(predicted, (0, width - predicted.shape[1]), value=PAD)\n    expected = F.pad(expected, (0, width - expected.shape[1]), value=PAD)\n",
                "",
            )
        ],
        about=["test_unequal_widths"],
        sentence="You compare tensors of different widths, which raises an error. Pad the narrower one with PAD first.",
    ),
    Mistake(
        "a_tensor",
        cell="exact_match",
        edits=[(".mean().item()", ".mean()")],
        about=["test_returns_a_float"],
        sentence="You return a tensor. Convert it to a float with .item().",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different number for every input.": [
            "share_of_tokens",
            "any_token",
            "along_the_batch",
            "number_of_rows",
        ],
    },
)
