"""Other correct answers to this assignment. Each must earn full marks."""

from gradekit.checks import Alternative

VARIANCE = "(x - mean).square().mean(dim=-1, keepdim=True)"

ALTERNATIVES = [
    Alternative(
        "torch_var",
        cell="normalized",
        edits=[(VARIANCE, "x.var(dim=-1, correction=0, keepdim=True)")],
    ),
    Alternative(
        "var_mean_rsqrt",
        cell="normalized",
        source="""
def normalized(x, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + eps)
""",
    ),
    Alternative(
        "by_hand",
        cell="normalized",
        source="""
def normalized(x, eps=1e-5):
    width = x.shape[-1]
    centered = x - x.sum(-1).unsqueeze(-1) / width
    return centered / ((centered**2).sum(-1) / width + eps).unsqueeze(-1) ** 0.5
""",
    ),
]
