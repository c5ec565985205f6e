"""Other right answers to exercise 7, `losses_without`."""

from gradekit.checks import Alternatives

right = Alternatives("without_")

right("loops").source("""
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
""")

right("lambda").source("""
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
""")
