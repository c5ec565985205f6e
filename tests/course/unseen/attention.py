"""Wrong answers to 02_attention, written from the text of its exercises."""

from answers import Unseen

SOFTMAX = "weights = torch.softmax(scores, dim=-1)"


def attention(name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"attention_{name}", "attention", [(old, new)], fault=fault)


def masked(name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"masked_{name}", "masked_attention", [(old, new)], fault=fault)


def mask(name: str, cell: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(name, cell, [(old, new)], fault=fault)


UNSEEN = [
    attention("root_of_keys", "math.sqrt(d_k)", "math.sqrt(k.shape[-2])", "root of the number of keys"),
    attention("base_two", SOFTMAX, "weights = torch.softmax(scores * math.log(2), dim=-1)", "powers of 2"),
    attention("mean_of_keys", "weights @ v", "weights @ v / v.shape[-2]", "divided by the number of keys"),
    attention("rounded", SOFTMAX, f"{SOFTMAX}.round(decimals=2)", "weights rounded to two digits"),
    attention("width_of_v", "d_k = q.shape[-1]", "d_k = v.shape[-1]", "root of the width of v"),
    attention("two_softmaxes", SOFTMAX, f"{SOFTMAX}.softmax(-1)", "softmax applied twice"),
    attention(
        "cosine",
        "q @ k.transpose(-2, -1)",
        "torch.nn.functional.normalize(q, dim=-1) @ torch.nn.functional.normalize(k, dim=-1).mT",
        "vectors scaled to length 1",
    ),
    attention(
        "returns_transposed", "return output, weights", "return output, weights.mT", "weights transposed"
    ),
    attention("values_reversed", "weights @ v", "weights @ v.flip(-2)", "values in reverse order"),
    attention(
        "relu_weights",
        SOFTMAX,
        "weights = scores.relu() / (scores.relu().sum(-1, keepdim=True) + 1e-9)",
        "ReLU in place of the exponential",
    ),
    attention("width_plus_one", "math.sqrt(d_k)", "math.sqrt(d_k + 1)", "d_k + 1 under the root"),
    attention(
        "clamped",
        SOFTMAX,
        "weights = torch.softmax(scores.clamp(-5, 5), dim=-1)",
        "scores limited to 5",
    ),
    attention("minus", "scores = q @", "scores = -q @", "scores have the wrong sign"),
    attention("plus_v", "weights @ v  #", "weights @ v + v.mean(-2, keepdim=True)  #", "mean of v added"),
    mask("padding_greater", "padding_mask", "ids != pad_idx", "ids > pad_idx", "> in place of !="),
    mask(
        "padding_square",
        "padding_mask",
        "is_token.unsqueeze(1)",
        "is_token.unsqueeze(1).expand(-1, ids.shape[1], -1)",
        "axis of the queries expanded",
    ),
    mask(
        "padding_first_only",
        "padding_mask",
        "is_token = ids != pad_idx",
        "is_token = (ids != pad_idx).cumprod(dim=1).bool()",
        "everything after the first padding is hidden",
    ),
    mask(
        "padding_default",
        "padding_mask",
        "is_token = ids != pad_idx",
        "is_token = ids.bool()",
        "pad_idx ignored",
    ),
    mask(
        "causal_one_ahead",
        "causal_mask",
        "torch.tril(everything)",
        "torch.tril(everything, 1)",
        "sees one token ahead",
    ),
    mask("causal_floats", "causal_mask", ", dtype=torch.bool", "", "float, not boolean"),
    mask("causal_upper", "causal_mask", "torch.tril", "torch.triu", "upper triangle"),
    mask(
        "causal_batched",
        "causal_mask",
        "torch.tril(everything)",
        "torch.tril(everything)[None]",
        "one axis too many",
    ),
    masked("minus_ten", "torch.finfo(scores.dtype).min", "-10.0", "hidden scores are only -10"),
    masked(
        "not_renormalized",
        "scores = scores.masked_fill(~mask, lowest)",
        "hidden = ~mask",
        "",
    ),
    masked(
        "first_of_the_batch",
        "masked_fill(~mask, lowest)",
        "masked_fill(~mask[:1], lowest)",
        "the mask of the first in the batch is used for all",
    ),
    masked(
        "bonus",
        "scores.masked_fill(~mask, lowest)",
        "scores + mask.to(scores.dtype)",
        "visible scores get 1 more; nothing is hidden",
    ),
    masked("all_not_any", "mask.any(", "mask.all(", "queries with any hidden key get zeros"),
    masked(
        "multiplied",
        "scores.masked_fill(~mask, lowest)",
        "scores * mask",
        "hidden scores become 0",
    ),
    masked(
        "leaking_sum",
        "output = weights @ v",
        "weights = weights / (weights.sum(-1, keepdim=True) + 1e-2)\n    output = weights @ v",
        "divided by the sum plus 0.01",
    ),
    masked(
        "no_zero_rows",
        "weights.masked_fill(~has_a_key, 0.0)",
        "weights",
        "a query without keys gets uniform weights",
    ),
    mask("std_variance", "score_std", "scores.std()", "scores.var()", "variance"),
    mask(
        "std_scaled_twice",
        "score_std",
        "scores / math.sqrt(d_k)",
        "scores / math.sqrt(d_k) / math.sqrt(d_k)",
        "divided by the root twice",
    ),
    mask(
        "std_uniform",
        "score_std",
        "k = torch.randn(pairs, d_k)",
        "k = torch.rand(pairs, d_k)",
        "uniform keys",
    ),
    mask("std_always", "score_std", "if scaled:", "if True:", "always scaled"),
]
# this one needs a second edit
UNSEEN = [answer for answer in UNSEEN if answer.name != "masked_not_renormalized"] + [
    Unseen(
        "masked_not_renormalized",
        "masked_attention",
        [
            ("scores = scores.masked_fill(~mask, lowest)", "pass"),
            ("weights.masked_fill(~has_a_key, 0.0)", "weights.masked_fill(~mask, 0.0)"),
        ],
        fault="hidden after the softmax, without dividing by the new sum",
    )
]
