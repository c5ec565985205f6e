"""Wrong answers to exercise 5, `induction_by_hand`."""

from gradekit.checks import mistakes_in, with_costs

HEAD_1 = "before, first = masked_attention(q, k, one_hot, causal.tril(-1))"
ASKED = "asked = strength * math.sqrt(vocab_size) * one_hot"
HEAD_2 = "predicted, second = masked_attention(asked, before, one_hot, causal)"
mistake = mistakes_in("induction_by_hand", "by_hand_")

MISTAKES = [
    mistake(
        "head_1_sees_itself",
        [(HEAD_1, HEAD_1.replace("causal.tril(-1)", "causal"))],
        ["test_head_1"],
        "Head 1 may attend to its own position, so position 0 seems to come after itself. Only positions before the query are allowed.",
    ),
    mistake(
        "head_1_without_a_mask",
        [(HEAD_1, HEAD_1.replace(", causal.tril(-1)", ""))],
        ["test_head_1"],
        "Head 1 has no mask. A query may attend only to positions before its own.",
    ),
    mistake(
        "head_1_two_back",
        [(HEAD_1, HEAD_1.replace("tril(-1)", "tril(-2)"))],
        ["test_head_1"],
        "Your mask hides the position just before the query as well. `tril(-1)` hides the query's own position only.",
    ),
    mistake(
        "head_1_strength_left_out",
        [("look_back(len(tokens), strength)", "look_back(len(tokens))")],
        ["test_head_1"],
        "Head 1 always has the strength 100. Pass `strength` on to `look_back`.",
    ),
    mistake(
        "one_layer",
        [(HEAD_2, HEAD_2.replace("before, one_hot", "one_hot, one_hot"))],
        ["test_head_2"],
        "The keys of head 2 are the tokens themselves, so it finds the earlier place of the same token. Its keys are the output of head 1.",
    ),
    mistake(
        "asks_for_the_token_before",
        [(ASKED, ASKED.replace("* one_hot", "* before"))],
        ["test_head_2"],
        "Your queries of head 2 say which token comes before. They should say which token is here: use the tokens themselves.",
    ),
    mistake(
        "queries_and_keys_swapped",
        [
            (ASKED, ASKED.replace("* one_hot", "* before")),
            (HEAD_2, HEAD_2.replace("before, one_hot", "one_hot, one_hot")),
        ],
        ["test_head_2"],
        "You swapped queries and keys of head 2: the query is the token itself, the key the token before.",
    ),
    mistake(
        "head_2_without_a_mask",
        [(HEAD_2, HEAD_2.replace(", causal)", ")"))],
        ["test_head_2"],
        "Head 2 has no mask, so it sees the future.",
    ),
    mistake(
        "head_2_strictly_before",
        [(HEAD_2, HEAD_2.replace("causal)", "causal.tril(-1))"))],
        ["test_head_2"],
        "Head 2 may not attend to its own position in your answer. It has the ordinary causal mask.",
    ),
    mistake(
        "head_2_weak",
        [(ASKED, "asked = strength * one_hot")],
        ["test_head_2"],
        "You don't make up for the division by √width in head 2, so its scores are smaller than `strength`.",
    ),
    mistake(
        "head_2_width_of_head_1",
        [("math.sqrt(vocab_size)", "math.sqrt(len(tokens))")],
        ["test_head_2"],
        "You multiply by the root of the number of positions. The vectors of head 2 have the width of the vocabulary.",
    ),
    mistake(
        "head_2_strength_ignored",
        [(ASKED, ASKED.replace("strength", "100.0"))],
        ["test_head_2"],
        "Head 2 always has the strength 100. Use the argument `strength`.",
    ),
    mistake(
        "values_from_head_1",
        [(HEAD_2, HEAD_2.replace("before, one_hot", "before, before"))],
        ["test_what_is_predicted"],
        "The values of head 2 are the output of head 1, so it predicts the token that it has just read. Its values are the tokens themselves.",
    ),
    mistake(
        "token_itself_added",
        [(HEAD_2, HEAD_2 + "\n    predicted = predicted + one_hot")],
        ["test_what_is_predicted"],
        "You add the token itself to the output of head 2. `predicted` is the output of head 2 alone.",
    ),
    mistake(
        "softmax_at_the_end",
        [(HEAD_2, HEAD_2 + "\n    predicted = torch.softmax(predicted, dim=-1)")],
        ["test_what_is_predicted"],
        "You apply a softmax to the output of head 2. Its rows sum to 1 already.",
    ),
    mistake(
        "weights_first",
        [("return predicted, first, second", "return first, second, predicted")],
        ["test_what_is_predicted"],
        "You return the weights first. The order is (predicted, first, second).",
    ),
    mistake(
        "default_of_look_back_only",
        [("vocab_size, strength=100.0", "vocab_size, strength=10.0")],
        ["test_default_strength_and_tokens_unchanged"],
        "Your default strength isn't 100.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Code that calls it can't use such a result.": [
            "by_hand_weights_first",
        ],
    },
)
