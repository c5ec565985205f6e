"""Other right answers to exercise 2, `rms_norm`."""

from coursekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "norm_rsqrt",
        cell="rms_norm",
        edits=[
            (
                "self.weight * (x / torch.sqrt(mean_square + self.eps))",
                "x * torch.rsqrt(mean_square + self.eps) * self.weight",
            )
        ],
    ),
    Alternative(
        "norm_in_float32",
        cell="rms_norm",
        source="""
class RMSNorm(torch.nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.width, self.epsilon = width, eps
        self.weight = torch.nn.Parameter(torch.full((width,), 1.0))

    def forward(self, x):
        y = x if x.dtype == torch.float64 else x.float()
        length = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
        y = y / (length**2 / self.width + self.epsilon) ** 0.5
        return (y * self.weight).to(x.dtype)
""",
    ),
]
