"""Wrong answers to exercise 5, `fused_attention`."""

from gradekit.checks import Mistakes

FORMULA = "test_output_equals_the_formula"
WEIGHTS = "test_weights_equal_the_formula"
SPLIT = "parts = x.reshape(batch, length, self.num_heads, d_head)\n        return parts.transpose(1, 2)"
MERGE = "heads.transpose(1, 2).flatten(2)"
CALL = "_, weights = masked_attention(q, k, v, mask)"
DROP = "heads = self.dropout(weights) @ v"
RETURN = "return self.w_o(merged), weights"
UNUSABLE = "Code that calls it can't use such a result."
ONE_PROPERTY = "Everything else is right; it is one property among many."

wrong = Mistakes("fused_")

wrong.about(FORMULA, WEIGHTS)
wrong("split_without_swapping", SPLIT, "return x.reshape(batch, self.num_heads, length, d_head)")
wrong.says("You split with `reshape` alone, so head 0 gets whole tokens.")
wrong.says("Split into (batch, length, heads, d_head) first, then swap the axes.")
wrong("columns_interleaved")
wrong.edit(SPLIT, "return x.reshape(batch, length, d_head, self.num_heads).permute(0, 3, 1, 2)")
wrong.says("Your head 0 takes every num_heads-th column. It should take the first d_head columns.")
wrong("split_and_merge_interleaved")
wrong.edit(SPLIT, "return x.reshape(batch, length, d_head, self.num_heads).permute(0, 3, 1, 2)")
wrong.edit(MERGE, "heads.permute(0, 2, 3, 1).flatten(2)")
wrong.says("You deal the columns out to the heads one by one, both in splitting and in merging.")
wrong.says("Head 0 takes the first d_head columns, head 1 the next ones.")
wrong("scale_of_d_model", CALL, CALL.replace("(q,", "(q / self.num_heads**0.5,"))
wrong.says("You divided by the square root of d_model.")
wrong.says("Divide by the square root of d_head, the width of one head.")
wrong("no_scale", CALL, CALL.replace("(q,", "(q * q.shape[-1] ** 0.5,"))
wrong.says("The scores are not divided by the square root of d_head. masked_attention does this for you.")
wrong("queries_and_keys_swapped", "self.w_q(query)", "self.w_k(query)")
wrong.edit("self.w_k(key)", "self.w_q(key)")
wrong.says("`w_q` and `w_k` are swapped: w_q computes the queries, w_k the keys.")
wrong("keys_from_the_query", "self.w_k(key)", "self.w_k(query)")
wrong.says("You compute the keys from `query`. Compute them from `key`.")
wrong.costs("The exercise is to decide which of the two sequences each layer reads.")

wrong.about(FORMULA)
wrong("merge_without_swapping", MERGE, "heads.reshape(query.shape)")
wrong.says("You merged with `reshape` alone, which mixes up the tokens.")
wrong.says("Swap the axes back to (batch, length, heads, d_head) first.")
wrong("neither_swapped", SPLIT, "return x.reshape(batch, self.num_heads, length, d_head)")
wrong.edit(MERGE, "heads.reshape(query.shape)")
wrong.says("You split and merged with `reshape` alone.")
wrong.says("The shapes are right, but heads get whole tokens instead of a part of every token.")
wrong.says("Swap the axes.")
wrong("merge_interleaved", MERGE, "heads.permute(0, 2, 3, 1).flatten(2)")
wrong.says("You interleave the columns of the heads when you merge. All columns of head 0 come first.")
wrong("merge_backwards", MERGE, "heads.flip(1).transpose(1, 2).flatten(2)")
wrong.says("You merge the heads in reverse order. Head 0 comes first.")
wrong("heads_averaged", MERGE, "heads.mean(dim=1).repeat(1, 1, self.num_heads)")
wrong.says("You averaged the heads. Concatenate their outputs.")
wrong("no_output_layer", RETURN, "return merged, weights")
wrong.says("You returned the merged heads. Apply w_o to them.")
wrong("values_from_the_key", "self.w_v(value)", "self.w_v(key)")
wrong.says("You compute the values from `key`. Compute them from `value`.")
wrong("values_made_by_w_k", "self.w_v(value)", "self.w_k(value)")
wrong.says("You computed the values with w_k. Use w_v.")
wrong("values_without_a_layer", "self.w_v(value)", "value")
wrong.says("You used `value` itself as the values. Apply w_v to it.")
wrong("residual_inside", RETURN, "return query + self.w_o(merged), weights")
wrong.says("You added the input to the output.")
wrong.says("Return only the attention; residual connections come later, around the module.")
wrong("weights_not_returned", RETURN, "return self.w_o(merged)")
wrong.says("You returned only the output. Return the pair (output, weights).")
wrong.costs(UNUSABLE)
wrong("pair_swapped", RETURN, "return weights, self.w_o(merged)")
wrong.says("You returned the weights first. The output comes first.")
wrong.costs(UNUSABLE)

