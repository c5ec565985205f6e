"""Known weights for modules, so that no check depends on how a student's module starts."""

import math
import zlib
from collections.abc import Mapping
from typing import Any


def named_weights(shapes: Mapping[str, tuple[int, ...]], seed: int = 0) -> dict[str, Any]:
    """A tensor for each parameter, from its name and shape: the same for the same seed, and different for every name.

    Vectors are near 1 if they are called weight, as in a norm, and near 0 otherwise; new norms are all the same, so a check
    can't tell which one is used. Matrices keep the size of what they multiply.

    Example:
        module.load_state(named_weights({"linear.weight": (5, 3), "linear.bias": (5,), "norm.weight": (5,)}))
    """
    import torch

    values = {}
    for name, shape in shapes.items():
        generator = torch.Generator().manual_seed(zlib.crc32(f"{seed}/{name}".encode()))
        noise = torch.randn(shape, generator=generator)
        if len(shape) == 1:
            values[name] = 0.3 * noise + (1 if name.endswith("weight") else 0)
        else:
            values[name] = noise / math.sqrt(shape[1])
    return values
