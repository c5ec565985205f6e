"""Other right answers to exercise 3, `swiglu`."""

from gradekit.checks import Alternatives

right = Alternatives("swiglu_")

right("by_hand", "gate = F.silu(self.w_gate(x))", "gate = self.w_gate(x)")
right.edit("hidden = gate * self.w_up(x)", "hidden = gate * torch.sigmoid(gate) * self.w_up(x)")

right("module_and_start").source("""
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_down = nn.Linear(d_ff, d_model, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.act = nn.SiLU()
        for layer in (self.w_gate, self.w_up, self.w_down):
            nn.init.normal_(layer.weight, std=0.02)

    def forward(self, x):
        return self.w_down(self.w_up(x).mul(self.act(self.w_gate(x))))
""")

right("that_starts_with_zeros").source("""
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_gate, self.w_up = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)
        nn.init.zeros_(self.w_down.weight)  # each block starts as the identity
    def forward(self, x):
        return self.w_down(F.silu(self.w_gate(x)) * self.w_up(x))
""")
