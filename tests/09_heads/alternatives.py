"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

PREVIOUS = [
    Alternative(
        "previous_by_index",
        cell="previous_token_score",
        source="""
def previous_token_score(weights):
    queries = torch.arange(1, weights.size(-1))
    return weights[..., queries, queries - 1].sum(-1) / len(queries)
""",
    ),
    Alternative(
        "previous_by_mask",
        cell="previous_token_score",
        source="""
def previous_token_score(weights):
    length = weights.shape[-1]
    line = torch.diag(torch.ones(length - 1, dtype=weights.dtype), diagonal=-1)
    return (weights * line).sum(dim=(-2, -1)) / (length - 1)
""",
    ),
    Alternative(
        "previous_by_loop",
        cell="previous_token_score",
        source="""
def previous_token_score(weights):
    found = [weights[..., query, query - 1] for query in range(1, weights.shape[-2])]
    return torch.stack(found, dim=-1).mean(-1)
""",
    ),
    Alternative(
        "previous_smaller_table",
        cell="previous_token_score",
        source="""
def previous_token_score(weights):
    return torch.einsum("...ii->...i", weights[..., 1:, :-1]).mean(dim=-1)
""",
    ),
]

INDUCTION = [
    Alternative(
        "induction_by_diagonal",
        cell="induction_score",
        source="""
def induction_score(weights, period):
    length = weights.size(-1)
    if length - period < 1:
        raise ValueError(f"{length} positions are not enough for a period of {period}")
    return torch.diagonal(weights, 1 - period, -2, -1)[..., 1:].mean(-1)
""",
    ),
    Alternative(
        "induction_by_loop",
        cell="induction_score",
        source="""
def induction_score(weights, period):
    length = weights.shape[-1]
    total, count = torch.zeros(weights.shape[:-2], dtype=weights.dtype), 0
    for p in range(period, length):
        total = total + weights[..., p, p - period + 1]
        count += 1
    if count == 0:
        raise ValueError(f"length {length}, period {period}: no query counts")
    return total / count
""",
    ),
    Alternative(
        "induction_by_part",
        cell="induction_score",
        source="""
def induction_score(weights, period):
    n = weights.shape[-1] - period
    if n <= 0:
        raise ValueError("period %d, but length %d" % (period, weights.shape[-1]))
    part = weights[..., period:, 1 : n + 1]
    return part.diagonal(dim1=-2, dim2=-1).sum(dim=-1) / n
""",
    ),
]

POSITIONS = [
    Alternative(
        "losses_by_gather",
        cell="position_losses",
        source="""
def position_losses(logits, tokens):
    log_probs = logits[:, :-1].log_softmax(-1)
    right = log_probs.gather(2, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return -right.mean(0)


def half_losses(losses, period):
    return float(losses[0 : period - 1].mean()), float(losses[period : 2 * period - 1].mean())
""",
    ),
    Alternative(
        "losses_flattened",
        cell="position_losses",
        source="""
def position_losses(logits, tokens):
    batch, length, vocabulary = logits.shape
    flat = F.cross_entropy(
        logits[:, :-1].reshape(-1, vocabulary), tokens[:, 1:].reshape(-1), reduction="none"
    )
    return flat.view(batch, length - 1).mean(dim=0)


def half_losses(losses, period):
    numbers = losses.tolist()
    first, second = numbers[: period - 1], numbers[-(period - 1) :]
    return sum(first) / len(first), sum(second) / len(second)
""",
    ),
    Alternative(
        "losses_one_by_one",
        cell="position_losses",
        source="""
def position_losses(logits, tokens):
    return torch.stack(
        [F.cross_entropy(logits[:, p], tokens[:, p + 1]) for p in range(tokens.shape[1] - 1)]
    )


def half_losses(losses, period):
    first, _, second = losses.split([period - 1, 1, period - 1])
    return torch.mean(first).item(), torch.mean(second).item()
""",
    ),
]

LOOK_BACK = [
    Alternative(
        "look_back_diag",
        cell="look_back",
        source="""
def look_back(length, strength=100.0):
    k = torch.eye(length)
    q = torch.diag(torch.ones(length - 1), diagonal=-1)
    return q * strength * length**0.5, k
""",
    ),
    Alternative(
        "look_back_keys_shifted",
        cell="look_back",
        source="""
def look_back(length, strength=100.0):
    # the key of position s says which position comes after it; one column more, which nobody asks for
    width = length + 1
    q, k = torch.zeros(length, width), torch.zeros(length, width)
    for position in range(length):
        q[position, position] = 1.0
        k[position, position + 1] = strength * math.sqrt(width)
    return q, k
""",
    ),
    Alternative(
        "look_back_shared_between_both",
        cell="look_back",
        source="""
def look_back(length, strength=100.0):
    size = math.sqrt(strength * math.sqrt(length))
    k = size * torch.eye(length)
    q = torch.cat([torch.zeros(1, length), k[:-1]])
    return q, k
""",
    ),
]

