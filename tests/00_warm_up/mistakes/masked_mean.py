"""Wrong answers to exercise 3, `masked_mean`."""

from gradekit.checks import Mistakes

HIDE = "tokens = x.masked_fill(~mask.unsqueeze(-1), 0)"
COUNT = "count = mask.sum(dim=1, keepdim=True)"
RETURN = "return tokens.sum(dim=1) / count.clamp(min=1)"

wrong = Mistakes("mean_")

wrong.about("test_mean_of_the_tokens", "test_padding_has_no_effect")
wrong("mask_ignored", HIDE, "tokens = x")
wrong.edit(RETURN, "return tokens.mean(dim=1)")
wrong.says("You average over the padding, too: the mask has no effect.")
wrong.costs("It is the mean of everything.", "mask_ignored")
wrong("divided_by_the_length", RETURN, "return tokens.mean(dim=1)")
wrong.says("You divide by the length. Divide by the number of tokens, since the padding doesn't count.")
wrong("padding_summed", HIDE, "tokens = x")
wrong.says("You divide by the number of tokens, but the sum still contains the padding.")
wrong.costs("It is not even defined without tokens.", "padding_summed")

wrong.about("test_mean_of_the_tokens")
wrong("mask_inverted", HIDE, "mask = ~mask\n    tokens = x.masked_fill(~mask.unsqueeze(-1), 0)")
wrong.says("You average the padding. `True` means that it is a token.")
wrong.costs("It computes the mean of what should be hidden.", "mask_inverted")
wrong("sum", RETURN, "return tokens.sum(dim=1)")
wrong.says("You return the sum of the tokens. Divide it by their number.")
wrong("largest", HIDE, "tokens = x.masked_fill(~mask.unsqueeze(-1), -1e9)")
wrong.edit(RETURN, "return tokens.amax(dim=1) * mask.any(dim=1, keepdim=True)")
wrong.says("You return the largest numbers of the tokens. The exercise asks for the mean.")
wrong("one_more", RETURN, "return tokens.sum(dim=1) / (count + 1)")
wrong.says("You divide by one more than the number of tokens. To avoid 0 divided by 0, use `clamp(min=1)`.")
wrong(
    "mean_of_the_batch",
    RETURN,
    "return (tokens.sum(dim=(0, 1)) / mask.sum().clamp(min=1)).expand(len(x), -1)",
)
wrong.says("All sentences get the same mean. Sum over the length alone, not over the batch.")
wrong.costs("Sentences don't get their own mean.", "mean_of_the_batch")
wrong("count_of_the_batch", COUNT, "count = mask.sum()")
wrong.says("You divide by the number of tokens of the whole batch. Count along axis 1.")
wrong.costs("The number of sentences counts as well.", "count_of_the_batch")

wrong.about("test_sentence_without_tokens")
wrong("nan", ".clamp(min=1)", "")
wrong.says("A sentence without tokens gets NaN, because 0 divided by 0 is not a number.")
wrong.says("Divide by at least 1.")

wrong.about("test_inputs_unchanged_and_dtype_kept")
wrong("in_place", HIDE, "x[~mask] = 0\n    tokens = x")
wrong.says("You write zeros into `x` itself, which the caller still needs.")
wrong.says("`x.masked_fill(…)` returns a new tensor.")
wrong("in_float32", HIDE, "tokens = x.float().masked_fill(~mask.unsqueeze(-1), 0)")
wrong.says(
    "Half of the digits of a float64 number are lost: you convert to float32, or put numbers into a new float32 tensor."
)
wrong("nan_in_the_gradient", HIDE, "tokens = x * mask.unsqueeze(-1)")
wrong.edit(RETURN, "return (tokens.sum(dim=1) / count).nan_to_num()")
wrong.says("You divide by 0 and replace the NaN afterwards: the gradient is NaN all the same.")
wrong.says("Divide by at least 1.")
