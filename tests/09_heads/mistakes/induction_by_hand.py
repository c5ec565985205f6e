"""Wrong answers to exercise 5, `induction_by_hand`."""

from gradekit.checks import Mistakes

HEAD_1 = "before, first = masked_attention(q, k, one_hot, causal.tril(-1))"
ASKED = "asked = strength * math.sqrt(vocab_size) * one_hot"
HEAD_2 = "predicted, second = masked_attention(asked, before, one_hot, causal)"

wrong = Mistakes("by_hand_")

wrong.about("test_head_1")
wrong("head_1_sees_itself", HEAD_1, HEAD_1.replace("causal.tril(-1)", "causal"))
wrong.says("Head 1 may attend to its own position, so position 0 seems to come after itself.")
wrong.says("Only positions before the query are allowed.")
wrong("head_1_without_a_mask", HEAD_1, HEAD_1.replace(", causal.tril(-1)", ""))
wrong.says("Head 1 has no mask. A query may attend only to positions before its own.")
wrong("head_1_two_back", HEAD_1, HEAD_1.replace("tril(-1)", "tril(-2)"))
wrong.says("Your mask hides the position just before the query as well.")
wrong.says("`tril(-1)` hides the query's own position only.")
wrong("head_1_strength_left_out", "look_back(len(tokens), strength)", "look_back(len(tokens))")
wrong.says("Head 1 always looks at one position alone, whatever the strength.")
wrong.says("Compute it with `look_back`, and pass `strength` on.")

wrong.about("test_head_2")
wrong("one_layer", HEAD_2, HEAD_2.replace("before, one_hot", "one_hot, one_hot"))
wrong.says("The keys of head 2 are the tokens themselves, so it finds the earlier place of the same token.")
wrong.says("Its keys are the output of head 1.")
wrong("asks_for_the_token_before", ASKED, ASKED.replace("* one_hot", "* before"))
wrong.says("Your queries of head 2 say which token comes before.")
wrong.says("They should say which token is here: use the tokens themselves.")
wrong("queries_and_keys_swapped", ASKED, ASKED.replace("* one_hot", "* before"))
wrong.edit(HEAD_2, HEAD_2.replace("before, one_hot", "one_hot, one_hot"))
wrong.says("You swapped queries and keys of head 2: the query is the token itself, the key the token before.")
wrong("head_2_without_a_mask", HEAD_2, HEAD_2.replace(", causal)", ")"))
wrong.says("Head 2 has no mask, so it sees the future.")
wrong("head_2_strictly_before", HEAD_2, HEAD_2.replace("causal)", "causal.tril(-1))"))
wrong.says("Head 2 may not attend to its own position in your answer. It has the ordinary causal mask.")
wrong("head_2_weak", ASKED, "asked = strength * one_hot")
wrong.says(
    "You don't make up for the division by √width in head 2, so its scores are smaller than `strength`."
)
wrong("head_2_width_of_head_1", "math.sqrt(vocab_size)", "math.sqrt(len(tokens))")
wrong.says("You multiply by the root of the number of positions.")
wrong.says("The vectors of head 2 have the width of the vocabulary.")
wrong("head_2_strength_ignored", ASKED, ASKED.replace("strength", "100.0"))
wrong.says("Head 2 always has the strength 100. Use the argument `strength`.")

wrong.about("test_what_is_predicted")
wrong("values_from_head_1", HEAD_2, HEAD_2.replace("before, one_hot", "before, before"))
wrong.says("The values of head 2 are the output of head 1, so it predicts the token that it has just read.")
wrong.says("Its values are the tokens themselves.")
wrong("token_itself_added", HEAD_2, HEAD_2 + "\n    predicted = predicted + one_hot")
wrong.says("You add the token itself to the output of head 2. `predicted` is the output of head 2 alone.")
wrong("softmax_at_the_end", HEAD_2, HEAD_2 + "\n    predicted = torch.softmax(predicted, dim=-1)")
wrong.says("You apply a softmax to the output of head 2. Its rows sum to 1 already.")
wrong("weights_first", "return predicted, first, second", "return first, second, predicted")
wrong.says("You return the weights first. The order is (predicted, first, second).")
wrong.costs("Code that calls it can't use such a result.")

wrong.about("test_default_strength_and_tokens_unchanged")
wrong("default_of_look_back_only", "vocab_size, strength=100.0", "vocab_size, strength=10.0")
wrong.says("Your default strength isn't 100.")
