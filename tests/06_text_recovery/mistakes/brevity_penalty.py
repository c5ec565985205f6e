"""Wrong answers to exercise 5, `brevity_penalty`."""

from gradekit.checks import Mistakes

EXPONENT = "1 - reference_length / candidate_length"

wrong = Mistakes()

wrong.about("test_too_short")
wrong("bp_none", f"math.exp({EXPONENT})", "1.0")
wrong.says("You don't penalize candidates that are too short.", lacks=("exp",))
wrong("bp_plain_quotient", f"math.exp({EXPONENT})", "candidate_length / reference_length")
wrong.says("You return the quotient of the lengths. The penalty is e to the power of 1 - r / c.")
wrong("bp_quotient_upside_down", EXPONENT, "1 - candidate_length / reference_length")
wrong.says("You divide c by r. The exponent contains r / c.")
wrong("bp_wrong_sign", EXPONENT, "reference_length / candidate_length - 1")
wrong.says("Your exponent has the wrong sign, so the penalty is above 1. It should be 1 - r / c.")
wrong("bp_without_the_1", EXPONENT, "-reference_length / candidate_length")
wrong.says("You left out the 1 in the exponent 1 - r / c.")
wrong("bp_power_of_2", f"math.exp({EXPONENT})", f"2 ** ({EXPONENT})")
wrong.says("You took a power of 2. The base is e: use `math.exp`.")
wrong("bp_whole_numbers", EXPONENT, "1 - reference_length // candidate_length")
wrong.says("You divide with //, which rounds down. Use /.")
wrong("bp_wrong_way_round", "candidate_length >= reference_length", "candidate_length <= reference_length")
wrong.says("You swapped candidate and reference: short candidates get 1, long ones don't.")
wrong.costs("The score is one number, and this changes it for nearly every corpus.")

wrong.about("test_python_float")
wrong("bp_integers", "return 1.0", "return 1")
wrong.edit("return 0.0", "return 0")
wrong.says("You return an int such as 1 or 0 in at least one case. Return a float in each: 1.0 and 0.0.")

wrong.about("test_never_above_one")
wrong("bp_not_limited", "candidate_length >= reference_length", "candidate_length == reference_length")
wrong.says("Your penalty is above 1 for candidates that are longer than the reference. Return 1.0 for them.")
wrong("bp_too_long_punished")
wrong.edit("return 1.0", "return math.exp(1 - candidate_length / max(reference_length, 1))")
wrong.says("You also penalize candidates that are too long. The precision already does that.")

wrong.about("test_equal_lengths")
wrong(
    "bp_two_empty_ones",
    "    if candidate_length >= reference_length:\n        return 1.0\n"
    "    if candidate_length == 0:\n        return 0.0\n",
    "    if candidate_length == 0:\n        return 0.0\n"
    "    if candidate_length >= reference_length:\n        return 1.0\n",
)
wrong.says("For two lengths of 0 you return 0. Nothing is missing, so return 1.0.")

wrong.about("test_nothing_written")
wrong("bp_division_by_zero", "    if candidate_length == 0:\n        return 0.0\n", "")
wrong.says("You divide by zero if the candidate is empty. Return 0.0 in this case.")
wrong("bp_nothing_written_is_fine", "return 0.0", "return 1.0")
wrong.says("You return 1 if the candidate is empty. This is the worst case: return 0.0.")
