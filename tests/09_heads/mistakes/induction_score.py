"""Wrong answers to exercise 2, `induction_score`."""

from gradekit.checks import Mistakes

FORMULA = "test_equals_the_formula"
QUERIES = "queries = torch.arange(period, length)"
AFTER = "after = queries - period + 1"
RETURN = "return weights[..., queries, after].mean(dim=-1)"

wrong = Mistakes("induction_")

wrong.about(FORMULA)
wrong("the_same_token", AFTER, "after = queries - period")
wrong.says("You read the weight on the previous occurrence itself.")
wrong.says("An induction head looks at the position after it.")
wrong("one_before", AFTER, "after = queries - period - 1")
wrong.says("You read the weight on the position before the previous occurrence.")
wrong.says("It should be the one after it.")
wrong("one_query_too_many", QUERIES, "queries = torch.arange(period - 1, length)")
wrong.says("Your first query is at `period` - 1.")
wrong.says("Its token hasn't occurred before; the first that counts is at `period`.")
wrong("first_query_left_out", QUERIES, "queries = torch.arange(min(period + 1, length - 1), length)")
wrong.says("You leave out the query at `period`. Its token was at position 0, so it counts.")
wrong("last_query_left_out", QUERIES, "queries = torch.arange(period, max(length - 1, period + 1))")
wrong.says("You leave out the last query. Its token has occurred before, so it counts.")
wrong("only_one_round", QUERIES, "queries = torch.arange(period, min(2 * period, length))")
wrong.says("You count only queries of the second round. All later ones count as well.")
wrong("queries_and_keys_swapped", RETURN, "return weights[..., after, queries].mean(dim=-1)")
wrong.says("You swapped queries and keys. Rows are queries, columns are keys.")
wrong("over_all_queries", RETURN, "return weights[..., queries, after].sum(dim=-1) / length")
wrong.says("You divide by the number of all positions. Divide by the number of queries that count.")
wrong("sum", RETURN, "return weights[..., queries, after].sum(dim=-1)")
wrong.says("You add up the weights. Take their mean.")
wrong("whole_block", RETURN, "return weights[..., period:, 1 : length - period + 1].mean(dim=(-2, -1))")
wrong.says("You average over all pairs of these queries and keys. Each query has one right key.")
wrong("over_everything", RETURN, "return weights[..., queries, after].mean()")
wrong.says("You average over all heads and sequences, too. Each table of weights has its own score.")
wrong.costs("The result has no axes, so no table has its score.")
wrong("half_of_the_length", "length = weights.shape[-1]")
wrong.to("length = weights.shape[-1]\n    period = period if length <= period else length // 2")
wrong.says("You take half of the length as the period.")
wrong.says("Use the argument: a text may repeat itself more than once.")

wrong.about("test_nothing_is_repeated")
wrong("no_error", "if length <= period:", "if length < 0:")
wrong.says("If nothing is repeated, you return NaN. Raise a ValueError.")
wrong("error_only_below", "if length <= period:", "if length < period:")
wrong.says("If the length equals the period, nothing is repeated either. Raise the error there, too.")
