"""Wrong answers to exercise 4, `look_back`."""

from gradekit.checks import mistakes_in

BELONG = "test_scores_where_they_belong"
STRENGTH = "test_scores_are_strength"
ASK = "q[1:] = strength * math.sqrt(length) * positions[:-1]"
mistake = mistakes_in("look_back", "look_back_")

MISTAKES = [
    mistake(
        "one_ahead",
        [(ASK, "q[:-1] = strength * math.sqrt(length) * positions[1:]")],
        [BELONG],
        "Your head looks one ahead: the query of position p matches the key of p + 1.",
    ),
    mistake(
        "itself",
        [(ASK, "q[:] = strength * math.sqrt(length) * positions")],
        [BELONG],
        "Your head looks at its own position.",
    ),
    mistake(
        "two_back",
        [(ASK, "q[2:] = strength * math.sqrt(length) * positions[:-2]")],
        [BELONG],
        "Your head looks two back.",
    ),
    mistake(
        "queries_and_keys_swapped",
        [("return q, positions", "return positions, q")],
        [BELONG],
        "You return the keys first, so the head looks one ahead. The order is (q, k).",
    ),
    mistake(
        "around_the_corner",
        [(ASK, "q = strength * math.sqrt(length) * positions.roll(1, dims=0)")],
        [BELONG],
        "The query of position 0 matches the key of the last position. Position 0 has nothing before it: all its scores are 0.",
    ),
    mistake(
        "position_0_sees_itself",
        [(ASK, ASK + "\n    q[0] = q[1] if length > 1 else q[0]")],
        [BELONG],
        "Position 0 scores high with itself. It has nothing before it: all its scores are 0.",
    ),
    mistake(
        "all_before",
        [(ASK, "q = strength * math.sqrt(length) * torch.ones(length, length).tril(-1)")],
        [BELONG],
        "Every earlier position has the high score. Only the one just before should have it.",
    ),
    mistake(
        "not_made_up_for",
        [("strength * math.sqrt(length) *", "strength *")],
        [STRENGTH],
        "You don't make up for the division by √width, so the scores are smaller than `strength`.",
    ),
    mistake(
        "by_the_width",
        [("strength * math.sqrt(length) *", "strength * length *")],
        [STRENGTH],
        "You multiply by the width. The scores are divided by its *root*.",
    ),
    mistake(
        "divided_again",
        [("strength * math.sqrt(length) *", "strength / math.sqrt(length) *")],
        [STRENGTH],
        "You divide by √width yourself, so it is divided twice. Multiply, to make up for the division.",
    ),
    mistake(
        "strength_ignored",
        [("strength * math.sqrt(length) *", "100.0 * math.sqrt(length) *")],
        [STRENGTH],
        "Your score is always 100. Use the argument `strength`.",
    ),
    mistake(
        "strength_in_both",
        [("return q, positions", "return q, strength * positions")],
        [STRENGTH],
        "Both queries and keys contain `strength`, so the score is its square.",
    ),
    mistake(
        "root_in_both",
        [("return q, positions", "return q, math.sqrt(length) * positions")],
        [STRENGTH],
        "Both queries and keys contain √width, but the division takes only one of them away.",
    ),
]
