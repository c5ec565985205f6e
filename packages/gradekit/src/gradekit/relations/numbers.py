"""The evidence for a relation, in bits, so that chance is never mistaken for one; and relations of numbers.

These are, alone or entry by entry: a factor, an offset, a function of the right number.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import exp, isfinite, log, log2, prod, sqrt

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
_NEAR = 1e-4


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
        return (self.of_integer if self.whole else _MOST_PER_ENTRY) + 2

    @cached_property
    def of_integer(self) -> float:
        """The bits that an entry contributes if all are integers."""
        return min(float(np.log2(max(self.kinds, 1))), _MOST_PER_ENTRY)

    @cached_property
    def tight(self) -> float:
        """The absolute tolerance as one number."""
        return float(np.max(self.atol))

    def equals(self, candidate: Numpy) -> bool:
        """True if the wrong array is the candidate, within the tolerance of the check."""
        if candidate.shape != self.found.shape or not np.isfinite(candidate).all():
            return False
        with np.errstate(all="ignore"):
            return bool((np.abs(self.found - candidate) <= self.tight + self.rtol * np.abs(candidate)).all())

    def claim(self, candidate: Numpy, text: str, cost: float) -> "Iterator[Relation]":
        """The relation, if the wrong array is the candidate. `cost` is that of choosing it, in bits."""
        if self.equals(candidate):
            yield Relation(text, self.bits(candidate) - cost)

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
            return entries.size * self.of_integer
        unit = 2 * (self.tight + self.rtol * float(np.abs(entries).mean()))
        spread = float(candidate.std())
        if spread <= unit:
            return 0.0
        # entries that are equal within rounding are one
        digits = np.unique(np.round(entries / unit))
        each = min(float(np.log2(spread / unit)), _MOST_PER_ENTRY)
        return each * len(digits)

    def bits_of_all(self, candidate: Numpy) -> float:
        """The bits of evidence from all entries."""
        return self.bits(candidate, np.ones(candidate.shape, bool))


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
    if abs(abs(number) - power) <= _NEAR * power:
        return f"{np.copysign(power, number):g}"
    for below in range(1, largest_below + 1):
        above = round(number * below)
        if 0 < abs(above) <= largest_above and abs(number * below - above) <= _NEAR * abs(above):
            return f"{number:.3g}"
    return f"about {rough(number, steps)}"


#: the cost of choosing one relation from a list, in bits
_CHOSEN = 4.0
_FUNCTIONS: tuple[tuple[str, Callable[[Numpy], Numpy]], ...] = (
    ("Every entry is 1 minus the right one", lambda x: 1 - x),
    ("Every entry is e to the power of the right one: an `exp` too many or a logarithm too few", np.exp),
    ("Every entry is the logarithm of the right one: a logarithm too many or an `exp` too few", np.log),
    ("Every entry is the square of the right one", np.square),
    ("Every entry is the square root of the right one", np.sqrt),
    ("Every entry is 1 divided by the right one", lambda x: 1 / x),
    ("Every entry has the right magnitude, but none is negative", np.abs),
    ("Every negative entry has become 0, as after a ReLU; the others are right", lambda x: np.maximum(x, 0)),
    ("Every positive entry has become 0; the others are right", lambda x: np.minimum(x, 0)),
    ("Every entry is the hyperbolic tangent (`tanh`) of the right one", np.tanh),
    ("Every entry is the sigmoid of the right one", lambda x: 1 / (1 + np.exp(-x))),
    ("Every entry is the right one rounded to an integer", np.round),
    ("Every entry is the right one without the digits after the decimal point", np.trunc),
    ("Every entry is the right one rounded to 1 digit after the decimal point", lambda x: np.round(x, 1)),
    ("Every entry is the right one rounded to 2 digits after the decimal point", lambda x: np.round(x, 2)),
    ("Every entry is the right one rounded to 3 digits after the decimal point", lambda x: np.round(x, 3)),
    ("Every entry is the logarithm of 1 plus the right one", np.log1p),
)
_POWERS = ((1.0, "{}"), (0.5, "√{}"), (2.0, "{}²"))
#: float32 computes a few steps to within this
_CLOSE = 3e-6
#: fractions with smaller denominators are often equal by chance
_SIMPLE = 64
#: the largest factor that is reported without a size that explains it
_MOST_TIMES = 40
_OF_A_NUMBER: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("has the right magnitude and the wrong sign", lambda x: -x),
    ("is e to the power of the right number", exp),
    ("is the logarithm of the right number", log),
    (
        "is the right number in units of log 2: a base-2 logarithm instead of the natural one",
        lambda x: x / log(2),
    ),
    ("is 2 to the power of the right number", lambda x: 2**x),
    ("is the base-2 logarithm of the right number", log2),
    ("is the square of the right number", lambda x: x * x),
    ("is the square root of the right number", sqrt),
    ("is 1 divided by the right number", lambda x: 1 / x),
    ("is 1 minus the right number", lambda x: 1 - x),
    ("is twice the right number", lambda x: 2 * x),
    ("is half of the right number", lambda x: x / 2),
)


def number_relations(pair: Pair, play: InPlay) -> Iterator[Relation]:
    """Relations of two arrays of one shape."""
    if not pair.same_shape or pair.kinds < 2:
        return
    yield from _one_number_for_all(pair)
    if pair.right.std() == 0:
        return
    yield from _factor(pair, play)
    yield from _offset(pair)
    yield from _factor_and_offset(pair)
    with np.errstate(all="ignore"):
        for text, function in _FUNCTIONS:
            candidate = function(pair.right)
            if not pair.equals(candidate):
                continue
            if pair.boolean and text.endswith("1 minus the right one"):
                text = "True and False are exchanged"
            bits = pair.bits(candidate)
            changed = np.abs(candidate - pair.right) > pair.tight + pair.rtol * np.abs(candidate)
            if changed.sum() >= 3:  # a function may map the entries that it changes to few numbers
                bits = max(bits, pair.bits_of_all(candidate))
            yield Relation(f"{text}.", bits - _CHOSEN)


def _one_number_for_all(pair: Pair) -> Iterator[Relation]:
    first = pair.found.ravel()[0]
    if pair.found.size > 1 and np.ptp(pair.found) <= pair.tight and np.ptp(pair.right) > 2 * pair.tight:
        what = {0.0: "0", 1.0: "1"}.get(float(first), "the same number")
        if pair.boolean:
            what = "True" if first else "False"
        entries = min(pair.found.size, 100)
        yield Relation(
            f"Every entry is {what}.", entries * min(np.log2(max(pair.kinds, 2)), 8.0) - pair.one_entry
        )


def _factor(pair: Pair, play: InPlay) -> Iterator[Relation]:
    large = np.abs(pair.right) >= np.abs(pair.right).max() / 2
    factor = float(np.median(pair.found[large] / pair.right[large]))
    if factor == 0 or not pair.equals(factor * pair.right):
        return
    bits = pair.bits(factor * pair.right)
    if abs(factor + 1) <= 2 * pair.rtol:
        yield Relation("Every entry has the wrong sign.", bits - _CHOSEN)
        return
    how = _known_factor(factor, pair, play) or (
        f"times {number_in_words(factor)}" if abs(factor) > 1 else f"divided by {number_in_words(1 / factor)}"
    )
    yield Relation(f"Every entry is the right one {how}.", bits - pair.one_entry)


def _known_factor(factor: float, pair: Pair, play: InPlay) -> str:
    """The factor as a power of a size, in words; empty if it isn't one."""
    own: dict[int, list[int]] = {}
    for axis, size in enumerate(pair.right.shape):
        own.setdefault(size, []).append(axis)
    named = {
        size: "the size of " + " and of ".join(axis_in_words(axis, pair.right.ndim) for axis in axes)
        for size, axes in own.items()
    }
    named = {size: "a size of the inputs" for size in sorted(play.sizes)} | named
    named |= {prod(pair.right.shape): "the number of entries"} if pair.right.ndim > 1 else {}
    for value, way in ((factor, "times"), (1 / factor, "divided by")):
        for power, pattern in _POWERS:
            for size, whose in named.items():
                if size > 1 and abs(value - size**power) <= 2 * pair.rtol * size**power:
                    if power == 1:
                        return f"{way} {size}, {whose}"
                    text, number = pattern.format(size), size**power
                    if number == round(number):  # which may be meant as well
                        text = f"{round(number)}, which is {text}"
                    return f"{way} {text}, and {size} is {whose}"
    return ""


