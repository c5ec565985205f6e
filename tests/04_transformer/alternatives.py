"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

FEED_FORWARD = [
    Alternative(
        "ff_functional_relu",
        cell="feed_forward",
        edits=[("torch.relu(self.linear1(x))", "F.relu(self.linear1(x))")],
    ),
    Alternative(
        "ff_clamp",
        cell="feed_forward",
        edits=[("torch.relu(self.linear1(x))", "self.linear1(x).clamp(min=0)")],
    ),
    Alternative(
        "ff_layers_in_another_order_and_start",
        cell="feed_forward",
        source="""
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.activation = nn.ReLU()
        self.drop = nn.Dropout(dropout)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.linear1 = nn.Linear(d_model, d_ff)
        for layer in (self.linear1, self.linear2):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.linear2(self.drop(self.activation(self.linear1(x))))
""",
    ),
    Alternative(
        "ff_sequential_of_the_same_layers",
        cell="feed_forward",
        source="""
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.steps = nn.Sequential(self.linear1, nn.ReLU(), nn.Dropout(dropout), self.linear2)

    def forward(self, x):
        return self.steps(x)
""",
    ),
    Alternative(
        "ff_by_hand",
        cell="feed_forward",
        source="""
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.p = dropout

    def forward(self, x):
        hidden = torch.einsum("bld,fd->blf", x, self.linear1.weight) + self.linear1.bias
        hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
        hidden = F.dropout(hidden, self.p, training=self.training)
        return hidden @ self.linear2.weight.T + self.linear2.bias
""",
    ),
]

LAYERS = [
    Alternative(
        "el_other_order_of_making",
        cell="encoder_layer",
        edits=[
            (
                "self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)",
                "self.norm_first, self.dropout = norm_first, nn.Dropout(p=dropout)\n"
                "        self.norm2, self.norm1 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm([d_model])",
            ),
            (
                "self.norm1 = nn.LayerNorm(d_model)",
                "self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)",
            ),
            ("self.norm2 = nn.LayerNorm(d_model)", "pass"),
            ("self.dropout = nn.Dropout(dropout)", "pass"),
            ("self.norm_first = norm_first\n", "pass\n"),
        ],
    ),
    Alternative(
        "el_sublayers_as_functions",
        cell="encoder_layer",
        source="""
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
""",
    ),
    Alternative(
        "el_norms_by_hand",
        cell="encoder_layer",
        source="""
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
""",
    ),
    Alternative(
        "dl_sublayers_as_functions",
        cell="decoder_layer",
        source="""
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
""",
    ),
    Alternative(
        "dl_child_of_the_encoder_layer",
        cell="decoder_layer",
        source="""
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
""",
    ),
    Alternative(
        "dl_started_otherwise",
        cell="decoder_layer",
        edits=[
            (
                "self.norm_first = norm_first\n",
                "self.norm_first = norm_first\n"
                "        for parameter in self.parameters():\n"
                "            if parameter.dim() > 1:\n"
                "                nn.init.xavier_uniform_(parameter)\n",
            )
        ],
    ),
]

STD = "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"
NORM = "self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()"


def of_both(cell, letter, layer):
    """One alternative way to write `Encoder` and `Decoder`."""
    made = f"{layer}(d_model, num_heads, d_ff, dropout, norm_first)"
    v = "x" if cell == "encoder" else "y"
    return [
        Alternative(
            f"{letter}_list_filled_in_a_loop",
            cell=cell,
            edits=[
                (
                    f"self.layers = nn.ModuleList(\n            [{made} for _ in range(num_layers)]\n        )",
                    "self.layers = nn.ModuleList()\n"
                    "        for _ in range(num_layers):\n"
                    f"            self.layers.append({made})",
                )
            ],
        ),
        Alternative(
            f"{letter}_embeddings_scaled_down",
            cell=cell,
            edits=[
                (STD, "self.embedding.weight.data *= d_model**-0.5"),
                ("self.embedding.weight[pad_idx] = 0", "pass"),
            ],
        ),
        Alternative(
            f"{letter}_embeddings_started_by_hand",
            cell=cell,
            edits=[
                (STD, "start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)"),
                (
                    "self.embedding.weight[pad_idx] = 0",
                    "self.embedding.weight.copy_(start)\n            self.embedding.weight[pad_idx].fill_(0)",
                ),
            ],
        ),
        Alternative(
            f"{letter}_final_norm_of_another_name",
            cell=cell,
            edits=[
                (NORM, "self.last = nn.LayerNorm(d_model) if norm_first else None"),
                (
                    f"return self.norm({v})",
                    f"if self.last is not None:\n            {v} = self.last({v})\n        return {v}",
                ),
            ],
        ),
        Alternative(
            f"{letter}_functional_dropout",
            cell=cell,
            edits=[
                ("self.dropout = nn.Dropout(dropout)", "self.p = dropout"),
                (f"{v} = self.dropout({v})", f"{v} = F.dropout({v}, self.p, self.training)"),
            ],
        ),
    ]


