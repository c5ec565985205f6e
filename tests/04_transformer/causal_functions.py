"""Functions that are causal and functions that aren't, on which the students' tests are tried.

None of them is the answer to an exercise.
"""

from gradekit.checks import Implementation, Implementations

IDENTITY = """import torch

def f(x):
    return x
"""
RETURN = "return x"
ATTENTION = """scores = x @ x.mT / x.shape[-1] ** 0.5
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    """
MASKED = "return torch.softmax(scores.masked_fill(~visible, -torch.inf), dim={}) @ x"
NEXT = "later = torch.cat([x[:, 1:], torch.zeros_like(x[:, :1])], dim=1)\n    "

RIGHT = [
    Implementation(IDENTITY.replace(RETURN, answer))
    for answer in (
        ATTENTION + MASKED.format(-1),
        # rounds differently when later tokens change
        "return x.sum(dim=1, keepdim=True) - (x.flip(1).cumsum(dim=1).flip(1) - x)",
        # rounds to a 4096th, but less than the text allows
        "return (x.sum(dim=1, keepdim=True) + 2048) - (x.flip(1).cumsum(dim=1).flip(1) - x + 2048)",
        # doesn't depend on the token itself, nor on any but the one before
        "return torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)",
        "return x.cummax(dim=1).values[..., :1]",
        "return torch.full((*x.shape[:2], 3), 7.0)",
        "return torch.nn.functional.layer_norm(x, x.shape[-1:]) * torch.arange(x.shape[1])[:, None]",
    )
]

wrong = Implementations(IDENTITY)

wrong.about("test_everything")
wrong("is attention without a mask", RETURN, ATTENTION + "return torch.softmax(scores, dim=-1) @ x")
wrong("adds up the tokens from the last one to the first", RETURN, "return x.flip(1).cumsum(dim=1).flip(1)")

wrong.about("test_one_ahead")
wrong("returns the next token at every position but the last", RETURN, NEXT + "return later")
wrong("is attention with a mask that shows one token too many", RETURN)
wrong.to(ATTENTION.replace(".tril()", ".tril(1)") + MASKED.format(-1))
wrong("averages each token with its neighbors on both sides", RETURN)
wrong.to(
    NEXT
    + """before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
    return (before + x + later) / 3"""
)
wrong(
    "adds the token after the next one",
    RETURN,
    """out = x.clone()
    out[:, :-2] += x[:, 2:]
    return out""",
)

wrong.about("test_some_places")
wrong(
    "is causal except at position 0, which sees position 1",
    RETURN,
    """out = x.cumsum(dim=1)
    out[:, 0] = out[:, 1]
    return out""",
)
wrong("is causal except at the last position but one, which sees the last token", RETURN)
wrong.to("""out = x.cumsum(dim=1)
    out[:, -2] = out[:, -1]
    return out""")
wrong("is causal except at position 4, which sees position 5", RETURN)
wrong.to("""out = x.cumsum(dim=1)
    out[:, 4:5] += x[:, 5:6].sum(dim=1, keepdim=True)
    return out""")
wrong("adds the last token to every output", RETURN, "return x + x[:, -1:]")
wrong("mixes the tokens in pairs, so that position 0 sees 1, position 2 sees 3, and so on", RETURN)
wrong.to("""places = torch.arange(x.shape[1])
    mates = places + 1 - 2 * (places % 2)
    return x[:, mates.clamp(max=x.shape[1] - 1)] + x.cumsum(dim=1)""")

wrong.about("test_detail")
wrong("sees the next token in the last number of the output only", RETURN)
wrong.to(NEXT + "return torch.cat([x.cumsum(dim=1)[..., :-1], later[..., -1:]], dim=-1)")
wrong("sees only the third number of the next token", RETURN)
wrong.to(NEXT + "return x + later[..., 2:3].sum(dim=-1, keepdim=True)")
wrong("sees the next token only if its numbers are above 5", RETURN, NEXT + "return x - (later - 5).relu()")
wrong("sees the next token only if its numbers are below -5", RETURN, NEXT + "return x + (-5 - later).relu()")
wrong("adds the next token to one number of the output, and subtracts it from another", RETURN)
wrong.to(
    NEXT
    + """out = x.clone()
    out[..., 0] += later[..., 0]
    out[..., 1] -= later[..., 0]
    return out"""
)
wrong("adds a 700th of the next token", RETURN, NEXT + "return x + later / 700")
wrong("adds a 700th of the next token to the last number of the output only", RETURN)
wrong.to(
    NEXT
    + """out = x.clone()
    out[..., -1] += later[..., -1] / 700
    return out"""
)
wrong("sees the next token only at position 0, and only if its numbers are above 5", RETURN)
wrong.to("""out = x.clone()
    out[:, :1] += (x[:, 1:2] - 5).relu().sum(dim=1, keepdim=True)
    return out""")

wrong.about("test_total")
wrong("subtracts the mean of the whole sequence", RETURN, "return x - x.mean(dim=1, keepdim=True)")
wrong("divides by the largest number of the whole sequence", RETURN)
wrong.to("return x / x.abs().amax(dim=(1, 2), keepdim=True)")
wrong("hides later tokens after the softmax, so their scores are still in the sum that it divides by", RETURN)
wrong.to(ATTENTION + "return (torch.softmax(scores, dim=-1) * visible) @ x")
wrong("runs its softmax over the queries in place of the keys", RETURN, ATTENTION + MASKED.format(-2))

wrong.about("test_batch")
wrong("subtracts the mean over the batch", RETURN, "return x - x.mean(dim=0, keepdim=True)")
wrong("goes on adding up from one sequence of the batch to the next", RETURN)
wrong.to("return x.flatten(0, 1).cumsum(dim=0).view_as(x)")
wrong("returns the sequences of the batch in reverse order", RETURN, "return x.flip(0)")
wrong(
    "adds to each sequence the next one of the batch",
    RETURN,
    """out = x.clone()
    out[:-1] += x[1:]
    return out""",
)
