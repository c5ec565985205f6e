"""Other correct answers to this assignment. Each must earn full marks."""

from gradekit.checks import Alternatives

VARIANCE = "(x - mean).square().mean(dim=-1, keepdim=True)"

right = Alternatives(cell="normalized")

right("torch_var", VARIANCE, "x.var(dim=-1, correction=0, keepdim=True)")

right("var_mean_rsqrt").source("""
def normalized(x, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + eps)
""")

right("by_hand").source("""
def normalized(x, eps=1e-5):
    width = x.shape[-1]
    centered = x - x.sum(-1).unsqueeze(-1) / width
    return centered / ((centered**2).sum(-1) / width + eps).unsqueeze(-1) ** 0.5
""")
