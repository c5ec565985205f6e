"""Wrong answers to 03_attention_modules, written from the text of its exercises."""

from answers import Unseen


def wrong(name: str, cell: str, *edits: tuple[str, str], fault: str) -> Unseen:
    return Unseen(name, cell, edits, fault=fault)


SELF, CROSS, MULTI, FUSED = "self_attention", "cross_attention", "multi_headed_attention", "fused_attention"
GAP, COPY = "equivariance_gap", "copy_heads"
UNSEEN = [
    wrong(
        "self_relu_queries",
        SELF,
        ("queries = self.q(x)", "queries = torch.relu(self.q(x))"),
        fault="ReLU on queries",
    ),
    wrong(
        "self_no_bias",
        SELF,
        ("self.k = nn.Linear(input_dim, key_dim)", "self.k = nn.Linear(input_dim, key_dim, bias=False)"),
        fault="no bias in k",
    ),
    wrong(
        "self_relu_values",
        SELF,
        ("values = self.v(x)", "values = torch.relu(self.v(x))"),
        fault="ReLU on values",
    ),
    wrong(
        "self_mask_inverted",
        SELF,
        ("keys, values, mask)", "keys, values, None if mask is None else ~mask)"),
        fault="mask inverted",
    ),
    wrong("self_weights", SELF, ("output, _ =", "_, output ="), fault="returns the weights"),
    wrong("self_one_layer", SELF, ("keys = self.k(x)", "keys = self.q(x)"), fault="keys from the layer q"),
    wrong(
        "self_mean",
        SELF,
        ("return output\n", "return output.mean(1, keepdim=True).expand_as(output)\n"),
        fault="all positions get the mean",
    ),
    wrong(
        "self_tanh", SELF, ("return output\n", "return torch.tanh(output)\n"), fault="tanh after attention"
    ),
    wrong(
        "self_square_values",
        SELF,
        ("self.v = nn.Linear(input_dim, output_dim)", "self.v = nn.Linear(input_dim, key_dim)"),
        fault="values have key_dim",
    ),
    wrong(
        "self_mask_left_out",
        SELF,
        ("keys, values, mask)", "keys, values)"),
        fault="mask not passed on",
    ),
    wrong("gap_mean", GAP, ("difference.max()", "difference.mean()"), fault="mean"),
    wrong("gap_signed", GAP, (".abs()", ""), fault="no absolute value"),
    wrong(
        "gap_inverse",
        GAP,
        ("module(x)[:, order]", "module(x)[:, order.argsort()]"),
        fault="the inverse order",
    ),
    wrong(
        "gap_first_token",
        GAP,
        ("difference.max()", "difference[:, 0].max()"),
        fault="only the first token",
    ),
    wrong(
        "gap_first_of_batch",
        GAP,
        ("difference.max()", "difference[0].max()"),
        fault="only the first of the batch",
    ),
    wrong("gap_squares", GAP, (".abs()", ".square()"), fault="squares"),
    wrong("gap_no_shuffle", GAP, ("module(x)[:, order]", "module(x)"), fault="second result not shuffled"),
    wrong("gap_sum", GAP, ("difference.max()", "difference.sum()"), fault="sum"),
    wrong(
        "cross_truncated",
        CROSS,
        ("queries = self.q(x)", "y = y[:, : x.shape[1]]\n        queries = self.q(x)"),
        fault="tokens of y beyond the length of x are dropped",
    ),
    wrong(
        "cross_mask_transposed",
        CROSS,
        ("keys, values, mask)", "keys, values, None if mask is None else mask.mT)"),
        fault="mask transposed",
    ),
    wrong("cross_keys_as_values", CROSS, ("values = self.v(y)", "values = self.k(y)"), fault="values from k"),
    wrong(
        "cross_swapped",
        CROSS,
        ("self.q(x)", "self.q(y)"),
        ("self.k(y)", "self.k(x)"),
        ("self.v(y)", "self.v(x)"),
        fault="x and y exchanged",
    ),
    wrong(
        "cross_residual",
        CROSS,
        ("return output\n", "return output + queries.mean()\n"),
        fault="mean of the queries added",
    ),
    wrong(
        "multi_reversed",
        MULTI,
        ("torch.cat(outputs, dim=-1)", "torch.cat(outputs[::-1], dim=-1)"),
        fault="heads in reverse order",
    ),
    wrong(
        "multi_no_bias",
        MULTI,
        ("nn.Linear(width, final_output_dim)", "nn.Linear(width, final_output_dim, bias=False)"),
        fault="no bias",
    ),
    wrong(
        "multi_mask_first_head",
        MULTI,
        (
            "[head(x, mask) for head in self.attn_modules]",
            "[head(x, mask if i == 0 else None) for i, head in enumerate(self.attn_modules)]",
        ),
        fault="only the first head gets the mask",
    ),
    wrong(
        "multi_one_head",
        MULTI,
        (
            "[head(x, mask) for head in self.attn_modules]",
            "[self.attn_modules[0](x, mask) for _ in self.attn_modules]",
        ),
        fault="the first head is used for all",
    ),
    wrong(
        "multi_scaled",
        MULTI,
        ("self.linear(side_by_side)", "self.linear(side_by_side / len(outputs))"),
        fault="divided by the number of heads",
    ),
    wrong(
        "multi_relu",
        MULTI,
        ("self.linear(side_by_side)", "self.linear(torch.relu(side_by_side))"),
        fault="ReLU before the linear layer",
    ),
    wrong(
        "fused_wrong_split",
        FUSED,
        (
            "parts = x.reshape(batch, length, self.num_heads, d_head)",
            "return x.reshape(batch, self.num_heads, length, d_head)",
        ),
        ("return parts.transpose(1, 2)", ""),
        fault="reshaped without transposing",
    ),
    wrong(
        "fused_wrong_merge",
        FUSED,
        ("heads.transpose(1, 2).flatten(2)", "heads.reshape(query.shape)"),
        fault="merged without transposing",
    ),
    wrong(
        "fused_dropout_on_output",
        FUSED,
        ("self.dropout(weights) @ v", "weights @ v"),
        ("return self.w_o(merged), weights", "return self.dropout(self.w_o(merged)), weights"),
        fault="dropout on the output",
    ),
    wrong(
        "fused_w_k_for_values",
        FUSED,
        ("self.split(self.w_v(value))", "self.split(self.w_k(value))"),
        fault="w_k used for values",
    ),
    wrong(
        "fused_interleaved",
        FUSED,
        (
            "parts = x.reshape(batch, length, self.num_heads, d_head)",
            "return x.reshape(batch, length, d_head, self.num_heads).permute(0, 3, 1, 2)",
        ),
        ("return parts.transpose(1, 2)", ""),
        fault="heads take every h-th column",
    ),
    wrong(
        "fused_mean_weights",
        FUSED,
        ("return self.w_o(merged), weights", "return self.w_o(merged), weights.mean(1)"),
        fault="weights averaged over the heads",
    ),
    wrong(
        "fused_scale_d_model",
        FUSED,
        ("masked_attention(q, k, v, mask)", "masked_attention(q / self.num_heads**0.5, k, v, mask)"),
        fault="root of d_model",
    ),
    wrong(
        "fused_assert",
        FUSED,
        (
            "raise ValueError(\n                f\"{num_heads} heads can't share a width of {d_model}: "
            'it must be a multiple of num_heads"\n            )',
            "raise ValueError('the width must be a multiple')",
        ),
        fault="the message names no number",
    ),
    wrong(
        "fused_mask_in_front",
        FUSED,
        ("mask.unsqueeze(-3)", "mask.unsqueeze(0)"),
        fault="axis of the heads in front",
    ),
    wrong(
        "fused_residual",
        FUSED,
        ("return self.w_o(merged), weights", "return self.w_o(merged) + query, weights"),
        fault="query added to the output",
    ),
    wrong(
        "fused_no_w_o",
        FUSED,
        ("return self.w_o(merged), weights", "return merged, weights"),
        fault="w_o not used",
    ),
    wrong(
        "copy_no_bias",
        COPY,
        ("layer.bias.copy_(torch.cat([part.bias for part in parts]))", "pass"),
        fault="no bias",
    ),
    wrong(
        "copy_reversed",
        COPY,
        ("for head in heads.attn_modules]", "for head in list(heads.attn_modules)[::-1]]"),
        fault="heads in reverse order",
    ),
    wrong(
        "copy_transposed",
        COPY,
        ("torch.cat([part.weight for part in parts])", "torch.cat([part.weight for part in parts]).T"),
        fault="weights transposed",
    ),
    wrong(
        "copy_shared",
        COPY,
        ("fused.w_o.weight.copy_(heads.linear.weight)", "fused.w_o = heads.linear"),
        ("fused.w_o.bias.copy_(heads.linear.bias)", "pass"),
        fault="shares the last layer",
    ),
    wrong(
        "copy_q_twice",
        COPY,
        ('"k": fused.w_k', '"q ".strip() + "": fused.w_k'),
        fault="only one of q and k is copied",
    ),
    wrong(
        "copy_no_w_o_bias",
        COPY,
        ("fused.w_o.bias.copy_(heads.linear.bias)", "pass"),
        fault="bias of w_o not copied",
    ),
]
