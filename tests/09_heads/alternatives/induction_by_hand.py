"""Other right answers to exercise 5, `induction_by_hand`."""

from gradekit.checks import Alternatives

right = Alternatives("by_")

right("hand_without_masked_attention").source("""
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
""")

right("hand_with_a_batch").source("""
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
""")

right("hand_returns_a_list").source("""
def induction_by_hand(tokens, vocab_size, strength=100.0):
    length = tokens.size(0)
    causal = make_causal_mask(length)
    words = F.one_hot(tokens, num_classes=vocab_size).float()
    queries, keys = look_back(length=length, strength=strength)
    (moved, first) = masked_attention(q=queries, k=keys, v=words, mask=causal.tril(-1))
    scale = math.sqrt(strength * math.sqrt(vocab_size))
    second_head = masked_attention(q=scale * words, k=scale * moved, v=words, mask=causal)
    return [second_head[0], first, second_head[1]]
""")
