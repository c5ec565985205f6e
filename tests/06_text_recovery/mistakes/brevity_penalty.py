"""Wrong answers to exercise 5, `brevity_penalty`."""

from gradekit.checks import mistakes_in, with_costs

EXPONENT = "1 - reference_length / candidate_length"
mistake = mistakes_in("brevity_penalty")

MISTAKES = [
    mistake(
        "bp_none",
        [(f"math.exp({EXPONENT})", "1.0")],
        "test_too_short",
        "You don't penalize candidates that are too short.",
    ),
    mistake(
        "bp_plain_quotient",
        [(f"math.exp({EXPONENT})", "candidate_length / reference_length")],
        "test_too_short",
        "You return the quotient of the lengths. The penalty is e to the power of 1 - r / c.",
    ),
    mistake(
        "bp_quotient_upside_down",
        [(EXPONENT, "1 - candidate_length / reference_length")],
        "test_too_short",
        "You divide c by r. The exponent contains r / c.",
    ),
    mistake(
        "bp_wrong_sign",
        [(EXPONENT, "reference_length / candidate_length - 1")],
        "test_too_short",
        "Your exponent has the wrong sign, so the penalty is above 1. It should be 1 - r / c.",
    ),
    mistake(
        "bp_without_the_1",
        [(EXPONENT, "-reference_length / candidate_length")],
        "test_too_short",
        "You left out the 1 in the exponent 1 - r / c.",
    ),
    mistake(
        "bp_power_of_2",
        [(f"math.exp({EXPONENT})", f"2 ** ({EXPONENT})")],
        "test_too_short",
        "You took a power of 2. The base is e: use `math.exp`.",
    ),
    mistake(
        "bp_whole_numbers",
        [(EXPONENT, "1 - reference_length // candidate_length")],
        "test_too_short",
        "You divide with //, which rounds down. Use /.",
    ),
    mistake(
        "bp_not_limited",
        [("candidate_length >= reference_length", "candidate_length == reference_length")],
        "test_never_above_one",
        "Your penalty is above 1 for candidates that are longer than the reference. Return 1.0 for them.",
    ),
    mistake(
        "bp_too_long_punished",
        [("return 1.0", "return math.exp(1 - candidate_length / max(reference_length, 1))")],
        "test_never_above_one",
        "You also penalize candidates that are too long. The precision already does that.",
    ),
    mistake(
        "bp_wrong_way_round",
        [("candidate_length >= reference_length", "candidate_length <= reference_length")],
        "test_too_short",
        "You swapped candidate and reference: short candidates get 1, long ones don't.",
    ),
    mistake(
        "bp_two_empty_ones",
        [
            (
                "    if candidate_length >= reference_length:\n        return 1.0\n"
                "    if candidate_length == 0:\n        return 0.0\n",
                "    if candidate_length == 0:\n        return 0.0\n"
                "    if candidate_length >= reference_length:\n        return 1.0\n",
            )
        ],
        "test_equal_lengths",
        "For two lengths of 0 you return 0. Nothing is missing, so return 1.0.",
    ),
    mistake(
        "bp_division_by_zero",
        [("    if candidate_length == 0:\n        return 0.0\n", "")],
        "test_nothing_written",
        "You divide by zero if the candidate is empty. Return 0.0 in this case.",
    ),
    mistake(
        "bp_nothing_written_is_fine",
        [("return 0.0", "return 1.0")],
        "test_nothing_written",
        "You return 1 if the candidate is empty. This is the worst case: return 0.0.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The score is one number, and this changes it for nearly every corpus.": [
            "bp_wrong_way_round",
        ],
    },
)
