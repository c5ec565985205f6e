"""Other right answers to exercise 6, `decoder_only`."""

from gradekit.checks import Alternatives

right = Alternatives("model_")

right(
    "shared_parameter",
    "        self.norm = RMSNorm(d_model, eps)\n        ### END SOLUTION\n\n    def forward(self, ids",
    "        self.norm = RMSNorm(d_model, eps)\n"
    "        self.output = nn.Linear(d_model, vocab_size, bias=False)\n"
    "        self.output.weight = self.embedding.weight\n"
    "        ### END SOLUTION\n\n    def forward(self, ids",
)
right.edit("return self.norm(x) @ self.embedding.weight.T", "return self.output(self.norm(x))")

right("in_other_words").source("""
class Block(nn.Module):
    def __init__(self, d_model, num_heads, num_groups, d_ff, base=10000.0, eps=1e-6):
        super().__init__()
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.attention = CausalAttention(d_model, num_heads, num_groups, base)
        self.norm1, self.norm2 = RMSNorm(d_model, eps), RMSNorm(d_model, eps)

    def forward(self, x, cache=None):
        attended = self.attention(self.norm1(x), cache=cache)
        h = x + attended
        return h + self.feed_forward(self.norm2(h))


class DecoderOnly(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_groups, d_ff, num_layers, base=10000.0, eps=1e-6):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(Block(d_model, num_heads, num_groups, d_ff, base, eps))
        self.norm = RMSNorm(d_model, eps)
        self.embedding = nn.Embedding(vocab_size, d_model)
        with torch.no_grad():
            self.embedding.weight.normal_(0.0, 1 / math.sqrt(d_model))

    def forward(self, ids, caches=None):
        h = F.embedding(ids, self.embedding.weight)
        for i, block in enumerate(self.blocks):
            h = block(h, None if caches is None else caches[i])
        return F.linear(self.norm(h), self.embedding.weight)
""")

right("that_asks_for_kvcaches").source("""
from typing import Optional
class Block(nn.Module):
    def __init__(self, d_model, num_heads, num_groups, d_ff, base=10000.0, eps=1e-6):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d_model, eps), RMSNorm(d_model, eps)
        self.attention = CausalAttention(d_model, num_heads, num_groups, base)
        self.feed_forward = SwiGLU(d_model, d_ff)
    def forward(self, x, cache: Optional[KVCache] = None):
        h = x + self.attention(self.norm1(x), cache)
        return h + self.feed_forward(self.norm2(h))
class DecoderOnly(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_groups, d_ff, num_layers, base=10000.0, eps=1e-6):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** -0.5)
        self.blocks = nn.ModuleList(Block(d_model, num_heads, num_groups, d_ff, base, eps) for _ in range(num_layers))
        self.norm = RMSNorm(d_model, eps)
    def forward(self, ids, caches=None):
        if caches is not None and not all(isinstance(cache, KVCache) for cache in caches):
            raise TypeError("caches should be a list of KVCache")
        x = self.embedding(ids)
        for block, cache in zip(self.blocks, caches or [None] * len(self.blocks)):
            x = block(x, cache)
        return F.linear(self.norm(x), self.embedding.weight)
""")

right("with_a_variable_rms_norm").source("""
class Block(nn.Module):
    def __init__(self, d_model, num_heads, num_groups, d_ff, base=10000.0, eps=1e-6):
        super().__init__()
        rms_norm = lambda: RMSNorm(d_model, eps)
        self.norm1, self.norm2 = rms_norm(), rms_norm()
        self.attention, self.feed_forward = CausalAttention(d_model, num_heads, num_groups, base), SwiGLU(d_model, d_ff)
    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))
class DecoderOnly(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_groups, d_ff, num_layers, base=10000.0, eps=1e-6):
        super().__init__()
        self.vocab_size, self.d_model = vocab_size, d_model
        self.blocks = nn.ModuleList([Block(d_model, num_heads, num_groups, d_ff, base, eps) for _ in range(num_layers)])
        self.norm = RMSNorm(d_model, eps)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.apply(self.init_weights)
    def init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=self.d_model ** -0.5)
    def forward(self, ids, caches=None):
        x = self.embedding(ids)
        for block, cache in zip(self.blocks, caches if caches is not None else [None for _ in self.blocks]):
            x = block(x, cache)
        return torch.matmul(self.norm(x), self.embedding.weight.transpose(0, 1))
""")

right("whose_blocks_start_as_the_identity").source("""
class Block(nn.Module):
    def __init__(self, d_model, num_heads, num_groups, d_ff, base=10000.0, eps=1e-6):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d_model, eps), RMSNorm(d_model, eps)
        self.attention = CausalAttention(d_model, num_heads, num_groups, base)
        self.feed_forward = SwiGLU(d_model, d_ff)
        nn.init.zeros_(self.attention.w_o.weight)
        nn.init.zeros_(self.feed_forward.w_down.weight)
    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))
class DecoderOnly(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_groups, d_ff, num_layers, base=10000.0, eps=1e-6):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** -0.5)
        self.blocks = nn.ModuleList(Block(d_model, num_heads, num_groups, d_ff, base, eps) for _ in range(num_layers))
        self.norm = RMSNorm(d_model, eps)
    def forward(self, ids, caches=None):
        x = self.embedding(ids)
        for block, cache in zip(self.blocks, caches or [None] * len(self.blocks)):
            x = block(x, cache)
        return F.linear(self.norm(x), self.embedding.weight)
""")
