"""Other right answers to exercise 5, `causal_attention`."""

from gradekit.checks import Alternatives

right = Alternatives("attention_")

right("tril_mask", "mask = torch.arange(k.shape[2]) <= positions[:, None]")
right.to("mask = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool).tril(diagonal=start)")

right("positions_made_by_hand").source("""
class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_groups, base=10000.0):
        super().__init__()
        self.base = base
        self.num_heads, self.num_groups, self.d_head = num_heads, num_groups, d_model // num_heads
        width = num_groups * self.d_head
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, width, bias=False)
        self.w_k = nn.Linear(d_model, width, bias=False)
        self.w_q = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        if cache is None:
            cache = KVCache()
        batch, length, d_model = x.shape
        before = cache.length
        q = self.w_q(x).view(batch, length, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        k = self.w_k(x).view(batch, length, self.num_groups, self.d_head).permute(0, 2, 1, 3)
        v = self.w_v(x).view(batch, length, self.num_groups, self.d_head).permute(0, 2, 1, 3)
        where = torch.arange(length) + before
        keys, values = cache.append(rotate(k, where, self.base), v)
        mask = make_causal_mask(before + length)[before:]
        output = grouped_attention(rotate(q, where, self.base), keys, values, mask)[0]
        return self.w_o(output.permute(0, 2, 1, 3).reshape(batch, length, d_model))
""")

right("that_asks_for_a_kvcache").source("""
class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_groups, base=10000.0):
        super().__init__()
        self.base = base
        self.d_head = d_model // num_heads
        self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.w_k = nn.Linear(d_model, num_groups * self.d_head, bias=False)
        self.w_v = nn.Linear(d_model, num_groups * self.d_head, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x, cache=None):
        if not isinstance(cache, KVCache):
            cache = KVCache()
        c, length = cache.length, x.shape[1]
        q, k, v = (layer(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2) for layer in (self.w_q, self.w_k, self.w_v))
        places = torch.arange(c, c + length)
        k, v = cache.append(rotate(k, places, base=self.base), v)
        heads, _ = grouped_attention(rotate(q, places, base=self.base), k, v, torch.arange(c + length) <= places[:, None])
        return self.w_o(heads.transpose(1, 2).flatten(2))
""")
