"""How much a wrong array says for a relation, in bits, so that chance is never taken for a relation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from coursekit.arrays import Numpy

#: bits beyond those of chance that a relation needs to be told
ENOUGH = 14.0
#: the same for a relation that only says where the right entries are
ENOUGH_FOR_PLACES = 8.0
#: the most that one entry says: close numbers often have a common cause
_MOST_PER_ENTRY = 8.0


@dataclass(frozen=True)
class Claim:
    """A relation in one sentence.

    `bits` is what speaks for it, less what choosing it costs. Where several hold, the highest `rank` is told (3: it
    explains every entry; 2: some of them; 1: a property), and among equals the one with the most bits. A claim that
    only says where the right entries are, without a cause, is so even if by chance, and `needs` fewer bits.
    """

    text: str
    bits: float
    rank: int = 3
    needs: float = ENOUGH


@dataclass(frozen=True)
class InPlay:
    """What the student's code was called with in this check: sizes, and boolean arrays, which may be masks."""

    sizes: frozenset[int] = frozenset()
    masks: Sequence[Numpy] = field(default=(), hash=False)


@dataclass(frozen=True)
class Pair:
    """A wrong array and the right one, both float64 and finite, of any two shapes."""

    found: Numpy
    right: Numpy
    atol: "float | Numpy"
    rtol: float
    boolean: bool = False

    @cached_property
    def same_shape(self) -> bool:
        return bool(self.found.shape == self.right.shape)

    @cached_property
    def off(self) -> Numpy:
        """Where two arrays of one shape differ."""
        limit = self.atol + self.rtol * np.abs(self.right)
        return np.asarray(np.abs(self.found - self.right) > limit)

    @cached_property
    def whole(self) -> bool:
        """True if all entries are integers, of which few are possible."""
        return all(np.array_equal(part, np.round(part)) for part in (self.found, self.right))

    @cached_property
    def kinds(self) -> int:
        """The number of different entries that the two arrays hold."""
        return len(np.unique(np.concatenate([self.found.ravel(), self.right.ravel()])))

    @cached_property
    def one_entry(self) -> float:
        """What it costs to read one number off the values."""
        return (
            min(float(np.log2(max(self.kinds, 1))), _MOST_PER_ENTRY) + 2
            if self.whole
            else _MOST_PER_ENTRY + 2
        )

    @cached_property
    def tight(self) -> float:
        """The absolute tolerance as one number."""
        return float(np.max(self.atol))

    def equals(self, candidate: Numpy) -> bool:
        """True if the wrong array is the candidate, within the tolerance of the check."""
        if candidate.shape != self.found.shape:
            return False
        with np.errstate(all="ignore"):
            return bool((np.abs(self.found - candidate) <= self.tight + self.rtol * np.abs(candidate)).all())

    def bits(self, candidate: Numpy, where: Numpy | None = None) -> float:
        """What the agreement with a candidate says, by the entries in `where`.

        By default these are the entries that the candidate has other than the right one. Equal entries of floats
        count once, since one cause makes all of them.
        """
        if where is None:
            moved = self.right.shape != candidate.shape
            limit = self.tight + self.rtol * np.abs(candidate)
            where = np.ones(candidate.shape, bool) if moved else np.abs(candidate - self.right) > limit
        entries = candidate[where]
        if entries.size == 0:
            return 0.0
        if self.whole:
            return entries.size * min(float(np.log2(max(self.kinds, 1))), _MOST_PER_ENTRY)
        unit = 2 * (self.tight + self.rtol * float(np.abs(entries).mean()))
        spread = float(candidate.std())
        if spread <= unit:
            return 0.0
        # entries that are equal within rounding are one
        digits = np.unique(np.round(entries / unit))
        each = min(float(np.log2(spread / unit)), _MOST_PER_ENTRY)
        return each * len(digits)


def axis_in_words(axis: int, ndim: int) -> str:
    """An axis as a student counts it."""
    if ndim == 1:
        return "its only axis"
    return "the last axis" if axis == ndim - 1 else f"axis {axis}"


def number_in_words(number: float) -> str:
    """A number with three digits."""
    return f"{number:.3g}"
