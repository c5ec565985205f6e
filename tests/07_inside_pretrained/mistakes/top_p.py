"""Wrong answers to exercise 3b, `keep_top_p`."""

from gradekit.checks import Mistakes

SORT = "shares, order = probabilities.sort(dim=-1, descending=True)"
LIKELIER = "likelier = shares.cumsum(dim=-1) - shares  # what the tokens before have together"
KEPT = "kept = shares * (likelier < top_p)"
DIVIDE = "    kept = kept / kept.sum(dim=-1, keepdim=True)\n"
RETURN = "return torch.zeros_like(kept).scatter(-1, order, kept)"

wrong = Mistakes("top_p_")

wrong.about("test_which_tokens", "test_probabilities")
wrong("one_too_few", LIKELIER, "likelier = shares.cumsum(dim=-1)")
wrong.says("You drop the token with which the sum reaches top_p. It is still kept.")
wrong.costs("The likeliest token alone may have more than top_p, and then nothing is left to divide by.")

wrong.about("test_probabilities")
wrong("one_too_many", KEPT, "kept = shares * (likelier - shares.roll(1, dims=-1) < top_p)")
wrong.says("You keep one token too many: with those before it, top_p is already reached.")
wrong("not_divided", DIVIDE, "")
wrong.says("You don't divide by the sum of what is kept, so the rows don't sum to 1.")
wrong("softmax_again", DIVIDE, "    kept = torch.softmax(kept, dim=-1)\n")
wrong.says("You apply a softmax to probabilities. Divide them by their sum.")
wrong("left_in_order", RETURN, "return kept")
wrong.says("You return the tokens in the order of their probability. Put each one back to its place.")
wrong("gathered", RETURN, "return kept.gather(-1, order)")
wrong.says("You take the values from the places in `order` instead of putting them there. Use scatter.")
wrong("nothing_cut", KEPT, "kept = shares * (likelier < 2)")
wrong.says("You keep all tokens, whatever `top_p` is. Cut those that come after `top_p` is reached.")
wrong("unlikely_first", "descending=True", "descending=False")
wrong.says("You begin with the unlikeliest tokens. Begin with the likeliest.")
wrong("never_sorted", SORT)
wrong.to("shares, order = probabilities, torch.arange(probabilities.shape[-1]).expand_as(probabilities)")
wrong.says("You add up the tokens in the order of their ids. Begin with the likeliest.")
wrong("share_of_each", KEPT, "kept = shares * (shares >= 1 - top_p)")
wrong.edit(LIKELIER, "likelier = shares")
wrong.says("You compare the probability of each token. Compare what the likelier tokens have together.")
wrong.costs("It keeps other tokens.")
wrong("count_of_the_first_row", KEPT, "kept = shares * (likelier[:1] < top_p)")
wrong.says("You keep as many tokens of every row as of the first one. Each row has its own number.")
wrong("sum_of_the_batch", "kept.sum(dim=-1, keepdim=True)", "kept.sum()")
wrong.says("You divide by the sum of the whole batch. Every row has its own sum.")
wrong("share_of_k", KEPT, "kept = shares * (torch.arange(shares.shape[-1]) < top_p * shares.shape[-1])")
wrong.says("You keep a share of the tokens. Keep as many as have this share of the probability.")

wrong.about("test_which_tokens")
wrong("equal_counted_once", LIKELIER)
wrong.to(
    "likelier = torch.stack([torch.stack([row.unique()[row.unique() > s].sum() for s in row]) for row in shares])"
)
wrong.says("You add the probability of equally likely tokens only once. Each of them has its own.")

wrong.about("test_dtype_and_probabilities_unchanged")
wrong("always_float32", RETURN, RETURN + ".float()")
wrong.says("Your result is always float32. It should have the dtype of the probabilities.")
wrong("in_place", SORT, "ready, order = probabilities.sort(dim=-1, descending=True)\n    shares = ready")
wrong.edit(RETURN, "return probabilities.zero_().scatter_(-1, order, kept)")
wrong.says("You write into the probabilities that were passed in. Make a new tensor.")
