"""Other right answers to exercise 2, `rms_norm`."""

from gradekit.checks import Alternatives

right = Alternatives("norm_")

right("rsqrt", "self.weight * (x / torch.sqrt(mean_square + self.eps))")
right.to("x * torch.rsqrt(mean_square + self.eps) * self.weight")

right("in_float32").source("""
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
""")

right("as_in_llama").source("""
class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.variance_epsilon = eps
    def forward(self, x):
        dtype = x.dtype
        h = x.to(torch.float32)
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * h.to(dtype)
""")

right("with_a_method_rms_norm").source("""
class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps
    def rms_norm(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
    def forward(self, x):
        return self.rms_norm(x) * self.weight
""")

right("with_an_argument_rms_norm").source("""
def _apply(x, weight, eps, rms_norm):
    return weight * rms_norm(x, eps)
class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps
    def forward(self, x):
        return _apply(x, self.weight, self.eps, lambda y, eps: y / (y.pow(2).mean(-1, keepdim=True) + eps).sqrt())
""")
