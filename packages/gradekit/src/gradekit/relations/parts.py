"""Relations of parts: right only in some places, and sums that are 1 along the wrong axis."""

from collections.abc import Iterator

import numpy as np

from gradekit.inside.arrays import Numpy
from gradekit.relations.evidence import InPlay, Pair, Relation, axis_in_words

_CHOSEN = 5.0
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
            yield from _along(pair, axis)
    yield from _sums(pair)


def _right_in(pair: Pair, region: Numpy) -> float:
    """The bits of evidence in the array being right in a region, minus the cost of choosing it."""
    return pair.bits(pair.right, region) - _CHOSEN


def _along(pair: Pair, axis: int) -> Iterator[Relation]:
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
    for words, region in (
        ("above the diagonal of the last two axes", np.triu(ones, 1)),
        ("below the diagonal of the last two axes", np.tril(ones, -1)),
        ("on the diagonal of the last two axes", np.eye(*pair.right.shape[-2:]) > 0),
    ):
        here = np.broadcast_to(region, pair.right.shape)
        if not pair.off[~here].any():
            yield Relation(f"It is wrong only {words}.", _right_in(pair, ~here), rank=2)


def _by_sign(pair: Pair) -> Iterator[Relation]:
    for words, region in (
        ("negative", pair.right < -pair.tight),
        ("positive", pair.right > pair.tight),
    ):
        if 3 <= region.sum() <= region.size - 3 and pair.off[region].all() and not pair.off[~region].any():
            yield Relation(f"It is wrong only where it should be {words}.", _right_in(pair, ~region), rank=2)


def _beside_a_mask(pair: Pair, play: InPlay) -> Iterator[Relation]:
    """Right only where a mask that was passed in hides nothing."""
    shape = pair.right.shape
    for mask in play.masks:
        for visible, words in (
            (
                mask.all(axis=-1, keepdims=True) if mask.ndim else mask,
                "for queries from which the mask hides no key",
            ),
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
