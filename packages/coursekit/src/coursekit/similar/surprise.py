"""How surprising it is, in this class, that two works are as alike as they are.

In each exercise, two works are the more alike the rarer the fingerprints are that both have, and the fewer are in one
only. How surprising this is follows from all pairs of the class: -log of the share of pairs that are at least as alike.
Exercises are combined as if students answered them independently, so that a pair counts whose exercises all agree in
unusual ways. What most of the class writes surprises nobody.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coursekit.similar.works import Work

#: a pair stands out if fewer than this many pairs as alike are to be expected in the whole class
EXPECTED = 0.05
#: two sums are tried: of all exercises, which finds whole copies, and of those in which at most this share of pairs is
#: as alike, which finds copies of a part
_SUMS = (1.0, 0.1)
#: a pair's exercises of which the page says that they are alike
_SHOWN = 0.05
#: the share of the most similar pairs, and the least number, from which the rest of the tail is estimated
_TAIL, _LEAST_IN_TAIL = 0.005, 20
#: pairs that stand out are left out when the rest is measured again
_MOST_ROUNDS = 10
#: at which share of the closest pairs the habits of students are measured: copies are fewer
_HABITS = 0.01

Values = NDArray[np.float64]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Pair:
    """Two works, by their places in the list of works.

    Args:
        expected: how many pairs that are as alike are to be expected in the class by chance.
        exercises: how surprising each exercise is that counts, the most surprising first.
    """

    first: int
    second: int
    expected: float
    exercises: dict[str, float]


@dataclass(frozen=True)
class Comparison:
    """All pairs of a class that stand out, and the closest of those that don't."""

    works: Sequence[Work]
    pairs: list[Pair]
    #: alike, but of the same owner
    same_owner: list[Pair]
    next_closest: Pair | None
    exercises: int = 0


def compare(works: Sequence[Work], allowed: float = EXPECTED) -> Comparison:
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
    alike = {name: _similarities(works, name, owners)[first, second] for name in exercises}
    trusted = ~related
    surprises: dict[str, Values] = {}
    expected = np.full(len(first), np.inf)
    for _ in range(_MOST_ROUNDS):
        surprises = {name: _surprises(values, trusted) for name, values in alike.items()}
        expected = _expected(surprises.values(), trusted)
        before, trusted = trusted, ~related & (expected > allowed)
        if np.array_equal(before, trusted):
            break

    low = -math.log(_SHOWN)

    def pair(place: int) -> Pair:
        found = {name: float(values[place]) for name, values in surprises.items() if values[place] > low}
        ordered = dict(sorted(found.items(), key=lambda item: -item[1]))
        return Pair(int(first[place]), int(second[place]), float(expected[place]), ordered)

    chosen = [pair(int(place)) for place in np.argsort(expected, kind="stable") if expected[place] <= allowed]
    mine = [pair for pair in chosen if works[pair.first].owner != works[pair.second].owner]
    rest = np.flatnonzero(trusted)
    closest = pair(int(rest[np.argmin(expected[rest])])) if len(rest) else None
    return Comparison(
        works,
        mine,
        [pair for pair in chosen if pair not in mine],
        closest,
        len(exercises),
    )


def _similarities(works: Sequence[Work], exercise: str, owners: Places) -> Values:
    """For each two works: the weights of the fingerprints in both, times their share of those in either.

    The weight is log(people / people who have it).
    """
    people = int(owners.max()) + 1
    found = [work.fingerprints.get(exercise, set()) for work in works]
    holders = Counter(one for owner, one in {(o, f) for o, fs in zip(owners, found, strict=True) for f in fs})
    alone = math.log(people)
    shared = [one for one, count in Counter(f for fs in found for f in fs).items() if count > 1]
    column = {one: place for place, one in enumerate(shared)}
    table = np.zeros((len(works), len(shared)), dtype=np.float32)
    whole = np.zeros(len(works), dtype=np.float32)
    for row, fingerprints in enumerate(found):
        places = [column[one] for one in fingerprints if one in column]
        table[row, places] = 1
        whole[row] = alone * (len(fingerprints) - len(places))
    weights = np.array([math.log(people / holders[one]) for one in shared], dtype=np.float32)
    both = (table * weights) @ table.T
    whole += np.diag(both)
    either = whole[:, None] + whole[None, :] - both
    alike: Values = both * np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    return alike


def _surprises(values: Values, trusted: Mask) -> Values:
    """-log of the share of trusted pairs that are at least as alike; estimated beyond the most similar of them."""
    known = np.sort(values[trusted])
    count = len(known)
    as_alike = count - np.searchsorted(known, values - 1e-4)
    found = np.where(values > 1e-4, -np.log((1 + as_alike) / (1 + count)), 0.0)
    in_tail = max(_LEAST_IN_TAIL, int(_TAIL * count))
    if count > 5 * in_tail:
        begin, top = known[-in_tail], known[-1]
        scale = max(float(np.mean(known[-in_tail:] - begin)), float(top - begin) / math.log(1 + in_tail))
        if scale > 0:
            beyond = math.log((1 + count) / (1 + in_tail)) + (values - begin) / scale
            found = np.where(values > top, np.maximum(found, beyond), found)
    return found


def _expected(surprises: Collection[Values], trusted: Mask) -> Values:
    """How many pairs that are as alike as each one are to be expected by chance.

    Students have habits, so that their exercises don't agree quite independently. By how much the sums of the class are
    larger than those of independent exercises is seen at its closest trusted pairs; all are divided by that.
    """
    count = len(trusted)
    found = []
    for share in _SUMS:
        sums = sum((np.maximum(values + math.log(share), 0) for values in surprises), np.zeros(count))
        known = np.sort(sums[trusted])
        inflation = 1.0
        if len(known) > 5 * _LEAST_IN_TAIL:
            closest = max(_LEAST_IN_TAIL, int(_HABITS * len(known)))
            usual = _reached_by(closest / len(known), len(surprises), share)
            inflation = max(1.0, float(known[-closest]) / usual) if usual > 0 else 1.0
        different, places = np.unique(sums, return_inverse=True)
        chances = [_chance(float(one) / inflation, len(surprises), share) for one in different]
        found.append(np.array(chances)[places])
    expected: Values = len(_SUMS) * count * np.minimum(*found)
    return expected


def _chance(total: float, exercises: int, share: float) -> float:
    """The probability that a sum over the exercises of a pair reaches `total` by chance.

    A surprise has the exponential distribution. So the number of exercises that count is binomial, and their sum has
    a gamma distribution.
    """
    if total <= 0:
        return 1.0
    chance = 0.0
    for number in range(1, exercises + 1):
        some = math.comb(exercises, number) * share**number * (1 - share) ** (exercises - number)
        terms = (total**power / math.factorial(power) for power in range(number))
        chance += some * math.exp(-total) * sum(terms)
    return chance


def _reached_by(part: float, exercises: int, share: float) -> float:
    """The sum that this part of all pairs reaches by chance."""
    low, high = 0.0, 200.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(middle, exercises, share) > part else (low, middle)
    return low
