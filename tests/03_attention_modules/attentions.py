"""Right and wrong implementations of masked attention, on which the students' tests are tried.

It was an exercise of assignment 2, whose solution students have in `earlier.py`.
"""

from gradekit.checks import Implementation, Implementations

RIGHT = [
    # its gradients are NaN for a query that sees nothing, which the exercise allows
    Implementation("""
import math
import torch

def masked_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return weights @ v, weights
"""),
    Implementation("""
import torch

def masked_attention(q, k, v, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", q.double(), k.double()) * q.shape[-1] ** -0.5
    visible = torch.ones_like(scores) if mask is None else mask.expand_as(scores).double()
    lowered = torch.where(visible == 1, scores, torch.finfo(scores.dtype).min)
    powers = (lowered - lowered.amax(dim=-1, keepdim=True)).exp() * visible
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    return (weights @ v.double()).to(v.dtype), weights.to(v.dtype)
"""),
    Implementation("""
import torch
import torch.nn.functional as F

def masked_attention(q, k, v, mask=None):
    one_hot = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    if mask is not None:
        mask = mask.expand(torch.broadcast_shapes(mask.shape, (*q.shape[:-1], k.shape[-2])))
    weights = F.scaled_dot_product_attention(q, k, one_hot, attn_mask=mask).nan_to_num(0.0)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights
"""),
]

FRAME = """
import math
import torch

def masked_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1).nan_to_num(0.0)
    return weights @ v, weights
"""

WEIGHTS = "weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1).nan_to_num(0.0)"

wrong = Implementations(FRAME)

wrong.about("test_formula")
wrong("leaves out the scale", " / math.sqrt(q.shape[-1])")
wrong("divides the scores by d_k in place of its root", "math.sqrt(q.shape[-1])", "q.shape[-1]")
wrong("divides the scores by the root of the width of the values, not of the keys", "math.sqrt(q.shape[-1])")
wrong.to("math.sqrt(v.shape[-1])")
wrong("returns the average of all visible values as its output", "weights @ v, weights")
wrong.to("(visible / visible.sum(-1, keepdim=True).clamp(min=1)).to(v.dtype) @ v, weights")
wrong("returns the right output, but the same weight for all visible keys", "weights @ v, weights")
wrong.to("weights @ v, (visible / visible.sum(-1, keepdim=True).clamp(min=1)).to(v.dtype)")
wrong("returns output and weights in the wrong order", "return weights @ v, weights")
wrong.to("return weights, weights @ v")

wrong.about("test_direction")
wrong("ignores the mask", "mask.expand_as(scores)", "torch.ones_like(scores, dtype=torch.bool)")
wrong("hides what may be seen, and shows the rest", "mask.expand_as(scores)", "~mask.expand_as(scores)")

wrong.about("test_leaks")
wrong("sets hidden scores to 0", WEIGHTS)
wrong.to("weights = torch.softmax(scores * visible, dim=-1) * visible.any(dim=-1, keepdim=True)")
wrong("sets hidden weights to 0 after the softmax, so rows no longer sum to 1", WEIGHTS)
wrong.to("weights = torch.softmax(scores, dim=-1) * visible")
wrong("gives hidden keys a score of -20, which is higher than a very low score that may be seen", WEIGHTS)
wrong.to(
    "weights = torch.softmax(scores.masked_fill(~visible, -20.0), dim=-1) * visible.any(dim=-1, keepdim=True)"
)
wrong("gives hidden keys a score of -10 000, which is higher than a score below that", WEIGHTS)
wrong.to(
    "weights = torch.softmax(scores.masked_fill(~visible, -1e4), dim=-1) * visible.any(dim=-1, keepdim=True)"
)

wrong.about("test_no_key")
wrong("returns NaN for a query that may see nothing", ".nan_to_num(0.0)")
wrong("gives a query that may see nothing the average of everything", "-torch.inf")
wrong.to("torch.finfo(scores.dtype).min")

wrong.about("test_batch")
wrong("uses the mask of the first sequence for the whole batch", "mask.expand_as(scores)")
wrong.to("(mask.expand_as(scores)[:1] if scores.dim() > 2 else mask).expand_as(scores)")
wrong("hides a key only if it is hidden in all sequences of the batch", "mask.expand_as(scores)")
wrong.to("(mask.expand_as(scores).any(0, keepdim=True) if scores.dim() > 2 else mask).expand_as(scores)")

wrong.about("test_no_mask")
wrong("hides the future even without a mask", "torch.ones_like(scores, dtype=torch.bool)")
wrong.to("torch.ones_like(scores, dtype=torch.bool).tril()")
wrong("raises an exception without a mask", "torch.ones_like(scores, dtype=torch.bool) if mask is None else ")
