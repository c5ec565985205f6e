"""Other right answers to exercise 1, `previous_token_score`."""

from gradekit.checks import Alternatives

right = Alternatives("previous_")

right("by_index").source("""
def previous_token_score(weights):
    queries = torch.arange(1, weights.size(-1))
    return weights[..., queries, queries - 1].sum(-1) / len(queries)
""")

right("by_mask").source("""
def previous_token_score(weights):
    length = weights.shape[-1]
    line = torch.diag(torch.ones(length - 1, dtype=weights.dtype), diagonal=-1)
    return (weights * line).sum(dim=(-2, -1)) / (length - 1)
""")

right("by_loop").source("""
def previous_token_score(weights):
    found = [weights[..., query, query - 1] for query in range(1, weights.shape[-2])]
    return torch.stack(found, dim=-1).mean(-1)
""")

right("smaller_table").source("""
def previous_token_score(weights):
    return torch.einsum("...ii->...i", weights[..., 1:, :-1]).mean(dim=-1)
""")

right("from_lists").source("""
def previous_token_score(weights):
    def score(table):
        if isinstance(table[0][0], list):
            return [score(part) for part in table]
        return sum(table[p][p - 1] for p in range(1, len(table))) / (len(table) - 1)
    return torch.tensor(score(weights.tolist()))
""")

right("in_numpy").source("""
import numpy as np
def previous_token_score(weights):
    return torch.as_tensor(np.diagonal(weights.detach().numpy(), offset=-1, axis1=-2, axis2=-1).mean(axis=-1))
""")
