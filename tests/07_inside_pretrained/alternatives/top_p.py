"""Other right answers to exercise 3b, `keep_top_p`."""

from gradekit.checks import Alternatives

right = Alternatives("top_p_")

right("row_by_row").source("""
def keep_top_p(probabilities, top_p):
    result = torch.zeros_like(probabilities)
    for row in range(len(probabilities)):
        total = 0
        for token in torch.argsort(probabilities[row], descending=True):
            result[row, token] = probabilities[row, token]
            total = total + probabilities[row, token]
            if total >= top_p:
                break
        result[row] /= result[row].sum()
    return result
""")

right("mask_of_what_is_dropped").source("""
def keep_top_p(probabilities, top_p):
    values, places = torch.sort(probabilities, dim=-1, descending=True)
    drop = torch.cumsum(values, dim=-1) >= top_p
    drop[:, 1:] = drop[:, :-1].clone()
    drop[:, 0] = False
    drop = torch.zeros_like(drop).scatter(1, places, drop)
    kept = probabilities.masked_fill(drop, 0.0)
    return kept / kept.sum(1, keepdim=True)
""")

right("back_by_a_second_sort").source("""
def keep_top_p(probabilities, top_p):
    order = (-probabilities).argsort(dim=-1)
    shares = torch.gather(probabilities, -1, order)
    before = F.pad(shares.cumsum(-1)[:, :-1], (1, 0))
    shares = torch.where(before < top_p, shares, torch.zeros_like(shares))
    shares = shares / shares.sum(-1, keepdim=True)
    return shares.gather(-1, order.argsort(dim=-1))
""")

right("threshold").source("""
def keep_top_p(probabilities, top_p):
    ordered = probabilities.sort(dim=-1, descending=True).values
    count = ((ordered.cumsum(dim=-1) - ordered) < top_p).sum(dim=-1, keepdim=True)
    smallest = ordered.gather(-1, count - 1)
    kept = probabilities * (probabilities >= smallest)
    return kept / kept.sum(dim=-1, keepdim=True)
""")
