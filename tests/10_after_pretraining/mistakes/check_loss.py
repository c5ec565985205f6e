"""Wrong answers to exercise 8, `check_loss`."""

from gradekit.checks import Mistakes

WHOLE = "whole = loss(logits, ids, counts)"
COUNTS = "counts[0, 2:4] = counts[1, 4:8] = counts[2, 3:6] = True"
ROWS = "for row in range(3):"
PLACES = "for place in range(8):"
DIFFERS = "differs = abs(loss(changed, ids, counts) - whole).item() > 5e-6"
ASSERT = "assert differs == predicts, ("
LAST = (
    'assert abs(loss(logits, ids, counts) - whole) < 5e-6, "Nothing predicts position 0, so it never counts."'
)
REJECTS_CORRECT = "A test that rejects correct losses is of no use, whatever else it rejects."

wrong = Mistakes()

wrong.about("test_shift")
wrong("check_of_a_number", WHOLE, WHOLE + "\n    assert torch.isfinite(whole).all()\n    return")
wrong.says("Your check only looks whether the loss is a number.")
wrong.costs("It accepts every loss.")
wrong(
    "check_not_shifted",
    "predicts = place < 7 and counts[row, place + 1].item()",
    "predicts = counts[row, place].item()",
)
wrong.says("Your check expects the logits at t to matter for the token at t, so it rejects correct losses.")
wrong.costs(REJECTS_CORRECT)
wrong(
    "check_expects_a_mean", WHOLE, WHOLE + "\n    assert abs(whole - answer_loss(logits, ids, counts)) < 1e-4"
)
wrong.says("Your check expects the mean cross-entropy. A loss may compute anything for a token.")
wrong.costs(REJECTS_CORRECT)
wrong("check_for_exact_equality", LAST, "assert loss(logits, ids, counts) > 0")
wrong.edit(DIFFERS, "differs = abs(loss(changed, ids, counts) - whole).item() > 10")
wrong.says("Your check takes small changes of the loss for none, so it rejects correct losses.")
wrong.costs(REJECTS_CORRECT)

wrong.about("test_prompt", "test_padding")
wrong("check_of_what_counts", ASSERT, "assert differs or not predicts, (")
wrong.says("Your check never looks whether something counts that shouldn't.")
wrong("check_with_a_large_tolerance", "> 5e-6", "> 0.05")
wrong.says("Your check doesn't notice tokens that count a little.", uses=("*",))
wrong.costs("It takes small changes for none, so it rejects correct losses as well.")

wrong.about("test_ends")
wrong("check_of_what_does_not_count", ASSERT, "assert predicts or not differs, (")
wrong.says("Your check doesn't notice if only some tokens of the answers count, or none.")

wrong.about("test_rows")
wrong("check_of_the_first_row", ROWS, "for row in range(1):")
wrong.says("Your check changes logits only in the first row.")
wrong("check_with_equal_masks", COUNTS, "counts[:, 3:6] = True")
wrong.says("No batch of yours has two rows with answers at different places, so mixed-up rows don't show.")

wrong.about("test_edges")
wrong("check_without_position_0", "    counts[:, 0] = True\n", "")
wrong.says("Your check never tries `counts` with other entries at position 0.")
wrong("check_without_the_last_position", PLACES, "for place in range(7):")
wrong.says("Your check doesn't notice if the logits at the last position count a little.")
wrong.says("Change them, too, and allow no more than the table does.")

wrong.unnamed(
    "A test that rejects every correct function can do so for many reasons.",
    "check_not_shifted",
    "check_for_exact_equality",
)
