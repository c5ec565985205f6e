"""Wrong answers to exercise 6, `exact_match`."""

from gradekit.checks import Mistakes

OTHER_NUMBER = "It computes a different number for every input."

wrong = Mistakes()

wrong.about("test_share_of_whole_rows")
wrong("share_of_tokens", "(predicted == expected).all(dim=1)", "predicted == expected")
wrong.says("You computed the share of right tokens. A sequence is right only if all its tokens are.")
wrong.costs(OTHER_NUMBER)
wrong("any_token", ".all(dim=1)", ".any(dim=1)")
wrong.says("A row counts as right as soon as one token is right. All of them have to be.", uses=("*any",))
wrong.costs(OTHER_NUMBER)
wrong("along_the_batch", ".all(dim=1)", ".all(dim=0)")
wrong.says("You combined the values of each column. A sequence is a row: use dim=1.")
wrong.costs(OTHER_NUMBER)
wrong("number_of_rows", "right.float().mean().item()", "float(right.sum())")
wrong.says("You count the right rows. Divide by the number of rows.", uses=("*sum",), lacks=("*mean",))
wrong.costs(OTHER_NUMBER)
wrong("order_ignored")
wrong.edit("(predicted == expected).all", "(predicted.sort(dim=1).values == expected.sort(dim=1).values).all")
wrong.says("The same tokens in another order count as a match for you. Each position has to be equal.")

wrong.about("test_unequal_widths")
wrong("pads_not_compared", "(predicted == expected).all", "((predicted == expected) | (expected == PAD)).all")
wrong.says("You accept anything where padding is expected. A sequence that goes on after its end is wrong.")
wrong("cut_to_the_shorter", "width = max(", "width = min(")
wrong.says(
    "You cut both to the smaller width, which ignores missing or extra tokens at the end.",
    uses=("min", "*minimum"),
)
wrong("equal_widths_only", "    width = max")
wrong.to("    if predicted.shape != expected.shape:\n        return 0.0\n    width = max")
wrong.says("If the widths differ, you count nothing as right. Pad the narrower one with PAD.")
wrong("padded_on_the_left", "F.pad(predicted, (0, width - predicted.shape[1])")
wrong.to("F.pad(predicted, (width - predicted.shape[1], 0)")
wrong.edit("F.pad(expected, (0, width - expected.shape[1])", "F.pad(expected, (width - expected.shape[1], 0)")
wrong.says("You pad on the left, which moves the tokens. Pad on the right: `F.pad(ids, (0, n))`.")
wrong(
    "widths_not_equalized",
    "    predicted = F.pad(predicted, (0, width - predicted.shape[1]), value=PAD)\n    expected = F.pad(expected, (0, width - expected.shape[1]), value=PAD)\n",
    "",
)
wrong.says("You compare tensors of different widths, which raises an error.")
wrong.says("Pad the narrower one with PAD first.", lacks=("pad", "cat", "full", "zeros", "new_*"))

wrong.about("test_returns_a_float")
wrong("a_tensor", ".mean().item()", ".mean()")
wrong.says("You return a tensor. Convert it to a float with .item().")

wrong.unnamed(
    "Its values are too few and simple: other mistakes return them, too.",
    "pads_not_compared",
    "equal_widths_only",
    "padded_on_the_left",
)
