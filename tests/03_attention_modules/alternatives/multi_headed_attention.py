"""Other right answers to exercise 4, `multi_headed_attention`."""

from gradekit.checks import Alternatives

right = Alternatives("heads_")

right("loop_with_keyword").source("""
class MultiHeadedAttention(nn.Module):
    def __init__(self, attn_modules, final_output_dim):
        super().__init__()
        self.attn_modules = nn.ModuleList()
        width = 0
        for head in attn_modules:
            self.attn_modules.append(head)
            width += head.v.weight.shape[0]
        self.linear = nn.Linear(width, final_output_dim)

    def forward(self, x, mask=None):
        outputs = []
        for head in self.attn_modules:
            outputs.append(head(x, mask=mask))
        return self.linear(torch.concat(outputs, 2))
""")

right("columns_of_the_final_layer", "outputs = [head(x, mask) for head in self.attn_modules]")
right.to("""first, total = 0, self.linear.bias
        for head in self.attn_modules:
            part = head(x, mask)
            total = total + part @ self.linear.weight[:, first : first + part.shape[-1]].T
            first += part.shape[-1]
        return total
        outputs = []""")

right("linear_first", "        self.attn_modules = nn.ModuleList(attn_modules)\n", "")
right.edit(
    "self.linear = nn.Linear(width, final_output_dim)",
    "self.linear = nn.Linear(width, final_output_dim)\n"
    "        self.attn_modules = nn.ModuleList(list(attn_modules))",
)

right("width_from_output_dim", "head.v.out_features for", "head.output_dim for")
