"""Wrong answers to exercise 5, `fused_attention`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_output_equals_the_formula"
WEIGHTS = "test_weights_equal_the_formula"
SPLIT = "parts = x.reshape(batch, length, self.num_heads, d_head)\n        return parts.transpose(1, 2)"
MERGE = "heads.transpose(1, 2).flatten(2)"
CALL = "_, weights = masked_attention(q, k, v, mask)"
DROP = "heads = self.dropout(weights) @ v"
RETURN = "return self.w_o(merged), weights"
mistake = mistakes_in("fused_attention", "fused_")

MISTAKES = [
    mistake(
        "split_without_swapping",
        [(SPLIT, "return x.reshape(batch, self.num_heads, length, d_head)")],
        [FORMULA, WEIGHTS],
        "You split with `reshape` alone, so head 0 gets whole tokens. "
        "Split into (batch, length, heads, d_head) first, then swap the axes.",
    ),
    mistake(
        "merge_without_swapping",
        [(MERGE, "heads.reshape(query.shape)")],
        [FORMULA],
        "You merged with `reshape` alone, which mixes up the tokens. "
        "Swap the axes back to (batch, length, heads, d_head) first.",
    ),
    mistake(
        "neither_swapped",
        [
            (SPLIT, "return x.reshape(batch, self.num_heads, length, d_head)"),
            (MERGE, "heads.reshape(query.shape)"),
        ],
        [FORMULA],
        "You split and merged with `reshape` alone. "
        "The shapes are right, but heads get whole tokens instead of a part of every token. Swap the "
        "axes.",
    ),
    mistake(
        "columns_interleaved",
        [(SPLIT, "return x.reshape(batch, length, d_head, self.num_heads).permute(0, 3, 1, 2)")],
        [FORMULA, WEIGHTS],
        "Your head 0 takes every num_heads-th column. It should take the first d_head columns.",
    ),
    mistake(
        "split_and_merge_interleaved",
        [
            (SPLIT, "return x.reshape(batch, length, d_head, self.num_heads).permute(0, 3, 1, 2)"),
            (MERGE, "heads.permute(0, 2, 3, 1).flatten(2)"),
        ],
        [FORMULA, WEIGHTS],
        "You deal the columns out to the heads one by one, both in splitting and in merging. "
        "Head 0 takes the first d_head columns, head 1 the next ones.",
    ),
    mistake(
        "merge_interleaved",
        [(MERGE, "heads.permute(0, 2, 3, 1).flatten(2)")],
        [FORMULA],
        "You interleave the columns of the heads when you merge. All columns of head 0 come first.",
    ),
    mistake(
        "merge_backwards",
        [(MERGE, "heads.flip(1).transpose(1, 2).flatten(2)")],
        [FORMULA],
        "You merge the heads in reverse order. Head 0 comes first.",
    ),
    mistake(
        "heads_averaged",
        [(MERGE, "heads.mean(dim=1).repeat(1, 1, self.num_heads)")],
        [FORMULA],
        "You averaged the heads. Concatenate their outputs.",
    ),
    mistake(
        "scale_of_d_model",
        [(CALL, CALL.replace("(q,", "(q / self.num_heads**0.5,"))],
        [FORMULA, WEIGHTS],
        "You divided by the square root of d_model. "
        "Divide by the square root of d_head, the width of one head.",
    ),
    mistake(
        "no_scale",
        [(CALL, CALL.replace("(q,", "(q * q.shape[-1] ** 0.5,"))],
        [FORMULA, WEIGHTS],
        "The scores are not divided by the square root of d_head. masked_attention does this for you.",
    ),
    mistake(
        "no_output_layer",
        [(RETURN, "return merged, weights")],
        [FORMULA],
        "You returned the merged heads. Apply w_o to them.",
    ),
    mistake(
        "queries_and_keys_swapped",
        [("self.w_q(query)", "self.w_k(query)"), ("self.w_k(key)", "self.w_q(key)")],
        [FORMULA, WEIGHTS],
        "`w_q` and `w_k` are swapped: w_q computes the queries, w_k the keys.",
    ),
    mistake(
        "keys_from_the_query",
        [("self.w_k(key)", "self.w_k(query)")],
        [FORMULA, WEIGHTS],
        "You compute the keys from `query`. Compute them from `key`.",
    ),
    mistake(
        "values_from_the_key",
        [("self.w_v(value)", "self.w_v(key)")],
        [FORMULA],
        "You compute the values from `key`. Compute them from `value`.",
    ),
    mistake(
        "values_made_by_w_k",
        [("self.w_v(value)", "self.w_k(value)")],
        [FORMULA],
        "You computed the values with w_k. Use w_v.",
    ),
    mistake(
        "values_without_a_layer",
        [("self.w_v(value)", "value")],
        [FORMULA],
        "You used `value` itself as the values. Apply w_v to it.",
    ),
    mistake(
        "one_layer_for_queries_and_keys",
        [("self.w_k = nn.Linear(d_model, d_model)", "self.w_k = self.w_q")],
        ["test_everything_learns"],
        "`w_q` and `w_k` are the same layer. Create a separate layer for each.",
    ),
    mistake(
        "no_bias",
        [("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, d_model, bias=False)")],
        ["test_everything_learns"],
        "One of your layers has no bias. Each of the four needs one.",
    ),
    mistake(
        "residual_inside",
        [(RETURN, "return query + self.w_o(merged), weights")],
        [FORMULA],
        "You added the input to the output. Return only the attention; residual connections come later, "
        "around the module.",
    ),
    mistake(
        "mask_ignored",
        [(", mask)  # (batch, heads", ")  # (batch, heads")],
        ["test_mask"],
        "Your module ignores the mask. Pass it to masked_attention.",
    ),
    mistake(
        "mask_inverted",
        [("mask.unsqueeze(-3)", "~mask.unsqueeze(-3)")],
        ["test_mask"],
        "You inverted the mask. Here True means that a key may be attended to; only nn.MultiheadAttention "
        "means the opposite.",
    ),
    mistake(
        "mask_for_the_first_head_only",
        [
            (
                "mask = mask.unsqueeze(-3)  #",
                "mask = mask.unsqueeze(-3) | (torch.arange(self.num_heads) > 0)[:, None, None]  #",
            )
        ],
        ["test_mask"],
        "Only the first head uses the mask. It applies to all of them.",
    ),
    mistake(
        "mask_axis_from_the_front",
        [("mask.unsqueeze(-3)", "mask.unsqueeze(1)")],
        ["test_mask"],
        "You inserted the axis of the heads as axis 1, which is wrong for a mask without a batch axis. "
        "Count from the end: -3.",
    ),
    mistake(
        "mask_without_the_axis",
        [("mask = mask.unsqueeze(-3)  #", "mask = mask.unsqueeze(0) if mask.dim() == 2 else mask  #")],
        ["test_mask"],
        "The axis of the heads is missing from your mask, or at the wrong place, so its batch axis is taken for that of the heads. Insert it as the third from the end.",
    ),
    mistake(
        "mask_after_the_softmax",
        [
            (
                CALL,
                "_, weights = masked_attention(q, k, v)\n        weights = weights if mask is None else weights * mask",
            )
        ],
        ["test_mask"],
        "You applied the mask after the softmax, so the weights of the visible keys don't sum to 1. "
        "Apply it before.",
    ),
    mistake(
        "no_key_left_is_nan",
        [
            (
                CALL,
                "scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
                "        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)\n"
                "        weights = torch.softmax(scores, dim=-1)",
            )
        ],
        ["test_query_with_no_key"],
        "A query that may attend to nothing gets NaN. It should get zeros, as masked_attention returns them.",
    ),
    mistake(
        "no_key_left_is_an_average",
        [
            (
                CALL,
                "scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
                "        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)\n"
                "        weights = torch.softmax(scores, dim=-1)",
            )
        ],
        ["test_query_with_no_key"],
        "A query that may attend to nothing gets the average of the values that it must not see. "
        "It should get zeros.",
    ),
    mistake(
        "softmax_over_heads",
        [
            (
                CALL,
                "scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
                "        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)\n"
                "        weights = torch.softmax(scores, dim=1)",
            )
        ],
        [WEIGHTS],
        "Your softmax runs over the heads. It should run over the keys, the last axis.",
    ),
    mistake(
        "weights_averaged",
        [(RETURN, "return self.w_o(merged), weights.mean(dim=1)")],
        [WEIGHTS],
        "You averaged the weights over the heads. Return one matrix per head.",
    ),
    mistake(
        "weights_not_returned",
        [(RETURN, "return self.w_o(merged)")],
        [FORMULA],
        "You returned only the output. Return the pair (output, weights).",
    ),
    mistake(
        "pair_swapped",
        [(RETURN, "return weights, self.w_o(merged)")],
        [FORMULA],
        "You returned the weights first. The output comes first.",
    ),
    mistake(
        "weights_after_dropout",
        [(DROP, "weights = self.dropout(weights)\n        heads = weights @ v")],
        ["test_weights_before_dropout"],
        "You returned the weights after dropout. Return the weights from before it.",
    ),
    mistake(
        "no_dropout",
        [("self.dropout(weights) @ v", "weights @ v")],
        ["test_dropout_in_training"],
        "You don't apply dropout in training. Apply it to the weights.",
    ),
    mistake(
        "dropout_on_the_output",
        [
            ("self.dropout(weights) @ v", "weights @ v"),
            (RETURN, "return self.dropout(self.w_o(merged)), weights"),
        ],
        ["test_dropout_in_training"],
        "You apply dropout to the output. Apply it to the weights.",
    ),
    mistake(
        "dropout_on_the_heads",
        [(DROP, "heads = self.dropout(weights @ v)")],
        ["test_dropout_in_training"],
        "You apply dropout to the heads' outputs. Apply it to the weights, before you multiply them by v.",
    ),
    mistake(
        "dropout_in_evaluation",
        [("self.dropout(weights)", "nn.functional.dropout(weights, self.dropout.p)")],
        ["test_no_dropout_otherwise"],
        "Dropout stays on after `eval()`. Use nn.Dropout, or pass on `self.training`.",
    ),
    mistake(
        "dropout_always_half",
        [("nn.Dropout(dropout)", "nn.Dropout()")],
        ["test_no_dropout_otherwise", "test_dropout_in_training"],
        "Your dropout always has the probability 0.5. Use the argument `dropout`.",
    ),
    mistake(
        "dropout_keeps_what_it_should_drop",
        [("nn.Dropout(dropout)", "nn.Dropout(1 - dropout if dropout else 0.0)")],
        ["test_dropout_in_training"],
        "You used `dropout` as the probability of keeping a weight. It is the probability of dropping it.",
    ),
    mistake(
        "dropout_without_scaling",
        [
            (
                "self.dropout(weights) @ v",
                "(self.dropout(weights) * ((1 - self.dropout.p) if self.training else 1)) @ v",
            )
        ],
        ["test_dropout_in_training"],
        "The weights that dropout keeps are not scaled up by 1 / (1 - p).",
    ),
    mistake(
        "uneven_heads_let_through",
        [("if d_model % num_heads != 0:", "if d_model < num_heads:")],
        ["test_heads_must_share_the_width"],
        "You accept a d_model that isn't divisible by num_heads. Check the remainder with `%`.",
    ),
    mistake(
        "assertion_instead",
        [("raise ValueError(", "raise AssertionError(")],
        ["test_heads_must_share_the_width"],
        "You raised an AssertionError. Raise a ValueError.",
    ),
    mistake(
        "message_without_numbers",
        [
            (
                'f"{num_heads} heads can\'t share a width of {d_model}: it must be a multiple of num_heads"',
                '"the heads can\'t share this width"',
            )
        ],
        ["test_heads_must_share_the_width"],
        "The message of your ValueError doesn't name both numbers.",
    ),
    mistake(
        "no_gradients",
        [(DROP, f"with torch.no_grad():\n            {DROP}")],
        ["test_everything_learns"],
        "You computed under `torch.no_grad()`, so no gradient reaches w_q, w_k and w_v.",
    ),
    mistake(
        "weights_detached",
        [("self.dropout(weights) @ v", "self.dropout(weights.detach()) @ v")],
        ["test_everything_learns"],
        "You detached the weights, so no gradient reaches the queries and keys through the output.",
    ),
    mistake(
        "float32_inside",
        [(RETURN, "return self.w_o(merged).float().to(query.dtype), weights")],
        ["test_float64_and_inputs_unchanged"],
        "You computed in float32, or converted the result to it. Keep the dtype of the input.",
    ),
    mistake(
        "mask_changed",
        [("mask = mask.unsqueeze(-3)", "mask.logical_not_()\n            mask = ~mask.unsqueeze(-3)")],
        ["test_float64_and_inputs_unchanged"],
        "You modified the mask in place. Leave the inputs unchanged.",
    ),
    mistake(
        "other_exception",
        [("raise ValueError(", "raise AssertionError(")],
        ["test_heads_must_share_the_width"],
        "A d_model that isn't divisible by num_heads has to raise a ValueError, no other exception.",
    ),
    mistake(
        "dropout_fixed",
        [("nn.Dropout(dropout)", "nn.Dropout(0.1)")],
        ["test_dropout_in_training"],
        "Your dropout has a fixed probability. Pass `dropout` to nn.Dropout.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "fused_softmax_over_heads",
        ],
        "The exercise is to decide which of the two sequences each layer reads.": [
            "fused_keys_from_the_query",
        ],
        "Code that calls it can't use such a result.": [
            "fused_weights_not_returned",
            "fused_pair_swapped",
        ],
        "Everything else is right; it is one property among many.": [
            "fused_no_key_left_is_nan",
            "fused_no_key_left_is_an_average",
            "fused_weights_after_dropout",
            "fused_float32_inside",
            "fused_mask_changed",
        ],
    },
)
