"""Other right answers to exercise 1, `by_hand`."""

from gradekit.checks import Alternative

SOFTMAX = "torch.softmax(scores, dim=-1)"

ALTERNATIVES = [
    Alternative(
        "by_hand_einsum",
        cell="by_hand",
        edits=[
            ("q @ k.transpose(-2, -1)", 'torch.einsum("bhqd,bhkd->bhqk", q, k)'),
            ("weights @ v", 'torch.einsum("bhqk,bhkd->bhqd", weights, v)'),
        ],
    ),
    Alternative(
        "by_hand_softmax_by_hand",
        cell="by_hand",
        edits=[(SOFTMAX, "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")],
    ),
    Alternative(
        "by_hand_loops",
        cell="by_hand",
        source="""
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
""",
    ),
]
