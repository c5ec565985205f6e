"""Wrong answers to exercise 2, `induction_score`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_equals_the_formula"
QUERIES = "queries = torch.arange(period, length)"
AFTER = "after = queries - period + 1"
RETURN = "return weights[..., queries, after].mean(dim=-1)"
mistake = mistakes_in("induction_score", "induction_")

MISTAKES = [
    mistake(
        "the_same_token",
        [(AFTER, "after = queries - period")],
        [FORMULA],
        "You read the weight on the previous occurrence itself. An induction head looks at the position after it.",
    ),
    mistake(
        "one_before",
        [(AFTER, "after = queries - period - 1")],
        [FORMULA],
        "You read the weight on the position before the previous occurrence. It should be the one after it.",
    ),
    mistake(
        "one_query_too_many",
        [(QUERIES, "queries = torch.arange(period - 1, length)")],
        [FORMULA],
        "Your first query is at `period` - 1. Its token hasn't occurred before; the first that counts is at `period`.",
    ),
    mistake(
        "first_query_left_out",
        [(QUERIES, "queries = torch.arange(min(period + 1, length - 1), length)")],
        [FORMULA],
        "You leave out the query at `period`. Its token was at position 0, so it counts.",
    ),
    mistake(
        "last_query_left_out",
        [(QUERIES, "queries = torch.arange(period, max(length - 1, period + 1))")],
        [FORMULA],
        "You leave out the last query. Its token has occurred before, so it counts.",
    ),
    mistake(
        "only_one_round",
        [(QUERIES, "queries = torch.arange(period, min(2 * period, length))")],
        [FORMULA],
        "You count only queries of the second round. All later ones count as well.",
    ),
    mistake(
        "queries_and_keys_swapped",
        [(RETURN, "return weights[..., after, queries].mean(dim=-1)")],
        [FORMULA],
        "You swapped queries and keys. Rows are queries, columns are keys.",
    ),
    mistake(
        "over_all_queries",
        [(RETURN, "return weights[..., queries, after].sum(dim=-1) / length")],
        [FORMULA],
        "You divide by the number of all positions. Divide by the number of queries that count.",
    ),
    mistake(
        "sum",
        [(RETURN, "return weights[..., queries, after].sum(dim=-1)")],
        [FORMULA],
        "You add up the weights. Take their mean.",
    ),
    mistake(
        "whole_block",
        [(RETURN, "return weights[..., period:, 1 : length - period + 1].mean(dim=(-2, -1))")],
        [FORMULA],
        "You average over all pairs of these queries and keys. Each query has one right key.",
    ),
    mistake(
        "over_everything",
        [(RETURN, "return weights[..., queries, after].mean()")],
        [FORMULA],
        "You average over all heads and sequences, too. Each table of weights has its own score.",
    ),
    mistake(
        "half_of_the_length",
        [
            (
                "length = weights.shape[-1]",
                "length = weights.shape[-1]\n    period = period if length <= period else length // 2",
            )
        ],
        [FORMULA],
        "You take half of the length as the period. Use the argument: a text may repeat itself more than once.",
    ),
    mistake(
        "no_error",
        [("if length <= period:", "if length < 0:")],
        ["test_nothing_is_repeated"],
        "If nothing is repeated, you return NaN. Raise a ValueError.",
    ),
    mistake(
        "error_only_below",
        [("if length <= period:", "if length < period:")],
        ["test_nothing_is_repeated"],
        "If the length equals the period, nothing is repeated either. Raise the error there, too.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The result has no axes, so no table has its score.": [
            "induction_over_everything",
        ],
    },
)
