"""Other right answers to exercise 8, `sorting_transformer`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("sequential").source("""
class SortingTransformer(nn.Module):
    def __init__(self, vocab_size, embed_dim, seq_length, num_layers=2):
        super().__init__()
        self.output = nn.Linear(embed_dim, vocab_size)
        self.norm = nn.LayerNorm(embed_dim)
        layers = [EncoderLayer(embed_dim, 4, embed_dim * 2, 0.0, True) for _ in range(num_layers)]
        self.layers = nn.Sequential(*layers)
        self.embedding = IntegerSequenceEmbedding(vocab_size, embed_dim, seq_length)

    def forward(self, ids):
        return self.output(self.norm(self.layers(self.embedding(ids))))
""")

right("mask_that_hides_nothing")
right.edit("x = layer(x)", "x = layer(x, torch.ones(1, 1, ids.shape[1], dtype=torch.bool))")

right("functional_norm")
right.edit("x = self.norm(x)", "x = F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias)")
