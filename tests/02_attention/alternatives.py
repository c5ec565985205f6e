"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)"
SOFTMAX = "torch.softmax(scores, dim=-1)"
LOWEST = "torch.finfo(scores.dtype).min"
FILL = "scores = scores.masked_fill(~mask, lowest)"
ZERO = "weights = weights.masked_fill(~has_a_key, 0.0)"


def formula(name, *edits):
    """One alternative way to write the formula, for `attention` and for `masked_attention`."""
    return [
        Alternative(name, cell="attention", edits=edits),
        Alternative(f"masked_{name}", cell="masked_attention", edits=edits),
    ]


BY_HAND = [
    Alternative(
        "by_hand_einsum",
        cell="by_hand",
        edits=[
            ("q @ k.transpose(-2, -1)", 'torch.einsum("bhqd,bhkd->bhqk", q, k)'),
            ("weights @ v", 'torch.einsum("bhqk,bhkd->bhqd", weights, v)'),
        ],
    ),
    Alternative(
        "by_hand_softmax_by_hand",
        cell="by_hand",
        edits=[(SOFTMAX, "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")],
    ),
    Alternative(
        "by_hand_loops",
        cell="by_hand",
        source="""
torch.manual_seed(42)
x = torch.randn(1, 1, 4, 8) * 0.5
q, k, v = x, x, x

scores = torch.zeros(1, 1, 4, 4)
result = torch.zeros(1, 1, 4, 8)
for i in range(4):
    for j in range(4):
        scores[0, 0, i, j] = torch.dot(x[0, 0, i], x[0, 0, j]) / 8**0.5
weights = F.softmax(scores, dim=3)
for i in range(4):
    for j in range(4):
        result[0, 0, i] += weights[0, 0, i, j] * x[0, 0, j]
""",
    ),
]

FORMULA = [
    *formula(
        "einsum",
        ("q @ k.transpose(-2, -1)", 'torch.einsum("...qd,...kd->...qk", q, k)'),
        ("weights @ v", 'torch.einsum("...qk,...kd->...qd", weights, v)'),
    ),
    Alternative("functional_softmax", cell="attention", edits=[(SOFTMAX, "F.softmax(scores, -1)")]),
    Alternative("softmax_module", cell="attention", edits=[(SOFTMAX, "torch.nn.Softmax(dim=-1)(scores)")]),
    Alternative(
        "softmax_from_the_logarithm",
        cell="attention",
        edits=[(SOFTMAX, "torch.log_softmax(scores, dim=-1).exp()")],
    ),
    *formula(
        "stable_softmax_by_hand",
        (
            f"weights = {SOFTMAX}",
            "powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    weights = powers / powers.sum(dim=-1, keepdim=True)",
        ),
    ),
    *formula("query_scaled_first", (SCORES, "scores = (q / d_k**0.5) @ k.mT")),
    Alternative(
        "both_scaled_first",
        cell="attention",
        edits=[(SCORES, "scores = torch.matmul(q * d_k**-0.25, (k * d_k**-0.25).mT)")],
    ),
    Alternative(
        "root_as_tensor", cell="attention", edits=[("math.sqrt(d_k)", "torch.sqrt(torch.tensor(d_k))")]
    ),
    *formula(
        "float64_inside",
        (
            "d_k = q.shape[-1]",
            "dtype, d_k = q.dtype, q.shape[-1]\n    q, k, v = q.double(), k.double(), v.double()",
        ),
        ("return output, weights", "return output.to(dtype), weights.to(dtype)"),
    ),
    *formula("not_contiguous", ("output = weights @ v", "output = (v.mT @ weights.mT).mT")),
    *formula("weights_returned_detached", ("return output, weights", "return output, weights.detach()")),
    Alternative(
        "copies_changed",
        cell="attention",
        edits=[("d_k = q.shape[-1]", "d_k = q.shape[-1]\n    q = q.clone()\n    q += 0.0")],
    ),
]

ATTENTION = [
    Alternative(
        "loops",
        cell="attention",
        source="""
def attention(q, k, v):
    if q.dim() > 2:
        pairs = [attention(*one) for one in zip(q, k, v)]
        return torch.stack([output for output, _ in pairs]), torch.stack([weights for _, weights in pairs])
    rows, weights = [], []
    for query in q:
        row = torch.softmax(torch.stack([(query * key).sum() for key in k]) / math.sqrt(len(query)), dim=0)
        weights.append(row)
        rows.append(sum(share * value for share, value in zip(row, v)))
    return torch.stack(rows), torch.stack(weights)
""",
    ),
    Alternative(
        "batched_product",
        cell="attention",
        source="""
def scaled_scores(q, k):
    return torch.bmm(q, k.permute(0, 2, 1)) * (1 / math.sqrt(q.size(-1)))


def attention(q, k, v):
    leading = q.shape[:-2]
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    weights = scaled_scores(q, k).softmax(dim=2)
    output = torch.bmm(weights, v)
    return output.reshape(*leading, *output.shape[1:]), weights.reshape(*leading, *weights.shape[1:])
""",
    ),
]

