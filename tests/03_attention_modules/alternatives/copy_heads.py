"""Other right answers to exercise 6, `copy_heads`."""

from gradekit.checks import Alternatives

right = Alternatives("copy_")

right("rows_in_slices").source("""
def copy_heads(heads, fused):
    with torch.no_grad():
        start = 0
        for head in heads.attn_modules:
            end = start + head.q.out_features
            fused.w_q.weight[start:end] = head.q.weight
            fused.w_q.bias[start:end] = head.q.bias
            fused.w_k.weight[start:end] = head.k.weight
            fused.w_k.bias[start:end] = head.k.bias
            fused.w_v.weight[start:end] = head.v.weight
            fused.w_v.bias[start:end] = head.v.bias
            start = end
        fused.w_o.load_state_dict(heads.linear.state_dict())
""")

right("data").source("""
def copy_heads(heads, fused):
    for name in "qkv":
        layer = getattr(fused, "w_" + name)
        layer.weight.data = torch.cat([getattr(head, name).weight.data for head in heads.attn_modules])
        layer.bias.data = torch.cat([getattr(head, name).bias.data for head in heads.attn_modules])
    fused.w_o.weight.data = heads.linear.weight.data.clone()
    fused.w_o.bias.data[:] = heads.linear.bias.data
""")

right("state_dict").source("""
def copy_heads(heads, fused):
    state = {}
    for part in ("weight", "bias"):
        for name in ("q", "k", "v"):
            state[f"w_{name}.{part}"] = torch.cat(
                [head.state_dict()[f"{name}.{part}"] for head in heads.attn_modules]
            )
        state[f"w_o.{part}"] = heads.linear.state_dict()[part]
    fused.load_state_dict(state)
""")

right("new_parameters").source("""
def copy_heads(heads, fused):
    for layer, name in [(fused.w_q, "q"), (fused.w_k, "k"), (fused.w_v, "v")]:
        parts = [getattr(head, name) for head in heads.attn_modules]
        layer.weight = nn.Parameter(torch.vstack([part.weight for part in parts]).detach())
        layer.bias = nn.Parameter(torch.hstack([part.bias for part in parts]).detach())
    fused.w_o.weight = nn.Parameter(heads.linear.weight.detach().clone())
    fused.w_o.bias = nn.Parameter(heads.linear.bias.detach().clone())
    return fused
""")
