"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs

FORMULA = "test_output_equals_the_formula"
ATTEND = "output, _ = masked_attention(queries, keys, values, mask)"
ROLES = {
    "q": "queries = self.q({})  #",
    "k": "keys = self.k({})  #",
    "v": "values = self.v({})  #",
}


# ---------------------------------------------------------------------- exercises 1 and 3, together
def of_one_head(cell, prefix, asks, answers):
    """Mistakes that SelfAttention and CrossAttention share."""
    queries, values = ROLES["q"].format(asks), ROLES["v"].format(answers)
    k_layer = "self.k = nn.Linear({}, key_dim)".format(
        "input_dim" if cell == "self_attention" else "y_input_dim"
    )
    alone = "test_float64_and_input_unchanged" if asks == answers else "test_float64_and_inputs_unchanged"

    def mistake(name, edits, about, sentence):
        return Mistake(prefix + name, cell=cell, edits=edits, about=about, sentence=sentence)

    return [
        mistake(
            "keys_are_values",
            [(values, ROLES["v"].format(answers).replace("self.v", "self.k"))],
            [FORMULA],
            "You computed the values with the layer k. Use the layer v.",
        ),
        mistake(
            "values_without_a_layer",
            [(values, f"values = {answers}  #")],
            [FORMULA],
            f"You used {answers} itself as the values. Apply the layer v to it.",
        ),
        mistake(
            "residual_inside",
            [("return output", f"return output + {asks}")],
            [FORMULA],
            f"You added {asks} to the output. Return only the attention; "
            "residual connections come later, around it.",
        ),
        mistake(
            "no_gradients",
            [(f"        {ATTEND}", f"        with torch.no_grad():\n            {ATTEND}")],
            ["test_everything_learns"],
            "You computed under `torch.no_grad()`, or detached the result, so nothing can be trained.",
        ),
        mistake(
            "queries_detached",
            [(ATTEND, ATTEND.replace("queries", "queries.detach()"))],
            ["test_everything_learns"],
            "You detached the queries, so their layer can't be trained.",
        ),
        mistake(
            "mask_ignored",
            [(", mask)", ")")],
            ["test_mask"],
            "Your module ignores the mask. Pass it to masked_attention.",
        ),
        mistake(
            "mask_inverted",
            [(", mask)", ", None if mask is None else ~mask)")],
            ["test_mask"],
            "You inverted the mask. True means that a token may be attended to.",
        ),
        mistake(
            "weights_returned_too",
            [("return output", "return output, _")],
            [FORMULA],
            "You returned the weights as well. Return only the output.",
        ),
        mistake(
            "weights_in_place_of_output",
            [("return output", "return _")],
            [FORMULA, "test_unequal_widths"],
            "You returned the weights instead of the output.",
        ),
        mistake(
            "no_bias",
            [(k_layer, k_layer.replace("key_dim)", "key_dim, bias=False)"))],
            ["test_three_layers"],
            "One of your layers has no bias. Each of the three needs one.",
        ),
        mistake(
            "no_scale",
            [
                (
                    ATTEND,
                    "output, _ = masked_attention(queries * queries.shape[-1] ** 0.5, keys, values, mask)",
                ),
            ],
            [FORMULA],
            "The scores are not divided by the square root of the width of the queries. "
            "masked_attention does this for you.",
        ),
        mistake(
            "scaled_twice",
            [
                (
                    ATTEND,
                    "output, _ = masked_attention(queries / queries.shape[-1] ** 0.5, keys, values, mask)",
                ),
            ],
            [FORMULA],
            "The scores are divided by the square root of the width twice. masked_attention already does it.",
        ),
        mistake(
            "softmax_over_queries",
            [
                (
                    ATTEND,
                    "scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5\n"
                    "        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)\n"
                    "        output = torch.softmax(scores, dim=-2) @ values",
                )
            ],
            [FORMULA],
            "Your softmax runs over the queries. It should run over the keys, the last axis.",
        ),
        mistake(
            "float32_inside",
            [("return output", f"return output.float().to({asks}.dtype)")],
            [alone],
            "You computed in float32, or converted the result to it. Keep the dtype of the input.",
        ),
        mistake(
            "input_changed",
            [(queries, f"{asks} -= 0.5\n        {queries}")],
            [alone],
            f"You modified {asks} in place. Leave the input unchanged.",
        ),
    ]


SELF = [
    *of_one_head("self_attention", "self_", "x", "x"),
    Mistake(
        "self_queries_and_keys_swapped",
        cell="self_attention",
        edits=[("masked_attention(queries, keys, values", "masked_attention(keys, queries, values")],
        about=[FORMULA],
        sentence="Queries and keys are swapped: layer q computes the queries, layer k the keys.",
    ),
    Mistake(
        "self_one_layer_for_queries_and_keys",
        cell="self_attention",
        edits=[("self.k = nn.Linear(input_dim, key_dim)", "self.k = self.q")],
        about=["test_three_layers"],
        sentence="`q` and `k` are the same layer. Create a separate layer for each.",
    ),
    Mistake(
        "self_keys_made_by_q",
        cell="self_attention",
        edits=[("keys = self.k(x)  #", "keys = self.q(x)  #")],
        about=[FORMULA],
        sentence="You computed the keys with the layer q. Use the layer k.",
    ),
    Mistake(
        "self_key_width_for_all",
        cell="self_attention",
        edits=[("self.v = nn.Linear(input_dim, output_dim)", "self.v = nn.Linear(input_dim, key_dim)")],
        about=["test_unequal_widths"],
        sentence="Your values have width key_dim. They should have width output_dim.",
    ),
    Mistake(
        "self_no_attention",
        cell="self_attention",
        edits=[("return output", "return values")],
        about=[FORMULA],
        sentence="You returned the values unchanged. The output is their weighted average.",
    ),
    Mistake(
        "self_output_for_one_token",
        cell="self_attention",
        edits=[("return output", "return output.mean(dim=1, keepdim=True).expand_as(output)")],
        about=[FORMULA],
        sentence="You averaged the output over the tokens. Every token has its own output.",
    ),
]

