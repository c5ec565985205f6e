"""Other right answers to exercise 2, `next_token`."""

from gradekit.checks import Alternatives

PROBABILITIES = "return torch.softmax(last, dim=-1)"
CANDIDATES = "candidates = list(zip(tokens, top.values.tolist(), strict=True))"

right = Alternatives()

right("stable_softmax_by_hand", PROBABILITIES)
right.to("""powers = (last - last.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)""")

right("softmax_of_everything_first")
right.edit("last = logits[:, -1]", "last = torch.log_softmax(logits, dim=-1)[:, -1]")
right.edit(PROBABILITIES, "return last.exp()")

right("inference_mode_and_keyword", "with torch.no_grad():", "with torch.inference_mode():")
right.edit("logits = model(input_ids).logits", "logits = model(input_ids=input_ids).logits")

right("sorted_by_hand").source("""
@torch.no_grad()
def next_token_probabilities(model, input_ids):
    return F.softmax(model(input_ids).logits[:, -1, :], -1)


@torch.no_grad()
def generate_step(model, tokenizer, input_ids, k=10):
    shares = model(input_ids).logits[0, -1].softmax(0).tolist()
    order = sorted(range(len(shares)), key=lambda number: -shares[number])
    candidates = [(tokenizer.convert_ids_to_tokens(number), shares[number]) for number in order[:k]]
    return F.pad(input_ids, (0, 1), value=order[0]), candidates
""")

right("token_by_token_and_lists", "tokens = tokenizer.convert_ids_to_tokens(top.indices.tolist())")
right.to("tokens = [tokenizer.convert_ids_to_tokens([i])[0] for i in top.indices.tolist()]")
right.edit(CANDIDATES, "candidates = [[token, float(share)] for token, share in zip(tokens, top.values)]")
