"""Right and wrong implementations of the softmax, on which the students' tests are tried.

None of them is the answer to an exercise: attention with them still has to be written.
"""

from gradekit.checks import Implementation, Implementations

RIGHT = [
    Implementation("""
import torch

def softmax(scores):
    return torch.softmax(scores, dim=-1)
"""),
    Implementation("""
def softmax(scores):
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)
"""),
    Implementation("""
def softmax(scores):
    double = scores.double()
    double = double - double.amax(dim=-1, keepdim=True)
    return (double - double.logsumexp(dim=-1, keepdim=True)).exp().to(scores.dtype)
"""),
    Implementation("""
import torch

def softmax(scores):
    if scores.dim() > 1:
        return torch.stack([softmax(row) for row in scores])
    powers = torch.exp(scores - max(scores.tolist()))
    return powers / sum(powers)
"""),
    Implementation("""
def softmax(scores):
    roots = ((scores - scores.amax(dim=-1, keepdim=True)) / 2).exp()
    return (roots / roots.norm(dim=-1, keepdim=True)) ** 2  # rows sum to 1 only to about 7 digits
"""),
]


SOFTMAX = "torch.softmax(scores, dim=-1)"
RETURN = "return torch.softmax(scores, dim=-1)"

wrong = Implementations("""import math
import torch

def softmax(scores):
    return torch.softmax(scores, dim=-1)
""")

wrong.about("test_other_axes")
wrong("runs over the first axis in place of the last", SOFTMAX, "torch.softmax(scores, dim=0)")
wrong("runs over the whole tensor in place of each row", SOFTMAX)
wrong.to("torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)")

wrong.about("test_three_axes")
wrong("runs over axis 1 even if there are three axes", SOFTMAX)
wrong.to("torch.softmax(scores, dim=min(1, scores.dim() - 1))")

wrong("raises an error for a single row", SOFTMAX)
wrong.to("torch.softmax(scores.transpose(-2, -1), dim=-2).transpose(-2, -1)")

wrong.about("test_other_functions")
wrong("gives the largest weight to the lowest score", SOFTMAX, "torch.softmax(-scores, dim=-1)")
wrong("gives all weight to the highest score", RETURN)
wrong.to("""best = scores == scores.amax(dim=-1, keepdim=True)
    return best / best.sum(dim=-1, keepdim=True)""")
wrong("returns the logarithm of the weights", SOFTMAX, "torch.log_softmax(scores, dim=-1)")
wrong("leaves out the division by the sum", SOFTMAX, "(scores - scores.amax(dim=-1, keepdim=True)).exp()")

wrong.about("test_nearly_right")
wrong("takes powers of 2 in place of e", SOFTMAX, "torch.softmax(scores * math.log(2), dim=-1)")
wrong("divides the scores by the root of their number first", SOFTMAX)
wrong.to("torch.softmax(scores / math.sqrt(scores.shape[-1]), dim=-1)")
wrong("takes the sigmoid in place of the power, and shifts each row so that its highest score is 0", RETURN)
wrong.to("""each = torch.sigmoid(scores - scores.amax(dim=-1, keepdim=True))
    return each / each.sum(dim=-1, keepdim=True)""")

wrong.about("test_large_scores")
wrong("returns NaN where e to the power of a score is too large for a float", RETURN)
wrong.to("""powers = scores.exp()
    return powers / powers.sum(dim=-1, keepdim=True)""")
wrong("returns NaN for a row that is far below another one", RETURN)
wrong.to("""powers = (scores - scores.max()).exp()
    return powers / powers.sum(dim=-1, keepdim=True)""")
wrong("cuts scores above 50 off, so that all of them get the same weight", SOFTMAX)
wrong.to("torch.softmax(scores.clamp(max=50), dim=-1)")

wrong.about("test_in_place")
wrong("overwrites the scores that it is given", RETURN)
wrong.to("""weights = torch.softmax(scores, dim=-1)
    scores -= scores.amax(dim=-1, keepdim=True)
    return weights""")
