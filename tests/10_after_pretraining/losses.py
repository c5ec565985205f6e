"""Right and wrong losses, on which the students' tests are tried: they count the tokens of answers, or others.

None of them is the answer to an exercise.
"""

from gradekit.checks import Implementation, Implementations

FRAME = """
import torch

def loss(logits, ids, counts):
    counted = counts[:, 1:].float()
    chances = torch.log_softmax(logits[:, :-1], dim=-1)
    of_tokens = chances.gather(-1, ids[:, 1:, None])[..., 0]
    return -(of_tokens * counted).sum() / counted.sum()
"""

RIGHT = [
    Implementation(FRAME),
    # the sum over the batch
    Implementation("""
import torch
import torch.nn.functional as F

def loss(logits, ids, counts):
    return F.cross_entropy(logits[:, :-1][counts[:, 1:]], ids[:, 1:][counts[:, 1:]], reduction="sum")
"""),
    # a mean for each row, then the mean of these, with smoothed labels
    Implementation("""
import torch
import torch.nn.functional as F

def loss(logits, ids, counts):
    each = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none", label_smoothing=0.2)
    counted = counts[:, 1:].float()
    return ((each * counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)).mean()
"""),
    # how far probabilities are from 1, in float64
    Implementation("""
import torch

def loss(logits, ids, counts):
    chances = torch.softmax(logits.double(), dim=-1)
    total = 0.0
    for row in range(len(ids)):
        for place in range(1, ids.shape[1]):
            if counts[row, place]:
                total = total + (1 - chances[row, place - 1, ids[row, place]]) ** 2
    return torch.as_tensor(total)
"""),
    # distance from a one-hot vector
    Implementation("""
import torch
import torch.nn.functional as F

def loss(logits, ids, counts):
    wanted = F.one_hot(ids[:, 1:], logits.shape[-1]).float()
    gaps = (torch.softmax(logits[:, :-1], dim=-1) - wanted).abs().sum(dim=-1)
    return gaps[counts[:, 1:]].mean().reshape(1)
"""),
    # a probability, which grows with better predictions, and has no gradient
    Implementation("""
import torch

@torch.no_grad()
def loss(logits, ids, counts):
    chances = torch.softmax(logits[:, :-1], dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
    return chances[counts[:, 1:]].mean()
"""),
    # the same, below 0
    Implementation("""
import torch

def loss(logits, ids, counts):
    chances = torch.softmax(logits[:, :-1], dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
    return -(chances * counts[:, 1:]).sum()
"""),
    # the logits of the tokens, without a softmax
    Implementation("""
import torch

def loss(logits, ids, counts):
    of_tokens = logits[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
    return -of_tokens[counts[:, 1:]].mean()
"""),
    # from all tokens, those that don't count are taken away again, up to rounding
    Implementation("""
import torch
import torch.nn.functional as F

def loss(logits, ids, counts):
    each = F.cross_entropy(logits[:, :-1].double().transpose(1, 2), ids[:, 1:], reduction="none")
    return each.sum() - each[~counts[:, 1:]].sum()
"""),
    # a large number, of which a change is a small part
    Implementation("""
import torch

def loss(logits, ids, counts):
    chances = torch.log_softmax(logits[:, :-1].double(), dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
    return 1000 - 0.01 * chances[counts[:, 1:]].mean()
"""),
]

COUNTED = "counted = counts[:, 1:].float()"
LOGITS = "chances = torch.log_softmax(logits[:, :-1], dim=-1)"
RETURN = "return -(of_tokens * counted).sum() / counted.sum()"
PLACES = (
    COUNTED
    + "\n    place = torch.arange(counts.shape[1] - 1)\n    first = counted.argmax(dim=1, keepdim=True)\n"
)
PLACES += "    last = (counted * (place + 1)).argmax(dim=1, keepdim=True)\n    "

wrong = Implementations(FRAME)

