"""What some tests need and a machine may not have, and which situations of a test `make test` leaves to `make test-slow`."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from gradekit.inside.arrays import has_torch

needs_torch = pytest.mark.skipif(not has_torch(), reason="torch is not installed")


def mostly_slow(situations: Iterable[Any], quick: int = 1) -> list[ParameterSet]:
    """The parameters of a test: the first one, or the first few, are quick examples, and the others are marked `slow`."""
    return _marked(situations, quick, pytest.mark.slow)


def mostly_thorough(situations: Iterable[Any], examples: int = 1) -> list[ParameterSet]:
    """The parameters of a slow test: the first one, or the first few, are examples, and the others are marked `thorough`."""
    return _marked(situations, examples, pytest.mark.thorough)


def _marked(situations: Iterable[Any], examples: int, mark: pytest.MarkDecorator) -> list[ParameterSet]:
    return [
        pytest.param(
            *(situation if isinstance(situation, tuple) else (situation,)),
            marks=[mark] if number >= examples else [],
        )
        for number, situation in enumerate(situations)
    ]
