"""The evidence that a wrong array provides for a relation, in bits, so that chance is never mistaken for a relation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gradekit.codecs import rough
from gradekit.inside.arrays import Numpy

#: bits beyond those of chance that a relation needs to be reported
ENOUGH = 14.0
#: the same for a relation that only says where the right entries are
ENOUGH_FOR_PLACES = 8.0
#: the most bits that one entry contributes: close numbers often have a common cause
_MOST_PER_ENTRY = 8.0
#: the largest parts of a simple fraction, and how close a number has to be to it
_LARGEST_ABOVE, _LARGEST_BELOW = 100, 10
_LARGEST_OF_OFFSET = 7
_CLOSE = 1e-4


@dataclass(frozen=True)
class Relation:
    """A relation in one sentence.

    `bits` is the evidence for it, minus the cost of choosing it. If several hold, the one with the highest `rank` is
    reported (3: it explains every entry; 2: some of them; 1: a property), and among equals the one with the most bits.
    One that only says where the right entries are, without a cause, is true even by chance, and `needs` fewer bits.
    """

    text: str
    bits: float
    rank: int = 3
    needs: float = ENOUGH


@dataclass(frozen=True)
class InPlay:
    """The sizes in the arguments of this check's calls, and the boolean arrays, which may be masks."""

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
        return len(np.unique(np.concatenate([self.found.ravel(), self.right.ravel()])))

    @cached_property
    def one_entry(self) -> float:
        """The cost, in bits, of a claim that takes one number from the values."""
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
        """The bits of evidence in the agreement with a candidate, from the entries in `where`.

        By default these are the entries in which the candidate differs from the right array. Equal floats
        count once, since one cause produces all of them.
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
    """An axis in the words of a student."""
    if ndim == 1:
        return "its only axis"
    return "the last axis" if axis == ndim - 1 else f"axis {axis}"


def number_in_words(number: float) -> str:
    """A factor that relates a wrong value to the right one: exactly if it is a simple fraction, such as 1.25 or -0.3.

    Others are rounded to 1, 2, 5 or 10 times a power of ten, since their digits are digits of the right value.
    """
    text = _in_words(number, (1, 2, 5, 10), _LARGEST_ABOVE, _LARGEST_BELOW)
    return f"a number somewhat {'above' if number > 1 else 'below'} 1" if text == "about 1" else text


def offset_in_words(number: float) -> str:
    """The same for an offset, of which fewer are simple; the others are rounded to a power of ten."""
    return _in_words(number, (1, 10), _LARGEST_OF_OFFSET, _LARGEST_OF_OFFSET)


def _in_words(number: float, steps: Sequence[int], largest_above: int, largest_below: int) -> str:
    power = 10.0 ** round(np.log10(abs(number) or 1))
    if abs(abs(number) - power) <= _CLOSE * power:
        return f"{np.copysign(power, number):g}"
    for below in range(1, largest_below + 1):
        above = round(number * below)
        if 0 < abs(above) <= largest_above and abs(number * below - above) <= _CLOSE * abs(above):
            return f"{number:.3g}"
    return f"about {rough(number, steps)}"