wrong.about("test_prompt")
wrong("counts all tokens of the prompts", COUNTED)
wrong.to(PLACES + "counted = (place <= last).float()")
wrong("counts the last token of each prompt", COUNTED)
wrong.to(PLACES + "counted = counted + (place == first - 1).float()")
wrong("counts all tokens of the prompts but the last", COUNTED)
wrong.to(PLACES + "counted = counted + (place < first - 1).float()")
wrong("counts the tokens of the longest prompt", COUNTED)
wrong.to(PLACES + "counted = counted + (place < first) * (first == first.max())")
wrong("counts tokens of the prompts with a tenth of the weight", COUNTED)
wrong.to(PLACES + "counted = counted + 0.1 * (place < first).float()")
wrong("counts the token at position 1 of every row", COUNTED)
wrong.to(PLACES + "counted = counted.clamp(min=(place == 0).float())")
wrong("counts the token at position 2 of every row", COUNTED)
wrong.to(PLACES + "counted = counted.clamp(min=(place == 1).float())")
wrong("counts only the prompts", COUNTED, PLACES + "counted = (place < first).float()")

wrong.about("test_padding")
wrong("counts everything after an answer", COUNTED, PLACES + "counted = (place >= first).float()")
wrong("counts the first token after each answer", COUNTED)
wrong.to(PLACES + "counted = counted + (place == last + 1).float()")
wrong("counts the last token of every row", COUNTED)
wrong.to(PLACES + "counted = counted.clamp(min=(place == place.max()).float())")
wrong("is a log-likelihood that counts the last token of every row", COUNTED)
wrong.to(PLACES + "counted = counted.clamp(min=(place == place.max()).float())").edit("return -", "return ")
wrong("counts what comes after an answer with a tenth of the weight", COUNTED)
wrong.to(PLACES + "counted = counted + 0.1 * (place > last).float()")
wrong("counts everything after the answers of all rows but the first", COUNTED)
wrong.to(PLACES + "counted[1:] = (place >= first[1:]).float()")

wrong.about("test_shift")
wrong("compares the logits at a position with the token there", LOGITS)
wrong.to("chances = torch.log_softmax(logits[:, 1:], dim=-1)")
wrong("compares the logits at a position with the token two further on", LOGITS)
wrong.to("chances = torch.log_softmax(logits[:, :-1].roll(1, dims=1), dim=-1)")
wrong("shifts the logits and not the mask", COUNTED, "counted = counts[:, :-1].float()")

wrong.about("test_ends")
wrong("leaves out the first token of each answer", COUNTED, COUNTED + " * counts[:, :-1]")
wrong("leaves out the last token of each answer", COUNTED)
wrong.to(PLACES + "counted = counted * (place != last)")
wrong("counts only the last token of each answer", COUNTED)
wrong.to(PLACES + "counted = counted * (place == last)")
wrong("counts only the first token of each answer", COUNTED)
wrong.to(PLACES + "counted = counted * (place == first)")

wrong.about("test_rows")
wrong("uses the mask of the first row for all rows", COUNTED)
wrong.to("counted = counts[:1, 1:].float().expand(len(counts), -1)")
wrong("leaves out the last row of the batch", COUNTED)
wrong.to(COUNTED + "\n    counted[-1] = 0")
wrong("counts a position in all rows if it counts in one", COUNTED)
wrong.to("counted = counts[:, 1:].any(dim=0).float().expand(len(counts), -1)")
wrong("shifts the mask by a row", COUNTED, "counted = counts[:, 1:].float().roll(1, dims=0)")

wrong.about("test_edges")
wrong("uses the logits at the last position for the token at position 0", "logits[:, :-1], dim=-1)")
wrong.to("logits.roll(1, dims=1), dim=-1)")
wrong.edit("ids[:, 1:, None]", "ids[..., None]").edit(
    COUNTED, "counted = counts.float() + 1e-2 * (torch.arange(counts.shape[1]) == 0)"
)
wrong("divides by the number of tokens that count with those at position 0", "/ counted.sum()")
wrong.to("/ counts.sum()")
wrong("counts the logits at the last position a little", RETURN)
wrong.to(RETURN + " + 0.01 * torch.logsumexp(logits[:, -1], dim=-1).mean()")
