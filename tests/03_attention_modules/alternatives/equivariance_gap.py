"""Other right answers to exercise 2, `equivariance_gap`."""

from gradekit.checks import Alternatives

right = Alternatives("gap_")

right("put_back").source("""
def equivariance_gap(module, x, order):
    back = torch.argsort(order)
    with torch.no_grad():
        return float((module(x[:, order])[:, back] - module(x)).abs().max())
""")

right("index_select").source("""
def equivariance_gap(module, x, order):
    first = module(torch.index_select(x, 1, order))
    second = torch.index_select(module(x), 1, order)
    return torch.linalg.vector_norm(first - second, ord=float("inf")).item()
""")

right("matrix").source("""
def equivariance_gap(module, x, order):
    P = torch.eye(len(order), dtype=x.dtype)[order]
    difference = module(P @ x) - P @ module(x)
    return max(difference.max().item(), -difference.min().item())
""")

right("loops").source("""
def equivariance_gap(module, x, order):
    shuffled = x.clone()
    for i, j in enumerate(order.tolist()):
        shuffled[:, i] = x[:, j]
    moved, still = module(shuffled), module(x)
    largest = 0.0
    for i, j in enumerate(order.tolist()):
        largest = max(largest, (moved[:, i] - still[:, j]).abs().max().item())
    return largest
""")
