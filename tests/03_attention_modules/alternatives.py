"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

ATTEND = "output, _ = masked_attention(queries, keys, values, mask)"
BY_HAND = """scores = queries @ keys.mT / self.k.out_features**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        output = torch.softmax(scores, dim=-1) @ values"""
BY_EINSUM = """scores = torch.einsum("bqd,bkd->bqk", queries, keys) * keys.size(-1) ** -0.5
        if mask is not None:
            scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask == 0, -torch.inf)
        output = torch.einsum("bqk,bkd->bqd", nn.functional.softmax(scores, dim=2), values)"""


def one_head(cell, prefix):
    """Other ways to write the attention, for SelfAttention and for CrossAttention."""
    return [
        Alternative(prefix + "by_hand", cell=cell, edits=[(ATTEND, BY_HAND)]),
        Alternative(prefix + "einsum_and_additive_mask", cell=cell, edits=[(ATTEND, BY_EINSUM)]),
        Alternative(
            prefix + "computed_in_float64",
            cell=cell,
            edits=[
                (
                    ATTEND,
                    ATTEND.replace(
                        "queries, keys, values", "queries.double(), keys.double(), values.double()"
                    ),
                ),
                ("return output", "return output.to(queries.dtype)"),
            ],
        ),
        Alternative(
            prefix + "not_contiguous",
            cell=cell,
            edits=[("return output", "return output.mT.contiguous().mT")],
        ),
        Alternative(
            prefix + "loop_over_the_batch",
            cell=cell,
            edits=[
                (
                    ATTEND,
                    "if mask is not None:\n"
                    "            mask = mask.expand(len(queries), queries.shape[1], keys.shape[1])\n"
                    "        rows = []\n"
                    "        for i in range(len(queries)):\n"
                    "            one = None if mask is None else mask[i]\n"
                    "            rows.append(masked_attention(queries[i], keys[i], values[i], one)[0])\n"
                    "        output = torch.stack(rows)",
                )
            ],
        ),
    ]


SELF = [
    *one_head("self_attention", "self_"),
    Alternative(
        "self_layers_in_another_order",
        cell="self_attention",
        edits=[
            ("self.q = nn.Linear(input_dim, key_dim)\n", "self.v = nn.Linear(input_dim, output_dim)\n"),
            (
                "self.v = nn.Linear(input_dim, output_dim)\n        ### END",
                "self.q = nn.Linear(input_dim, key_dim)\n        ### END",
            ),
        ],
    ),
    Alternative(
        "self_other_initialisation",
        cell="self_attention",
        edits=[
            (
                "        ### END SOLUTION\n\n    def forward",
                "        for layer in (self.q, self.k, self.v):\n"
                "            nn.init.xavier_uniform_(layer.weight)\n"
                "            nn.init.zeros_(layer.bias)\n"
                "        ### END SOLUTION\n\n    def forward",
            )
        ],
    ),
    Alternative(
        "self_one_layer_for_all_three",
        cell="self_attention",
        source="""
class SelfAttention(nn.Module):
    def __init__(self, input_dim, key_dim, output_dim):
        super().__init__()
        self.widths = [key_dim, key_dim, output_dim]
        self.qkv = nn.Linear(input_dim, sum(self.widths))

    def forward(self, x, mask=None):
        return masked_attention(*self.qkv(x).split(self.widths, dim=-1), mask=mask)[0]
""",
    ),
]

CROSS = [
    *one_head("cross_attention", "cross_"),
    Alternative(
        "cross_other_argument_names_inside",
        cell="cross_attention",
        source="""
class CrossAttention(nn.Module):
    def __init__(self, x_input_dim, y_input_dim, key_dim, output_dim):
        super().__init__()
        self.k = nn.Linear(y_input_dim, key_dim)
        self.v = nn.Linear(y_input_dim, output_dim)
        self.q = nn.Linear(x_input_dim, key_dim)
        self.scale = key_dim**-0.5

    def forward(self, x, y, mask=None):
        scores = torch.matmul(self.q(x) * self.scale, self.k(y).permute(0, 2, 1))
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        return torch.bmm(scores.softmax(-1), self.v(y))
""",
    ),
]

