"""Other right answers to exercise 4, `masked_attention`."""

from _formula import (
    EINSUM,
    FLOAT64_INSIDE,
    NOT_CONTIGUOUS,
    QUERY_SCALED_FIRST,
    STABLE_SOFTMAX,
    WEIGHTS_DETACHED,
)

from gradekit.checks import Alternative

LOWEST = "torch.finfo(scores.dtype).min"
FILL = "scores = scores.masked_fill(~mask, lowest)"
ZERO = "weights = weights.masked_fill(~has_a_key, 0.0)"

ALTERNATIVES = [
    Alternative("masked_einsum", cell="masked_attention", edits=EINSUM),
    Alternative("masked_stable_softmax_by_hand", cell="masked_attention", edits=STABLE_SOFTMAX),
    Alternative("masked_query_scaled_first", cell="masked_attention", edits=QUERY_SCALED_FIRST),
    Alternative("masked_float64_inside", cell="masked_attention", edits=FLOAT64_INSIDE),
    Alternative("masked_not_contiguous", cell="masked_attention", edits=NOT_CONTIGUOUS),
    Alternative("masked_weights_returned_detached", cell="masked_attention", edits=WEIGHTS_DETACHED),
    Alternative("minus_infinity", cell="masked_attention", edits=[(LOWEST, "-torch.inf")]),
    Alternative(
        "minus_infinity_then_nan_to_num",
        cell="masked_attention",
        edits=[(LOWEST, '-float("inf")'), (ZERO, "weights = torch.nan_to_num(weights, nan=0.0)")],
    ),
    Alternative("minus_1e9", cell="masked_attention", edits=[(LOWEST, "-1e9")]),
    Alternative("zeroed_by_product", cell="masked_attention", edits=[(ZERO, "weights = weights * mask")]),
    Alternative(
        "zeroed_by_torch_where",
        cell="masked_attention",
        edits=[
            (FILL, "scores = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))"),
            (ZERO, "weights = torch.where(has_a_key, weights, torch.zeros_like(weights))"),
        ],
    ),
    Alternative(
        "additive_minus_1e9",
        cell="masked_attention",
        edits=[(FILL, "scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9")],
    ),
    Alternative(
        "additive_lowest",
        cell="masked_attention",
        edits=[
            (FILL, "scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, lowest)")
        ],
    ),
    Alternative(
        "additive_minus_infinity_safe",
        cell="masked_attention",
        edits=[
            (
                FILL,
                "seen = mask | ~mask.any(dim=-1, keepdim=True)\n"
                "        scores = scores + torch.log(seen.to(scores.dtype))",
            ),
        ],
    ),
    Alternative(
        "masks_of_0_and_1_too",
        cell="masked_attention",
        edits=[(FILL, "mask = mask != 0\n        scores = scores.masked_fill(mask == 0, -1e9)")],
    ),
    Alternative(
        "mask_expanded_first",
        cell="masked_attention",
        edits=[
            (
                FILL,
                "mask = mask.expand_as(scores)\n"
                "        scores = scores.clone()\n"
                "        scores[~mask] = lowest",
            )
        ],
    ),
    Alternative(
        "mask_made_if_missing",
        cell="masked_attention",
        source="""
def masked_attention(q, k, v, mask=None):
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    scores = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values) * mask
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    return weights.matmul(v), weights
""",
    ),
    Alternative(
        "masked_loops",
        cell="masked_attention",
        source="""
def masked_attention(q, k, v, mask=None):
    shape = (*q.shape[:-1], k.shape[-2])
    mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    if q.dim() > 2:
        pairs = [masked_attention(*one) for one in zip(q, k, v, mask)]
        return torch.stack([output for output, _ in pairs]), torch.stack([weights for _, weights in pairs])
    rows = []
    for query, visible in zip(q, mask):
        row = torch.zeros(len(k), dtype=q.dtype)
        if visible.any():
            row[visible] = torch.softmax(k[visible] @ query / math.sqrt(len(query)), dim=0)
        rows.append(row)
    weights = torch.stack(rows)
    return weights @ v, weights
""",
    ),
    Alternative(
        "plain_attention_without_a_mask",
        cell="masked_attention",
        edits=[
            (
                "d_k = q.shape[-1]",
                "if mask is None:\n        return attention(q, k, v)\n    d_k = q.shape[-1]",
            )
        ],
    ),
]
