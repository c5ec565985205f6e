"""Other right answers to exercise 3, `sampling`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("cut_before_the_temperature", "scaled = logits / temperature", "scaled = logits")
right.edit("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled / temperature, dim=-1)")

right(
    "scattered",
    "        smallest = torch.topk(scaled, k, dim=-1).values[:, -1:]  # (batch, 1)\n"
    '        scaled = scaled.masked_fill(scaled < smallest, float("-inf"))',
    "        top = torch.topk(scaled, k, dim=-1)\n"
    "        scaled = torch.full_like(scaled, -torch.inf).scatter(-1, top.indices, top.values)",
)
right(
    "probabilities_cut_and_renormalised",
    '        scaled = scaled.masked_fill(scaled < smallest, float("-inf"))',
    "        shares = torch.softmax(scaled, dim=-1) * (scaled >= smallest)\n"
    "        return shares / shares.sum(dim=-1, keepdim=True)",
)
right("lowest_number", 'float("-inf")', "torch.finfo(scaled.dtype).min")
right("categorical", "torch.multinomial(probabilities, num_samples=1)")
right.to("torch.distributions.Categorical(probs=probabilities).sample()[:, None]")

right("row_by_row").source("""
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
""")
