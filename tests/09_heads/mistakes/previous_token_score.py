"""Wrong answers to exercise 1, `previous_token_score`."""

from gradekit.checks import Mistakes

FORMULA = "test_equals_the_formula"
KEPT = "test_weights_unchanged"
LINE = "weights.diagonal(offset=-1, dim1=-2, dim2=-1)"

wrong = Mistakes("previous_")

wrong.about(FORMULA)
wrong("above_the_diagonal", "offset=-1", "offset=1")
wrong.says("You read the line above the diagonal: the weight on the *next* position.")
wrong.says("Rows are queries, so one back is below it.")
wrong("the_diagonal", "offset=-1", "offset=0")
wrong.says("You read the diagonal: the weight of each position on itself. One back is one place below it.")
wrong("two_back", "offset=-1", "offset=-2")
wrong.says("You read the weight two positions back.")
wrong.costs("Of two positions, none is two back, so the score of the smallest table isn't a number.")
wrong("position_0_counts", "one_back.mean(dim=-1)", "one_back.sum(dim=-1) / weights.shape[-1]")
wrong.says("You divide by the number of positions. Position 0 doesn't count, so there is one query fewer.")
wrong("sum", "one_back.mean(dim=-1)", "one_back.sum(dim=-1)")
wrong.says("You add up the weights. Take their mean.")
wrong("highest", "one_back.mean(dim=-1)", "one_back.amax(dim=-1)")
wrong.says("You take the highest weight of any query. Take the mean over all queries.")
wrong("how_often_it_is_the_largest", "one_back = " + LINE)
wrong.to("""top = (weights == weights.amax(dim=-1, keepdim=True)).float()
    one_back = top.diagonal(offset=-1, dim1=-2, dim2=-1)""")
wrong.says("You count how often the position before has the largest weight.")
wrong.says("Take the mean of the weights themselves.")
wrong.costs("It changes only in steps as the weights change, so the number is different.")
wrong("first_axes", "dim1=-2, dim2=-1", "dim1=0, dim2=1")
wrong.says("You read the diagonal of the first two axes. Queries and keys are on the last two.")
wrong.costs("It reads the wrong axes, so it fails for all weights with axes before the last two.")
wrong("over_everything", "one_back.mean(dim=-1)", "one_back.mean()")
wrong.says("You average over all heads and sequences, too. Each table of weights has its own score.")
wrong.costs("The result has no axes, so no table has its score.")

wrong.about(KEPT)
wrong("in_place", "one_back = ", "weights[..., 0, :] = 0\n    one_back = ")
wrong.says("You write zeros into the weights that were passed in. Don't change them.")