wrong.about("test_everything_learns")
wrong("one_layer_for_queries_and_keys", "self.w_k = nn.Linear(d_model, d_model)", "self.w_k = self.w_q")
wrong.says("`w_q` and `w_k` are the same layer. Create a separate layer for each.")
wrong("no_bias")
wrong.edit("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, d_model, bias=False)")
wrong.says("One of your layers has no bias. Each of the four needs one.")
wrong("no_gradients", DROP, f"with torch.no_grad():\n            {DROP}")
wrong.says("You computed under `torch.no_grad()`, so no gradient reaches w_q, w_k and w_v.")
wrong("weights_detached", "self.dropout(weights) @ v", "self.dropout(weights.detach()) @ v")
wrong.says("You detached the weights, so no gradient reaches the queries and keys through the output.")

wrong.about("test_mask")
wrong("mask_ignored", ", mask)  # (batch, heads", ")  # (batch, heads")
wrong.says("Your module ignores the mask. Pass it to masked_attention.")
wrong("mask_inverted", "mask.unsqueeze(-3)", "~mask.unsqueeze(-3)")
wrong.says("You inverted the mask.")
wrong.says("Here True means that a key may be attended to; only nn.MultiheadAttention means the opposite.")
wrong(
    "mask_for_the_first_head_only",
    "mask = mask.unsqueeze(-3)  #",
    "mask = mask.unsqueeze(-3) | (torch.arange(self.num_heads) > 0)[:, None, None]  #",
)
wrong.says("Only the first head uses the mask. It applies to all of them.")
wrong("mask_axis_from_the_front", "mask.unsqueeze(-3)", "mask.unsqueeze(1)")
wrong.says("You inserted the axis of the heads as axis 1, which is wrong for a mask without a batch axis.")
wrong.says("Count from the end: -3.")
wrong("mask_without_the_axis")
wrong.edit("mask = mask.unsqueeze(-3)  #", "mask = mask.unsqueeze(0) if mask.dim() == 2 else mask  #")
wrong.says(
    "The axis of the heads is missing from your mask, or at the wrong place, so its batch axis is taken for "
    "that of the heads. Insert it as the third from the end."
)
wrong(
    "mask_after_the_softmax",
    CALL,
    "_, weights = masked_attention(q, k, v)\n        weights = weights if mask is None else weights * mask",
)
wrong.says("You applied the mask after the softmax, so the weights of the visible keys don't sum to 1.")
wrong.says("Apply it before.")

wrong.about("test_query_with_no_key")
wrong(
    "no_key_left_is_nan",
    CALL,
    "scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
    "        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)\n"
    "        weights = torch.softmax(scores, dim=-1)",
)
wrong.says("A query that may attend to nothing gets NaN.")
wrong.says("It should get zeros, as masked_attention returns them.")
wrong.costs(ONE_PROPERTY)
wrong(
    "no_key_left_is_an_average",
    CALL,
    "scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
    "        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)\n"
    "        weights = torch.softmax(scores, dim=-1)",
)
wrong.says("A query that may attend to nothing gets the average of the values that it must not see.")
wrong.says("It should get zeros.")
wrong.costs(ONE_PROPERTY)

