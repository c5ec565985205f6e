"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

TWO_AXES = "There are two axes, so -1 is 1."
ANY_ORDER = "`min` takes its arguments in any order."
OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
ONE_SEQUENCE = "There is one sequence only, and one token."
SAME_LENGTH = "Both have the same length."
AN_INDEX = "A number in a tensor is an index, too."
SYMMETRIC = "The cosine is the same in either order."
LAST_AXIS = "It is the default."
ALLOWED = "The exercise allows it, since nothing is trained here."

TOP = "top = torch.topk(probabilities, min(k, len(probabilities)))"
LIKELIEST = "likeliest = top.indices[:1].unsqueeze(0)"
SMALLEST = "smallest = torch.topk(scaled, k, dim=-1).values[:, -1:]"
PAIRS = (
    "return [(words[i], score) for i, score in zip(top.indices.tolist(), top.values.tolist(), strict=True)]"
)
CANDIDATES = "candidates = list(zip(tokens, top.values.tolist(), strict=True))"
QUOTIENT = "return product / lengths.clamp(min=1e-12)"
SIMILARITY = "similarity = F.cosine_similarity(target, vectors, dim=-1)"


def same(cell, before, old, new, reason):
    return Equivalent(cell, before, before.replace(old, new), reason)


NEXT_TOKEN = [
    Equivalent("next_token", "", "model.eval()", ALLOWED),
    same("next_token", "return torch.softmax(last, dim=-1)", "-1", "1", TWO_AXES),
    same(
        "next_token",
        "probabilities = next_token_probabilities(model, input_ids)[0]",
        "[0]",
        "[-1]",
        ONE_SEQUENCE,
    ),
    same("next_token", TOP, "k, len(probabilities)", "len(probabilities), k", ANY_ORDER),
    same(
        "next_token",
        "tokens = tokenizer.convert_ids_to_tokens(top.indices.tolist())",
        ".tolist()",
        "",
        "Tokenizers also take a tensor of ids.",
    ),
    same("next_token", CANDIDATES, ", strict=True", "", SAME_LENGTH),
    same("next_token", CANDIDATES, "True", "False", SAME_LENGTH),
    same("next_token", LIKELIEST, "unsqueeze", "unsqueeze_", OWN_TENSOR),
    same("next_token", LIKELIEST, "unsqueeze(0)", "unsqueeze(1)", ONE_SEQUENCE),
    same("next_token", LIKELIEST, "unsqueeze(0)", "unsqueeze(-1)", ONE_SEQUENCE),
]
SAMPLING = [
    Equivalent("sampling", "", "model.eval()", ALLOWED),
    same(
        "sampling",
        "k = min(top_k, logits.shape[-1])",
        "top_k, logits.shape[-1]",
        "logits.shape[-1], top_k",
        ANY_ORDER,
    ),
    same("sampling", "k = min(top_k, logits.shape[-1])", "-1", "1", TWO_AXES),
    same("sampling", SMALLEST, ", dim=-1", "", LAST_AXIS),
    same("sampling", SMALLEST, "dim=-1", "dim=1", TWO_AXES),
    same(
        "sampling",
        'scaled = scaled.masked_fill(scaled < smallest, float("-inf"))',
        "masked_fill",
        "masked_fill_",
        OWN_TENSOR,
    ),
    same("sampling", "return torch.softmax(scaled, dim=-1)", "-1", "1", TWO_AXES),
    same("sampling", "if temperature == 0:", "==", "<=", "A temperature is never negative."),
    same("sampling", "chosen = logits.argmax(dim=-1, keepdim=True)", "-1", "1", TWO_AXES),
]
COSINE = [
    Equivalent("cosine", QUOTIENT, "return product.div_(lengths.clamp(min=1e-12))", OWN_TENSOR),
    same("cosine", QUOTIENT, "clamp", "clamp_", OWN_TENSOR),
    same(
        "cosine",
        "similarity = cosine_similarity(vectors[place], vectors)",
        "vectors[place], vectors",
        "vectors, vectors[place]",
        SYMMETRIC,
    ),
]
NEAREST = [
    entry
    for cell in ("cosine", "analogy")
    for entry in (
        same(cell, PAIRS, ", strict=True", "", SAME_LENGTH),
        same(cell, PAIRS, "True", "False", SAME_LENGTH),
        same(cell, PAIRS, "top.indices.tolist()", "top.indices", AN_INDEX),
    )
]
ANALOGY = [
    same(
        "analogy",
        "places = [words.index(word) for word in (a, b, c)]",
        "b, c",
        "c, b",
        "b and c are added, so they may change places.",
    ),
    Equivalent(
        "analogy", "target = v_b - v_a + v_c", "target = v_b.sub_(v_a) + v_c", "`vectors[places]` is a copy."
    ),
    same("analogy", SIMILARITY, "target, vectors", "vectors, target", SYMMETRIC),
    same("analogy", SIMILARITY, ", dim=-1", "", TWO_AXES),
    same("analogy", SIMILARITY, "dim=-1", "dim=1", TWO_AXES),
]
ADDITIVE = [
    same(
        "additive", "return zeros.masked_fill(~mask, -torch.inf)", "masked_fill", "masked_fill_", OWN_TENSOR
    ),
    same(
        "additive",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])",
        "-2, -1",
        "-1, -2",
        "`transpose` takes its two axes in either order.",
    ),
    same(
        "additive",
        "weights = torch.softmax(scores + additive, dim=-1)",
        "scores + additive",
        "scores.add_(additive)",
        OWN_TENSOR,
    ),
]
TRAINING_STEP = [
    Equivalent(
        "training_step",
        "",
        "model.train()",
        "05 recommends it: one can't tell which mode a model arrives in.",
    ),
]

