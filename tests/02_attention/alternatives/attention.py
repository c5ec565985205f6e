"""Other right answers to exercise 2, `attention`."""

from _formula import SCORES, SOFTMAX, of_the_formula

from gradekit.checks import Alternatives

right = Alternatives()

of_the_formula(right)

right("functional_softmax", SOFTMAX, "F.softmax(scores, -1)")
right("softmax_module", SOFTMAX, "torch.nn.Softmax(dim=-1)(scores)")
right("softmax_from_the_logarithm", SOFTMAX, "torch.log_softmax(scores, dim=-1).exp()")
right("both_scaled_first", SCORES, "scores = torch.matmul(q * d_k**-0.25, (k * d_k**-0.25).mT)")
right("root_as_tensor", "math.sqrt(d_k)", "torch.sqrt(torch.tensor(d_k, dtype=q.dtype))")
right("copies_changed", "d_k = q.shape[-1]", "d_k = q.shape[-1]\n    q = q.clone()\n    q += 0.0")

right("loops").source("""
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
""")

right("batched_product").source("""
def scaled_scores(q, k):
    return torch.bmm(q, k.permute(0, 2, 1)) * (1 / math.sqrt(q.size(-1)))


def attention(q, k, v):
    leading = q.shape[:-2]
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    weights = scaled_scores(q, k).softmax(dim=2)
    output = torch.bmm(weights, v)
    return output.reshape(*leading, *output.shape[1:]), weights.reshape(*leading, *weights.shape[1:])
""")
