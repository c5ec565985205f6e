"""Other right answers to exercise 5, `fused_attention`."""

from gradekit.checks import Alternatives

CALL = "_, weights = masked_attention(q, k, v, mask)"
PARTS = "parts = x.reshape(batch, length, self.num_heads, d_head)\n        return parts.transpose(1, 2)"
MERGE = "heads.transpose(1, 2).flatten(2)"

right = Alternatives("fused_")

right("view_and_contiguous", PARTS, "return x.view(batch, -1, self.num_heads, d_head).permute(0, 2, 1, 3)")
right.edit(MERGE, "heads.permute(0, 2, 1, 3).contiguous().view(*query.shape)")

right("chunks_stacked", PARTS, "return torch.stack(x.split(d_head, dim=-1), dim=1)")
right.edit(MERGE, "torch.cat(heads.unbind(dim=1), dim=-1)")

right("heads_in_the_batch", "mask = mask.unsqueeze(-3)  #")
right.to("mask = mask.expand(len(query), query.shape[1], key.shape[1])[:, None]  #")
right.edit(
    CALL,
    """flat = [part.flatten(0, 1) for part in (q, k, v)]
        if mask is not None:
            mask = mask.expand(-1, self.num_heads, -1, -1).flatten(0, 1)
        _, weights = masked_attention(*flat, mask)
        weights = weights.unflatten(0, (len(query), self.num_heads))""",
)

right("functional_dropout", "self.dropout = nn.Dropout(dropout)", "self.p = dropout")
right.edit("self.dropout(weights)", "nn.functional.dropout(weights, self.p, self.training)")

right("layers_in_another_order", "        self.w_o = nn.Linear(d_model, d_model)\n", "")
right.edit("self.num_heads = num_heads")
right.to("self.num_heads = num_heads\n        self.w_o = nn.Linear(d_model, d_model)")

right("minus_infinity_then_zeros", CALL)
right.to("""scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)""")

right("output_when_nothing_is_dropped", CALL, CALL.replace("_, weights", "heads, weights"))
right.edit("heads = self.dropout(weights) @ v")
right.to("heads = self.dropout(weights) @ v if self.training else heads")

right("one_layer_for_q_k_v").source("""
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
""")

right("loop_over_heads").source("""
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
""")
