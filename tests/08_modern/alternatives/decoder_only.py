"""Other right answers to exercise 6, `decoder_only`."""

from coursekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "model_shared_parameter",
        cell="decoder_only",
        edits=[
            (
                "        self.norm = RMSNorm(d_model)\n        ### END SOLUTION\n\n    def forward(self, ids",
                "        self.norm = RMSNorm(d_model)\n"
                "        self.output = nn.Linear(d_model, vocab_size, bias=False)\n"
                "        self.output.weight = self.embedding.weight\n"
                "        ### END SOLUTION\n\n    def forward(self, ids",
            ),
            ("return self.norm(x) @ self.embedding.weight.T", "return self.output(self.norm(x))"),
        ],
    ),
    Alternative(
        "model_in_other_words",
        cell="decoder_only",
        source="""
class Block(nn.Module):
    def __init__(self, d_model, num_heads, num_groups, d_ff):
        super().__init__()
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.attention = CausalAttention(d_model, num_heads, num_groups)
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        attended = self.attention(self.norm1(x), cache=cache)
        h = x + attended
        return h + self.feed_forward(self.norm2(h))


class DecoderOnly(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_groups, d_ff, num_layers):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(Block(d_model, num_heads, num_groups, d_ff))
        self.norm = RMSNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        with torch.no_grad():
            self.embedding.weight.normal_(0.0, 1 / math.sqrt(d_model))

    def forward(self, ids, caches=None):
        h = F.embedding(ids, self.embedding.weight)
        for i, block in enumerate(self.blocks):
            h = block(h, None if caches is None else caches[i])
        return F.linear(self.norm(h), self.embedding.weight)
""",
    ),
]