NAMES = """    "attention.self.query": "self_attn.w_q",
    "attention.self.key": "self_attn.w_k",
    "attention.self.value": "self_attn.w_v",
    "attention.output.dense": "self_attn.w_o",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "feed_forward.linear1",
    "output.dense": "feed_forward.linear2",
    "output.LayerNorm": "norm2",
"""
MEAN = "mean = (hidden * real).sum(dim=1) / real.sum(dim=1)"
SAME_DIRECTION = "Only the direction of the mean counts, since it is scaled to length 1."
NORMALIZE = "return F.normalize(mean, dim=-1)"
OWN_LAYERS = [
    *(
        same("own_layers", MEAN, before, after, SAME_DIRECTION)
        for before, after in [
            (" / real.sum(dim=1)", " * real.sum(dim=1)"),
            (" / real.sum(dim=1)", ""),
            ("(hidden * real).sum(dim=1)", "(hidden * real).mean(dim=1)"),
            ("/ real.sum(dim=1)", "/ real.sum()"),
        ]
    ),
    same("own_layers", NORMALIZE, ", dim=-1", "", TWO_AXES),
    same("own_layers", NORMALIZE, "dim=-1", "dim=1", TWO_AXES),
    same(
        "own_layers",
        'for kind in ("weight", "bias"):',
        '"weight", "bias"',
        '"bias", "weight"',
        "The order is free.",
    ),
    Equivalent(
        "own_layers",
        "state = {}",
        'state = vars(load_layer).setdefault("_state", {})',
        "Each call writes all 16 entries again.",
    ),
    Equivalent(
        "own_layers",
        "ours = {\n" + NAMES + "}",
        'ours = vars(load_layer).setdefault("_ours", {\n' + NAMES + "})",
        "The names are the same in every call.",
    ),
]

EQUIVALENT = [*NEXT_TOKEN, *SAMPLING, *COSINE, *NEAREST, *ANALOGY, *ADDITIVE, *OWN_LAYERS, *TRAINING_STEP]
