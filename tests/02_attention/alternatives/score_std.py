"""Other right answers to exercise 5, `score_std`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("matrix_products", "(q * k).sum(dim=-1)", "(q[:, None, :] @ k[:, :, None]).flatten()")

right("all_pairs").source("""
def score_std(d_k, scaled):
    scores = torch.randn(2000, d_k) @ torch.randn(2000, d_k).T
    return float(torch.std(scores / d_k**0.5 if scaled else scores))
""")

right("square_root_of_the_variance")
right.edit("scores.std().item()", "math.sqrt(((scores - scores.mean()) ** 2).mean())")

right("list_of_scores").source("""
def score_std(d_k, scaled):
    import statistics

    scores = []
    for _ in range(10_000):
        score = torch.dot(torch.randn(d_k), torch.randn(d_k)).item()
        scores.append(score / math.sqrt(d_k) if scaled else score)
    return statistics.stdev(scores)
""")

right("numpy").source("""
def score_std(d_k, scaled):
    import numpy as np

    generator = np.random.default_rng()
    scores = np.einsum("nd,nd->n", generator.normal(size=(20_000, d_k)), generator.normal(size=(20_000, d_k)))
    return float(np.std(scores / np.sqrt(d_k) if scaled else scores))
""")
