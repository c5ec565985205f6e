"""Wrong answers to exercise 7, `check_causal`."""

from gradekit.checks import Mistakes

TOKENS = "x = torch.arange(48.0).sin().view(2, 6, 4)"
MOVED = "moved = (function(changed) - before).abs().amax(dim=-1) > 3e-3"
CHANGE = "changed[row, position] = value"
MAY_MOVE = "moved[row, position:] = False"
NOT_MOVED = "assert not moved.any()"
ACCEPTS_NEARLY_ALL = "It accepts nearly every function."
REJECTS_CORRECT = "A test that rejects causal functions is of no use, whatever else it rejects."

wrong = Mistakes()

wrong.about("test_everything")
wrong("check_of_the_shape", NOT_MOVED, "assert moved.shape == (2, 6)")
wrong.says(
    "Your check accepts functions that see the whole future. Change a token, see which outputs move, and let the AssertionError through."
)
wrong.costs(ACCEPTS_NEARLY_ALL)
wrong("check_for_equal_outputs", "> 3e-3", "> 0")
wrong.says("Your check rejects causal functions that round differently. Use numbers of ordinary size.")
wrong.says("Allow a small difference.")
wrong.costs(REJECTS_CORRECT)
wrong("check_that_outputs_move", MAY_MOVE, "assert moved[row, position:].all()\n                " + MAY_MOVE)
wrong.says("Your check requires outputs to move.")
wrong.says("They may, but a causal function needn't use all that it sees.")
wrong.costs(REJECTS_CORRECT)
wrong("check_without_the_own_position", MAY_MOVE, "moved[row, position + 1 :] = False")
wrong.says("Your check rejects functions whose output depends on the token at the same position. It may.")
wrong.costs(REJECTS_CORRECT)

wrong.about("test_everything", "test_total")
wrong("check_of_reversed_tokens", CHANGE, "changed[row, position:] = changed[row, position:].flip(0)")
wrong.says("Your check changes only the order of later tokens.")
wrong.says("A function that averages them, or adds them up, returns the same.")
wrong.costs(ACCEPTS_NEARLY_ALL)

wrong.about("test_one_ahead")
wrong("check_one_too_few", MAY_MOVE, "moved[row, max(position - 1, 0) :] = False")
wrong.says(
    "Your check lets the output one position before the changed token move, so it doesn't notice a look at "
    "the next token."
)

wrong.about("test_some_places")
wrong("check_of_the_last_token", "for position in range(6)", "for position in [5]")
wrong.says(
    "Change each token of each sequence in turn, and look at every output before it, the first one, too."
)
wrong("check_of_the_first_output", NOT_MOVED, "assert not moved[row, 0]")
wrong.says("Your check watches only the output at position 0. Watch all outputs that may not move.")

wrong.about("test_detail")
wrong("check_of_larger_numbers_only", "(-9.0, 9.0)", "(9.0, 9.5)")
wrong.says("Your check makes numbers larger, but never smaller.")
wrong("check_of_small_changes", TOKENS, TOKENS + " / 10")
wrong.edit("(-9.0, 9.0)", "(-1.0, 1.0)")
wrong.says("Your changes are small, so some functions that aren't causal hardly move, or don't move at all.")
wrong("check_of_one_number_of_the_output", MOVED, "moved = (function(changed) - before).abs()[..., 0] > 3e-3")
wrong.says("Your check watches only one number of each output.")
wrong("check_that_changes_one_number", CHANGE, "changed[row, position, 0] = value")
wrong.says("Your check changes only one number of each token.")
wrong("check_with_a_large_tolerance", "> 3e-3", "> 0.5")
wrong.says(
    "Your check overlooks small moves of single outputs. Even a small one means that the future is seen."
)

wrong.about("test_total")
wrong("check_with_zeros", TOKENS, "x = torch.zeros(2, 6, 4)")
wrong.says("All other tokens of your check are zeros, where a wrong weight or factor makes no difference.")

wrong.about("test_batch")
wrong("check_of_a_single_sequence", TOKENS, "x = torch.arange(24.0).sin().view(1, 6, 4)")
wrong.edit("for row in range(2)", "for row in range(1)")
wrong.says("There is only one sequence in your batch.")
wrong("check_of_the_changed_sequence_only", NOT_MOVED, "assert not moved[row].any()")
wrong.says("Your check watches only the sequence in which a token was changed.")
wrong.says("The others may not move either.")
