"""Other right answers to exercise 2, `induction_score`."""

from gradekit.checks import Alternatives

right = Alternatives("induction_")

right("by_diagonal").source("""
def induction_score(weights, period):
    length = weights.size(-1)
    if length - period < 1:
        raise ValueError(f"{length} positions are not enough for a period of {period}")
    return torch.diagonal(weights, 1 - period, -2, -1)[..., 1:].mean(-1)
""")

right("by_loop").source("""
def induction_score(weights, period):
    length = weights.shape[-1]
    total, count = torch.zeros(weights.shape[:-2], dtype=weights.dtype), 0
    for p in range(period, length):
        total = total + weights[..., p, p - period + 1]
        count += 1
    if count == 0:
        raise ValueError(f"length {length}, period {period}: no query counts")
    return total / count
""")

right("by_part").source("""
def induction_score(weights, period):
    n = weights.shape[-1] - period
    if n <= 0:
        raise ValueError("period %d, but length %d" % (period, weights.shape[-1]))
    part = weights[..., period:, 1 : n + 1]
    return part.diagonal(dim1=-2, dim2=-1).sum(dim=-1) / n
""")

right("from_lists").source("""
def induction_score(weights, period):
    length = weights.shape[-1]
    if length <= period:
        raise ValueError(f"length {length} is not more than period {period}")
    def score(table):
        if isinstance(table[0][0], list):
            return [score(part) for part in table]
        return sum(table[q][q - period + 1] for q in range(period, length)) / (length - period)
    return torch.tensor(score(weights.tolist()))
""")

right("with_an_exception_of_its_own").source("""
def induction_score(weights, period):
    length = weights.size(-1)
    class NothingRepeats(ValueError):
        pass
    if length <= period:
        raise NothingRepeats(f"{length} positions are not more than the period of {period}")
    q = torch.arange(length)
    right = (q[:, None] - q[None, :] == period - 1) & (q[:, None] >= period)
    return weights.masked_fill(~right, 0).sum((-1, -2)) / right.sum()
""")

right("without_gradients").source("""
@torch.no_grad()
def induction_score(weights, period):
    length = weights.shape[-1]
    if length <= period:
        raise ValueError(f"length {length} is not more than period {period}")
    queries = torch.arange(period, length)
    return weights[..., queries, queries + 1 - period].mean(-1)
""")