BY_HAND = [
    Alternative(
        "by_hand_without_masked_attention",
        cell="induction_by_hand",
        source="""
def induction_by_hand(tokens, vocab_size, strength=100.0):
    n = len(tokens)
    x = torch.eye(vocab_size)[tokens]
    q, k = look_back(n, strength)
    scores = (q @ k.T) / math.sqrt(q.size(1))
    earlier = torch.ones(n, n).tril(-1).bool()
    first = scores.masked_fill(~earlier, -1e9).softmax(-1) * earlier.any(-1, keepdim=True)
    match = strength * x @ (first @ x).T
    second = match.masked_fill(~torch.ones(n, n).tril().bool(), float("-inf")).softmax(-1)
    return second @ x, first, second
""",
    ),
    Alternative(
        "by_hand_with_a_batch",
        cell="induction_by_hand",
        source="""
def induction_by_hand(tokens, vocab_size, strength=100.0):
    length = tokens.shape[0]
    x = torch.zeros(1, length, vocab_size)
    x[0, torch.arange(length), tokens] = 1.0
    q, k = look_back(length, strength)
    mask = make_causal_mask(length) & ~torch.eye(length, dtype=torch.bool)
    previous, w1 = masked_attention(q[None], k[None], x, mask)
    keys = previous * (strength * vocab_size**0.5)
    out, w2 = masked_attention(x, keys, x, make_causal_mask(length))
    return out[0], w1[0], w2[0]
""",
    ),
]

ABLATE = [
    Alternative(
        "ablate_where",
        cell="ablate",
        source="""
def ablate(outputs, head, kind="zero"):
    if kind == "zero":
        new = torch.zeros_like(outputs)
    elif kind == "mean":
        new = outputs.mean(dim=(0, 2), keepdim=True).expand_as(outputs)
    else:
        raise ValueError(f"unknown kind: {kind}")
    this = (torch.arange(outputs.shape[1]) == head)[:, None, None]
    return torch.where(this, new, outputs)
""",
    ),
    Alternative(
        "ablate_list_of_heads",
        cell="ablate",
        source="""
def ablate(outputs, head, kind="zero"):
    parts = list(outputs.unbind(dim=1))
    if kind == "zero":
        parts[head] = parts[head] * 0
    elif kind == "mean":
        mean = parts[head].flatten(0, 1).mean(dim=0)
        parts[head] = mean.repeat(outputs.shape[0], outputs.shape[2], 1)
    else:
        raise ValueError("not a kind: " + kind)
    return torch.stack(parts, dim=1)
""",
    ),
]

WITHOUT = [
    Alternative(
        "without_loops",
        cell="losses_without",
        source="""
@torch.no_grad()
def losses_without(model, tokens, kind="zero"):
    period = tokens.shape[1] // 2
    result = torch.zeros(len(model.layers), model.num_heads)
    for l in range(len(model.layers)):
        for h in range(model.num_heads):
            def edit(layer, outputs, l=l, h=h):
                if layer == l:
                    outputs = ablate(outputs, h, kind)
                return outputs

            logits = model(tokens, edit=edit)[0]
            _, second = half_losses(position_losses(logits, tokens), period)
            result[l, h] = second
    return result
""",
    ),
    Alternative(
        "without_lambda",
        cell="losses_without",
        source="""
def losses_without(model, tokens, kind="zero"):
    rows = []
    with torch.inference_mode():
        for layer, _ in enumerate(model.layers):
            rows.append([])
            for head in range(model.num_heads):
                logits, _ = model(
                    tokens, lambda number, out: ablate(out, head, kind) if number == layer else out
                )
                losses = position_losses(logits, tokens)
                rows[-1].append(half_losses(losses, len(tokens[0]) // 2)[1])
    return torch.tensor(rows)
""",
    ),
]

LENS = [
    Alternative(
        "lens_streams_first",
        cell="logit_lens",
        source="""
def logit_lens(model, tokens):
    streams = [model.embedding(tokens)]
    for layer in model.layers:
        streams.append(streams[-1] + layer(streams[-1])[0])
    return model.unembed(model.norm(torch.stack(streams)))
""",
    ),
    Alternative(
        "lens_without_gradients",
        cell="logit_lens",
        source="""
@torch.no_grad()
def logit_lens(model, tokens):
    def look(x):
        return model.unembed(model.norm(x))

    x = model.embedding(tokens)
    views = look(x).unsqueeze(0)
    for index in range(len(model.layers)):
        x = x + model.layers[index](x)[0]
        views = torch.cat([views, look(x).unsqueeze(0)])
    return views
""",
    ),
]

ALTERNATIVES = [*PREVIOUS, *INDUCTION, *POSITIONS, *LOOK_BACK, *BY_HAND, *ABLATE, *WITHOUT, *LENS]
