"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

ROTATE = [
    Alternative(
        "rotate_complex",
        cell="rotate",
        source="""
def rotate(x, positions, base=10000.0):
    width = x.size(-1)
    if width % 2:
        raise ValueError(f"odd width: {width}")
    angles = torch.outer(positions.double(), 1 / base ** (torch.arange(0, width, 2).double() / width))
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)
""",
    ),
    Alternative(
        "rotate_half_of_pairs",
        cell="rotate",
        source="""
def rotate(x, positions, base=10000.0):
    *_, width = x.shape
    if width % 2 == 1:
        raise ValueError("the width must be even: %d" % width)
    freqs = torch.exp(torch.arange(0, width, 2).float() * (-math.log(base) / width))
    angle = (positions.float().unsqueeze(1) * freqs.unsqueeze(0)).repeat_interleave(2, dim=-1)
    other = torch.empty_like(x)
    other[..., 0::2], other[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return (x * torch.cos(angle) + other * torch.sin(angle)).to(x.dtype)
""",
    ),
    Alternative(
        "rotate_by_matrices",
        cell="rotate",
        source="""
def rotate(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2 != 0:
        raise ValueError(f"the width is {width}, but it must be even")
    rows = []
    for row, position in enumerate(positions.tolist()):
        matrix = torch.zeros(width, width)
        for i in range(width // 2):
            a = position / base ** (2 * i / width)
            block = torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
            matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
        rows.append(x[..., row, :] @ matrix.T.to(x.dtype))
    return torch.stack(rows, dim=-2)
""",
    ),
]

NORM = [
    Alternative(
        "norm_rsqrt",
        cell="rms_norm",
        edits=[
            (
                "self.weight * (x / torch.sqrt(mean_square + self.eps))",
                "x * torch.rsqrt(mean_square + self.eps) * self.weight",
            )
        ],
    ),
    Alternative(
        "norm_in_float32",
        cell="rms_norm",
        source="""
class RMSNorm(torch.nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.width, self.epsilon = width, eps
        self.weight = torch.nn.Parameter(torch.full((width,), 1.0))

    def forward(self, x):
        y = x if x.dtype == torch.float64 else x.float()
        length = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
        y = y / (length**2 / self.width + self.epsilon) ** 0.5
        return (y * self.weight).to(x.dtype)
""",
    ),
]

SWIGLU = [
    Alternative(
        "swiglu_by_hand",
        cell="swiglu",
        edits=[
            ("gate = F.silu(self.w_gate(x))", "gate = self.w_gate(x)"),
            ("hidden = gate * self.w_up(x)", "hidden = gate / (1 + torch.exp(-gate)) * self.w_up(x)"),
        ],
    ),
    Alternative(
        "swiglu_module_and_start",
        cell="swiglu",
        source="""
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_down = nn.Linear(d_ff, d_model, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.act = nn.SiLU()
        for layer in (self.w_gate, self.w_up, self.w_down):
            nn.init.normal_(layer.weight, std=0.02)

    def forward(self, x):
        return self.w_down(self.w_up(x).mul(self.act(self.w_gate(x))))
""",
    ),
]

GROUPED = [
    Alternative(
        "grouped_one_more_axis",
        cell="grouped_attention",
        source="""
def grouped_attention(q, k, v, mask=None):
    batch, heads, length, d_head = q.shape
    groups = k.shape[1]
    if heads % groups:
        raise ValueError(f"{heads} heads, {groups} groups")
    q = q.reshape(batch, groups, heads // groups, length, d_head)
    scores = torch.einsum("bgsqd,bgkd->bgsqk", q, k) / math.sqrt(d_head)
    scores = scores.flatten(1, 2)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    output = torch.einsum("bgsqk,bgkd->bgsqd", weights.unflatten(1, (groups, -1)), v)
    return output.flatten(1, 2), weights
""",
    ),
    Alternative(
        "grouped_by_expand",
        cell="grouped_attention",
        source="""
def grouped_attention(q, k, v, mask=None):
    heads, groups = q.size(1), k.size(1)
    if heads != groups * (heads // groups):
        raise ValueError("can't share {} heads among {} groups".format(heads, groups))

    def copies(x):
        return x.unsqueeze(2).expand(-1, -1, heads // groups, -1, -1).reshape(x.size(0), heads, *x.shape[2:])

    return masked_attention(q, copies(k), copies(v), mask)
""",
    ),
    Alternative(
        "grouped_head_by_head",
        cell="grouped_attention",
        source="""
def grouped_attention(q, k, v, mask=None):
    heads, groups = q.shape[1], k.shape[1]
    if heads % groups > 0:
        raise ValueError(f"{heads} is not a multiple of {groups}")
    if mask is not None:
        mask = mask.expand(q.shape[0], heads, q.shape[2], k.shape[2])
    parts = []
    for head in range(heads):
        group = head * groups // heads
        own = None if mask is None else mask[:, head]
        parts.append(masked_attention(q[:, head], k[:, group], v[:, group], own))
    return torch.stack([part[0] for part in parts], dim=1), torch.stack([part[1] for part in parts], dim=1)
""",
    ),
]