CROSS = [
    *of_one_head("cross_attention", "cross_", "x", "y"),
    Mistake(
        "cross_x_and_y_swapped",
        cell="cross_attention",
        edits=[
            ("self.q = nn.Linear(x_input_dim", "self.q = nn.Linear(y_input_dim"),
            ("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim"),
            ("self.v = nn.Linear(y_input_dim", "self.v = nn.Linear(x_input_dim"),
            ("self.q(x)", "self.q(y)"),
            ("self.k(y)", "self.k(x)"),
            ("self.v(y)", "self.v(x)"),
        ],
        about=[FORMULA],
        sentence="`x` and `y` are swapped: queries come from x, keys and values from y.",
    ),
    Mistake(
        "cross_values_from_x",
        cell="cross_attention",
        edits=[
            ("self.v(y)", "self.v(x)"),
            ("self.v = nn.Linear(y_input_dim", "self.v = nn.Linear(x_input_dim"),
        ],
        about=[FORMULA],
        sentence="Your values come from x. A key and its value describe the same token, so both come from y.",
    ),
    Mistake(
        "cross_keys_from_x",
        cell="cross_attention",
        edits=[
            ("self.k(y)", "self.k(x)"),
            ("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim"),
        ],
        about=[FORMULA],
        sentence="Your keys come from x. A key and its value describe the same token, so both come from y.",
    ),
    Mistake(
        "cross_only_y",
        cell="cross_attention",
        edits=[
            ("self.q(x)", "self.q(y)"),
            ("self.q = nn.Linear(x_input_dim", "self.q = nn.Linear(y_input_dim"),
        ],
        about=[FORMULA],
        sentence="Your queries come from y, so x has no influence. "
        "Compute them from x, the sequence that asks.",
    ),
    Mistake(
        "cross_cut_to_the_shorter",
        cell="cross_attention",
        edits=[
            (
                "queries = self.q(x)  #",
                "length = min(x.shape[1], y.shape[1])\n"
                "        x, y = x[:, :length], y[:, :length]\n"
                "        queries = self.q(x)  #",
            )
        ],
        about=["test_unequal_lengths"],
        sentence="You cut x and y to the shorter length. Attention works with unequal lengths: use all "
        "tokens.",
    ),
    Mistake(
        "cross_y_cut_to_the_length_of_x",
        cell="cross_attention",
        edits=[("queries = self.q(x)  #", "y = y[:, : x.shape[1]]\n        queries = self.q(x)  #")],
        about=["test_unequal_lengths"],
        sentence="You cut y to the length of x. Every token of y counts, however long y is.",
    ),
    Mistake(
        "cross_queries_and_keys_share_a_layer",
        cell="cross_attention",
        edits=[("self.k = nn.Linear(y_input_dim, key_dim)", "self.k = self.q")],
        about=["test_three_layers"],
        sentence="`q` and `k` are the same layer. Create a separate layer for each.",
    ),
    Mistake(
        "cross_mask_transposed",
        cell="cross_attention",
        edits=[(", mask)", ", None if mask is None else mask.transpose(-2, -1))")],
        about=["test_mask"],
        sentence="You transposed the mask. Its rows are the tokens of x, its columns the tokens of y.",
    ),
]


# --------------------------------------------------------------------------------------------- exercise 2
def gap(name, edits, about, sentence):
    return Mistake("gap_" + name, cell="equivariance_gap", edits=edits, about=about, sentence=sentence)


