"""Wrong answers to exercise 7, `check_causal`."""

from gradekit.checks import mistakes_in, with_costs

TOKENS = "x = torch.arange(48.0).sin().view(2, 6, 4)"
MOVED = "moved = (function(changed) - before).abs().amax(dim=-1) > 3e-3"
CHANGE = "changed[row, position] = value"
MAY_MOVE = "moved[row, position:] = False"
NOT_MOVED = "assert not moved.any()"
mistake = mistakes_in("check_causal")

MISTAKES = [
    mistake(
        "check_of_the_shape",
        [(NOT_MOVED, "assert moved.shape == (2, 6)")],
        "test_everything",
        "Your check looks only at shapes. Change a token, and see which outputs move.",
    ),
    mistake(
        "check_of_reversed_tokens",
        [(CHANGE, "changed[row, position:] = changed[row, position:].flip(0)")],
        ["test_everything", "test_total"],
        "Your check changes only the order of later tokens. A function that averages them, or adds them up, returns the same.",
    ),
    mistake(
        "check_one_too_few",
        [(MAY_MOVE, "moved[row, max(position - 1, 0) :] = False")],
        "test_one_ahead",
        "Your check lets the output one position before the changed token move, so it doesn't notice a look at the next token.",
    ),
    mistake(
        "check_of_the_last_token",
        [("for position in range(6)", "for position in [5]")],
        "test_some_places",
        "Your check changes only the last token. Change each of them in turn.",
    ),
    mistake(
        "check_of_the_first_output",
        [(NOT_MOVED, "assert not moved[row, 0]")],
        "test_some_places",
        "Your check watches only the output at position 0. Watch all outputs that may not move.",
    ),
    mistake(
        "check_of_larger_numbers_only",
        [("(-9.0, 9.0)", "(9.0, 9.5)")],
        "test_detail",
        "Your check makes numbers larger, but never smaller.",
    ),
    mistake(
        "check_of_small_changes",
        [(TOKENS, TOKENS + " / 10"), ("(-9.0, 9.0)", "(-1.0, 1.0)")],
        "test_detail",
        "Your changes are small, so some functions that aren't causal hardly move, or don't move at all.",
    ),
    mistake(
        "check_of_one_number_of_the_output",
        [(MOVED, "moved = (function(changed) - before).abs()[..., 0] > 3e-3")],
        "test_detail",
        "Your check watches only one number of each output.",
    ),
    mistake(
        "check_that_changes_one_number",
        [(CHANGE, "changed[row, position, 0] = value")],
        "test_detail",
        "Your check changes only one number of each token.",
    ),
    mistake(
        "check_with_a_large_tolerance",
        [("> 3e-3", "> 0.5")],
        "test_detail",
        "Your check ignores moves of up to 0.5. Even a small one means that the future is seen.",
    ),
    mistake(
        "check_with_zeros",
        [(TOKENS, "x = torch.zeros(2, 6, 4)")],
        "test_total",
        "All other tokens of your check are zeros, where a wrong weight or factor makes no difference.",
    ),
    mistake(
        "check_of_a_single_sequence",
        [
            (TOKENS, "x = torch.arange(24.0).sin().view(1, 6, 4)"),
            ("for row in range(2)", "for row in range(1)"),
        ],
        "test_batch",
        "There is only one sequence in your batch.",
    ),
    mistake(
        "check_of_the_changed_sequence_only",
        [(NOT_MOVED, "assert not moved[row].any()")],
        "test_batch",
        "Your check watches only the sequence in which a token was changed. The others may not move either.",
    ),
    mistake(
        "check_for_equal_outputs",
        [("> 3e-3", "> 0")],
        "test_everything",
        "Your check asks for exact equality, which rejects causal functions that round differently. Allow a small difference.",
    ),
    mistake(
        "check_that_outputs_move",
        [(MAY_MOVE, "assert moved[row, position:].all()\n                " + MAY_MOVE)],
        "test_everything",
        "Your check requires outputs to move. They may, but a causal function needn't use all that it sees.",
    ),
    mistake(
        "check_without_the_own_position",
        [(MAY_MOVE, "moved[row, position + 1 :] = False")],
        "test_everything",
        "Your check rejects functions whose output depends on the token at the same position. It may.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It accepts nearly every function.": [
            "check_of_the_shape",
            "check_of_reversed_tokens",
        ],
        "A test that rejects causal functions is of no use, whatever else it rejects.": [
            "check_for_equal_outputs",
            "check_that_outputs_move",
            "check_without_the_own_position",
        ],
    },
)
