"""Relations between places: axes exchanged or shifted; another order or shape; sums; right in some places only."""

from collections.abc import Callable, Iterator
from itertools import islice, permutations
from math import lgamma, log, prod

import numpy as np

from gradekit.inside.arrays import Numpy
from gradekit.relations.numbers import ENOUGH_FOR_PLACES, InPlay, Pair, Relation, axis_in_words

_CHOSEN = 5.0
#: a name, a sentence about the right entries, and the function
_REDUCTIONS: tuple[tuple[str, str, Callable[..., Numpy]], ...] = (
    ("sum", "It is the right one, summed", np.sum),
    ("mean", "It is the right one, averaged", np.mean),
    ("largest entry", "It is the largest of the right entries", np.max),
)
#: orders of axes that are tried
_MOST_ORDERS = 24
#: shifts that are tried, each way
_MOST_SHIFTS = 4


def moved_relations(pair: Pair) -> Iterator[Relation]:
    """Relations in which the right numbers, or simple sums of them, are in other places."""
    yield from _axes_exchanged(pair)
    if pair.same_shape:
        for axis, size in enumerate(pair.right.shape):
            if size > 1:
                yield from _along(pair, axis)
        yield from _any_order(pair)
    else:
        yield from _other_shape(pair)


def _axes_exchanged(pair: Pair) -> Iterator[Relation]:
    ndim = pair.right.ndim
    if ndim < 2 or pair.found.ndim != ndim:
        return
    for order in islice(permutations(range(ndim)), 1, _MOST_ORDERS):
        candidate = pair.right.transpose(order)
        if pair.equals(candidate):
            moved = [axis_in_words(axis, ndim) for axis in range(ndim) if order[axis] != axis]
            how = f"its axes in the order {', '.join(map(str, order))}"
            if len(moved) == 2:
                how = f"{' and '.join(moved)} exchanged"
            yield Relation(f"It is right, with {how}.", pair.bits(candidate) - _CHOSEN)
            return


def _along(pair: Pair, axis: int) -> Iterator[Relation]:
    words, right = axis_in_words(axis, pair.right.ndim), pair.right
    with np.errstate(all="ignore"):
        mean = right.mean(axis, keepdims=True)
        powers = np.exp(right - right.max(axis, keepdims=True))
        candidates = {
            "It is right, but reversed": np.flip(right, axis),
            "It is the sum of all right entries so far": np.cumsum(right, axis),
            "It holds the right entries, but sorted": np.sort(right, axis),
            "It is the softmax of the right entries": powers / powers.sum(axis, keepdims=True),
            "It is the right one, divided by its sum": right / right.sum(axis, keepdims=True),
            "Every entry is the right mean": np.broadcast_to(mean, right.shape),
            "It is the right one, minus its mean": right - mean,
        }
        for text, candidate in candidates.items():
            yield from pair.claim(candidate, f"{text} along {words}.", _CHOSEN)
    for which, index in (("first", 0), ("last", -1)):
        candidate = np.broadcast_to(np.take(right, [index], axis), right.shape)
        yield from pair.claim(candidate, f"The right {which} entry is repeated along {words}.", _CHOSEN)
    yield from _shifted(pair, axis, words)
    yield from _other_order(pair, axis, words)


def _shifted(pair: Pair, axis: int, words: str) -> Iterator[Relation]:
    size = pair.right.shape[axis]
    for shift in range(1, min(_MOST_SHIFTS, size - 1) + 1):
        for way, sign in (("towards the end", 1), ("towards the start", -1)):
            candidate = np.roll(pair.right, sign * shift, axis)
            places = "one place" if shift == 1 else f"{shift} places"
            text = f"It is right, but shifted by {places} {way} along {words}"
            if pair.equals(candidate):
                text += ", and entries that drop out come back in at the other end."
                yield Relation(text, pair.bits(candidate) - _CHOSEN - 2)
            elif shift <= size / 2:
                inside = slice(shift, None) if sign > 0 else slice(None, -shift)
                where = (slice(None),) * axis + (inside,)
                part = Pair(pair.found[where], pair.right[where], pair.tight, pair.rtol)
                yield from part.claim(candidate[where], f"{text}.", _CHOSEN + 3)