DEPENDS = "test_module_that_depends_on_the_order"
GAP = [
    gap(
        "not_shuffled_after",
        [("module(x)[:, order]", "module(x)")],
        [DEPENDS, "test_equivariant_modules"],
        "You compared with the output in its original order. "
        "Shuffle it like the tokens, or you measure invariance.",
    ),
    gap(
        "not_shuffled_before",
        [("module(x[:, order])", "module(x)")],
        [DEPENDS, "test_equivariant_modules"],
        "You shuffled only the output. In one of the two ways, shuffle the tokens before the module sees "
        "them.",
    ),
    gap(
        "put_back_the_wrong_way",
        [("module(x)[:, order]", "module(x)[:, order.argsort()]")],
        [DEPENDS, "test_equivariant_modules"],
        "You shuffled the output by the inverse order. Use `order` itself in both ways.",
    ),
    gap(
        "batch_shuffled",
        [("x[:, order]", "x[order]"), ("module(x)[:, order]", "module(x)[order]")],
        [DEPENDS],
        "You shuffled the batch. The tokens are on axis 1: `x[:, order]`.",
    ),
    gap(
        "width_shuffled",
        [("x[:, order]", "x[..., order]"), ("module(x)[:, order]", "module(x)[..., order]")],
        [DEPENDS],
        "You shuffled the entries of the vectors. The tokens are on axis 1: `x[:, order]`.",
    ),
    gap(
        "always_equal",
        [("module(x)[:, order]", "module(x[:, order])")],
        [DEPENDS],
        "You computed the same result twice, so the gap is always 0. "
        "In one of them, shuffle after the module.",
    ),
    gap(
        "mean_difference",
        [("difference.max()", "difference.mean()")],
        [DEPENDS],
        "You took the mean of the differences. Take the largest.",
    ),
    gap(
        "smallest_difference",
        [("difference.max()", "difference.min()")],
        [DEPENDS],
        "You took the smallest difference. Take the largest.",
    ),
    gap(
        "with_sign",
        [(").abs()", ")")],
        ["test_a_float_at_least_0"],
        "You took the largest difference with its sign, which misses large negative differences. "
        "Use `.abs()`.",
    ),
    gap(
        "root_of_squares",
        [("difference.max()", "difference.norm()")],
        [DEPENDS],
        "You took the square root of the sum of squares. Take the largest difference.",
    ),
    gap(
        "first_sequence_only",
        [("difference.max()", "difference[0].max()")],
        ["test_unequal_sizes"],
        "You looked only at the first sequence of the batch. Take the maximum over the whole batch.",
    ),
    gap(
        "tensor_returned",
        [(".max().item()", ".max()")],
        ["test_a_float_at_least_0"],
        "You returned a tensor. Convert it to a float with `.item()`.",
    ),
    gap(
        "x_changed",
        [
            (
                "shuffled_after = module(x)[:, order]",
                "shuffled_after = module(x)[:, order]\n    x[:] = x[:, order]",
            )
        ],
        ["test_inputs_unchanged"],
        "You changed x or order in place. Leave the inputs unchanged.",
    ),
]


# --------------------------------------------------------------------------------------------- exercise 4
def heads(name, edits, about, sentence):
    return Mistake(
        "heads_" + name, cell="multi_headed_attention", edits=edits, about=about, sentence=sentence
    )


WIDTH = "sum(head.v.out_features for head in attn_modules)"
SIDE_BY_SIDE = "side_by_side = torch.cat(outputs, dim=-1)"
HEADS = [
    heads(
        "plain_list",
        [("nn.ModuleList(attn_modules)", "list(attn_modules)")],
        ["test_heads_belong_to_the_module"],
        "The heads are in a plain list, where torch doesn't find their parameters. Use nn.ModuleList.",
    ),
    heads(
        "width_of_the_first",
        [(WIDTH, "len(attn_modules) * attn_modules[0].v.out_features")],
        ["test_heads_of_different_widths"],
        "You used the width of the first head for all of them. Add up the widths.",
    ),
    heads(
        "no_final_layer",
        [("return self.linear(side_by_side)", "return side_by_side")],
        [FORMULA],
        "You returned the concatenated outputs of the heads. Apply `linear` to them.",
    ),
    heads(
        "averaged",
        [
            (WIDTH, "attn_modules[0].v.out_features"),
            (SIDE_BY_SIDE, "side_by_side = torch.stack(outputs).mean(dim=0)"),
        ],
        [FORMULA],
        "You averaged the heads. Concatenate their outputs.",
    ),
    heads(
        "summed",
        [(WIDTH, "attn_modules[0].v.out_features"), (SIDE_BY_SIDE, "side_by_side = sum(outputs)")],
        [FORMULA],
        "You added up the heads. Concatenate their outputs.",
    ),
    heads(
        "backwards",
        [("torch.cat(outputs, dim=-1)", "torch.cat(outputs[::-1], dim=-1)")],
        [FORMULA],
        "You concatenated the heads in reverse order. Keep the given order.",
    ),
    heads(
        "interleaved",
        [
            (
                SIDE_BY_SIDE,
                "same = len({output.shape for output in outputs}) == 1\n"
                "        side_by_side = torch.stack(outputs, dim=-1).flatten(-2) if same else torch.cat(outputs, dim=-1)",
            )
        ],
        [FORMULA],
        "The columns of the heads are interleaved. All columns of head 0 come first, then those of head 1.",
    ),
    heads(
        "first_head_only",
        [
            (
                "[head(x, mask) for head in self.attn_modules]",
                "[self.attn_modules[0](x, mask)] * len(self.attn_modules)",
            )
        ],
        [FORMULA],
        "You called only the first head, several times. Call each head once.",
    ),
    heads(
        "one_after_the_other",
        [
            (
                "outputs = [head(x, mask) for head in self.attn_modules]",
                "outputs = []\n"
                "        for head in self.attn_modules:\n"
                "            outputs.append(head(x if not outputs else x + outputs[-1].mean(), mask))",
            )
        ],
        [FORMULA],
        "You feed the output of one head into the next. All heads get the same x.",
    ),
    heads(
        "mask_ignored",
        [("head(x, mask)", "head(x)")],
        ["test_mask"],
        "Your heads don't get the mask. Pass it to each of them.",
    ),
    heads(
        "mask_for_the_first_only",
        [
            (
                "[head(x, mask) for head in self.attn_modules]",
                "[head(x, None if i else mask) for i, head in enumerate(self.attn_modules)]",
            )
        ],
        ["test_mask"],
        "Only the first head gets the mask. Pass it to all of them.",
    ),
    heads(
        "no_gradients",
        [("outputs = [head(x, mask) for", "outputs = [head(x, mask).detach() for")],
        ["test_everything_learns"],
        "You detached the heads' outputs, so the heads can't be trained.",
    ),
    heads(
        "no_bias",
        [("nn.Linear(width, final_output_dim)", "nn.Linear(width, final_output_dim, bias=False)")],
        ["test_heads_belong_to_the_module"],
        "`linear` has no bias. It needs one.",
    ),
    heads(
        "residual_inside",
        [
            (
                "return self.linear(side_by_side)",
                "return self.linear(side_by_side) + x.mean(dim=-1, keepdim=True)",
            )
        ],
        [FORMULA],
        "You added the input to the output. Return only the attention; residual connections come later, "
        "around the module.",
    ),
    heads(
        "nonlinear",
        [("return self.linear(side_by_side)", "return torch.relu(self.linear(side_by_side))")],
        [FORMULA],
        "You applied a ReLU after the final layer. Return the output of the layer itself.",
    ),
]


