"""Other right answers to this assignment. Each must get full marks."""

from gradekit.checks import Alternatives

right = Alternatives(cell="positional_encoder")

right("not_persistent", "pe.unsqueeze(0))", "pe.unsqueeze(0), persistent=False)")
right("exp_and_log", "position / 10000 ** (even / d_model)")
right.to("position * torch.exp(even * (-math.log(10000.0) / d_model))")

right("power_of_the_inverse")
right.edit("position / 10000 ** (even / d_model)", "position * torch.pow(10000, -even / d_model)")

right("float64_inside", "torch.arange(max_seq_len)", "torch.arange(max_seq_len, dtype=torch.float64)")

right("other_order", "return x + self.pe[:, :length]", "return torch.add(self.pe.narrow(1, 0, length), x)")
right.edit("math.sqrt(self.d_model)", "self.d_model**0.5")

right("root_as_a_tensor", "math.sqrt(self.d_model)", "torch.sqrt(torch.tensor(self.d_model))")

right("loops").source("""
class PositionalEncoder(nn.Module):
    def __init__(self, d_model, max_seq_len=80):
        super().__init__()
        if d_model % 2:
            raise ValueError("d_model is odd: %d" % d_model)
        rows = []
        for t in range(max_seq_len):
            row = []
            for i in range(d_model // 2):
                angle = t / 10000 ** (2 * i / d_model)
                row += [math.sin(angle), math.cos(angle)]
            rows.append(row)
        self.d_model, self.max_seq_len = d_model, max_seq_len
        self.register_buffer("pe", torch.tensor(rows).view(1, max_seq_len, d_model))

    def forward(self, x):
        batch, length, width = x.shape
        if length > self.max_seq_len:
            raise ValueError(f"{length} > {self.max_seq_len}")
        output = x.clone()
        output *= math.sqrt(width)
        output += self.pe[:, :length]
        return output
""")

right("own_function").source("""
def codes(length, d_model):
    angle = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(0, d_model, 2) / d_model))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


class PositionalEncoder(nn.Module):
    def __init__(self, d_model, max_seq_len=80):
        super().__init__()
        if d_model % 2 == 1:
            raise ValueError(f"odd width {d_model}")
        self.max_seq_len = max_seq_len
        self.register_buffer("pe", codes(max_seq_len, d_model)[None])

    def forward(self, x):
        length = x.shape[1]
        if length > self.max_seq_len:
            raise ValueError(f"{length} positions, but at most {self.max_seq_len}")
        return x * x.shape[2] ** 0.5 + self.pe[0, :length].to(x)
""")

right("own_types_of_exception").source("""
class OddWidth(ValueError):
    pass
class TooLong(ValueError):
    pass
class PositionalEncoder(nn.Module):
    def __init__(self, d_model: int, max_seq_len: int = 80):
        if d_model & 1:
            raise OddWidth(f"{d_model=} must be even")
        super().__init__()
        t = torch.arange(max_seq_len, dtype=torch.float64)
        w = torch.logspace(0, -4 * (d_model - 2) / d_model, d_model // 2, dtype=torch.float64)
        turning = torch.polar(torch.ones(1, dtype=torch.float64), torch.outer(t, w))
        both = torch.view_as_real(turning).flip(-1)
        self.register_buffer("pe", both.flatten(1).float().unsqueeze(0), persistent=False)
        self.register_buffer("root", torch.tensor(float(d_model)).sqrt())
    def forward(self, x):
        have, need = self.pe.shape[1], x.shape[1]
        if need > have:
            raise TooLong(f"length {need}, table {have}")
        return torch.addcmul(self.pe.narrow(1, 0, need), x, self.root)
""")

right = Alternatives(cell="encoding_curves")

right("zeros_through_the_encoder", "encoder.pe[0]", "encoder(torch.zeros_like(encoder.pe))[0]")

right("stacked_rows", "curves = table[:, columns]", "curves = [table[:, column] for column in columns]")
right.edit("return curves.T", "return torch.stack(curves)")

