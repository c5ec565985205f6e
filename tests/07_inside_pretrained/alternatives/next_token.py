"""Other right answers to exercise 1, `next_token`."""

from gradekit.checks import Alternative

PROBABILITIES = "return torch.softmax(last, dim=-1)"
CANDIDATES = "candidates = list(zip(tokens, top.values.tolist(), strict=True))"

ALTERNATIVES = [
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