# --------------------------------------------------------------------------------------------- exercise 5
def fused(name, edits, about, sentence):
    return Mistake("fused_" + name, cell="fused_attention", edits=edits, about=about, sentence=sentence)


WEIGHTS = "test_weights_equal_the_formula"
SPLIT = "parts = x.reshape(batch, length, self.num_heads, d_head)\n        return parts.transpose(1, 2)"
MERGE = "heads.transpose(1, 2).flatten(2)"
CALL = "_, weights = masked_attention(q, k, v, mask)"
DROP = "heads = self.dropout(weights) @ v"
RETURN = "return self.w_o(merged), weights"
FUSED = [
    fused(
        "split_without_swapping",
        [(SPLIT, "return x.reshape(batch, self.num_heads, length, d_head)")],
        [FORMULA, WEIGHTS],
        "You split with `reshape` alone, so head 0 gets whole tokens. "
        "Split into (batch, length, heads, d_head) first, then swap the axes.",
    ),
    fused(
        "merge_without_swapping",
        [(MERGE, "heads.reshape(query.shape)")],
        [FORMULA],
        "You merged with `reshape` alone, which mixes up the tokens. "
        "Swap the axes back to (batch, length, heads, d_head) first.",
    ),
    fused(
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
    fused(
        "columns_interleaved",
        [
            (
                SPLIT,
                "return x.reshape(batch, length, d_head, self.num_heads).permute(0, 3, 1, 2)",
            )
        ],
        [FORMULA, WEIGHTS],
        "Your head 0 takes every num_heads-th column. It should take the first d_head columns.",
    ),
    fused(
        "split_and_merge_interleaved",
        [
            (
                SPLIT,
                "return x.reshape(batch, length, d_head, self.num_heads).permute(0, 3, 1, 2)",
            ),
            (MERGE, "heads.permute(0, 2, 3, 1).flatten(2)"),
        ],
        [FORMULA, WEIGHTS],
        "You deal the columns out to the heads one by one, both in splitting and in merging. "
        "Head 0 takes the first d_head columns, head 1 the next ones.",
    ),
    fused(
        "merge_interleaved",
        [(MERGE, "heads.permute(0, 2, 3, 1).flatten(2)")],
        [FORMULA],
        "You interleave the columns of the heads when you merge. All columns of head 0 come first.",
    ),
    fused(
        "merge_backwards",
        [(MERGE, "heads.flip(1).transpose(1, 2).flatten(2)")],
        [FORMULA],
        "You merge the heads in reverse order. Head 0 comes first.",
    ),
    fused(
        "heads_averaged",
        [(MERGE, "heads.mean(dim=1).repeat(1, 1, self.num_heads)")],
        [FORMULA],
        "You averaged the heads. Concatenate their outputs.",
    ),
    fused(
        "scale_of_d_model",
        [(CALL, CALL.replace("(q,", "(q / self.num_heads**0.5,"))],
        [FORMULA, WEIGHTS],
        "You divided by the square root of d_model. "
        "Divide by the square root of d_head, the width of one head.",
    ),
    fused(
        "no_scale",
        [(CALL, CALL.replace("(q,", "(q * q.shape[-1] ** 0.5,"))],
        [FORMULA, WEIGHTS],
        "The scores are not divided by the square root of d_head. masked_attention does this for you.",
    ),
    fused(
        "no_output_layer",
        [(RETURN, "return merged, weights")],
        [FORMULA],
        "You returned the merged heads. Apply w_o to them.",
    ),
    fused(
        "queries_and_keys_swapped",
        [("self.w_q(query)", "self.w_k(query)"), ("self.w_k(key)", "self.w_q(key)")],
        [FORMULA, WEIGHTS],
        "`w_q` and `w_k` are swapped: w_q computes the queries, w_k the keys.",
    ),
    fused(
        "keys_from_the_query",
        [("self.w_k(key)", "self.w_k(query)")],
        [FORMULA, WEIGHTS],
        "You compute the keys from `query`. Compute them from `key`.",
    ),
    fused(
        "values_from_the_key",
        [("self.w_v(value)", "self.w_v(key)")],
        [FORMULA],
        "You compute the values from `key`. Compute them from `value`.",
    ),
    fused(
        "values_made_by_w_k",
        [("self.w_v(value)", "self.w_k(value)")],
        [FORMULA],
        "You computed the values with w_k. Use w_v.",
    ),
    fused(
        "values_without_a_layer",
        [("self.w_v(value)", "value")],
        [FORMULA],
        "You used `value` itself as the values. Apply w_v to it.",
    ),
    fused(
        "one_layer_for_queries_and_keys",
        [("self.w_k = nn.Linear(d_model, d_model)", "self.w_k = self.w_q")],
        ["test_everything_learns"],
        "`w_q` and `w_k` are the same layer. Create a separate layer for each.",
    ),
    fused(
        "no_bias",
        [("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, d_model, bias=False)")],
        ["test_everything_learns"],
        "One of your layers has no bias. Each of the four needs one.",
    ),
    fused(
        "residual_inside",
        [(RETURN, "return query + self.w_o(merged), weights")],
        [FORMULA],
        "You added the input to the output. Return only the attention; residual connections come later, "
        "around the module.",
    ),
    fused(
        "mask_ignored",
        [(", mask)  # (batch, heads", ")  # (batch, heads")],
        ["test_mask"],
        "Your module ignores the mask. Pass it to masked_attention.",
    ),
    fused(
        "mask_inverted",
        [("mask.unsqueeze(-3)", "~mask.unsqueeze(-3)")],
        ["test_mask"],
        "You inverted the mask. Here True means that a key may be attended to; only nn.MultiheadAttention "
        "means the opposite.",
    ),
    fused(
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
    fused(
        "mask_axis_from_the_front",
        [("mask.unsqueeze(-3)", "mask.unsqueeze(1)")],
        ["test_mask"],
        "You inserted the axis of the heads as axis 1, which is wrong for a mask without a batch axis. "
        "Count from the end: -3.",
    ),
    fused(
        "mask_without_the_axis",
        [("mask = mask.unsqueeze(-3)  #", "mask = mask.unsqueeze(0) if mask.dim() == 2 else mask  #")],
        ["test_mask"],
        "The axis of the heads is missing from your mask, or at the wrong place, so its batch axis is taken for that of the heads. Insert it as the third from the end.",
    ),
    fused(
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
    fused(
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
    fused(
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
    fused(
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
    fused(
        "weights_averaged",
        [(RETURN, "return self.w_o(merged), weights.mean(dim=1)")],
        [WEIGHTS],
        "You averaged the weights over the heads. Return one matrix per head.",
    ),
    fused(
        "weights_not_returned",
        [(RETURN, "return self.w_o(merged)")],
        [FORMULA],
        "You returned only the output. Return the pair (output, weights).",
    ),
    fused(
        "pair_swapped",
        [(RETURN, "return weights, self.w_o(merged)")],
        [FORMULA],
        "You returned the weights first. The output comes first.",
    ),
    fused(
        "weights_after_dropout",
        [(DROP, "weights = self.dropout(weights)\n        heads = weights @ v")],
        ["test_weights_before_dropout"],
        "You returned the weights after dropout. Return the weights from before it.",
    ),
    fused(
        "no_dropout",
        [("self.dropout(weights) @ v", "weights @ v")],
        ["test_dropout_in_training"],
        "You don't apply dropout in training. Apply it to the weights.",
    ),
    fused(
        "dropout_on_the_output",
        [
            ("self.dropout(weights) @ v", "weights @ v"),
            (RETURN, "return self.dropout(self.w_o(merged)), weights"),
        ],
        ["test_dropout_in_training"],
        "You apply dropout to the output. Apply it to the weights.",
    ),
    fused(
        "dropout_on_the_heads",
        [(DROP, "heads = self.dropout(weights @ v)")],
        ["test_dropout_in_training"],
        "You apply dropout to the heads' outputs. Apply it to the weights, before you multiply them by v.",
    ),
    fused(
        "dropout_in_evaluation",
        [("self.dropout(weights)", "nn.functional.dropout(weights, self.dropout.p)")],
        ["test_no_dropout_otherwise"],
        "Dropout stays on after `eval()`. Use nn.Dropout, or pass `self.training` on.",
    ),
    fused(
        "dropout_always_half",
        [("nn.Dropout(dropout)", "nn.Dropout()")],
        ["test_no_dropout_otherwise", "test_dropout_in_training"],
        "Your dropout always has the probability 0.5. Use the argument `dropout`.",
    ),
    fused(
        "dropout_keeps_what_it_should_drop",
        [("nn.Dropout(dropout)", "nn.Dropout(1 - dropout if dropout else 0.0)")],
        ["test_dropout_in_training"],
        "You used `dropout` as the probability of keeping a weight. It is the probability of dropping it.",
    ),
    fused(
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
    fused(
        "uneven_heads_let_through",
        [("if d_model % num_heads != 0:", "if d_model < num_heads:")],
        ["test_heads_must_share_the_width"],
        "You accept a d_model that isn't divisible by num_heads. Check the remainder with `%`.",
    ),
    fused(
        "assertion_instead",
        [("raise ValueError(", "raise AssertionError(")],
        ["test_heads_must_share_the_width"],
        "You raised an AssertionError. Raise a ValueError.",
    ),
    fused(
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
    fused(
        "no_gradients",
        [(DROP, f"with torch.no_grad():\n            {DROP}")],
        ["test_everything_learns"],
        "You computed under `torch.no_grad()`, so no gradient reaches w_q, w_k and w_v.",
    ),
    fused(
        "weights_detached",
        [("self.dropout(weights) @ v", "self.dropout(weights.detach()) @ v")],
        ["test_everything_learns"],
        "You detached the weights, so no gradient reaches the queries and keys through the output.",
    ),
    fused(
        "float32_inside",
        [(RETURN, "return self.w_o(merged).float().to(query.dtype), weights")],
        ["test_float64_and_inputs_unchanged"],
        "You computed in float32, or converted the result to it. Keep the dtype of the input.",
    ),
    fused(
        "mask_changed",
        [("mask = mask.unsqueeze(-3)", "mask.logical_not_()\n            mask = ~mask.unsqueeze(-3)")],
        ["test_float64_and_inputs_unchanged"],
        "You modified the mask in place. Leave the inputs unchanged.",
    ),
]


# --------------------------------------------------------------------------------------------- exercise 6
def copying(name, edits, about, sentence):
    return Mistake("copy_" + name, cell="copy_heads", edits=edits, about=about, sentence=sentence)


BIAS = "            layer.bias.copy_(torch.cat([part.bias for part in parts]))  # (d_model,)\n"
PARTS = "[getattr(head, name) for head in heads.attn_modules]"
OF_HEADS = "test_weights_of_the_heads"
COPYING = [
    copying(
        "biases_forgotten",
        [(BIAS, "")],
        ["test_biases_of_the_heads"],
        "You didn't copy the biases of q, k and v.",
    ),
    copying(
        "final_layer_forgotten",
        [
            (
                "        fused.w_o.weight.copy_(heads.linear.weight)\n"
                "        fused.w_o.bias.copy_(heads.linear.bias)\n",
                "",
            )
        ],
        ["test_final_layer"],
        "You didn't copy the final layer: `linear` goes into w_o.",
    ),
    copying(
        "final_bias_forgotten",
        [("        fused.w_o.bias.copy_(heads.linear.bias)\n", "")],
        ["test_final_layer"],
        "You didn't copy the bias of the final layer.",
    ),
    copying(
        "final_weight_transposed",
        [("(heads.linear.weight)", "(heads.linear.weight.T)")],
        ["test_final_layer"],
        "You transposed the weight of the final layer. Copy it as it is.",
    ),
    copying(
        "heads_backwards",
        [(PARTS, PARTS.replace("heads.attn_modules", "reversed(heads.attn_modules)"))],
        [OF_HEADS],
        "You copied the heads in reverse order. Head 0 goes into the first rows.",
    ),
    copying(
        "rows_interleaved",
        [
            (
                "torch.cat([part.weight for part in parts])",
                "torch.stack([part.weight for part in parts], dim=1).flatten(0, 1)",
            )
        ],
        [OF_HEADS],
        "The rows of the heads are interleaved. All rows of head 0 come first, then those of head 1.",
    ),
    copying(
        "columns_for_rows",
        [
            (
                "torch.cat([part.weight for part in parts])",
                "torch.cat([part.weight.T for part in parts], dim=1)",
            )
        ],
        [OF_HEADS],
        "You transposed the heads' weights and put them side by side. "
        "A row of the weight produces a column of the result, so stack the rows.",
    ),
    copying(
        "first_head_for_all",
        [(PARTS, "[getattr(heads.attn_modules[0], name) for head in heads.attn_modules]")],
        [OF_HEADS],
        "All heads got the weights of the first one. Copy each head's own weights.",
    ),
    copying(
        "queries_and_keys_swapped",
        [('"q": fused.w_q, "k": fused.w_k', '"k": fused.w_q, "q": fused.w_k')],
        [OF_HEADS],
        "`q` and `k` are swapped: the weights of q go into w_q, those of k into w_k.",
    ),
    copying(
        "values_forgotten",
        [(', "v": fused.w_v', "")],
        [OF_HEADS],
        "You didn't copy the values' layer: v goes into w_v.",
    ),
    copying(
        "final_layer_shared",
        [
            (
                "        fused.w_o.weight.copy_(heads.linear.weight)\n"
                "        fused.w_o.bias.copy_(heads.linear.bias)\n",
                "        fused.w_o = heads.linear\n",
            )
        ],
        ["test_no_shared_memory"],
        "`w_o` is now the same layer as `linear`, so training one changes the other. Copy the numbers.",
    ),
    copying(
        "final_data_shared",
        [("fused.w_o.weight.copy_(heads.linear.weight)", "fused.w_o.weight.data = heads.linear.weight.data")],
        ["test_no_shared_memory"],
        "`.data = ...` makes both layers use the same memory, so training one changes the other. "
        "Copy the numbers.",
    ),
    copying(
        "wrong_direction",
        [
            (
                "fused.w_o.weight.copy_(heads.linear.weight)",
                "heads.linear.weight.copy_(fused.w_o.weight)",
            )
        ],
        ["test_list_unchanged"],
        "You copied the weight of the final layer in the wrong direction, from the fused module to the list.",
    ),
    copying(
        "with_a_copy_of_the_module",
        [("layers = {", "import copy\n\n    fused = copy.deepcopy(fused)\n    layers = {")],
        [OF_HEADS, "test_list_unchanged"],
        "You wrote into a copy of the fused module. Write into the one that is passed in.",
    ),
]

MORE = [
    Mistake(
        "self_relu_on_the_queries",
        cell="self_attention",
        edits=[("queries = self.q(x)", "queries = torch.relu(self.q(x))")],
        about=["test_output_equals_the_formula"],
        sentence="You applied a ReLU to the queries. Use the results of the layers as they are.",
    ),
    Mistake(
        "self_values_added",
        cell="self_attention",
        edits=[("return output", "return output + values")],
        about=["test_output_equals_the_formula"],
        sentence="You added the values to the output. Return only the attention.",
    ),
    Mistake(
        "cross_relu_on_the_queries",
        cell="cross_attention",
        edits=[("queries = self.q(x)", "queries = torch.relu(self.q(x))")],
        about=["test_output_equals_the_formula"],
        sentence="You applied a ReLU to the queries. Use the results of the layers as they are.",
    ),
    Mistake(
        "cross_values_added",
        cell="cross_attention",
        edits=[("return output", "return output + values.mean(dim=1, keepdim=True)")],
        about=["test_output_equals_the_formula"],
        sentence="You added the values to the output. Return only the attention.",
    ),
    Mistake(
        "cross_width_of_x_for_the_keys",
        cell="cross_attention",
        edits=[("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim")],
        about=["test_unequal_widths"],
        sentence="The layer k gets y, so its input width is y_input_dim.",
    ),
    Mistake(
        "self_values_of_key_width_read",
        cell="self_attention",
        edits=[("self.v = nn.Linear(input_dim, output_dim)", "self.v = nn.Linear(key_dim, output_dim)")],
        about=["test_unequal_widths"],
        sentence="The layer v gets x, so its input width is input_dim.",
    ),
    Mistake(
        "gap_summed",
        cell="equivariance_gap",
        edits=[("difference.max()", "difference.sum()")],
        about=["test_module_that_depends_on_the_order"],
        sentence="You added up the differences. Take the largest.",
    ),
    Mistake(
        "gap_norm_of_a_vector",
        cell="equivariance_gap",
        edits=[(".abs()\n    return difference.max()", ".norm(dim=-1)\n    return difference.max()")],
        about=["test_module_that_depends_on_the_order"],
        sentence="You took the length of the difference of whole vectors. Take the largest absolute difference of single numbers.",
    ),
    Mistake(
        "gap_norm_of_everything",
        cell="equivariance_gap",
        edits=[(".abs()\n    return difference.max().item()", "\n    return difference.norm().item()")],
        about=["test_module_that_depends_on_the_order"],
        sentence="You took the norm of all differences together. Take the largest absolute difference.",
    ),
    Mistake(
        "heads_joined_along_the_length",
        cost="It is an error for heads of different widths, and computes another function otherwise.",
        cell="multi_headed_attention",
        edits=[("torch.cat(outputs, dim=-1)", "torch.cat(outputs, dim=1)")],
        about=["test_output_equals_the_formula"],
        sentence="You joined the heads along the length. Put them side by side along the width, the last axis.",
    ),
    Mistake(
        "fused_other_exception",
        cell="fused_attention",
        edits=[("raise ValueError(", "raise AssertionError(")],
        about=["test_heads_must_share_the_width"],
        sentence="A d_model that isn't divisible by num_heads has to raise a ValueError, no other exception.",
    ),
    Mistake(
        "fused_dropout_fixed",
        cell="fused_attention",
        edits=[("nn.Dropout(dropout)", "nn.Dropout(0.1)")],
        about=["test_dropout_in_training"],
        sentence="Your dropout has a fixed probability. Pass `dropout` to nn.Dropout.",
    ),
    Mistake(
        "copy_with_gradients",
        cost="It stops with an error.",
        cell="copy_heads",
        edits=[("    with torch.no_grad():\n        for", "    if True:\n        for")],
        about=["test_weights_of_the_heads"],
        sentence="You copy into parameters without `torch.no_grad()`, which is an error.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 7
SAME_WEIGHTS = "assert torch.allclose(weights, expected, atol=1e-4)"
SAME_OUTPUT = "assert torch.allclose(output, expected @ v, atol=1e-4)"
LAST_ROWS = "[[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()"
LAST_WEIGHTS = "[[0, 0, 0], [0, 2, 2], [0, 4, 0]]]) / 4"


def attention_test(name, edits, about, sentence):
    return Mistake(name, cell="check_masked_attention", edits=edits, about=about, sentence=sentence)


CHECK_MASKED_ATTENTION = [
    attention_test(
        "check_of_shapes",
        [
            (SAME_WEIGHTS, "assert weights.shape == expected.shape"),
            (SAME_OUTPUT, "assert output.shape == (2, 3, 2)"),
        ],
        ["test_direction"],
        "Your check looks only at shapes. Compare the weights and the output with those that you expect.",
    ),
    attention_test(
        "check_of_weights_only",
        [(SAME_OUTPUT, "assert output.shape == (2, 3, 2)")],
        ["test_formula"],
        "Your check compares the weights, but not the output.",
    ),
    attention_test(
        "check_with_zero_queries",
        [
            ("q[:, 0, 0] = 2 * ln3", "q[:, 0, 0] = 0"),
            ("q[:, 1, 0] = -200", "q[:, 1, 0] = 0"),
            ("[[3, 0, 1], [4, 0, 0]", "[[2, 0, 2], [4, 0, 0]"),
            ("[3 / 5, 1 / 5, 1 / 5], [0, 1 / 2, 1 / 2]", "[1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]"),
        ],
        ["test_formula"],
        "In your examples all scores are 0, so the scale has no effect.",
    ),
    attention_test(
        "check_of_hidden_weights_only",
        [
            (SAME_WEIGHTS, "assert name != 'with a mask' or not weights[~mask].any()"),
            (SAME_OUTPUT, "assert torch.allclose(output, weights @ v, atol=1e-4)"),
        ],
        ["test_leaks"],
        "Your check asks whether hidden weights are 0, but not what the others are.",
    ),
    attention_test(
        "check_without_low_scores",
        [
            ("q[:, 1, 0] = -200", "q[:, 1, 0] = 2 * ln3"),
            ("[0, 1 / 2, 1 / 2]", "[3 / 5, 1 / 5, 1 / 5]"),
        ],
        ["test_leaks"],
        "All scores in your check are near 0. Hide keys beside one that may be seen and has a very low score.",
    ),
    attention_test(
        "check_in_which_all_see_something",
        [
            (LAST_ROWS, "[[0, 1, 0], [0, 1, 1], [0, 1, 0]]]).bool()"),
            (LAST_WEIGHTS, "[[0, 4, 0], [0, 2, 2], [0, 4, 0]]]) / 4"),
        ],
        ["test_no_key"],
        "In your check every query sees something. Hide all keys from one.",
    ),
    attention_test(
        "check_lets_nan_pass",
        [
            (SAME_WEIGHTS, "assert torch.allclose(weights.nan_to_num(), expected, atol=1e-4)"),
            (SAME_OUTPUT, "assert torch.allclose(output.nan_to_num(), expected @ v, atol=1e-4)"),
        ],
        ["test_no_key"],
        "Your check turns NaN into 0 before it compares, so it can't notice one.",
    ),
    attention_test(
        "check_with_one_mask_for_all",
        [
            (LAST_ROWS, "[[0, 0, 0], [0, 1, 1], [0, 1, 0]]]).bool()[1:].expand(2, 3, 3)"),
            (LAST_WEIGHTS, "[[0, 0, 0], [0, 2, 2], [0, 4, 0]]])[1:].expand(2, 3, 3) / 4"),
        ],
        ["test_batch"],
        "All sequences of your batch have the same mask. Give them different ones.",
    ),
    attention_test(
        "check_always_with_a_mask",
        [('("without a mask", function(q, k, v), plain),', "")],
        ["test_no_mask"],
        "Your check never leaves the mask out.",
    ),
    attention_test(
        "check_expects_the_opposite_mask",
        [('("with a mask", function(q, k, v, mask)', '("with a mask", function(q, k, v, ~mask)')],
        ["test_direction"],
        "Your check expects that True hides a key, so it rejects right functions. Here True means that it may be seen.",
    ),
    attention_test(
        "check_for_equal_floats",
        [(SAME_WEIGHTS, "assert torch.equal(weights, expected)")],
        ["test_formula"],
        "Your check asks for exact equality, which rejects right functions that round elsewhere. Allow a small difference.",
    ),
]

MISTAKES = [*SELF, *GAP, *CROSS, *HEADS, *FUSED, *COPYING, *MORE, *CHECK_MASKED_ATTENTION]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes another function, and most checks are about the function.": [
            "self_residual_inside",
            "self_softmax_over_queries",
            "self_no_attention",
            "self_output_for_one_token",
            "cross_softmax_over_queries",
            "heads_no_final_layer",
            "heads_averaged",
            "heads_summed",
            "heads_first_head_only",
            "fused_softmax_over_heads",
        ],
        "The exercise is to decide which of the two sequences each layer reads.": [
            "cross_x_and_y_swapped",
            "cross_values_from_x",
            "cross_keys_from_x",
            "cross_only_y",
            "fused_keys_from_the_query",
        ],
        "The exercise is to put the same order in the right two places.": [
            "gap_not_shuffled_after",
            "gap_not_shuffled_before",
            "gap_put_back_the_wrong_way",
            "gap_batch_shuffled",
            "gap_width_shuffled",
        ],
        "Code that calls it can't use such a result.": [
            "self_weights_returned_too",
            "self_weights_in_place_of_output",
            "cross_weights_returned_too",
            "cross_weights_in_place_of_output",
            "fused_weights_not_returned",
            "fused_pair_swapped",
        ],
        "Keys and values are computed from the changed input, so the output is wrong as well.": [
            "self_input_changed",
        ],
        "Nothing is copied where it is needed.": [
            "copy_with_a_copy_of_the_module",
        ],
        "All else is right; it is one property among many.": [
            "fused_no_key_left_is_nan",
            "fused_no_key_left_is_an_average",
            "fused_weights_after_dropout",
            "fused_float32_inside",
            "fused_mask_changed",
        ],
        "It accepts nearly every function.": [
            "check_of_shapes",
        ],
        "A test that rejects right functions is of no use, whatever else it rejects.": [
            "check_expects_the_opposite_mask",
            "check_for_equal_floats",
        ],
    },
)
