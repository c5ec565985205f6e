"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

PROBABILITIES = "return torch.softmax(last, dim=-1)"
CANDIDATES = "candidates = list(zip(tokens, top.values.tolist(), strict=True))"

NEXT_TOKEN = [
    Alternative(
        "stable_softmax_by_hand",
        cell="next_token",
        edits=[
            (
                PROBABILITIES,
                "powers = (last - last.amax(dim=-1, keepdim=True)).exp()\n"
                "    return powers / powers.sum(dim=-1, keepdim=True)",
            )
        ],
    ),
    Alternative(
        "softmax_of_everything_first",
        cell="next_token",
        edits=[
            ("last = logits[:, -1]", "last = torch.log_softmax(logits, dim=-1)[:, -1]"),
            (PROBABILITIES, "return last.exp()"),
        ],
    ),
    Alternative(
        "inference_mode_and_keyword",
        cell="next_token",
        edits=[
            ("with torch.no_grad():", "with torch.inference_mode():"),
            ("logits = model(input_ids).logits", "logits = model(input_ids=input_ids).logits"),
        ],
    ),
    Alternative(
        "sorted_by_hand",
        cell="next_token",
        source="""
@torch.no_grad()
def next_token_probabilities(model, input_ids):
    return F.softmax(model(input_ids).logits[:, -1, :], -1)


@torch.no_grad()
def generate_step(model, tokenizer, input_ids, k=10):
    shares = model(input_ids).logits[0, -1].softmax(0).tolist()
    order = sorted(range(len(shares)), key=lambda number: -shares[number])
    candidates = [(tokenizer.convert_ids_to_tokens(number), shares[number]) for number in order[:k]]
    return F.pad(input_ids, (0, 1), value=order[0]), candidates
""",
    ),
    Alternative(
        "tokens_by_decode_and_lists",
        cell="next_token",
        edits=[
            (
                "tokens = tokenizer.convert_ids_to_tokens(top.indices.tolist())",
                "tokens = [tokenizer.decode([i]) for i in top.indices.tolist()]",
            ),
            (CANDIDATES, "candidates = [[token, float(share)] for token, share in zip(tokens, top.values)]"),
        ],
    ),
]

SAMPLING = [
    Alternative(
        "cut_before_the_temperature",
        cell="sampling",
        edits=[
            ("scaled = logits / temperature", "scaled = logits"),
            ("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled / temperature, dim=-1)"),
        ],
    ),
    Alternative(
        "scattered",
        cell="sampling",
        edits=[
            (
                "        smallest = torch.topk(scaled, k, dim=-1).values[:, -1:]  # (batch, 1)\n"
                '        scaled = scaled.masked_fill(scaled < smallest, float("-inf"))',
                "        top = torch.topk(scaled, k, dim=-1)\n"
                "        scaled = torch.full_like(scaled, -torch.inf).scatter(-1, top.indices, top.values)",
            )
        ],
    ),
    Alternative(
        "probabilities_cut_and_renormalised",
        cell="sampling",
        edits=[
            (
                '        scaled = scaled.masked_fill(scaled < smallest, float("-inf"))',
                "        shares = torch.softmax(scaled, dim=-1) * (scaled >= smallest)\n"
                "        return shares / shares.sum(dim=-1, keepdim=True)",
            )
        ],
    ),
    Alternative("lowest_number", cell="sampling", edits=[('float("-inf")', "torch.finfo(scaled.dtype).min")]),
    Alternative(
        "categorical",
        cell="sampling",
        edits=[
            (
                "torch.multinomial(probabilities, num_samples=1)",
                "torch.distributions.Categorical(probs=probabilities).sample()[:, None]",
            )
        ],
    ),
    Alternative(
        "row_by_row",
        cell="sampling",
        source="""
def sampling_probabilities(logits, temperature=1.0, top_k=None):
    rows = []
    for row in logits / temperature:
        if top_k is not None and top_k < len(row):
            kept = row.argsort(descending=True)[:top_k]
            cut = torch.full_like(row, -torch.inf)
            cut[kept] = row[kept]
            row = cut
        rows.append(row.softmax(0))
    return torch.stack(rows)


@torch.no_grad()
def generate_n_tokens(model, input_ids, n_tokens, temperature=0.0, top_k=None):
    if n_tokens == 0:
        return input_ids
    logits = model(input_ids).logits[:, -1, :]
    if temperature > 0:
        noise = -torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
        chosen = (sampling_probabilities(logits, temperature, top_k).log() + noise).argmax(-1)
    else:
        chosen = logits.max(-1).indices
    longer = torch.hstack([input_ids, chosen[:, None]])
    return generate_n_tokens(model, longer, n_tokens - 1, temperature, top_k)
""",
    ),
]