GAP = [
    Alternative(
        "gap_put_back",
        cell="equivariance_gap",
        source="""
def equivariance_gap(module, x, order):
    back = torch.argsort(order)
    with torch.no_grad():
        return float((module(x[:, order])[:, back] - module(x)).abs().max())
""",
    ),
    Alternative(
        "gap_index_select",
        cell="equivariance_gap",
        source="""
def equivariance_gap(module, x, order):
    first = module(torch.index_select(x, 1, order))
    second = torch.index_select(module(x), 1, order)
    return torch.linalg.vector_norm(first - second, ord=float("inf")).item()
""",
    ),
    Alternative(
        "gap_matrix",
        cell="equivariance_gap",
        source="""
def equivariance_gap(module, x, order):
    P = torch.eye(len(order), dtype=x.dtype)[order]
    difference = module(P @ x) - P @ module(x)
    return max(difference.max().item(), -difference.min().item())
""",
    ),
    Alternative(
        "gap_loops",
        cell="equivariance_gap",
        source="""
def equivariance_gap(module, x, order):
    shuffled = x.clone()
    for i, j in enumerate(order.tolist()):
        shuffled[:, i] = x[:, j]
    moved, still = module(shuffled), module(x)
    largest = 0.0
    for i, j in enumerate(order.tolist()):
        largest = max(largest, (moved[:, i] - still[:, j]).abs().max().item())
    return largest
""",
    ),
]

HEADS = [
    Alternative(
        "heads_loop_with_keyword",
        cell="multi_headed_attention",
        source="""
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
""",
    ),
    Alternative(
        "heads_columns_of_the_final_layer",
        cell="multi_headed_attention",
        edits=[
            (
                "outputs = [head(x, mask) for head in self.attn_modules]",
                "first, total = 0, self.linear.bias\n"
                "        for head in self.attn_modules:\n"
                "            part = head(x, mask)\n"
                "            total = total + part @ self.linear.weight[:, first : first + part.shape[-1]].T\n"
                "            first += part.shape[-1]\n"
                "        return total\n"
                "        outputs = []",
            )
        ],
    ),
    Alternative(
        "heads_linear_first",
        cell="multi_headed_attention",
        edits=[
            ("        self.attn_modules = nn.ModuleList(attn_modules)\n", ""),
            (
                "self.linear = nn.Linear(width, final_output_dim)",
                "self.linear = nn.Linear(width, final_output_dim)\n"
                "        self.attn_modules = nn.ModuleList(list(attn_modules))",
            ),
        ],
    ),
    Alternative(
        "heads_width_from_output_dim",
        cell="multi_headed_attention",
        edits=[("head.v.out_features for", "head.output_dim for")],
    ),
]

