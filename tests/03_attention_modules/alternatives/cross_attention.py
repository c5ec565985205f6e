"""Other right answers to exercise 3, `cross_attention`."""

from _one_head import one_head

from gradekit.checks import Alternatives

right = Alternatives("cross_")

one_head(right)

right("other_argument_names_inside").source("""
class CrossAttention(nn.Module):
    def __init__(self, x_input_dim, y_input_dim, key_dim, output_dim):
        super().__init__()
        self.q = nn.Linear(x_input_dim, key_dim)
        self.k = nn.Linear(y_input_dim, key_dim)
        self.v = nn.Linear(y_input_dim, output_dim)
        self.scale = key_dim**-0.5

    def forward(self, x, y, mask=None):
        scores = torch.matmul(self.q(x) * self.scale, self.k(y).permute(0, 2, 1))
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        output = torch.bmm(scores.softmax(-1), self.v(y))
        return output if mask is None else output * mask.any(dim=-1, keepdim=True)
""")
