"""How alike two answers to an exercise are: how much information, in this class, is in the parts that they share.

The information in a few rare lines isn't counted again for everything that usually comes with them: a shared part
counts only as much as it surprises a reader who already knows the rarer ones.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gradekit_integrity.similar.works import Work

#: the share of pairs, the closest ones, that are looked at in detail; the others count as not alike
_CLOSEST = 0.07
#: how strongly parts that only one of the two has count against them
_POWER = 3
#: this many further people are assumed to have a part as often as everybody, whatever else they have
_PRIOR = 2.0

Values = NDArray[np.float64]
Numbers = NDArray[np.float32]
Places = NDArray[np.int64]


def similarities(
    works: Sequence[Work], exercise: str, owners: Places, first: Places, second: Places
) -> Values:
    """For each pair (first[i], second[i]) of works: the information in their shared parts, times a power of its share.

    Args:
        owners: the person of each work, as a number. People are counted, not works.
    """
    has = _parts(works, exercise)
    people = int(owners.max()) + 1
    had_by = np.zeros((people, has.shape[1]), dtype=np.float32)
    np.maximum.at(had_by, owners, has)
    weights = np.log(people / had_by.sum(0))
    both = (has * weights) @ has.T
    alone = np.diag(both)
    either = alone[:, None] + alone[None, :] - both
    shares = np.divide(both, either, out=np.zeros_like(both), where=either > 0)[first, second]
    rough = both[first, second] * shares
    together = had_by.T @ had_by
    found = np.zeros(len(first))
    known: dict[bytes, float] = {}  # many pairs share the same parts
    for pair in np.flatnonzero((rough > 0) & (rough >= np.quantile(rough, 1 - _CLOSEST))):
        shared = np.flatnonzero(has[first[pair]] * has[second[pair]])
        key = shared.tobytes()
        if key not in known:
            known[key] = _information(together[np.ix_(shared, shared)], people)
        found[pair] = known[key] * shares[pair] ** _POWER
    return found


def _parts(works: Sequence[Work], exercise: str) -> Numbers:
    """A matrix of 0 and 1: which work has which part of an answer. Fingerprints that the same works have are one part."""
    holders: dict[int, int] = {}
    for place, work in enumerate(works):
        for one in work.fingerprints.get(exercise, ()):
            holders[one] = holders.get(one, 0) | 1 << place
    parts = sorted(set(holders.values()))
    has = np.zeros((len(works), len(parts)), dtype=np.float32)
    for column, mask in enumerate(parts):
        has[[place for place in range(len(works)) if mask >> place & 1], column] = 1
    return has


def _information(together: Numbers, people: int) -> float:
    """How surprising it is that somebody has all of these parts, from the rarest on, in nats.

    Args:
        together: how many people have both of two parts; the two who are compared are included, but don't count.
    """
    counts = np.diag(together)
    order = np.argsort(counts, kind="stable")
    counts = np.maximum(counts[order] - 2, 0)
    others = np.maximum(together[np.ix_(order, order)] - 2, 0)
    usual = np.minimum((counts + 0.5) / max(people - 1, 1), 1)
    given = (others + _PRIOR * usual[None, :]) / (counts[:, None] + _PRIOR)
    chances = [float(usual[0])]
    chances += [float(max(usual[one], given[:one, one].max())) for one in range(1, len(usual))]
    return -sum(math.log(min(chance, 1.0)) for chance in chances)