CALL = "_, weights = masked_attention(q, k, v, mask)"
PARTS = "parts = x.reshape(batch, length, self.num_heads, d_head)\n        return parts.transpose(1, 2)"
MERGE = "heads.transpose(1, 2).flatten(2)"
FUSED = [
    Alternative(
        "fused_view_and_contiguous",
        cell="fused_attention",
        edits=[
            (PARTS, "return x.view(batch, -1, self.num_heads, d_head).permute(0, 2, 1, 3)"),
            (MERGE, "heads.permute(0, 2, 1, 3).contiguous().view(*query.shape)"),
        ],
    ),
    Alternative(
        "fused_chunks_stacked",
        cell="fused_attention",
        edits=[
            (PARTS, "return torch.stack(x.split(d_head, dim=-1), dim=1)"),
            (MERGE, "torch.cat(heads.unbind(dim=1), dim=-1)"),
        ],
    ),
    Alternative(
        "fused_heads_in_the_batch",
        cell="fused_attention",
        edits=[
            (
                "mask = mask.unsqueeze(-3)  #",
                "mask = mask.expand(len(query), query.shape[1], key.shape[1])[:, None]  #",
            ),
            (
                CALL,
                "flat = [part.flatten(0, 1) for part in (q, k, v)]\n"
                "        if mask is not None:\n"
                "            mask = mask.expand(-1, self.num_heads, -1, -1).flatten(0, 1)\n"
                "        _, weights = masked_attention(*flat, mask)\n"
                "        weights = weights.unflatten(0, (len(query), self.num_heads))",
            ),
        ],
    ),
    Alternative(
        "fused_functional_dropout",
        cell="fused_attention",
        edits=[
            ("self.dropout = nn.Dropout(dropout)", "self.p = dropout"),
            ("self.dropout(weights)", "nn.functional.dropout(weights, self.p, self.training)"),
        ],
    ),
    Alternative(
        "fused_layers_in_another_order",
        cell="fused_attention",
        edits=[
            ("        self.w_o = nn.Linear(d_model, d_model)\n", ""),
            (
                "self.num_heads = num_heads",
                "self.num_heads = num_heads\n        self.w_o = nn.Linear(d_model, d_model)",
            ),
        ],
    ),
    Alternative(
        "fused_minus_infinity_then_zeros",
        cell="fused_attention",
        edits=[
            (
                CALL,
                "scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5\n"
                "        if mask is not None:\n"
                "            scores = scores.masked_fill(~mask, -torch.inf)\n"
                "        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)",
            )
        ],
    ),
    Alternative(
        "fused_output_when_nothing_is_dropped",
        cell="fused_attention",
        edits=[
            (CALL, CALL.replace("_, weights", "heads, weights")),
            (
                "heads = self.dropout(weights) @ v",
                "heads = self.dropout(weights) @ v if self.training else heads",
            ),
        ],
    ),
    Alternative(
        "fused_one_layer_for_q_k_v",
        cell="fused_attention",
        source="""
class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is no multiple of num_heads={num_heads}")
        self.h, self.d_head = num_heads, d_model // num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        three = zip((query, key, value), self.qkv.weight.chunk(3), self.qkv.bias.chunk(3))
        q, k, v = [(x @ w.T + b).unflatten(-1, (self.h, self.d_head)) for x, w, b in three]
        scores = torch.einsum("bihd,bjhd->bhij", q, k) / self.d_head**0.5
        if mask is not None:
            mask = mask.expand(scores.shape[0], *scores.shape[2:]).unsqueeze(1)
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights * mask
        return self.w_o(torch.einsum("bhij,bjhd->bihd", self.drop(weights), v).flatten(2)), weights
""",
    ),
    Alternative(
        "fused_loop_over_heads",
        cell="fused_attention",
        source="""
class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        if self.num_heads * self.d_head != d_model:
            raise ValueError(f"width {d_model}, {num_heads} heads")
        self.w_q, self.w_k, self.w_v, self.w_o = [nn.Linear(d_model, d_model) for _ in range(4)]
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        outputs, all_weights = [], []
        for h in range(self.num_heads):
            columns = slice(h * self.d_head, (h + 1) * self.d_head)
            _, weights = masked_attention(q[..., columns], k[..., columns], v[..., columns], mask)
            all_weights.append(weights)
            outputs.append(self.dropout(weights) @ v[..., columns])
        return self.w_o(torch.cat(outputs, dim=-1)), torch.stack(all_weights, dim=1)
""",
    ),
]