HALVES = [
    *of_both("encoder", "e", "EncoderLayer"),
    *of_both("decoder", "d", "DecoderLayer"),
    Alternative(
        "e_mask_inline",
        cell="encoder",
        edits=[("make_padding_mask(src, self.pad_idx)", "src.ne(self.pad_idx)[:, None, :]")],
    ),
    Alternative(
        "e_mask_expanded",
        cell="encoder",
        edits=[("x = layer(x, mask)", "x = layer(x, mask=mask.expand(-1, src.size(1), -1))")],
    ),
    Alternative(
        "e_pads_zeroed_at_the_end",
        cell="encoder",
        edits=[("return self.norm(x), mask", "return self.norm(x) * mask.transpose(1, 2), mask")],
    ),
    Alternative(
        "d_masks_inline",
        cell="decoder",
        edits=[
            ("make_padding_mask(tgt, self.pad_idx)", "(tgt != self.pad_idx).unsqueeze(-2)"),
            (
                "make_causal_mask(tgt.shape[1]).to(tgt.device)",
                "~torch.triu(tgt.new_ones(tgt.size(1), tgt.size(1), dtype=torch.bool), diagonal=1)",
            ),
        ],
    ),
    Alternative(
        "d_causal_mask_as_buffer",
        cell="decoder",
        edits=[
            (
                "self.pad_idx = pad_idx",
                'self.pad_idx = pad_idx\n        self.register_buffer("causal", make_causal_mask(max_seq_len))',
            ),
            (
                "make_causal_mask(tgt.shape[1]).to(tgt.device)",
                "self.causal[: tgt.shape[1], : tgt.shape[1]]",
            ),
        ],
    ),
    Alternative(
        "d_masks_by_keyword",
        cell="decoder",
        edits=[
            (
                "y = layer(y, memory, target_mask, memory_mask)",
                "y = layer(y, memory, memory_mask=memory_mask, target_mask=torch.logical_and(padding, causal))",
            )
        ],
    ),
]

TRANSFORMER = [
    Alternative(
        "t_keywords",
        cell="transformer",
        edits=[
            (
                "sizes = (d_model, num_heads, d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)",
                "pass",
            ),
            (
                "self.encoder = Encoder(src_vocab_size, *sizes)",
                "shared = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, num_layers=num_layers)\n"
                "        shared |= dict(max_seq_len=max_seq_len, pad_idx=pad_idx, dropout=dropout, norm_first=norm_first)\n"
                "        self.output = nn.Linear(in_features=d_model, out_features=tgt_vocab_size)\n"
                "        self.encoder = Encoder(vocab_size=src_vocab_size, **shared)",
            ),
            (
                "self.decoder = Decoder(tgt_vocab_size, *sizes)",
                "self.decoder = Decoder(vocab_size=tgt_vocab_size, **shared)",
            ),
            ("self.output = nn.Linear(d_model, tgt_vocab_size)", "pass"),
        ],
    ),
    Alternative(
        "t_super_with_its_own_name",
        cell="transformer",
        edits=[
            ("super().__init__()", "super(Transformer, self).__init__()"),
            (
                "return self.decode(tgt, memory, memory_mask)",
                "return self.output(self.decoder(tgt, memory, memory_mask))",
            ),
        ],
    ),
    Alternative(
        "t_forward_in_one_line",
        cell="transformer",
        edits=[
            ("memory, memory_mask = self.encode(src)", "encoded = self.encode(src)"),
            ("return self.decode(tgt, memory, memory_mask)", "return self.decode(tgt, *encoded)"),
        ],
    ),
    Alternative(
        "t_linear_by_hand",
        cell="transformer",
        edits=[("return self.output(y)", "return y @ self.output.weight.mT + self.output.bias")],
    ),
]

CHECKING = [
    Alternative(
        "by_gradients",
        cell="check_causal",
        source="""
def check_causal(function):
    x = 4 * torch.randn(2, 7, 4, generator=torch.Generator().manual_seed(2))
    slopes = torch.autograd.functional.jacobian(function, x)  # (2, 7, any, 2, 7, 4)
    depends = slopes.abs().amax(dim=(2, 5)) > 1e-5  # (2, 7, 2, 7)
    for one in range(2):
        for other in range(2):
            found = depends[one, :, other]
            assert not (found.triu(1) if one == other else found).any(), f"{one} depends on {other}: {found}"
""",
    ),
    Alternative(
        "all_that_must_not_matter_at_once",
        cell="check_causal",
        source="""
def check_causal(function):
    for attempt in range(20):
        x = torch.randn(3, 8, 4)
        for t in range(8):
            for row in range(3):
                changed = torch.where(torch.rand(3, 8, 4) < 0.5, 9.0, -9.0)
                changed[row, : t + 1] = x[row, : t + 1]
                gap = (function(x)[row, t] - function(changed)[row, t]).abs().max().item()
                if gap > 0.005:
                    raise AssertionError(f"output {t} moves by {gap}")
""",
    ),
    Alternative(
        "beginnings_alone",
        cell="check_causal",
        source="""
def check_causal(function):
    generator = torch.Generator().manual_seed(0)
    x = (5 * torch.randn(4, 9, 4, generator=generator)).clamp(-10, 10)
    whole = function(x)
    for i in range(4):
        for length in range(1, 10):
            alone = function(x[i : i + 1, :length])
            expected = whole[i : i + 1, :length]
            assert alone.shape == expected.shape
            assert torch.allclose(alone, expected, rtol=0, atol=2e-3), "later tokens matter"
""",
    ),
]

ALTERNATIVES = [*FEED_FORWARD, *LAYERS, *HALVES, *TRANSFORMER, *CHECKING]
