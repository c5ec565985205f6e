"""Other right answers to exercise 5, `additive`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
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
