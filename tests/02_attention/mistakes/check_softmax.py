"""Wrong answers to exercise 6, `check_softmax`."""

from gradekit.checks import Mistakes

COMPARED = """        assert torch.allclose(found, expected, atol=1e-3), (
            f"For the scores {before.tolist()} the weights should be {expected.tolist()}, but are {found.tolist()}."
        )
"""
UNCHANGED = """        assert torch.equal(scores, before), "The function changes the scores that it is given."
"""
CLOSE = "torch.allclose(found, expected, atol=1e-3)"
ROWS = "torch.stack([row, row.flip(0), row + 1000]).unsqueeze(0)"
WANTED = "torch.stack([weights, weights.flip(0), weights]).unsqueeze(0)"
CASES = "[(row, weights), (rows, right)]"
ACCEPTS_NEARLY_ALL = "It accepts nearly every function."
REJECTS_CORRECT = "A test that rejects correct functions is of no use, whatever else it rejects."

wrong = Mistakes()

wrong.about("test_other_functions")
wrong("check_of_the_shape", COMPARED, "        assert found.shape == expected.shape\n")
wrong.says("Your check looks only at the shape, which nearly every function gets right.")
wrong.says("Compare the weights as well.")
wrong.costs(ACCEPTS_NEARLY_ALL)
wrong("check_without_assert", f"assert {CLOSE}, (", f"{CLOSE}, (")
wrong.says("Your check computes whether the weights are right, but does nothing with the result.")
wrong.says("Write `assert` before it.")
wrong.costs(ACCEPTS_NEARLY_ALL)
wrong("check_for_exact_equality", CLOSE, "torch.equal(found, expected)")
wrong.says("Your check asks for exact equality, which rejects correct functions that round differently.")
wrong.says("Allow a small difference.")
wrong.costs(REJECTS_CORRECT)
wrong("check_with_a_wrong_example", "torch.tensor([0.25, 0.75])", "torch.tensor([0.33, 0.67])")
wrong.says("One of the weights that your check expects is wrong, so it rejects correct functions.")
wrong.costs(REJECTS_CORRECT)

wrong.about("test_nearly_right")
wrong("check_of_the_sums", CLOSE, "torch.allclose(found.sum(dim=-1), expected.sum(dim=-1), atol=1e-3)")
wrong.says("Your check looks only at the sum of each row. Other weights sum to 1, too.")
wrong("check_of_the_order", CLOSE, "torch.equal(found.argmax(dim=-1), expected.argmax(dim=-1))")
wrong.says("Your check looks only at which key gets the largest weight. Compare the weights themselves.")
wrong("check_of_equal_scores_only", "torch.tensor([0.0, math.log(3)]), torch.tensor([0.25, 0.75])")
wrong.to("torch.zeros(2), torch.full((2,), 0.5)")
wrong.says("In your examples all scores of a row are equal. Nearly every function gives them equal weights.")

wrong.about("test_other_axes")
wrong("check_of_the_columns", "function(scores)", "function(scores.transpose(1, 2)).transpose(1, 2)")
wrong.edit(CASES, "[(rows, right)]")
wrong.says("Your check expects columns to sum to 1, so it rejects correct functions.")
wrong.costs(REJECTS_CORRECT)
wrong("check_of_one_row", ROWS, "row + 1000")
wrong.edit(WANTED, "weights")
wrong.says("Your check uses a single row, for which all axes are the same.")
wrong("check_of_symmetric_scores", ROWS, "torch.stack([row, row.flip(0)]) + 1000")
wrong.edit(WANTED, "torch.stack([weights, weights.flip(0)])")
wrong.says("Your matrix of scores is symmetric, so its columns get the same weights as its rows.")

wrong.about("test_three_axes")
wrong("check_up_to_two_axes", "row + 1000]).unsqueeze(0)", "row + 1000])")
wrong.edit("weights.flip(0), weights]).unsqueeze(0)", "weights.flip(0), weights])")
wrong.says(
    "Your check accepts a function that is right only up to two axes. Add a tensor with three, whose parts differ."
)

wrong("check_without_a_single_row", CASES, "[(rows, right)]")
wrong.says("Your check accepts a function that raises an error for one row alone, a tensor with one axis.")
wrong("check_of_two_axes_only", "row + 1000]).unsqueeze(0)", "row + 1000])")
wrong.edit("weights.flip(0), weights]).unsqueeze(0)", "weights.flip(0), weights])")
wrong.edit(CASES, "[(rows, right)]")
wrong.says("Your check accepts functions that are right only for two axes.")
wrong.says("Try one row alone, and a tensor with three axes whose parts differ.")

wrong.about("test_large_scores")
wrong("check_of_small_scores", "row + 1000", "row + 10")
wrong.says(
    "Wrong weights of scores of about 1000 don't make your check fail. Compare them with the right ones, also beside small scores."
)
wrong("check_of_equal_large_scores", "row + 1000", "torch.full((2,), 1000.0)")
wrong.edit("weights.flip(0), weights]", "weights.flip(0), torch.full((2,), 0.5)]")
wrong.says(
    "A function that cuts large scores off goes unnoticed. It shows if the large scores of a row differ."
)

wrong.about("test_in_place")
wrong("check_lets_changes_pass", UNCHANGED, "")
wrong.says("Your check doesn't test whether the scores are still the same after the call.")
wrong("check_keeps_no_copy", "before = scores.clone()", "before = scores")
wrong.says("`before = scores` is the same tensor under a second name, so it changes as well.")
wrong.says("Use `scores.clone()`.")

wrong.unnamed(
    "A test that rejects every correct function can do so for many reasons.",
    "check_for_exact_equality",
    "check_with_a_wrong_example",
    "check_of_the_columns",
)
