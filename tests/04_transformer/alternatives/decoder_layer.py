"""Other right answers to exercise 3, `decoder_layer`."""

from gradekit.checks import Alternatives

right = Alternatives("dl_")

right("sublayers_as_functions").source("""
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)
        self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)
        self.norm3 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.drops = nn.ModuleList([nn.Dropout(dropout) for _ in range(3)])

    def forward(self, y, memory, target_mask=None, memory_mask=None):
        sublayers = [
            lambda t: self.self_attn(t, t, t, target_mask)[0],
            lambda t: self.cross_attn(t, memory, memory, memory_mask)[0],
            self.feed_forward,
        ]
        for sublayer, norm, drop in zip(sublayers, [self.norm1, self.norm2, self.norm3], self.drops):
            y = y + drop(sublayer(norm(y))) if self.norm_first else norm(y + drop(sublayer(y)))
        return y
""")

right("child_of_the_encoder_layer").source("""
class DecoderLayer(EncoderLayer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__(d_model, num_heads, d_ff, dropout, norm_first)
        self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)
        self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        self.pre_norm = norm_first

    def step(self, y, norm, f):
        if self.pre_norm:
            return y + self.drop(f(norm(y)))
        return norm(y + self.drop(f(y)))

    def forward(self, y, memory, target_mask=None, memory_mask=None):
        y = self.step(y, self.norm1, lambda n: self.self_attn(n, n, n, target_mask)[0])
        y = self.step(y, self.norm2, lambda n: self.cross_attn(n, memory, memory, memory_mask)[0])
        return self.step(y, self.norm3, self.feed_forward)
""")

right("started_otherwise", "self.norm_first = norm_first\n")
right.to(
    "self.norm_first = norm_first\n"
    "        for parameter in self.parameters():\n"
    "            if parameter.dim() > 1:\n"
    "                nn.init.xavier_uniform_(parameter)\n",
)
