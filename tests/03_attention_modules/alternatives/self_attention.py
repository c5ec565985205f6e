"""Other right answers to exercise 1, `self_attention`."""

from _one_head import one_head

from gradekit.checks import Alternatives

right = Alternatives("self_")

one_head(right)

right("other_initialisation", "        ### END SOLUTION\n\n    def forward")
right.to(
    "        for layer in (self.q, self.k, self.v):\n"
    "            nn.init.xavier_uniform_(layer.weight)\n"
    "            nn.init.zeros_(layer.bias)\n"
    "        ### END SOLUTION\n\n    def forward",
)

right("one_layer_for_all_three").source("""
class SelfAttention(nn.Module):
    def __init__(self, input_dim, key_dim, output_dim):
        super().__init__()
        self.widths = [key_dim, key_dim, output_dim]
        self.qkv = nn.Linear(input_dim, sum(self.widths))

    def forward(self, x, mask=None):
        return masked_attention(*self.qkv(x).split(self.widths, dim=-1), mask=mask)[0]
""")