def _offset(pair: Pair) -> Iterator[Relation]:
    offset = float(np.median(pair.found - pair.right))
    candidate = pair.right + offset
    if abs(offset) > pair.tight and pair.equals(candidate):
        way = "too large" if offset > 0 else "too small"
        text = f"Every entry is {way} by the same number, {offset_in_words(abs(offset))}."
        yield Relation(text, pair.bits(candidate) - pair.one_entry)


def _factor_and_offset(pair: Pair) -> Iterator[Relation]:
    x, y = pair.right.ravel(), pair.found.ravel()
    middle = x - x.mean()
    slope = float((middle * y).sum() / np.square(middle).sum())
    offset = float(y.mean() - slope * x.mean())
    candidate = slope * pair.right + offset
    known = abs(slope - 1) <= 2 * pair.rtol or abs(offset) <= 2 * pair.tight or abs(slope) <= 2 * pair.rtol
    if not known and pair.equals(candidate):
        text = f"Every entry is the right one times {number_in_words(slope)}, plus {offset_in_words(offset)}."
        yield Relation(text, pair.bits(candidate) - 2 * pair.one_entry - 1)


def scalar_relation(found: float, right: float, play: InPlay) -> str:
    if not (isfinite(found) and isfinite(right)):
        return ""
    if 0 < right < 1 and found > 1 and _same(found, 100 * right):
        return "It is 100 times the right number: a percentage instead of a fraction."
    if _is_simple(right) or _is_simple(found) or min(abs(right), abs(found)) < 1e-4:
        return ""
    for words, function in _OF_A_NUMBER:
        try:
            if _same(found, function(right)):
                return f"It {words}."
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
    sizes = sorted(size for size in play.sizes if 2 < size < 10_000)
    known = [(float(size), f"{size}, a size of the inputs") for size in sizes]
    known += [(one * two, f"{one} · {two}, sizes of the inputs") for one, two in combinations(sizes, 2)]
    known += [(sqrt(size), f"√{size}, and {size} is a size of the inputs") for size in sizes]
    for number, words in known:
        for way, factor in (("times", number), ("divided by", 1 / number)):
            if _same(found, right * factor):
                return f"It is the right number {way} {words}."
    for way, ratio in (("times", found / right), ("divided by", right / found)):
        if 3 <= round(ratio) <= _MOST_TIMES and _same(ratio, float(round(ratio))):
            return f"It is the right number {way} {round(ratio)}."
    return ""


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= _CLOSE * abs(other)


def _is_simple(number: float) -> bool:
    """True for a number of at most three digits after the point, or a fraction with a small denominator."""
    return abs(number - round(number, 3)) < _CLOSE or any(
        abs(number * below - round(number * below)) < _CLOSE * max(abs(number * below), 1)
        for below in range(1, _SIMPLE)
    )
