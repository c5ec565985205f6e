"""Wrong answers to exercise 6, `check_softmax`."""

from gradekit.checks import mistakes_in, with_costs

COMPARED = """    assert torch.allclose(found, expected, atol=1e-3), (
        f"For the scores {before.tolist()} the weights should be {expected.tolist()}, but are {found.tolist()}."
    )
"""
UNCHANGED = """    assert torch.equal(scores, before), "The function changes the scores that it is given."
"""
CLOSE = "torch.allclose(found, expected, atol=1e-3)"
ROWS = "torch.stack([row, row.flip(0), row + 1000]).unsqueeze(0)"
WANTED = "torch.stack([weights, weights.flip(0), weights]).unsqueeze(0)"
mistake = mistakes_in("check_softmax")

MISTAKES = [
    mistake(
        "check_of_the_shape",
        [(COMPARED, "    assert found.shape == expected.shape\n")],
        ["test_other_functions"],
        "Your check looks only at the shape, which nearly every function gets right. Compare the weights as well.",
    ),
    mistake(
        "check_without_assert",
        [(f"assert {CLOSE}, (", f"{CLOSE}, (")],
        ["test_other_functions"],
        "Your check computes whether the weights are right, but does nothing with the result. Write `assert` before it.",
    ),
    mistake(
        "check_of_the_sums",
        [(CLOSE, "torch.allclose(found.sum(dim=-1), expected.sum(dim=-1), atol=1e-3)")],
        ["test_nearly_right"],
        "Your check looks only at the sum of each row. Other weights sum to 1, too.",
    ),
    mistake(
        "check_of_the_order",
        [(CLOSE, "torch.equal(found.argmax(dim=-1), expected.argmax(dim=-1))")],
        ["test_nearly_right"],
        "Your check looks only at which key gets the largest weight. Compare the weights themselves.",
    ),
    mistake(
        "check_of_equal_scores_only",
        [
            (
                "torch.tensor([0.0, math.log(3)]), torch.tensor([0.25, 0.75])",
                "torch.zeros(2), torch.full((2,), 0.5)",
            )
        ],
        ["test_nearly_right"],
        "In your examples all scores of a row are equal. Nearly every function gives them equal weights.",
    ),
    mistake(
        "check_for_exact_equality",
        [(CLOSE, "torch.equal(found, expected)")],
        ["test_other_functions"],
        "Your check asks for exact equality, which rejects correct functions that round differently. Allow a small difference.",
    ),
    mistake(
        "check_with_a_wrong_example",
        [("torch.tensor([0.25, 0.75])", "torch.tensor([0.33, 0.67])")],
        ["test_other_functions"],
        "One of the weights that your check expects is wrong, so it rejects correct functions.",
    ),
    mistake(
        "check_of_the_columns",
        [("function(scores)", "function(scores.transpose(1, 2)).transpose(1, 2)")],
        ["test_other_axes"],
        "Your check expects columns to sum to 1, so it rejects correct functions.",
    ),
    mistake(
        "check_of_one_row",
        [(ROWS, "row + 1000"), (WANTED, "weights")],
        ["test_other_axes"],
        "Your check uses a single row, for which all axes are the same.",
    ),
    mistake(
        "check_of_symmetric_scores",
        [
            (ROWS, "torch.stack([row, row.flip(0)]) + 1000"),
            (WANTED, "torch.stack([weights, weights.flip(0)])"),
        ],
        ["test_other_axes"],
        "Your matrix of scores is symmetric, so its columns get the same weights as its rows.",
    ),
    mistake(
        "check_up_to_two_axes",
        [
            ("row + 1000]).unsqueeze(0)", "row + 1000])"),
            ("weights.flip(0), weights]).unsqueeze(0)", "weights.flip(0), weights])"),
        ],
        ["test_three_axes"],
        "Your check uses only tensors with one or two axes. Add one with three.",
    ),
    mistake(
        "check_of_small_scores",
        [("row + 1000", "row + 10")],
        ["test_large_scores"],
        "All scores in your check are small. Try some of about 1000.",
    ),
    mistake(
        "check_of_equal_large_scores",
        [
            ("row + 1000", "torch.full((2,), 1000.0)"),
            ("weights.flip(0), weights]", "weights.flip(0), torch.full((2,), 0.5)]"),
        ],
        ["test_large_scores"],
        "The large scores in your check are all equal, so a function that cuts them off goes unnoticed.",
    ),
    mistake(
        "check_lets_changes_pass",
        [(UNCHANGED, "")],
        ["test_in_place"],
        "Your check doesn't test whether the scores are still the same after the call.",
    ),
    mistake(
        "check_keeps_no_copy",
        [("before = scores.clone()", "before = scores")],
        ["test_in_place"],
        "`before = scores` is the same tensor under a second name, so it changes as well. Use `scores.clone()`.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It accepts nearly every function.": [
            "check_of_the_shape",
            "check_without_assert",
        ],
        "A test that rejects correct functions is of no use, whatever else it rejects.": [
            "check_for_exact_equality",
            "check_with_a_wrong_example",
            "check_of_the_columns",
        ],
    },
)
