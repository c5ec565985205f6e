"""Other right answers to exercise 5, `score_std`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
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
