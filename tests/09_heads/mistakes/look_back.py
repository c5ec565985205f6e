"""Wrong answers to exercise 4, `look_back`."""

from gradekit.checks import Mistakes

BELONG = "test_scores_where_they_belong"
STRENGTH = "test_scores_are_strength"
ASK = "q[1:] = strength * math.sqrt(length) * positions[:-1]"

wrong = Mistakes("look_back_")

wrong.about(BELONG)
wrong("one_ahead", ASK, "q[:-1] = strength * math.sqrt(length) * positions[1:]")
wrong.says("Your head looks one ahead: the query of position p matches the key of p + 1.")
wrong("itself", ASK, "q[:] = strength * math.sqrt(length) * positions")
wrong.says("Your head looks at its own position.")
wrong("two_back", ASK, "q[2:] = strength * math.sqrt(length) * positions[:-2]")
wrong.says("Your head looks two back.")
wrong("queries_and_keys_swapped", "return q, positions", "return positions, q")
wrong.says("You return the keys first, so the head looks one ahead. The order is (q, k).")
wrong("around_the_corner", ASK, "q = strength * math.sqrt(length) * positions.roll(1, dims=0)")
wrong.says("The query of position 0 matches the key of the last position.")
wrong.says("Position 0 has nothing before it: all its scores are 0.", uses=("roll",))
wrong("position_0_sees_itself", ASK, ASK + "\n    q[0] = q[1] if length > 1 else q[0]")
wrong.says(
    "Position 0 scores high with itself. It has nothing before it: all its scores are 0.", lacks=("roll",)
)
wrong("all_before", ASK, "q = strength * math.sqrt(length) * torch.ones(length, length).tril(-1)")
wrong.says("Every earlier position has the high score. Only the one just before should have it.")

wrong.about(STRENGTH)
wrong("not_made_up_for", "strength * math.sqrt(length) *", "strength *")
wrong.says("You don't make up for the division by √width, so the scores are smaller than `strength`.")
wrong("by_the_width", "strength * math.sqrt(length) *", "strength * length *")
wrong.says("You multiply by the width. The scores are divided by its *root*.")
wrong("divided_again", "strength * math.sqrt(length) *", "strength / math.sqrt(length) *")
wrong.says("You divide by √width yourself, so it is divided twice. Multiply, to make up for the division.")
wrong("strength_ignored", "strength * math.sqrt(length) *", "100.0 * math.sqrt(length) *")
wrong.says("Your score is always 100. Use the argument `strength`.", lacks=("strength",))
wrong("strength_in_both", "return q, positions", "return q, strength * positions")
wrong.says("Both queries and keys contain `strength`, so the score is its square.")
wrong("root_in_both", "return q, positions", "return q, math.sqrt(length) * positions")
wrong.says("Both queries and keys contain √width, but the division takes only one of them away.")
