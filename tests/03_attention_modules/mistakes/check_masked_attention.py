"""Wrong answers to exercise 7, `check_masked_attention`."""

from gradekit.checks import mistakes_in, with_costs

SAME_WEIGHTS = "assert torch.allclose(weights, expected, atol=1e-4)"
SAME_OUTPUT = "assert torch.allclose(output, expected @ v, atol=1e-4)"
LAST_ROWS = "[[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()"
LAST_WEIGHTS = "[[0, 0, 0], [0, 2, 2], [0, 4, 0]]]) / 4"
mistake = mistakes_in("check_masked_attention")

MISTAKES = [
    mistake(
        "check_of_shapes",
        [
            (SAME_WEIGHTS, "assert weights.shape == expected.shape"),
            (SAME_OUTPUT, "assert output.shape == (2, 3, 2)"),
        ],
        ["test_direction"],
        "Your check looks only at shapes. Compare the weights and the output with those that you expect.",
    ),
    mistake(
        "check_of_weights_only",
        [(SAME_OUTPUT, "assert output.shape == (2, 3, 2)")],
        ["test_formula"],
        "Your check compares the weights, but not the output.",
    ),
    mistake(
        "check_with_zero_queries",
        [
            ("q[:, 0, 0] = 2 * ln3", "q[:, 0, 0] = 0"),
            ("q[:, 1, 0] = -200", "q[:, 1, 0] = 0"),
            ("[[3, 0, 1], [4, 0, 0]", "[[2, 0, 2], [4, 0, 0]"),
            ("[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2]", "[1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]"),
        ],
        ["test_formula"],
        "In your examples all scores are 0, so the scale has no effect.",
    ),
    mistake(
        "check_of_hidden_weights_only",
        [
            (SAME_WEIGHTS, "assert name != 'with a mask' or not weights[~mask].any()"),
            (SAME_OUTPUT, "assert torch.allclose(output, weights @ v, atol=1e-4)"),
        ],
        ["test_leaks"],
        "Your check tests whether hidden weights are 0, but not whether the others are right.",
    ),
    mistake(
        "check_without_low_scores",
        [
            ("q[:, 1, 0] = -200", "q[:, 1, 0] = 2 * ln3"),
            ("[0, 1 / 2, 1 / 2]", "[3 / 5, 1 / 5, 1 / 5]"),
        ],
        ["test_leaks"],
        "All scores in your check are near 0. Add a visible key with a very low score, next to hidden ones.",
    ),
    mistake(
        "check_in_which_all_see_something",
        [
            (LAST_ROWS, "[[0, 1, 0], [0, 1, 1], [0, 1, 0]]]).bool()"),
            (LAST_WEIGHTS, "[[0, 4, 0], [0, 2, 2], [0, 4, 0]]]) / 4"),
        ],
        ["test_no_key"],
        "In your check every query sees something. Hide all keys from one.",
    ),
    mistake(
        "check_lets_nan_pass",
        [
            (SAME_WEIGHTS, "assert torch.allclose(weights.nan_to_num(), expected, atol=1e-4)"),
            (SAME_OUTPUT, "assert torch.allclose(output.nan_to_num(), expected @ v, atol=1e-4)"),
        ],
        ["test_no_key"],
        "Your check turns NaN into 0 before it compares, so it never notices NaN.",
    ),
    mistake(
        "check_with_one_mask_for_all",
        [
            (LAST_ROWS, "[[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()[1:].expand(2, 3, 3)"),
            (LAST_WEIGHTS, "[[0, 0, 0], [0, 2, 2], [0, 4, 0]]])[1:].expand(2, 3, 3) / 4"),
        ],
        ["test_batch"],
        "All sequences of your batch have the same mask. Give them different ones.",
    ),
    mistake(
        "check_always_with_a_mask",
        [('("without a mask", function(q, k, v), plain),', "")],
        ["test_no_mask"],
        "Your check never leaves the mask out.",
    ),
    mistake(
        "check_expects_the_opposite_mask",
        [('("with a mask", function(q, k, v, mask)', '("with a mask", function(q, k, v, ~mask)')],
        ["test_direction"],
        "Your check expects that True hides a key, so it rejects correct functions. Here True means that a key may be seen.",
    ),
    mistake(
        "check_for_equal_floats",
        [(SAME_WEIGHTS, "assert torch.equal(weights, expected)")],
        ["test_formula"],
        "Your check asks for exact equality, which rejects correct functions that round differently. Allow a small difference.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It accepts nearly every function.": [
            "check_of_shapes",
        ],
        "A test that rejects correct functions is of no use, whatever else it rejects.": [
            "check_expects_the_opposite_mask",
            "check_for_equal_floats",
        ],
    },
)
