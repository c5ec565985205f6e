"""Other right answers to exercise 6, `ablate`."""

from gradekit.checks import Alternatives

right = Alternatives("ablate_")

right("where").source("""
def ablate(outputs, head, kind="zero"):
    if kind == "zero":
        new = torch.zeros_like(outputs)
    elif kind == "mean":
        new = outputs.mean(dim=(0, 2), keepdim=True).expand_as(outputs)
    else:
        raise ValueError(f"unknown kind: {kind}")
    this = (torch.arange(outputs.shape[1]) == head)[:, None, None]
    return torch.where(this, new, outputs)
""")

right("list_of_heads").source("""
def ablate(outputs, head, kind="zero"):
    parts = list(outputs.unbind(dim=1))
    if kind == "zero":
        parts[head] = torch.zeros_like(parts[head])
    elif kind == "mean":
        mean = parts[head].flatten(0, 1).mean(dim=0)
        parts[head] = mean.repeat(outputs.shape[0], outputs.shape[2], 1)
    else:
        raise ValueError("not a kind: " + kind)
    return torch.stack(parts, dim=1)
""")

right("in_numpy").source("""
import numpy as np
def ablate(outputs, head, kind="zero"):
    if kind not in ("zero", "mean"):
        raise ValueError(f"kind {kind}")
    copy = outputs.detach().numpy().copy()
    copy[:, head] = 0 if kind == "zero" else copy[:, head].mean(axis=(0, 1))
    return torch.from_numpy(copy)
""")

right("without_gradients").source("""
@torch.no_grad()
def ablate(outputs, head, kind="zero"):
    if kind not in ("zero", "mean"):
        raise ValueError(f"kind {kind}")
    copy = outputs.clone()
    copy[:, head] = 0 if kind == "zero" else copy[:, head].mean(dim=(0, 1))
    return copy
""")
