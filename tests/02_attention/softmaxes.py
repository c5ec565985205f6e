"""Right and wrong implementations of the softmax, on which the students' tests are tried.

None of them is the answer to an exercise: attention with them still has to be written.
"""

from gradekit.checks import Implementation

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
]


def wrong(sentence, body):
    lines = "\n    ".join(["def softmax(scores):", *body.split("\n")])
    return Implementation(f"import math\nimport torch\n\n{lines}\n", wrong=sentence)


OTHER_AXES = [
    wrong("runs over the first axis in place of the last", "return torch.softmax(scores, dim=0)"),
    wrong(
        "runs over the whole tensor in place of each row",
        "return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)",
    ),
]
THREE_AXES = [
    wrong(
        "runs over axis 1 even if there are three axes",
        "return torch.softmax(scores, dim=min(1, scores.dim() - 1))",
    ),
]
OTHER_FUNCTIONS = [
    wrong("gives the largest weight to the lowest score", "return torch.softmax(-scores, dim=-1)"),
    wrong(
        "gives all weight to the highest score",
        "best = scores == scores.amax(dim=-1, keepdim=True)\nreturn best / best.sum(dim=-1, keepdim=True)",
    ),
    wrong("returns the logarithm of the weights", "return torch.log_softmax(scores, dim=-1)"),
    wrong(
        "leaves out the division by the sum",
        "return (scores - scores.amax(dim=-1, keepdim=True)).exp()",
    ),
]
NEARLY_RIGHT = [
    wrong("takes powers of 2 in place of e", "return torch.softmax(scores * math.log(2), dim=-1)"),
    wrong(
        "divides the scores by the root of their number first",
        "return torch.softmax(scores / math.sqrt(scores.shape[-1]), dim=-1)",
    ),
    wrong(
        "takes the sigmoid in place of the power, and shifts each row so that its highest score is 0",
        "each = torch.sigmoid(scores - scores.amax(dim=-1, keepdim=True))\n"
        "return each / each.sum(dim=-1, keepdim=True)",
    ),
]
LARGE_SCORES = [
    wrong(
        "returns NaN where e to the power of a score is too large for a float",
        "powers = scores.exp()\nreturn powers / powers.sum(dim=-1, keepdim=True)",
    ),
    wrong(
        "cuts scores above 50 off, so that all of them get the same weight",
        "return torch.softmax(scores.clamp(max=50), dim=-1)",
    ),
]
IN_PLACE = [
    wrong(
        "overwrites the scores that it is given",
        "weights = torch.softmax(scores, dim=-1)\nscores -= scores.amax(dim=-1, keepdim=True)\nreturn weights",
    ),
]