def _other_order(pair: Pair, axis: int, words: str) -> Iterator[Relation]:
    """The slices along an axis are right, but in another order."""
    size = pair.right.shape[axis]
    if not 2 < size <= 64:
        return
    found, right = (np.moveaxis(part, axis, 0).reshape(size, -1) for part in (pair.found, pair.right))
    limit = pair.tight + pair.rtol * np.abs(right)
    fits = (np.abs(found[:, None] - right[None]) <= limit[None]).all(-1)  # (found, right)
    if not ((fits.sum(0) == 1).all() and (fits.sum(1) == 1).all()):
        return
    candidate = np.take(pair.right, fits.argmax(1), axis)
    text = f"It is right, but in another order along {words}."
    yield Relation(text, pair.bits(candidate) - _CHOSEN - lgamma(size + 1) / log(2))


def _any_order(pair: Pair) -> Iterator[Relation]:
    size = pair.right.size
    if pair.right.ndim < 2:
        return
    candidate = np.empty(size)
    candidate[np.argsort(pair.found.ravel(), kind="stable")] = np.sort(pair.right, axis=None)
    cost = lgamma(size + 1) / log(2)
    if pair.whole:  # how often each integer occurs is chance
        cost = size * np.log2(pair.kinds) - 4 * pair.kinds
    text = "It holds the right numbers, but in other places."
    yield from pair.claim(candidate.reshape(pair.right.shape), text, cost)


def _other_shape(pair: Pair) -> Iterator[Relation]:
    found, right = pair.found, pair.right
    if found.size == right.size:
        text = "Its numbers are right and in the right order: only the shape is wrong."
        if found.squeeze().shape == right.squeeze().shape:
            text = "Its numbers are right: only an axis of size 1 is missing, extra, or in the wrong place."
        yield from pair.claim(right.reshape(found.shape), text, 2)
    yield from _reduced(pair)
    yield from _not_reduced(pair)
    if found.ndim == right.ndim:
        differ = [axis for axis in range(right.ndim) if found.shape[axis] != right.shape[axis]]
        if len(differ) == 1:
            yield from _longer_or_shorter(pair, differ[0])
    if found.ndim >= right.ndim:
        try:
            candidate = np.broadcast_to(right, found.shape)
        except ValueError:
            return
        yield from pair.claim(candidate, "It is the right one, repeated along an extra axis.", 2)


def _reduced(pair: Pair) -> Iterator[Relation]:
    """The sum or the mean along an axis, with or without that axis."""
    if not pair.right.ndim - 1 <= pair.found.ndim <= pair.right.ndim:
        return
    for axis in range(pair.right.ndim):
        for _, text, function in _REDUCTIONS:
            for keep in (False, True):
                candidate = np.asarray(function(pair.right, axis=axis, keepdims=keep))
                if pair.equals(candidate):
                    words = axis_in_words(axis, pair.right.ndim)
                    yield Relation(f"{text} along {words}.", pair.bits(candidate) - _CHOSEN)
                    return


def _not_reduced(pair: Pair) -> Iterator[Relation]:
    """The right array is a sum, a mean or the like of the wrong one along an axis."""
    ndim = pair.found.ndim
    for axis in range(ndim) if ndim in (pair.right.ndim, pair.right.ndim + 1) else ():
        for name, _, function in _REDUCTIONS:
            reduced = np.asarray(function(pair.found, axis=axis, keepdims=ndim == pair.right.ndim))
            if reduced.shape != pair.right.shape or pair.found.shape[axis] == 1:
                continue
            part = Pair(reduced, pair.right, pair.tight, pair.rtol)
            if part.equals(pair.right):
                text = f"The right one is its {name} along {axis_in_words(axis, ndim)}."
                # a single number has as many digits as fit between it and the tolerance
                bits = _digits(pair) if pair.right.size == 1 else part.bits_of_all(pair.right)
                yield Relation(text, bits - 2, rank=2)
                return


def _digits(pair: Pair) -> float:
    """The bits of evidence in two numbers being equal, if they aren't simple."""
    number = abs(pair.right.item())
    unit = 2 * (pair.tight + pair.rtol * number)
    return 0.0 if pair.whole or number <= unit else float(np.log2(number / unit)) + _CHOSEN


