"""Other right answers to exercise 4, `masked_attention`."""

from _formula import of_the_formula

from gradekit.checks import Alternatives

LOWEST = "torch.finfo(scores.dtype).min"
FILL = "scores = scores.masked_fill(~mask, lowest)"
ZERO = "weights = weights.masked_fill(~has_a_key, 0.0)"

shared = Alternatives("masked_")
of_the_formula(shared)

right = Alternatives()

right("minus_infinity", LOWEST, "-torch.inf")

right("minus_infinity_then_nan_to_num", LOWEST, '-float("inf")')
right.edit(ZERO, "weights = torch.nan_to_num(weights, nan=0.0)")

right("minus_1e9", LOWEST, "-1e9")
right("zeroed_by_product", ZERO, "weights = weights * mask")

right("zeroed_by_torch_where")
right.edit(FILL, "scores = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))")
right.edit(ZERO, "weights = torch.where(has_a_key, weights, torch.zeros_like(weights))")

right("additive_minus_1e9", FILL, "scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9")

right("additive_lowest")
right.edit(FILL, "scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, lowest)")

right("additive_minus_infinity_safe", FILL)
right.to("""seen = mask | ~mask.any(dim=-1, keepdim=True)
        scores = scores + torch.log(seen.to(scores.dtype))""")
right("masks_of_0_and_1_too", FILL, "mask = mask != 0\n        scores = scores.masked_fill(mask == 0, -1e9)")
right("mask_expanded_first", FILL)
right.to("mask = mask.expand_as(scores)\n        scores = scores.clone()\n        scores[~mask] = lowest")

right("mask_made_if_missing").source("""
def masked_attention(q, k, v, mask=None):
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    scores = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values) * mask
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    return weights.matmul(v), weights
""")

right("masked_loops").source("""
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
""")

right("plain_attention_without_a_mask")
right.edit("d_k = q.shape[-1]", "if mask is None:\n        return attention(q, k, v)\n    d_k = q.shape[-1]")
