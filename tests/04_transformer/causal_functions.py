"""Functions that are causal and functions that aren't, on which the students' tests are tried.

None of them is the answer to an exercise.
"""

from gradekit.checks import Implementation


def returning(value, steps="", wrong=""):
    """A function of x, (batch, length, width): some steps, then the value that it returns."""
    body = "".join(f"    {line}\n" for line in steps.splitlines())
    return Implementation(f"import torch\n\ndef f(x):\n{body}    return {value}\n", wrong=wrong)


def wrong(sentence, value, steps=""):
    return returning(value, steps, wrong=sentence)


ATTENTION = """scores = x @ x.mT / x.shape[-1] ** 0.5
visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()"""
NEXT = "later = torch.cat([x[:, 1:], torch.zeros_like(x[:, :1])], dim=1)"

RIGHT = [
    returning("torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1) @ x", ATTENTION),
    # rounds differently when later tokens change
    returning("x.sum(dim=1, keepdim=True) - (x.flip(1).cumsum(dim=1).flip(1) - x)"),
    # doesn't depend on the token itself, nor on any but the one before
    returning("torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)"),
    returning("x.cummax(dim=1).values[..., :1]"),
    returning("torch.full((*x.shape[:2], 3), 7.0)"),
    returning("torch.nn.functional.layer_norm(x, x.shape[-1:]) * torch.arange(x.shape[1])[:, None]"),
]

EVERYTHING = [
    wrong("is attention without a mask", "torch.softmax(scores, dim=-1) @ x", ATTENTION),
    wrong("adds up the tokens from the last one to the first", "x.flip(1).cumsum(dim=1).flip(1)"),
]
ONE_AHEAD = [
    wrong("returns the next token at every position but the last", "later", NEXT),
    wrong(
        "is attention with a mask that shows one token too many",
        "torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1) @ x",
        ATTENTION.replace(".tril()", ".tril(1)"),
    ),
    wrong(
        "averages each token with its neighbors on both sides",
        "(before + x + later) / 3",
        NEXT + "\nbefore = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)",
    ),
    wrong(
        "adds the token after the next one",
        "out",
        "out = x.clone()\nout[:, :-2] += x[:, 2:]",
    ),
]
SOME_PLACES = [
    wrong(
        "is causal except at position 0, which sees position 1",
        "out",
        "out = x.cumsum(dim=1)\nout[:, 0] = out[:, 1]",
    ),
    wrong(
        "is causal except at the last position but one, which sees the last token",
        "out",
        "out = x.cumsum(dim=1)\nout[:, -2] = out[:, -1]",
    ),
    wrong("adds the last token to every output", "x + x[:, -1:]"),
    wrong(
        "mixes the tokens in pairs, so that position 0 sees 1, position 2 sees 3, and so on",
        "x[:, mates.clamp(max=x.shape[1] - 1)] + x.cumsum(dim=1)",
        "places = torch.arange(x.shape[1])\nmates = places + 1 - 2 * (places % 2)",
    ),
]
DETAIL = [
    wrong(
        "sees the next token in the last number of the output only",
        "torch.cat([x.cumsum(dim=1)[..., :-1], later[..., -1:]], dim=-1)",
        NEXT,
    ),
    wrong("sees only the last number of the next token", "x + later[..., -1:]", NEXT),
    wrong("sees the next token only if its numbers are above 5", "x - (later - 5).relu()", NEXT),
    wrong("sees the next token only if its numbers are below -5", "x + (-5 - later).relu()", NEXT),
    wrong(
        "adds the next token to one number of the output, and subtracts it from another",
        "out",
        NEXT + "\nout = x.clone()\nout[..., 0] += later[..., 0]\nout[..., 1] -= later[..., 0]",
    ),
    wrong("adds a hundredth of the next token", "x + later / 100", NEXT),
]
TOTAL = [
    wrong("subtracts the mean of the whole sequence", "x - x.mean(dim=1, keepdim=True)"),
    wrong(
        "divides by the largest number of the whole sequence", "x / x.abs().amax(dim=(1, 2), keepdim=True)"
    ),
    wrong(
        "hides later tokens after the softmax, so their scores are still in the sum that it divides by",
        "(torch.softmax(scores, dim=-1) * visible) @ x",
        ATTENTION,
    ),
    wrong(
        "runs its softmax over the queries in place of the keys",
        "torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-2) @ x",
        ATTENTION,
    ),
]
BATCH = [
    wrong("subtracts the mean over the batch", "x - x.mean(dim=0, keepdim=True)"),
    wrong(
        "goes on adding up from one sequence of the batch to the next",
        "x.flatten(0, 1).cumsum(dim=0).view_as(x)",
    ),
    wrong("returns the sequences of the batch in reverse order", "x.flip(0)"),
    wrong(
        "adds to each sequence the next one of the batch",
        "out",
        "out = x.clone()\nout[:-1] += x[1:]",
    ),
]
