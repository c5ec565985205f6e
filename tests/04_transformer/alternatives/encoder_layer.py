"""Other right answers to exercise 2, `encoder_layer`."""

from gradekit.checks import Alternatives

right = Alternatives("el_")

right("other_order_of_making", "self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)")
right.to("""self.norm_first, self.dropout = norm_first, nn.Dropout(p=dropout)
        self.norm2, self.norm1 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm([d_model])""")
right.edit("self.norm1 = nn.LayerNorm(d_model)")
right.to("self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)")
right.edit("self.norm2 = nn.LayerNorm(d_model)", "pass")
right.edit("self.dropout = nn.Dropout(dropout)", "pass")
right.edit("self.norm_first = norm_first\n", "pass\n")

right("sublayers_as_functions").source("""
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.dropout1, self.dropout2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def add_and_norm(self, x, sublayer, norm, dropout):
        if self.norm_first:
            return x + dropout(sublayer(norm(x)))
        return norm(x + dropout(sublayer(x)))

    def forward(self, x, mask=None):
        def attend(t):
            output, _ = self.self_attn(query=t, key=t, value=t, mask=mask)
            return output

        x = self.add_and_norm(x, attend, self.norm1, self.dropout1)
        return self.add_and_norm(x, self.feed_forward, self.norm2, self.dropout2)
""")

right("norms_by_hand").source("""
class OwnNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return self.weight * centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5) + self.bias


class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.pre = bool(norm_first)
        self.p = dropout
        self.norm1 = OwnNorm(d_model)
        self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)
        self.norm2 = OwnNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)

    def forward(self, x, mask=None):
        given = self.norm1(x) if self.pre else x
        x = x + F.dropout(self.self_attn(given, given, given, mask)[0], self.p, self.training)
        if not self.pre:
            x = self.norm1(x)
        given = self.norm2(x) if self.pre else x
        x = x + F.dropout(self.feed_forward(given), self.p, self.training)
        return x if self.pre else self.norm2(x)
""")