def _longer_or_shorter(pair: Pair, axis: int) -> Iterator[Relation]:
    """Entries are missing or too many at one end of an axis."""
    words = axis_in_words(axis, pair.right.ndim)
    own, wanted = pair.found.shape[axis], pair.right.shape[axis]
    length = min(own, wanted)
    for from_the_start in (True, False):
        cut = slice(None, length) if from_the_start else slice(-length, None)
        where = (slice(None),) * axis + (cut,)
        found = pair.found[where] if own > wanted else pair.found
        right = pair.right[where] if own < wanted else pair.right
        part = Pair(found, right, pair.tight, pair.rtol)
        if part.equals(right):
            number = abs(own - wanted)
            end = "last" if from_the_start else "first"
            which = f"the {end} entry" if number == 1 else f"the {end} {number} entries"
            what = "should not be there" if own > wanted else ("is missing" if number == 1 else "are missing")
            text = f"Along {words}, {which} {what}; the rest is right."
            yield Relation(text, part.bits_of_all(right) - _CHOSEN, needs=ENOUGH_FOR_PLACES)


_MOST_LISTED = 8
#: how far from 1 a sum may be
_NEAR_ONE = 1e-3


def part_relations(pair: Pair, play: InPlay) -> Iterator[Relation]:
    """Claims about where two arrays of one shape agree, and about their sums."""
    if not pair.same_shape or pair.right.ndim == 0:
        return
    if not pair.off.all() and pair.off.any():
        yield from _beside_a_mask(pair, play)
        yield from _beside_the_diagonal(pair)
        yield from _by_sign(pair)
        for axis in range(pair.right.ndim):
            yield from _right_along(pair, axis)
    yield from _sums(pair)


def _right_in(pair: Pair, region: Numpy) -> float:
    """The bits of evidence in the array being right in a region, minus the cost of choosing it."""
    return pair.bits(pair.right, region) - _CHOSEN


def _right_along(pair: Pair, axis: int) -> Iterator[Relation]:
    size = pair.right.shape[axis]
    others = tuple(other for other in range(pair.right.ndim) if other != axis)
    wrong: Numpy = np.asarray(pair.off.any(axis=others))
    count = int(size - wrong.sum())
    if not 0 < count < size:
        return
    words = axis_in_words(axis, pair.right.ndim)
    region = _spread(~wrong, axis, pair.right.shape)
    bits = _right_in(pair, region)
    right = [int(index) for index in np.flatnonzero(~wrong)]
    if wrong[count:].all() or wrong[:-count].all():
        end = "first" if wrong[count:].all() else "last"
        which = f"only the {end} of {size} is" if count == 1 else f"only the {end} {count} of {size} are"
        text = f"Along {words}, {which} right."
    elif count == size - 1:
        text = f"Along {words}, only index {int(np.flatnonzero(wrong)[0])} is wrong."
    elif size <= _MOST_LISTED:
        text = f"Along {words}, everything at the indices {right} is right, and the rest is not."
        bits -= size
    else:
        return
    yield Relation(text, bits, rank=2)


def _spread(flags: Numpy, axis: int, shape: tuple[int, ...]) -> Numpy:
    """A flag for each index of an axis, for all entries there."""
    return np.broadcast_to(flags.reshape([-1 if place == axis else 1 for place in range(len(shape))]), shape)


def _beside_the_diagonal(pair: Pair) -> Iterator[Relation]:
    if pair.right.ndim < 2 or min(pair.right.shape[-2:]) < 3:
        return
    ones = np.ones(pair.right.shape[-2:], bool)
    above, below = np.triu(ones, 1), np.tril(ones, -1)
    for words, region in (("above", above), ("below", below), ("on", ~above & ~below)):
        here = np.broadcast_to(region, pair.right.shape)
        if not pair.off[~here].any():
            text = f"It is wrong only {words} the diagonal of the last two axes."
            yield Relation(text, _right_in(pair, ~here), rank=2)


def _by_sign(pair: Pair) -> Iterator[Relation]:
    for words, region in (("negative", pair.right < -pair.tight), ("positive", pair.right > pair.tight)):
        if 3 <= region.sum() <= region.size - 3 and pair.off[region].all() and not pair.off[~region].any():
            yield Relation(f"It is wrong only where it should be {words}.", _right_in(pair, ~region), rank=2)