COSINE = [
    Alternative(
        "normalised_first",
        cell="cosine",
        edits=[
            (
                "product = (u * v).sum(dim=-1)",
                "product = (F.normalize(u, dim=-1) * F.normalize(v, dim=-1)).sum(dim=-1)",
            ),
            ("return product / lengths.clamp(min=1e-12)", "return product"),
        ],
    ),
    Alternative(
        "einsum_and_where",
        cell="cosine",
        edits=[
            ("(u * v).sum(dim=-1)", 'torch.einsum("...d,...d->...", *torch.broadcast_tensors(u, v))'),
            (
                "return product / lengths.clamp(min=1e-12)",
                "return torch.where(lengths > 0, product / lengths, torch.zeros_like(product))",
            ),
        ],
    ),
    Alternative(
        "nan_to_num",
        cell="cosine",
        edits=[("product / lengths.clamp(min=1e-12)", "torch.nan_to_num(product / lengths)")],
    ),
    Alternative(
        "sorted_without_the_word",
        cell="cosine",
        edits=[
            (
                "    similarity[place] = -torch.inf\n"
                "    top = torch.topk(similarity, k)\n"
                "    return [(words[i], score) for i, score in zip(top.indices.tolist(), top.values.tolist(), strict=True)]",
                "    pairs = [(other, score) for other, score in zip(words, similarity.tolist()) if other != word]\n"
                "    return sorted(pairs, key=lambda pair: pair[1], reverse=True)[:k]",
            )
        ],
    ),
]

ANALOGY = [
    Alternative(
        "own_functions_and_a_set",
        cell="analogy",
        source="""
def analogy(a, b, c, words, vectors, k=5):
    row = {word: number for number, word in enumerate(words)}
    target = vectors[row[c]] + (vectors[row[b]] - vectors[row[a]])
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    similarity = unit @ (target / target.norm())
    found = []
    for number in similarity.argsort(descending=True).tolist():
        if words[number] not in {a, b, c} and len(found) < k:
            found.append((words[number], similarity[number].item()))
    return found
""",
    ),
    Alternative(
        "own_cosine",
        cell="analogy",
        edits=[("F.cosine_similarity(target, vectors, dim=-1)", "cosine_similarity(target, vectors)")],
    ),
    Alternative(
        "with_three_more",
        cell="analogy",
        edits=[
            ("    similarity[places] = -torch.inf\n", ""),
            ("torch.topk(similarity, k)", "torch.topk(similarity, k + 3)"),
            ("strict=True)]", "strict=True) if i not in places][:k]"),
        ],
    ),
]

ADDITIVE = [
    Alternative("minus_1e9", cell="additive", edits=[("-torch.inf", "-1e9")]),
    Alternative("lowest_float", cell="additive", edits=[("-torch.inf", "torch.finfo(torch.float32).min")]),
    Alternative(
        "where",
        cell="additive",
        edits=[("zeros.masked_fill(~mask, -torch.inf)", "torch.where(mask, 0.0, -torch.inf)")],
    ),
    Alternative(
        "logarithm", cell="additive", edits=[("zeros.masked_fill(~mask, -torch.inf)", "mask.float().log()")]
    ),
    Alternative(
        "einsum",
        cell="additive",
        edits=[
            (
                "q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])",
                'torch.einsum("...qd,...kd->...qk", q * q.shape[-1] ** -0.5, k)',
            ),
            ("return weights @ v, weights", 'return torch.einsum("...qk,...kd->...qd", weights, v), weights'),
        ],
    ),
]

TRAINING = [
    Alternative(
        "zeroed_first",
        cell="training_step",
        edits=[
            ("    logits = model", "    optimizer.zero_grad(set_to_none=False)\n    logits = model"),
            ("    optimizer.zero_grad()\n    loss", "    loss"),
        ],
    ),
    Alternative(
        "model_zero_grad_at_the_end",
        cell="training_step",
        edits=[
            ("    optimizer.zero_grad()\n", ""),
            ("    optimizer.step()\n", "    optimizer.step()\n    model.zero_grad()\n"),
        ],
    ),
    Alternative(
        "class_axis_second",
        cell="training_step",
        edits=[
            (
                "F.cross_entropy(logits.flatten(0, 1), targets.flatten())",
                "nn.CrossEntropyLoss()(logits.transpose(1, 2), targets)",
            )
        ],
    ),
    Alternative(
        "last_token_not_fed",
        cell="training_step",
        edits=[("model(input_ids).logits[:, :-1]", "model(input_ids[:, :-1]).logits")],
    ),
    Alternative(
        "log_softmax_and_gather",
        cell="training_step",
        edits=[
            (
                "F.cross_entropy(logits.flatten(0, 1), targets.flatten())",
                "-logits.log_softmax(dim=-1).gather(2, targets.unsqueeze(2)).mean()",
            )
        ],
    ),
]

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
OWN_LAYERS = [
    Alternative("part_by_part", cell="own_layers", source=LAYER),
    Alternative(
        "sum_in_place_of_mean",  # it has the same direction
        cell="own_layers",
        edits=[(" / real.sum(dim=1)  # (batch, width)", "")],
    ),
    Alternative(
        "names_by_replacement",
        cell="own_layers",
        edits=[
            (
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
        ],
    ),
    Alternative(
        "masked_fill_and_einsum",
        cell="own_layers",
        edits=[
            (
                "(hidden * real).sum(dim=1)",
                'torch.einsum("blw,bl->bw", hidden, attention_mask.to(hidden.dtype))',
            ),
            ("return F.normalize(mean, dim=-1)", "return mean / mean.norm(dim=-1, keepdim=True)"),
        ],
    ),
]

ALTERNATIVES = [*NEXT_TOKEN, *SAMPLING, *COSINE, *ANALOGY, *ADDITIVE, *OWN_LAYERS, *TRAINING]
