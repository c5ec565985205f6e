"""Other right answers to this assignment. Each must get full marks."""

from gradekit.checks import Alternatives

right = Alternatives("differences_", cell="differences")

right("none", "a.unsqueeze(1) - b.unsqueeze(0)", "a[:, None] - b[None]")
right("broadcast_alone", "b.unsqueeze(0)", "b")
right("added", "a.unsqueeze(1) - b.unsqueeze(0)", "torch.add(a[:, None, :], b, alpha=-1)")
right("repeated").source("""
def differences(a, b):
    return a.repeat_interleave(len(b), dim=0).view(len(a), len(b), -1) - b.expand(len(a), *b.shape)
""")
right("loops").source("""
def differences(a, b):
    result = torch.empty(len(a), len(b), a.shape[1], dtype=a.dtype)
    for i in range(len(a)):
        for j in range(len(b)):
            result[i, j] = a[i] - b[j]
    return result
""")

right = Alternatives("softmax_", cell="stable_softmax")

right("max_values", "x.amax(dim=dim, keepdim=True)", "x.max(dim=dim, keepdim=True).values")
right("logsumexp").source("""
def stable_softmax(x, dim):
    return (x - x.logsumexp(dim, keepdim=True)).exp()
""")
right("transposed").source("""
def stable_softmax(x, dim):
    x = x.transpose(dim, -1)
    powers = (x - x.max(-1)[0].unsqueeze(-1)).exp()
    weights = powers / powers.sum(-1).unsqueeze(-1)
    return weights.transpose(dim, -1)
""")
right("rows_one_by_one").source("""
def stable_softmax(x, dim):
    parts = [torch.exp(part - torch.max(x, dim=dim)[0]) for part in x.unbind(dim)]
    return torch.stack([part / sum(parts) for part in parts], dim=dim)
""")
right("own_name").source("""
def softmax(x, dim):
    e = torch.exp(x - x.detach().amax(dim, True))
    return e.div(e.sum(dim, True))


def stable_softmax(x, dim):
    return softmax(x, dim)
""")

right = Alternatives("mean_", cell="masked_mean")

right("multiplied", "x.masked_fill(~mask.unsqueeze(-1), 0)", "x * mask.unsqueeze(-1)")
right("where", "x.masked_fill(~mask.unsqueeze(-1), 0)", "torch.where(mask[..., None], x, 0)")
right("clone").edit("x.masked_fill(~mask.unsqueeze(-1), 0)", "x.clone()\n    tokens[~mask] = 0")
right("tiny_number", "count.clamp(min=1)", "(count + 1e-9)")
right("products").source("""
def masked_mean(x, mask):
    weights = mask.to(x.dtype)
    total = torch.einsum("bl,bld->bd", weights, x)
    return total / weights.sum(-1).clamp(min=1)[:, None]
""")
right("sentence_by_sentence").source("""
def masked_mean(x, mask):
    result = torch.zeros(x.shape[0], x.shape[2], dtype=x.dtype)
    for i, (row, keep) in enumerate(zip(x, mask)):
        if keep.any():
            result[i] = row[keep].mean(dim=0)
    return result
""")

right = Alternatives("affine_", cell="affine")

right("registered", "self.scale = nn.Parameter(torch.ones(width))")
right.to('self.register_parameter("scale", nn.Parameter(torch.ones(width)))')
right("other_order", "return x * self.scale + self.shift", "return torch.addcmul(self.shift, self.scale, x)")
right("filled").source("""
class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shift = nn.Parameter(torch.empty(width))
        self.scale = nn.Parameter(torch.empty(width))
        nn.init.zeros_(self.shift)
        nn.init.constant_(self.scale, 1.0)

    def forward(self, x):
        out = x.clone()
        out *= self.scale
        return out + self.shift
""")
right("diagonal", "x * self.scale + self.shift", "x @ torch.diag(self.scale) + self.shift")
