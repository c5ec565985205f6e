"""Other ways to write the attention of one head."""

from gradekit.checks import Alternative

ATTEND = "output, _ = masked_attention(queries, keys, values, mask)"
BY_HAND = """scores = queries @ keys.mT / self.k.out_features**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        output = torch.softmax(scores, dim=-1) @ values"""
BY_EINSUM = """scores = torch.einsum("bqd,bkd->bqk", queries, keys) * keys.size(-1) ** -0.5
        if mask is not None:
            scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask == 0, -torch.inf)
        output = torch.einsum("bqk,bkd->bqd", nn.functional.softmax(scores, dim=2), values)"""


def one_head(cell, prefix):
    """Other ways to write the attention, for SelfAttention and for CrossAttention."""
    return [
        Alternative(prefix + "by_hand", cell=cell, edits=[(ATTEND, BY_HAND)]),
        Alternative(prefix + "einsum_and_additive_mask", cell=cell, edits=[(ATTEND, BY_EINSUM)]),
        Alternative(
            prefix + "computed_in_float64",
            cell=cell,
            edits=[
                (
                    ATTEND,
                    ATTEND.replace(
                        "queries, keys, values", "queries.double(), keys.double(), values.double()"
                    ),
                ),
                ("return output", "return output.to(queries.dtype)"),
            ],
        ),
        Alternative(
            prefix + "not_contiguous",
            cell=cell,
            edits=[("return output", "return output.mT.contiguous().mT")],
        ),
        Alternative(
            prefix + "loop_over_the_batch",
            cell=cell,
            edits=[
                (
                    ATTEND,
                    "if mask is not None:\n"
                    "            mask = mask.expand(len(queries), queries.shape[1], keys.shape[1])\n"
                    "        rows = []\n"
                    "        for i in range(len(queries)):\n"
                    "            one = None if mask is None else mask[i]\n"
                    "            rows.append(masked_attention(queries[i], keys[i], values[i], one)[0])\n"
                    "        output = torch.stack(rows)",
                )
            ],
        ),
    ]
