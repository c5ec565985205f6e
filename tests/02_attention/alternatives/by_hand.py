"""Other right answers to exercise 1, `by_hand`."""

from gradekit.checks import Alternatives

SOFTMAX = "torch.softmax(scores, dim=-1)"

right = Alternatives("by_")

right("hand_einsum", "q @ k.transpose(-2, -1)", 'torch.einsum("bhqd,bhkd->bhqk", q, k)')
right.edit("weights @ v", 'torch.einsum("bhqk,bhkd->bhqd", weights, v)')

right("hand_softmax_by_hand", SOFTMAX, "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")

right("hand_loops").source("""
torch.manual_seed(42)
x = torch.randn(1, 1, 4, 8) * 0.5
q, k, v = x, x, x

scores = torch.zeros(1, 1, 4, 4)
result = torch.zeros(1, 1, 4, 8)
for i in range(4):
    for j in range(4):
        scores[0, 0, i, j] = torch.dot(x[0, 0, i], x[0, 0, j]) / 8**0.5
weights = F.softmax(scores, dim=3)
for i in range(4):
    for j in range(4):
        result[0, 0, i] += weights[0, 0, i, j] * x[0, 0, j]
""")
