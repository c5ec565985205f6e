"""Other right answers to exercise 7, `own_layers`."""

from gradekit.checks import Alternatives

LAYER = """
class GeluFeedForward(FeedForward):
    def forward(self, x):
        hidden = self.linear1(x)
        hidden = hidden * 0.5 * (1 + torch.erf(hidden / math.sqrt(2)))
        return self.linear2(self.dropout(hidden))


def load_layer(weights, number, num_heads, eps=1e-12):
    prefix = f"encoder.layer.{number}."
    own = {name[len(prefix) :]: value for name, value in weights.items() if name.startswith(prefix)}
    width, hidden = own["output.dense.weight"].shape
    layer = EncoderLayer(width, num_heads, hidden)
    layer.feed_forward = GeluFeedForward(width, hidden)
    layer.norm1 = nn.LayerNorm(width, eps=eps)
    layer.norm2 = nn.LayerNorm(width, eps=eps)

    def fill(module, name):
        with torch.no_grad():
            module.weight.copy_(own[name + ".weight"])
            module.bias.copy_(own[name + ".bias"])

    fill(layer.self_attn.w_q, "attention.self.query")
    fill(layer.self_attn.w_k, "attention.self.key")
    fill(layer.self_attn.w_v, "attention.self.value")
    fill(layer.self_attn.w_o, "attention.output.dense")
    fill(layer.norm1, "attention.output.LayerNorm")
    fill(layer.feed_forward.linear1, "intermediate.dense")
    fill(layer.feed_forward.linear2, "output.dense")
    fill(layer.norm2, "output.LayerNorm")
    return layer.eval()


def sentence_vectors(hidden, attention_mask):
    rows = [tokens[real == 1].mean(dim=0) for tokens, real in zip(hidden, attention_mask)]
    return torch.stack([row / row.norm() for row in rows])
"""

right = Alternatives()

right("part_by_part").source(LAYER)

right("sum_in_place_of_mean", " / real.sum(dim=1)  # (batch, width)", "")
right(
    "names_by_replacement",
    """    state = {}
    for theirs, name in ours.items():
        for kind in ("weight", "bias"):
            state[f"{name}.{kind}"] = weights[f"encoder.layer.{number}.{theirs}.{kind}"]
""",
    """    state = {}
    for key, tensor in weights.items():
        parts = key.split(".")
        if parts[:3] == ["encoder", "layer", str(number)]:
            state[ours[".".join(parts[3:-1])] + "." + parts[-1]] = tensor.clone()
""",
)

right("masked_fill_and_einsum", "(hidden * real).sum(dim=1)")
right.to('torch.einsum("blw,bl->bw", hidden, attention_mask.to(hidden.dtype))')
right.edit("return F.normalize(mean, dim=-1)", "return mean / mean.norm(dim=-1, keepdim=True)")