wrong.about(WEIGHTS)
wrong(
    "softmax_over_heads",
    CALL,
    "scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
    "        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)\n"
    "        weights = torch.softmax(scores, dim=1)",
)
wrong.says("Your softmax runs over the heads. It should run over the keys, the last axis.")
wrong.costs("It computes a different function, and most checks are about the function.")
wrong("weights_averaged", RETURN, "return self.w_o(merged), weights.mean(dim=1)")
wrong.says("You averaged the weights over the heads. Return one matrix per head.")

wrong.about("test_weights_before_dropout")
wrong("weights_after_dropout", DROP, "weights = self.dropout(weights)\n        heads = weights @ v")
wrong.says("You returned the weights after dropout. Return the weights from before it.")
wrong.costs(ONE_PROPERTY)

wrong.about("test_dropout_in_training")
wrong("no_dropout", "self.dropout(weights) @ v", "weights @ v")
wrong.says("You don't apply dropout in training. Apply it to the weights.")
wrong("dropout_on_the_output", "self.dropout(weights) @ v", "weights @ v")
wrong.edit(RETURN, "return self.dropout(self.w_o(merged)), weights")
wrong.says("You apply dropout to the output. Apply it to the weights.")
wrong("dropout_on_the_heads", DROP, "heads = self.dropout(weights @ v)")
wrong.says("You apply dropout to the heads' outputs. Apply it to the weights, before you multiply them by v.")
wrong("dropout_keeps_what_it_should_drop")
wrong.edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout if dropout else 0.0)")
wrong.says("You used `dropout` as the probability of keeping a weight. It is the probability of dropping it.")
wrong(
    "dropout_without_scaling",
    "self.dropout(weights) @ v",
    "(self.dropout(weights) * ((1 - self.dropout.p) if self.training else 1)) @ v",
)
wrong.says("The weights that dropout keeps are not scaled up by 1 / (1 - p).")
wrong("dropout_fixed", "nn.Dropout(dropout)", "nn.Dropout(0.1)")
wrong.says("Your dropout has a fixed probability. Pass `dropout` to nn.Dropout.")

wrong.about("test_no_dropout_otherwise")
wrong("dropout_in_evaluation", "self.dropout(weights)", "nn.functional.dropout(weights, self.dropout.p)")
wrong.says("Dropout stays on after `eval()`. Use nn.Dropout, or pass on `self.training`.")

wrong.about("test_no_dropout_otherwise", "test_dropout_in_training")
wrong("dropout_always_half", "nn.Dropout(dropout)", "nn.Dropout()")
wrong.says("Your dropout always has the probability 0.5. Use the argument `dropout`.")

wrong.about("test_heads_must_share_the_width")
wrong("uneven_heads_let_through", "if d_model % num_heads != 0:", "if d_model < num_heads:")
wrong.says("You accept a d_model that isn't divisible by num_heads. Check the remainder with `%`.")
wrong("assertion_instead", "raise ValueError(", "raise AssertionError(")
wrong.says("You raised an AssertionError. Raise a ValueError.")
wrong(
    "message_without_numbers",
    'f"{num_heads} heads can\'t share a width of {d_model}: it must be a multiple of num_heads"',
    '"the heads can\'t share this width"',
)
wrong.says("The message of your ValueError doesn't name both numbers.")
wrong("other_exception", "raise ValueError(", "raise AssertionError(")
wrong.says("A d_model that isn't divisible by num_heads has to raise a ValueError, no other exception.")

wrong.about("test_float64_and_inputs_unchanged")
wrong("float32_inside", RETURN, "return self.w_o(merged).float().to(query.dtype), weights")
wrong.says("You computed in float32, or converted the result to it. Keep the dtype of the input.")
wrong.costs(ONE_PROPERTY)
wrong("mask_changed")
wrong.edit("mask = mask.unsqueeze(-3)", "mask.logical_not_()\n            mask = ~mask.unsqueeze(-3)")
wrong.says("You modified the mask in place. Leave the inputs unchanged.")
wrong.costs(ONE_PROPERTY)
