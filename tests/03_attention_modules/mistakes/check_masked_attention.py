"""Wrong answers to exercise 7, `check_masked_attention`."""

from gradekit.checks import Mistakes

SAME_WEIGHTS = "assert torch.allclose(weights, expected, atol=1e-4)"
SAME_OUTPUT = "assert torch.allclose(output, expected @ v, atol=1e-4)"
LAST_ROWS = "[[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()"
LAST_WEIGHTS = "[[0, 0, 0], [0, 2, 2], [0, 4, 0]]]) / 4"
REJECTS_CORRECT = "A test that rejects correct functions is of no use, whatever else it rejects."

wrong = Mistakes()

wrong.about("test_direction")
wrong("check_of_shapes", SAME_WEIGHTS, "assert weights.shape == expected.shape")
wrong.edit(SAME_OUTPUT, "assert output.shape == (2, 3, 2)")
wrong.says("Your check looks only at shapes. Compare the weights and the output with those that you expect.")
wrong.costs("It accepts nearly every function.")
wrong("check_expects_the_opposite_mask")
wrong.edit('("with a mask", function(q, k, v, mask)', '("with a mask", function(q, k, v, ~mask)')
wrong.says("Your check expects that True hides a key, so it rejects correct functions.")
wrong.says("Here True means that a key may be seen.")
wrong.costs(REJECTS_CORRECT)

wrong.about("test_formula")
wrong("check_of_weights_only", SAME_OUTPUT, "assert output.shape == (2, 3, 2)")
wrong.says("A wrong output passes your check if the weights are right. Compare both, in each call.")
wrong("check_with_zero_queries", "q[:, 0, 0] = 2 * ln3", "q[:, 0, 0] = 0")
wrong.edit("q[:, 1, 0] = -40000", "q[:, 1, 0] = 0")
wrong.edit("[[3, 0, 1], [4, 0, 0]", "[[2, 0, 2], [4, 0, 0]")
wrong.edit("[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2]", "[1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]")
wrong.says("In your examples all scores are 0, so the scale has no effect.")
wrong("check_for_equal_floats", SAME_WEIGHTS, "assert torch.equal(weights, expected)")
wrong.says(
    "Your check asks for exact or almost exact equality, which rejects correct functions that round differently."
)
wrong.says("Allow a small difference.")
wrong.costs(REJECTS_CORRECT)

wrong.about("test_leaks")
wrong("check_of_hidden_weights_only")
wrong.edit(SAME_WEIGHTS, "assert name != 'with a mask' or not weights[~mask].any()")
wrong.edit(SAME_OUTPUT, "assert torch.allclose(output, weights @ v, atol=1e-4)")
wrong.says("Your check tests whether hidden weights are 0, but not whether the others are right.")
wrong("check_without_low_scores", "q[:, 1, 0] = -40000", "q[:, 1, 0] = 2 * ln3")
wrong.edit("[0, 1 / 2, 1 / 2]", "[3 / 5, 1 / 5, 1 / 5]")
wrong.says("All scores in your check are near 0.")
wrong.says("Add a visible key with a very low score, next to hidden ones.")

wrong.about("test_no_key")
wrong("check_in_which_all_see_something", LAST_ROWS, "[[0, 1, 0], [0, 1, 1], [0, 1, 0]]]).bool()")
wrong.edit(LAST_WEIGHTS, "[[0, 4, 0], [0, 2, 2], [0, 4, 0]]]) / 4")
wrong.says("In your check every query sees something. Hide all keys from one.")
wrong("check_lets_nan_pass", SAME_WEIGHTS, "assert torch.allclose(weights.nan_to_num(), expected, atol=1e-4)")
wrong.edit(SAME_OUTPUT, "assert torch.allclose(output.nan_to_num(), expected @ v, atol=1e-4)")
wrong.says(
    "Your check doesn't notice NaN. Compare in such a way that NaN fails: `torch.allclose` is False for it."
)

wrong.about("test_batch")
wrong("check_with_one_mask_for_all")
wrong.edit(LAST_ROWS, "[[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()[1:].expand(2, 3, 3)")
wrong.edit(LAST_WEIGHTS, "[[0, 0, 0], [0, 2, 2], [0, 4, 0]]])[1:].expand(2, 3, 3) / 4")
wrong.says("All sequences of your batch have the same mask. Give them different ones.")

wrong.about("test_no_mask")
wrong("check_always_with_a_mask", '("without a mask", function(q, k, v), plain),', "")
wrong.says("Your check never leaves the mask out.")

wrong.unnamed(
    "A test that rejects every correct function can do so for many reasons.",
    "check_expects_the_opposite_mask",
)
