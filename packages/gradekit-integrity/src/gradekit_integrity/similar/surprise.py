"""How surprising it is, in this class, that two works are as alike as they are.

In each exercise, two works are more alike the rarer it is to have everything that both have, and the less is in only
one of them (see `alike`). How surprising this is follows from all pairs of the class: -log of the share of the others
that are at least as alike. Exercises are combined as if students answered them independently, so that a pair stands out
if all or some of its exercises agree in unusual ways. Code that most of the class writes surprises nobody.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradekit_integrity.similar.alike import Values, similarities
from gradekit_integrity.similar.works import Work

#: a pair stands out if fewer than this many pairs as alike are to be expected in the whole class
EXPECTED = 0.05
#: two sums are tried: of all exercises, which finds whole copies, and of those in which at most this share of pairs is
#: as alike, which finds copies of a part
_SUMS = (1.0, 0.1)
#: the page lists a pair's exercises that are at least this unusual
_SHOWN = 0.05
#: the share of the most similar pairs, and the least number, from which the rest of the tail is estimated
_TAIL, _LEAST_IN_TAIL = 0.005, 20
#: pairs that stand out are left out when the rest is measured again
_MOST_ROUNDS = 10
#: the habits of students are measured at this share of the closest pairs, which is larger than that of copies
_HABITS = 0.01
#: sums are rounded to these steps; there are this many of them beyond the most similar pair
_STEP, _BEYOND = 0.05, 200

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class SimilarPair:
    """Two works, by their places in the list of works.

    Args:
        expected: the number of pairs in the class that are expected to be as alike by chance.
        exercises: how surprising each exercise that counts is, the most surprising first.
    """

    first: int
    second: int
    expected: float
    exercises: dict[str, float]


@dataclass(frozen=True)
class Comparison:
    """All pairs of a class that stand out, and the closest of those that don't."""

    works: Sequence[Work]
    pairs: list[SimilarPair]
    #: alike, but with the same owner
    same_owner: list[SimilarPair]
    next_closest: SimilarPair | None
    exercises: int = 0


def compare_works(works: Sequence[Work], allowed: float = EXPECTED) -> Comparison:
    """Compare every two works, except for two of earlier classes."""
    first, second = np.triu_indices(len(works), 1)
    earlier = np.array([bool(work.origin) for work in works], dtype=bool)
    kept = ~(earlier[first] & earlier[second])
    first, second = first[kept], second[kept]
    if not len(first):
        return Comparison(works, [], [], None)
    owners = np.unique([work.owner for work in works], return_inverse=True)[1]
    related = owners[first] == owners[second]
    exercises = sorted({name for work in works for name in work.fingerprints})
    alike = {name: similarities(works, name, owners, first, second) for name in exercises}
    trusted = ~related
    surprises: dict[str, Values] = {}
    expected = np.full(len(first), np.inf)
    for _ in range(_MOST_ROUNDS):
        surprises = {name: surprises_of(values, trusted) for name, values in alike.items()}
        expected = _expected(surprises.values(), trusted)
        before, trusted = trusted, ~related & (expected > allowed)
        if np.array_equal(before, trusted):
            break

    low = -math.log(_SHOWN)

    def pair_at(place: int) -> SimilarPair:
        found = {name: float(values[place]) for name, values in surprises.items() if values[place] > low}
        ordered = dict(sorted(found.items(), key=lambda item: -item[1]))
        return SimilarPair(int(first[place]), int(second[place]), float(expected[place]), ordered)

    chosen = [
        pair_at(int(place)) for place in np.argsort(expected, kind="stable") if expected[place] <= allowed
    ]
    mine = [pair for pair in chosen if works[pair.first].owner != works[pair.second].owner]
    rest = np.flatnonzero(trusted)
    closest = pair_at(int(rest[np.argmin(expected[rest])])) if len(rest) else None
    return Comparison(
        works,
        mine,
        [pair for pair in chosen if pair not in mine],
        closest,
        len(exercises),
    )


def surprises_of(values: Values, trusted: Mask) -> Values:
    """-log of the share of trusted pairs that are at least as alike; estimated beyond the most similar of them.

    A pair is compared with the others, and counts itself once as a pair that is as alike.
    """
    known = np.sort(values[trusted])
    count = len(known)
    as_alike = count - np.searchsorted(known, values - 1e-4) - trusted
    found = np.where(values > 1e-4, -np.log((1 + as_alike) / (1 + count - trusted)), 0.0)
    in_tail = max(_LEAST_IN_TAIL, int(_TAIL * count))
    if count > 5 * in_tail:
        begin, top = known[-in_tail], known[-1]
        scale = max(float(np.mean(known[-in_tail:] - begin)), float(top - begin) / math.log(1 + in_tail))
        if scale > 0:
            beyond = math.log((1 + count) / (1 + in_tail)) + (values - begin) / scale
            found = np.where(values > top, np.maximum(found, beyond), found)
    return found


def _expected(surprises: Collection[Values], trusted: Mask) -> Values:
    """The number of pairs that are expected to be as alike as each one by chance.

    Students have habits, so their exercises don't agree entirely independently. The closest trusted pairs show how much
    larger the sums of the class are than those of independent exercises; all sums are divided by that factor.
    """
    count = len(trusted)
    found = []
    for share in _SUMS:
        parts = [np.maximum(values + math.log(share), 0) for values in surprises]
        sums = sum(parts, np.zeros(count))
        chances = chances_of([values[trusted] for values in parts], share)
        known = np.sort(sums[trusted])
        inflation = 1.0
        if len(known) > 5 * _LEAST_IN_TAIL:
            closest = max(_LEAST_IN_TAIL, int(_HABITS * len(known)))
            usual = _STEP * int(np.searchsorted(-chances, -closest / len(known)))
            inflation = max(1.0, float(known[-closest]) / usual) if usual > 0 else 1.0
        places = np.floor(sums / inflation / _STEP + 1e-9).astype(np.int64)
        found.append(chances[np.minimum(places, len(chances) - 1)])
    expected: Values = len(_SUMS) * count * np.minimum(*found)
    return expected


def chances_of(parts: Sequence[Values], share: float) -> Values:
    """The probability that the sum over the exercises of a pair reaches 0, `_STEP`, 2 `_STEP`, … by chance.

    In each exercise, a pair is like any pair of the class, or like one more pair that is more alike than all of them. The
    distributions of the exercises are convolved, as if students answered them independently.
    """
    total = np.ones(1)
    for values in parts:
        pairs = np.bincount(np.ceil(values / _STEP - 1e-9).astype(np.int64))
        beyond = math.ceil(max(0.0, math.log(1 + len(values)) + math.log(share)) / _STEP)
        chances = np.zeros(max(len(pairs), beyond + _BEYOND))
        chances[: len(pairs)] = pairs
        ends = np.exp(-_STEP * np.arange(_BEYOND + 1))
        chances[beyond : beyond + _BEYOND] += ends[:-1] - ends[1:]
        total = np.convolve(total, chances / (1 + len(values)))
    reached: Values = np.cumsum(total[::-1])[::-1]
    return reached
