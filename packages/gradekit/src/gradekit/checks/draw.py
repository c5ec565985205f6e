"""Random sizes and inputs, new for each submission, from a seed that is stored with its result."""

import hashlib
import random
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from gradekit.inside.arrays import Array, current_kind

T = TypeVar("T")


def number_from(*parts: object) -> int:
    """A stable 63-bit number from any strings and numbers."""
    text = "\x00".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Generator:
    """Random arrays of the current kind; the same seed produces the same arrays."""

    def __init__(self, seed: int) -> None:
        self._numpy = self._torch = None
        if current_kind() == "numpy":
            self._numpy = np.random.default_rng(seed)
        else:
            import torch

            self._torch = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, dtype: Any = None) -> Array:
        """Standard-normal numbers; float32 unless `dtype` says otherwise."""
        if self._numpy:
            return self._numpy.standard_normal(shape).astype(dtype or np.float32)
        import torch

        return torch.randn(shape, generator=self._torch, dtype=dtype or torch.float32)

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Array:
        """Integers from low to high - 1."""
        if self._numpy:
            return self._numpy.integers(low, high, shape)
        import torch

        return torch.randint(low, high, shape, generator=self._torch)

    def bools(self, *shape: int) -> Array:
        if self._numpy:
            return self._numpy.random(shape) < 0.5
        import torch

        return torch.rand(shape, generator=self._torch) < 0.5


class Draw(Generator):
    """The fixture `draw`: random numbers of one check; the same seed and check produce the same numbers."""

    def __init__(self, seed: int, check: str) -> None:
        number = number_from(seed, check)
        super().__init__(number)
        self._random = random.Random(number)

    def sizes(self, count: int, low: int = 2, high: int = 9) -> list[int]:
        """`count` sizes from low to high, no two of them equal."""
        return self._random.sample(range(low, high + 1), count)

    def shuffled(self, values: Sequence[T]) -> list[T]:
        return self._random.sample(values, len(values))
