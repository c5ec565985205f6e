"""Other ways to write the formula, which the files for `attention` and `masked_attention` share."""

SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)"
SOFTMAX = "torch.softmax(scores, dim=-1)"


def of_the_formula(right):
    """Other ways to write what `attention` and `masked_attention` share."""
    right("einsum", "q @ k.transpose(-2, -1)", 'torch.einsum("...qd,...kd->...qk", q, k)')
    right.edit("weights @ v", 'torch.einsum("...qk,...kd->...qd", weights, v)')

    right("stable_softmax_by_hand", f"weights = {SOFTMAX}")
    right.to("""powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)""")

    right("query_scaled_first", SCORES, "scores = (q / d_k**0.5) @ k.mT")

    right("float64_inside", "d_k = q.shape[-1]")
    right.to("dtype, d_k = q.dtype, q.shape[-1]\n    q, k, v = q.double(), k.double(), v.double()")
    right.edit("return output, weights", "return output.to(dtype), weights.to(dtype)")

    right("not_contiguous", "output = weights @ v", "output = (v.mT @ weights.mT).mT")
    right("weights_returned_detached", "return output, weights", "return output, weights.detach()")
