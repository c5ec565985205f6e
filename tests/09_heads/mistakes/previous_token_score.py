"""Wrong answers to exercise 1, `previous_token_score`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_equals_the_formula"
KEPT = "test_weights_unchanged"
LINE = "weights.diagonal(offset=-1, dim1=-2, dim2=-1)"
mistake = mistakes_in("previous_token_score", "previous_")

MISTAKES = [
    mistake(
        "above_the_diagonal",
        [("offset=-1", "offset=1")],
        [FORMULA],
        "You read the line above the diagonal: the weight on the *next* position. Rows are queries, so one back is below it.",
    ),
    mistake(
        "the_diagonal",
        [("offset=-1", "offset=0")],
        [FORMULA],
        "You read the diagonal: the weight of each position on itself. One back is one place below it.",
    ),
    mistake(
        "two_back",
        [("offset=-1", "offset=-2")],
        [FORMULA],
        "You read the weight two positions back.",
    ),
    mistake(
        "position_0_counts",
        [("one_back.mean(dim=-1)", "one_back.sum(dim=-1) / weights.shape[-1]")],
        [FORMULA],
        "You divide by the number of positions. Position 0 doesn't count, so there is one query fewer.",
    ),
    mistake(
        "sum",
        [("one_back.mean(dim=-1)", "one_back.sum(dim=-1)")],
        [FORMULA],
        "You add up the weights. Take their mean.",
    ),
    mistake(
        "highest",
        [("one_back.mean(dim=-1)", "one_back.amax(dim=-1)")],
        [FORMULA],
        "You take the highest weight of any query. Take the mean over all queries.",
    ),
    mistake(
        "how_often_it_is_the_largest",
        [
            (
                "one_back = " + LINE,
                "top = (weights == weights.amax(dim=-1, keepdim=True)).float()\n"
                "    one_back = top.diagonal(offset=-1, dim1=-2, dim2=-1)",
            )
        ],
        [FORMULA],
        "You count how often the position before has the largest weight. Take the mean of the weights themselves.",
    ),
    mistake(
        "first_axes",
        [("dim1=-2, dim2=-1", "dim1=0, dim2=1")],
        [FORMULA],
        "You read the diagonal of the first two axes. Queries and keys are on the last two.",
    ),
    mistake(
        "over_everything",
        [("one_back.mean(dim=-1)", "one_back.mean()")],
        [FORMULA],
        "You average over all heads and sequences, too. Each table of weights has its own score.",
    ),
    mistake(
        "in_place",
        [("one_back = ", "weights[..., 0, :] = 0\n    one_back = ")],
        [KEPT],
        "You write zeros into the weights that were passed in. Don't change them.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The result has no axes, so no table has its score.": [
            "previous_over_everything",
        ],
        "It changes only in steps as the weights change, so the number is different.": [
            "previous_how_often_it_is_the_largest",
        ],
        "It reads the wrong axes, so it fails for all weights with axes before the last two.": [
            "previous_first_axes",
        ],
    },
)