def _beside_a_mask(pair: Pair, play: InPlay) -> Iterator[Relation]:
    """Right only where a mask that was passed in hides nothing."""
    shape = pair.right.shape
    for mask in play.masks:
        whole = mask.all(axis=-1, keepdims=True) if mask.ndim else mask
        for visible, words in (
            (whole, "for queries from which the mask hides no key"),
            (mask, "where the mask is True"),
        ):
            try:
                region = np.broadcast_to(visible, shape)
            except ValueError:
                continue
            if region.all() or not region.any() or pair.off[region].any():
                continue
            if pair.off[~region].mean() > 0.5:
                yield Relation(f"It is right only {words}.", _right_in(pair, region) + 1, rank=2)


def _sums(pair: Pair) -> Iterator[Relation]:
    """Entries that should sum to 1 along one axis do so along another one, or along none."""
    if pair.right.min() < -pair.tight or pair.whole:
        return
    ndim = pair.right.ndim
    along = [axis for axis in range(ndim) if pair.right.shape[axis] > 1]
    right = [axis for axis in along if _near_one(pair.right.sum(axis))]
    own = [axis for axis in along if _near_one(pair.found.sum(axis))]
    if len(right) != 1 or right[0] in own:
        return
    words = axis_in_words(right[0], ndim)
    sums = pair.right.size // pair.right.shape[right[0]]
    if len(own) == 1 and pair.found.min() >= -pair.tight:
        text = f"Its entries sum to 1 along {axis_in_words(own[0], ndim)}, but should along {words}."
        yield Relation(text, sums * 8.0 - _CHOSEN, rank=2)
    elif not own and sums >= 3:
        yield Relation(f"Its entries should sum to 1 along {words}, and don't.", sums * 8.0 - _CHOSEN, rank=1)


def _near_one(sums: Numpy) -> bool:
    """True if each sum is 1, or 0 where a mask hides everything."""
    one = np.abs(sums - 1) < _NEAR_ONE
    return bool((one | (np.abs(sums) < _NEAR_ONE)).all() and one.any())


Shape = tuple[int, ...]


def shape_relation(found: Shape, right: Shape) -> str:
    """One sentence about a wrong shape; empty if it doesn't relate, or in more than one way."""
    if found == right or 0 in found or 0 in right:
        return ""
    if right == ():
        return "It should be a single number, without axes."
    ones = [tuple(size for size in shape if size != 1) for shape in (found, right)]
    if ones[0] == ones[1]:
        if len(found) == len(right):
            return "Its axis of size 1 is in the wrong place."
        return f"Only an axis of size 1 is {'missing' if len(found) < len(right) else 'extra'}."
    if len(found) == len(right):
        if sorted(found) == sorted(right) and len(set(right)) == len(right):
            moved = [axis for axis in range(len(right)) if found[axis] != right[axis]]
            if len(moved) == 2:
                names = " and ".join(axis_in_words(axis, len(right)) for axis in moved)
                return f"Its shape has {names} exchanged."
            return "Its axes have the right sizes, but in another order."
        return _not_one(found, right)
    if len(found) == len(right) - 1 and len(places := _left_out(right, found)) == 1 and right[places[0]] > 1:
        return f"Of the axes that it should have, {axis_in_words(places[0], len(right))} is missing."
    if len(found) == len(right) + 1 and len(places := _left_out(found, right)) == 1:
        return f"It has one axis too many: {axis_in_words(places[0], len(found))}."
    if len(found) < len(right) and prod(found) == prod(right) and len(right) > 1:
        joined = [axis for axis in range(len(right) - 1) if _joined(right, axis) == found]
        if len(joined) == 1:
            names = f"axis {joined[0]} and {axis_in_words(joined[0] + 1, len(right))}"
            return f"It has as many entries as it should, but {names} are joined into one."
    return ""


def _not_one(found: Shape, right: Shape) -> str:
    """A sentence about an axis that should have size 1 but is as long as another one."""
    wrong = [axis for axis in range(len(right)) if found[axis] != right[axis]]
    if len(wrong) != 1 or right[wrong[0]] != 1:
        return ""
    same = [other for other in range(len(right)) if other != wrong[0] and right[other] == found[wrong[0]]]
    if len(same) != 1:
        return ""
    words = (axis_in_words(axis, len(right)) for axis in (wrong[0], same[0]))
    return "It has the size of {1} along {0} as well, where the size should be 1.".format(*words)


def _left_out(larger: Shape, smaller: Shape) -> list[int]:
    """The axes without which the larger shape is the smaller one."""
    return [axis for axis in range(len(larger)) if larger[:axis] + larger[axis + 1 :] == smaller]


def _joined(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