MASKED = [
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

MASKS = [
    Alternative(
        "padding_indexed",
        cell="padding_mask",
        source="""
def make_padding_mask(ids, pad_idx=0):
    return ids[:, None, :].ne(pad_idx)
""",
    ),
    Alternative(
        "padding_loops",
        cell="padding_mask",
        source="""
def make_padding_mask(ids, pad_idx=0):
    return torch.tensor([[[token != pad_idx for token in row]] for row in ids.tolist()])
""",
    ),
    Alternative(
        "padding_from_ones",
        cell="padding_mask",
        source="""
def make_padding_mask(ids, pad_idx=0):
    mask = torch.ones(ids.shape[0], 1, ids.shape[1]).bool()
    mask[(ids == pad_idx).unsqueeze(-2)] = False
    return mask
""",
    ),
    Alternative(
        "causal_by_comparison",
        cell="causal_mask",
        source="""
def make_causal_mask(length):
    places = torch.arange(length)
    return places[:, None] >= places
""",
    ),
    Alternative(
        "causal_not_the_future",
        cell="causal_mask",
        source="""
def make_causal_mask(length):
    return torch.triu(torch.ones(length, length), diagonal=1) == 0
""",
    ),
    Alternative(
        "causal_loops",
        cell="causal_mask",
        source="""
def make_causal_mask(length):
    mask = torch.zeros((length, length), dtype=torch.bool)
    for i in range(length):
        mask[i, : i + 1] = True
    return mask
""",
    ),
]

SCORE_STD = [
    Alternative(
        "matrix_products",
        cell="score_std",
        edits=[("(q * k).sum(dim=-1)", "(q[:, None, :] @ k[:, :, None]).flatten()")],
    ),
    Alternative(
        "all_pairs",
        cell="score_std",
        source="""
def score_std(d_k, scaled):
    scores = torch.randn(2000, d_k) @ torch.randn(2000, d_k).T
    return float(torch.std(scores / d_k**0.5 if scaled else scores))
""",
    ),
    Alternative(
        "square_root_of_the_variance",
        cell="score_std",
        edits=[("scores.std().item()", "math.sqrt(((scores - scores.mean()) ** 2).mean())")],
    ),
    Alternative(
        "list_of_scores",
        cell="score_std",
        source="""
def score_std(d_k, scaled):
    import statistics

    torch.manual_seed(0)
    scores = []
    for _ in range(10_000):
        score = torch.dot(torch.randn(d_k), torch.randn(d_k)).item()
        scores.append(score / math.sqrt(d_k) if scaled else score)
    return statistics.stdev(scores)
""",
    ),
    Alternative(
        "numpy",
        cell="score_std",
        source="""
def score_std(d_k, scaled):
    import numpy as np

    generator = np.random.default_rng()
    scores = np.einsum("nd,nd->n", generator.normal(size=(20_000, d_k)), generator.normal(size=(20_000, d_k)))
    return float(np.std(scores / np.sqrt(d_k) if scaled else scores))
""",
    ),
]

CHECK_SOFTMAX = [
    Alternative(
        "by_properties",
        cell="check_softmax",
        source="""
def check_softmax(function):
    generator = torch.Generator().manual_seed(0)
    for size in [(5,), (3, 4), (2, 3, 4)]:
        scores = 3 * torch.randn(size, generator=generator)
        copy = scores.clone()
        found = function(scores)
        assert (scores == copy).all(), "scores overwritten"
        assert (found > 0).all(), "a weight is not positive"
        assert torch.allclose(found.sum(-1), torch.ones(size[:-1])), "rows don't sum to 1"
        ratio = found[..., :1] / found
        assert torch.allclose(ratio.log(), scores[..., :1] - scores, atol=1e-3), "wrong ratio of weights"
        high = function(scores + 1000)
        assert torch.allclose(high, found, atol=1e-3), "large scores"
""",
    ),
    Alternative(
        "returns_whether_it_is_right",
        cell="check_softmax",
        source="""
def check_softmax(function):
    def by_hand(row):
        powers = [math.exp(score - max(row)) for score in row]
        return [power / sum(powers) for power in powers]

    table = [[1.0, -2.0, 0.5], [2000.0, 2001.0, 1999.0]]
    right = torch.tensor([by_hand(row) for row in table])
    given = torch.tensor([table, table])
    single = function(torch.tensor(table[0]))
    found = function(given)
    return (
        bool((given == torch.tensor([table, table])).all())
        and found.shape == (2, 2, 3)
        and bool((found - right).abs().max() < 1e-4)
        and bool((single - right[0]).abs().max() < 1e-4)
    )
""",
    ),
]

ALTERNATIVES = [*BY_HAND, *FORMULA, *ATTENTION, *MASKED, *MASKS, *SCORE_STD, *CHECK_SOFTMAX]