COPYING = [
    Alternative(
        "copy_rows_in_slices",
        cell="copy_heads",
        source="""
def copy_heads(heads, fused):
    with torch.no_grad():
        start = 0
        for head in heads.attn_modules:
            end = start + head.q.out_features
            fused.w_q.weight[start:end] = head.q.weight
            fused.w_q.bias[start:end] = head.q.bias
            fused.w_k.weight[start:end] = head.k.weight
            fused.w_k.bias[start:end] = head.k.bias
            fused.w_v.weight[start:end] = head.v.weight
            fused.w_v.bias[start:end] = head.v.bias
            start = end
        fused.w_o.load_state_dict(heads.linear.state_dict())
""",
    ),
    Alternative(
        "copy_data",
        cell="copy_heads",
        source="""
def copy_heads(heads, fused):
    for name in "qkv":
        layer = getattr(fused, "w_" + name)
        layer.weight.data = torch.cat([getattr(head, name).weight.data for head in heads.attn_modules])
        layer.bias.data = torch.cat([getattr(head, name).bias.data for head in heads.attn_modules])
    fused.w_o.weight.data = heads.linear.weight.data.clone()
    fused.w_o.bias.data[:] = heads.linear.bias.data
""",
    ),
    Alternative(
        "copy_state_dict",
        cell="copy_heads",
        source="""
def copy_heads(heads, fused):
    state = {}
    for part in ("weight", "bias"):
        for name in ("q", "k", "v"):
            state[f"w_{name}.{part}"] = torch.cat(
                [head.state_dict()[f"{name}.{part}"] for head in heads.attn_modules]
            )
        state[f"w_o.{part}"] = heads.linear.state_dict()[part]
    fused.load_state_dict(state)
""",
    ),
    Alternative(
        "copy_new_parameters",
        cell="copy_heads",
        source="""
def copy_heads(heads, fused):
    for layer, name in [(fused.w_q, "q"), (fused.w_k, "k"), (fused.w_v, "v")]:
        parts = [getattr(head, name) for head in heads.attn_modules]
        layer.weight = nn.Parameter(torch.vstack([part.weight for part in parts]).detach())
        layer.bias = nn.Parameter(torch.hstack([part.bias for part in parts]).detach())
    fused.w_o.weight = nn.Parameter(heads.linear.weight.detach().clone())
    fused.w_o.bias = nn.Parameter(heads.linear.bias.detach().clone())
    return fused
""",
    ),
]

CHECKING = [
    Alternative(
        "by_properties",
        cell="check_masked_attention",
        source="""
def check_masked_attention(function):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 4, 16, generator=generator) for _ in range(3))
    mask = torch.rand(2, 4, 4, generator=generator) < 0.6
    mask[0, 1], mask[1, 2], mask[:, 3] = False, True, torch.tensor([True, True, False, False])
    k[:, 0], q[:, 3] = -30 * q[:, 3], 20.0
    k[:, 1] = k[:, 0]
    everything = torch.ones_like(mask)
    assert torch.allclose(function(q, k, v)[1], function(q, k, v, everything)[1], atol=1e-5)
    for visible in (mask, everything):
        output, weights = function(q, k, v, visible)
        assert (weights[~visible] == 0).all()
        assert torch.allclose(weights.sum(-1), visible.any(-1).float(), atol=1e-4)
        assert torch.allclose(output, weights @ v, atol=1e-4)
        both = visible[..., :1] & visible
        scores = (q.unsqueeze(2) * k.unsqueeze(1)).sum(-1) / 4
        ratio = weights.log() - weights.log()[..., :1]
        right = scores - scores[..., :1]
        close = (ratio - right).abs() < 1e-2
        small = (weights < 1e-30) | (weights[..., :1] < 1e-30)
        assert (close | small | ~both).all()
""",
    ),
    Alternative(
        "one_query_after_another",
        cell="check_masked_attention",
        source="""
def check_masked_attention(function):
    def wanted(scores, visible):
        powers = [3.0**score if seen else 0.0 for score, seen in zip(scores, visible)]
        return [power / (sum(powers) or 1) for power in powers]

    k = torch.eye(4)[:3].expand(2, 3, 4)
    v = torch.arange(6.0).reshape(1, 3, 2).expand(2, 3, 2)
    for scores in ([1, 0, 2], [-40, 0, 0]):
        row = torch.tensor([*scores, 0.0]) * 2 * torch.tensor(3.0).log()
        q = row.expand(2, 1, 4)
        for first in ([1, 0, 0], [1, 1, 0], [0, 0, 0]):
            for second in ([1, 1, 1], [0, 1, 1]):
                mask = torch.tensor([[first], [second]]).bool()
                output, weights = function(q, k, v, mask)
                right = torch.tensor([[wanted(scores, first)], [wanted(scores, second)]])
                assert (weights - right).abs().max() < 1e-3
                assert (output - right @ v).abs().max() < 1e-2
        output, weights = function(q, k, v)
        right = torch.tensor([[wanted(scores, [1, 1, 1])]] * 2)
        assert (weights - right).abs().max() < 1e-3 and (output - right @ v).abs().max() < 1e-2
""",
    ),
]

ALTERNATIVES = [*SELF, *GAP, *CROSS, *HEADS, *FUSED, *COPYING, *CHECKING]