ATTENTION = [
    Alternative(
        "attention_tril_mask",
        cell="causal_attention",
        edits=[
            (
                "mask = torch.arange(k.shape[2]) <= positions[:, None]",
                "mask = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool).tril(diagonal=start)",
            )
        ],
    ),
    Alternative(
        "attention_positions_made_by_hand",
        cell="causal_attention",
        source="""
class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_groups):
        super().__init__()
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
        keys, values = cache.append(rotate(k, where), v)
        mask = make_causal_mask(before + length)[before:]
        output = grouped_attention(rotate(q, where), keys, values, mask)[0]
        return self.w_o(output.permute(0, 2, 1, 3).reshape(batch, length, d_model))
""",
    ),
]

MODEL = [
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

GENERATE = [
    Alternative(
        "generate_list_of_columns",
        cell="generate",
        source="""
@torch.no_grad()
def generate(model, ids, new_tokens):
    model.train(False)
    caches = new_caches(model)
    columns = [ids]
    while len(columns) <= new_tokens:
        logits = model(columns[-1], caches)
        columns.append(logits[:, -1:].argmax(-1))
    return torch.cat(columns, dim=-1)
""",
    ),
    Alternative(
        "generate_into_a_table",
        cell="generate",
        source="""
def generate(model, ids, new_tokens):
    model = model.eval()
    caches = [KVCache() for _ in model.blocks]
    length = ids.shape[1]
    table = torch.zeros(len(ids), length + new_tokens, dtype=ids.dtype)
    table[:, :length] = ids
    done = 0
    with torch.inference_mode():
        for end in range(length, length + new_tokens):
            logits = model(table[:, done:end], caches)
            table[:, end] = torch.softmax(logits[:, -1], dim=-1).argmax(dim=-1)
            done = end
    return table
""",
    ),
]

BYTES = [
    Alternative(
        "bytes_summed",
        cell="cache_bytes",
        source="""
def cache_bytes(caches):
    tensors = [tensor for cache in caches for tensor in (cache.k, cache.v) if tensor is not None]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
""",
    ),
    Alternative(
        "bytes_storage",
        cell="cache_bytes",
        source="""
def cache_bytes(caches):
    size = 0
    for cache in caches:
        if cache.k is None:
            continue
        size += math.prod(cache.k.shape) * cache.k.dtype.itemsize
        size += math.prod(cache.v.shape) * cache.v.dtype.itemsize
    return int(size)
""",
    ),
]

CHECKING = [
    Alternative(
        "every_place_to_cut",
        cell="check_reader",
        source="""
def check_reader(new_reader):
    generator = torch.Generator().manual_seed(0)
    text, other = torch.randn(2, 3, 14, 4, generator=generator)
    expected, expected_of_other = new_reader()(text), new_reader()(other)
    cuts = [[0, i, j, 14] for i in range(1, 13) for j in range(i + 1, 14)] + [list(range(15))]
    for cut in cuts:
        first, second = new_reader(), new_reader()
        for start, stop in zip(cut, cut[1:]):
            a, b = first(text[:, start:stop]), second(other[:, start:stop])
            assert (a - expected[:, start:stop]).abs().max() < 5e-3, f"tokens {start} to {stop}"
            assert (b - expected_of_other[:, start:stop]).abs().max() < 5e-3, f"tokens {start} to {stop}, other text"
""",
    ),
    Alternative(
        "random_cuts",
        cell="check_reader",
        source="""
def in_pieces(readers, texts, rng):
    places, outputs = [0] * len(texts), [[] for _ in texts]
    while any(place < text.shape[1] for place, text in zip(places, texts)):
        i = rng.randrange(len(texts))
        piece = texts[i][:, places[i] : places[i] + rng.choice([1, 1, 1, 2, 5])]
        if piece.shape[1]:
            outputs[i].append(readers[i](piece))
            places[i] += piece.shape[1]
    return [torch.cat(parts, 1) for parts in outputs]


def check_reader(new_reader):
    rng = random.Random(1)
    for trial in range(30):
        texts = [torch.randn(2, 16, 4), torch.randn(3, 20, 4)]
        right = [new_reader()(text) for text in texts]
        found = in_pieces([new_reader(), new_reader()], texts, rng)
        for one, other in zip(found, right):
            if one.shape != other.shape or not torch.allclose(one, other, atol=4e-3, rtol=0):
                raise AssertionError("the pieces have other outputs than the whole")
""",
    ),
    Alternative(
        "one_property_after_another",
        cell="check_reader",
        source="""
def check_reader(new_reader):
    x = torch.randn(4, 12, 4)
    once, again = new_reader()(x), new_reader()(x)
    assert torch.allclose(once, again, rtol=0, atol=2e-3), "a new reader isn't empty"
    one_by_one = new_reader()
    for t in range(12):
        output = one_by_one(x[:, t : t + 1])
        assert torch.allclose(output, once[:, t : t + 1], rtol=0, atol=2e-3), f"token {t}, one by one"
        new_reader()(x[:2])
    for first in (1, 3, 6):
        reader = new_reader()
        assert torch.allclose(reader(x[:, :first]), once[:, :first], rtol=0, atol=2e-3)
        assert torch.allclose(reader(x[:, first : first + 4]), once[:, first : first + 4], rtol=0, atol=2e-3)
        assert torch.allclose(reader(x[:, first + 4 :]), once[:, first + 4 :], rtol=0, atol=2e-3)
""",
    ),
]

ALTERNATIVES = [*ROTATE, *NORM, *SWIGLU, *GROUPED, *ATTENTION, *MODEL, *GENERATE, *BYTES, *CHECKING]