right("numpy_array", "return curves.T", "return curves.T.numpy()")

right("index_select", "table[:, columns]", "torch.index_select(table, 1, torch.tensor(columns))")
right.edit("return curves.T", "return curves.transpose(0, 1).contiguous()")

right = Alternatives(cell="shift_matrix")

right("loop_over_pairs").source("""
def shift_matrix(offset, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        a = offset / 10000 ** (i / d_model)
        M[i : i + 2, i : i + 2] = torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
    return M
""")

right("block_diagonal").source("""
def shift_matrix(offset, d_model):
    angle = offset * torch.exp(-math.log(10000) * torch.arange(0, d_model, 2) / d_model)
    sin, cos = angle.sin(), angle.cos()
    blocks = torch.stack([torch.stack([cos, sin], dim=-1), torch.stack([-sin, cos], dim=-1)], dim=-2)
    return torch.block_diag(*blocks)
""")

right("float64_matrix", "torch.arange(0, d_model, 2)", "torch.arange(0, d_model, 2, dtype=torch.float64)")
right.edit("    odd = even + 1\n", "")
right.edit(
    "    matrix = torch.zeros(d_model, d_model)",
    """    even = even.long()
    odd = even + 1
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)""",
)

right("matrix_exponential").source("""
def shift_matrix(offset, d_model):
    speed = torch.zeros(d_model - 1, dtype=torch.float64)
    speed[0::2] = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    generator = torch.diag(speed, 1) - torch.diag(speed, -1)
    return torch.linalg.matrix_exp(offset * generator).float()
""")

right("cosines_of_shifted_angles")
right.edit("torch.sin(angle)\n    matrix[odd, even]", "torch.cos(angle - math.pi / 2)\n    matrix[odd, even]")
right.edit("-torch.sin(angle)", "torch.cos(angle + math.pi / 2)")

right = Alternatives(cell="integer_sequence_embedding")

right("parameters").source("""
class IntegerSequenceEmbedding(nn.Module):
    def __init__(self, vocab_size, embed_dim, seq_length):
        super().__init__()
        self.pos = nn.Parameter(0.02 * torch.randn(1, seq_length, embed_dim))
        self.tok = nn.Parameter(torch.randn(vocab_size, embed_dim))

    def forward(self, ids):
        if ids.shape[1] > self.pos.shape[1]:
            raise ValueError(f"{ids.shape[1]} is more than {self.pos.shape[1]}")
        return self.tok[ids] + self.pos[:, : ids.shape[1]]
""")

right("one_hot_times_a_table").source("""
class IntegerSequenceEmbedding(nn.Module):
    def __init__(self, vocab_size, embed_dim, seq_length):
        super().__init__()
        self.vocab_size, self.seq_length = vocab_size, seq_length
        self.embed = nn.Linear(vocab_size, embed_dim, bias=False)
        self.positions = nn.Embedding(seq_length, embed_dim)

    def forward(self, ids):
        batch, length = ids.shape
        if length > self.seq_length:
            raise ValueError(f"the length {length} exceeds {self.seq_length}")
        one_hot = nn.functional.one_hot(ids, self.vocab_size).to(self.embed.weight.dtype)
        return self.embed(one_hot) + self.positions(torch.arange(length).expand(batch, length))
""")

right("numbers_kept_as_a_buffer", "self.token =")
right.to('self.register_buffer("numbers", torch.arange(seq_length)[None])\n        self.token =')
right.edit("torch.arange(length, device=ids.device)", "self.numbers[:, :length]")

right("sparse_gradients").source("""
class IntegerSequenceEmbedding(nn.Module):
    def __init__(self, vocab_size, embed_dim, seq_length):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, embed_dim, sparse=True)
        self.order = nn.Embedding(seq_length, embed_dim, sparse=True)
    def forward(self, ids):
        if ids.shape[1] > self.order.num_embeddings:
            raise ValueError(f"{ids.shape[1]}/{self.order.num_embeddings}")
        return self.tokens(ids) + self.order(torch.arange(ids.shape[1]))
""")
