"""Other right answers to exercise 6, `additive`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("minus_1e9", "-torch.inf", "-1e9")
right("lowest_float", "-torch.inf", "torch.finfo(torch.float32).min")
right("where", "zeros.masked_fill(~mask, -torch.inf)", "torch.where(mask, 0.0, -torch.inf)")
right("logarithm", "zeros.masked_fill(~mask, -torch.inf)", "mask.float().log()")

right("einsum", "q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])")
right.to('torch.einsum("...qd,...kd->...qk", q * q.shape[-1] ** -0.5, k)')
right.edit("return weights @ v, weights", 'return torch.einsum("...qk,...kd->...qd", weights, v), weights')
