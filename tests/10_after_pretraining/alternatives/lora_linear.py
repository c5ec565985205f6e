"""Other right answers to exercise 3, `LoRALinear`."""

from gradekit.checks import Alternatives

right = Alternatives("lora_")

right("matrices").source("""
class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha):
        if rank < 1:
            raise ValueError(rank)
        super().__init__()
        for parameter in linear.parameters():
            parameter.requires_grad = False
        self.linear, self.rank, self.alpha = linear, rank, alpha
        self.A = nn.Parameter(linear.weight.new_empty(rank, linear.in_features))
        nn.init.normal_(self.A, std=linear.in_features**-0.5)
        self.B = nn.Parameter(linear.weight.new_zeros(linear.out_features, rank))

    def forward(self, x):
        return self.linear(x) + (x @ self.A.T @ self.B.T) * (self.alpha / self.rank)

    def merged(self):
        import copy

        layer = copy.deepcopy(self.linear)
        layer.weight.data += self.alpha / self.rank * (self.B @ self.A).detach()
        return layer
""")

right("einsum").source("""
class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        if not rank >= 1:
            raise ValueError(f"no rank {rank}")
        self.B = nn.Parameter(torch.zeros(linear.weight.shape[0], rank).to(linear.weight.dtype))
        spread = torch.full((rank, linear.weight.shape[1]), linear.weight.shape[1] ** -0.5)
        self.A = nn.Parameter(torch.normal(0.0, spread).to(linear.weight.dtype))
        self.linear = linear
        self.linear.weight.requires_grad_(False)
        if self.linear.bias is not None:
            self.linear.bias.requires_grad_(False)
        self.factor = alpha / rank

    def forward(self, x):
        small = torch.einsum("...i,ri->...r", x * self.factor, self.A)
        return self.linear(x) + torch.einsum("...r,or->...o", small, self.B)

    @torch.no_grad()
    def merged(self):
        d_out, d_in = self.linear.weight.shape
        new = nn.Linear(d_in, d_out, bias=self.linear.bias is not None).to(self.linear.weight.dtype)
        new.weight = nn.Parameter(self.linear.weight + self.factor * self.B @ self.A)
        if new.bias is not None:
            new.bias = nn.Parameter(self.linear.bias.clone())
        return new
""")
