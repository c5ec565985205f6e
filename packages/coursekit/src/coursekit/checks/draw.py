"""Sizes and inputs drawn anew for each submission, from a seed that is kept with its result."""

import hashlib
import random

import torch


def number_from(*parts: object) -> int:
    """A stable 63-bit number from any strings and numbers."""
    text = "\x00".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Draw:
    """Random numbers of one check; the same seed and check give the same numbers."""

    def __init__(self, seed: int, check: str) -> None:
        number = number_from(seed, check)
        self._random = random.Random(number)
        self._generator = torch.Generator().manual_seed(number)

    def sizes(self, count: int, low: int = 2, high: int = 9) -> list[int]:
        """`count` sizes from low to high, no two of them equal."""
        return self._random.sample(range(low, high + 1), count)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, generator=self._generator, dtype=dtype)

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> torch.Tensor:
        """Integers from low to high - 1."""
        return torch.randint(low, high, shape, generator=self._generator)

    def bools(self, *shape: int) -> torch.Tensor:
        return torch.rand(shape, generator=self._generator) < 0.5
