"""Other right answers to exercise 2, `attention`."""

from _formula import (
    EINSUM,
    FLOAT64_INSIDE,
    NOT_CONTIGUOUS,
    QUERY_SCALED_FIRST,
    SCORES,
    SOFTMAX,
    STABLE_SOFTMAX,
    WEIGHTS_DETACHED,
)

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative("einsum", cell="attention", edits=EINSUM),
    Alternative("functional_softmax", cell="attention", edits=[(SOFTMAX, "F.softmax(scores, -1)")]),
    Alternative("softmax_module", cell="attention", edits=[(SOFTMAX, "torch.nn.Softmax(dim=-1)(scores)")]),
    Alternative(
        "softmax_from_the_logarithm",
        cell="attention",
        edits=[(SOFTMAX, "torch.log_softmax(scores, dim=-1).exp()")],
    ),
    Alternative("stable_softmax_by_hand", cell="attention", edits=STABLE_SOFTMAX),
    Alternative("query_scaled_first", cell="attention", edits=QUERY_SCALED_FIRST),
    Alternative(
        "both_scaled_first",
        cell="attention",
        edits=[(SCORES, "scores = torch.matmul(q * d_k**-0.25, (k * d_k**-0.25).mT)")],
    ),
    Alternative(
        "root_as_tensor", cell="attention", edits=[("math.sqrt(d_k)", "torch.sqrt(torch.tensor(d_k))")]
    ),
    Alternative("float64_inside", cell="attention", edits=FLOAT64_INSIDE),
    Alternative("not_contiguous", cell="attention", edits=NOT_CONTIGUOUS),
    Alternative("weights_returned_detached", cell="attention", edits=WEIGHTS_DETACHED),
    Alternative(
        "copies_changed",
        cell="attention",
        edits=[("d_k = q.shape[-1]", "d_k = q.shape[-1]\n    q = q.clone()\n    q += 0.0")],
    ),
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
