"""Other right answers to exercise 3b, `causal_mask`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
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
