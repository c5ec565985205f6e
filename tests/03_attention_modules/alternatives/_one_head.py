"""Other ways to write the attention of one head."""

ATTEND = "output, _ = masked_attention(queries, keys, values, mask)"
BY_HAND = """scores = queries @ keys.mT / self.k.out_features**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * mask
        output = weights @ values"""
BY_EINSUM = """scores = torch.einsum("bqd,bkd->bqk", queries, keys) * keys.size(-1) ** -0.5
        if mask is not None:
            low = torch.finfo(scores.dtype).min
            scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask == 0, low)
        weights = nn.functional.softmax(scores, dim=2)
        weights = weights if mask is None else weights * mask.any(dim=-1, keepdim=True)
        output = torch.einsum("bqk,bkd->bqd", weights, values)"""


def one_head(right):
    """Other ways to write the attention, for SelfAttention and for CrossAttention."""

    right("by_hand", ATTEND, BY_HAND)
    right("einsum_and_additive_mask", ATTEND, BY_EINSUM)

    right("computed_in_float64", ATTEND)
    right.to(ATTEND.replace("queries, keys, values", "queries.double(), keys.double(), values.double()"))
    right.edit("return output", "return output.to(queries.dtype)")

    right("not_contiguous", "return output", "return output.mT.contiguous().mT")
    right("loop_over_the_batch", ATTEND)
    right.to("""if mask is not None:
            mask = mask.expand(len(queries), queries.shape[1], keys.shape[1])
        rows = []
        for i in range(len(queries)):
            one = None if mask is None else mask[i]
            rows.append(masked_attention(queries[i], keys[i], values[i], one)[0])
        output = torch.stack(rows)""")
