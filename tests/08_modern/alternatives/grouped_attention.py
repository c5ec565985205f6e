"""Other right answers to exercise 4, `grouped_attention`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("grouped_one_more_axis").source("""
def grouped_attention(q, k, v, mask=None):
    batch, heads, length, d_head = q.shape
    groups = k.shape[1]
    if heads % groups:
        raise ValueError(f"{heads} heads, {groups} groups")
    q = q.reshape(batch, groups, heads // groups, length, d_head)
    scores = torch.einsum("bgsqd,bgkd->bgsqk", q, k) / math.sqrt(d_head)
    scores = scores.flatten(1, 2)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    output = torch.einsum("bgsqk,bgkd->bgsqd", weights.unflatten(1, (groups, -1)), v)
    return output.flatten(1, 2), weights
""")

right("grouped_by_expand").source("""
def grouped_attention(q, k, v, mask=None):
    heads, groups = q.size(1), k.size(1)
    if heads != groups * (heads // groups):
        raise ValueError("can't share {} heads among {} groups".format(heads, groups))

    def copies(x):
        return x.unsqueeze(2).expand(-1, -1, heads // groups, -1, -1).reshape(x.size(0), heads, *x.shape[2:])

    return masked_attention(q, copies(k), copies(v), mask)
""")

right("grouped_head_by_head").source("""
def grouped_attention(q, k, v, mask=None):
    heads, groups = q.shape[1], k.shape[1]
    if heads % groups > 0:
        raise ValueError(f"{heads} is not a multiple of {groups}")
    if mask is not None:
        mask = mask.expand(q.shape[0], heads, q.shape[2], k.shape[2])
    parts = []
    for head in range(heads):
        group = head * groups // heads
        own = None if mask is None else mask[:, head]
        parts.append(masked_attention(q[:, head], k[:, group], v[:, group], own))
    return torch.stack([part[0] for part in parts], dim=1), torch.stack([part[1] for part in parts], dim=1)
""")

right("softmax_in_float32_as_in_llama").source("""
def repeat_kv(x, times):
    batch, groups, length, width = x.shape
    return x[:, :, None].expand(batch, groups, times, length, width).reshape(batch, groups * times, length, width)
def grouped_attention(q, k, v, mask=None):
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} heads, {k.shape[1]} groups")
    times = q.shape[1] // k.shape[1]
    k, v = repeat_kv(k, times), repeat_kv(v, times)
    scores = torch.matmul(q, k.transpose(2, 3)) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    if mask is not None:
        weights = weights * mask
    return torch.matmul(weights, v), weights
""")

right("own_method_with_the_name_of_torch_s").source("""
class Ops:
    @staticmethod
    def scaled_dot_product_attention(q, k, v, mask):
        return masked_attention(q, k, v, mask)
def grouped_attention(q, k, v, mask=None):
    times, rest = divmod(q.shape[1], k.shape[1])
    if rest:
        raise ValueError(f"{q.shape[1]} heads, {k.shape[1]} groups")
    return Ops.scaled_dot_product_attention(q, k.repeat_interleave(times, 1), v.repeat_interleave(times, 1), mask)
""")
