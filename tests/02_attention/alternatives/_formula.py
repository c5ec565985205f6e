"""Other ways to write the formula, which the files for `attention` and `masked_attention` share."""

SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)"
SOFTMAX = "torch.softmax(scores, dim=-1)"
EINSUM = [
    ("q @ k.transpose(-2, -1)", 'torch.einsum("...qd,...kd->...qk", q, k)'),
    ("weights @ v", 'torch.einsum("...qk,...kd->...qd", weights, v)'),
]
STABLE_SOFTMAX = [
    (
        f"weights = {SOFTMAX}",
        "powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
        "    weights = powers / powers.sum(dim=-1, keepdim=True)",
    )
]
QUERY_SCALED_FIRST = [(SCORES, "scores = (q / d_k**0.5) @ k.mT")]
FLOAT64_INSIDE = [
    (
        "d_k = q.shape[-1]",
        "dtype, d_k = q.dtype, q.shape[-1]\n    q, k, v = q.double(), k.double(), v.double()",
    ),
    ("return output, weights", "return output.to(dtype), weights.to(dtype)"),
]
NOT_CONTIGUOUS = [("output = weights @ v", "output = (v.mT @ weights.mT).mT")]
WEIGHTS_DETACHED = [("return output, weights", "return output, weights.detach()")]
