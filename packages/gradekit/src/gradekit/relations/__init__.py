"""How a wrong value relates to the right one, in one sentence that doesn't reveal the right value.

The instructor need not have foreseen the mistake. Nothing is said where chance could explain the relation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradekit.codecs import MOST_TOLD, Tolerance, codec_of
from gradekit.inside.arrays import Numpy, as_array, is_array, to_numpy
from gradekit.relations.moved import moved_relations, part_relations, shape_relation
from gradekit.relations.numbers import ENOUGH, InPlay, Pair, number_relations, scalar_relation
from gradekit.relations.plain import dict_relation, information, is_larger, list_relation, text_relation

#: larger values would take too long
_MOST_ENTRIES = 20_000
_MOST_LETTERS = 100_000
_MOST_MASKS = 4
#: the most entries of a tuple that are looked at one by one
_MOST_LISTED = 8


@dataclass(frozen=True)
class WrongValue:
    """A submission's value, the right one, and how close they should have been."""

    found: Any
    right: Any
    tolerance: Tolerance


@dataclass(frozen=True)
class WrongShape:
    """The shape of a submission's value, and the right one."""

    found: tuple[int, ...]
    right: tuple[int, ...]


def in_play(arguments: Iterable[Any]) -> InPlay:
    """The sizes and masks among the arguments of a check's calls."""
    sizes: set[int] = set()
    masks: list[Numpy] = []
    for value in arguments:
        if is_array(value):
            sizes.update(size for size in value.shape if size > 1)
            array = to_numpy(value)
            if array.dtype == bool and 1 < array.size <= _MOST_ENTRIES and len(masks) < _MOST_MASKS:
                masks.append(array)
        elif isinstance(value, int) and not isinstance(value, bool) and 1 < value < 10_000:
            sizes.add(value)
    return InPlay(frozenset(sizes), tuple(masks))


def relation_of(wrong: WrongValue | WrongShape, play: InPlay | None = None) -> str:
    """One sentence about the wrong value; empty if no relation is sure."""
    if isinstance(wrong, WrongShape):
        return shape_relation(wrong.found, wrong.right)
    play = play or InPlay()
    found, right = wrong.found, wrong.right
    if is_larger(found, _MOST_LETTERS) or is_larger(right, _MOST_LETTERS):
        return ""
    if text := _one_of_several(wrong):
        return text
    wanted, given = as_array(right), as_array(found)
    if wanted is not None:
        if given is None:
            return _of_a_list(found, wanted, wrong.tolerance)
        own, proper = to_numpy(given), to_numpy(wanted)
        return _of_arrays(own, proper, wrong.tolerance, play) or shape_relation(own.shape, proper.shape)
    if isinstance(right, str):
        return text_relation(found, right) if isinstance(found, str) else ""
    if isinstance(right, dict):
        return _of_dicts(found, right, wrong.tolerance, play) if isinstance(found, dict) else ""
    if isinstance(right, list | tuple) and isinstance(found, list | tuple):
        return _of_lists(list(found), list(right), wrong.tolerance, play)
    return _of_columns(wrong, play)


def _one_of_several(wrong: WrongValue) -> str:
    """The right value beside others in a tuple, or one of several right ones alone."""
    found, right = wrong.found, wrong.right
    if isinstance(found, list | tuple) and not isinstance(right, list | tuple) and _is_telling(right):
        places = _places_of(right, found, wrong.tolerance)
        if len(places) == 1 and len(found) > 1:
            kind = type(found).__name__
            return f"The right value is entry [{places[0]}] of the {kind}: only that should come back."
    if isinstance(right, tuple) and not isinstance(found, list | tuple) and _is_telling(found):
        places = _places_of(found, right, wrong.tolerance)
        if len(places) == 1:
            return f"It is what should be at [{places[0]}] of a tuple of {len(right)}: the rest is missing."
    return ""


def _places_of(value: Any, values: list[Any] | tuple[Any, ...], tolerance: Tolerance) -> list[int]:
    if len(values) > _MOST_LISTED:
        return []
    return [place for place, entry in enumerate(values) if _is_right(entry, value, tolerance)]


def _is_right(found: Any, right: Any, tolerance: Tolerance) -> bool:
    return codec_of(right).difference(found, right, tolerance) is None


def _is_telling(value: Any) -> bool:
    """True if two values of this kind are unlikely to be equal by chance."""
    array = as_array(value)
    if array is None:
        return information(value) >= ENOUGH
    entries = to_numpy(array)
    return entries.dtype.kind in "iuf" and len(np.unique(entries)) > 3


def _of_arrays(found: Numpy, right: Numpy, tolerance: Tolerance, play: InPlay) -> str:
    numeric = all(part.dtype.kind in "biuf" and 0 < part.size <= _MOST_ENTRIES for part in (found, right))
    if not numeric:
        return ""
    boolean = found.dtype == bool and right.dtype == bool
    one, two = found.astype(np.float64), right.astype(np.float64)
    if not np.isfinite(two).all():
        return ""
    if one.size == two.size == 1:
        if one.shape == two.shape and not boolean:
            return scalar_relation(one.item(), two.item(), play)
        return ""
    atol: float | Numpy = to_numpy(tolerance.atol) if is_array(tolerance.atol) else float(tolerance.atol)
    pair = Pair(one, two, atol, tolerance.rtol, boolean)
    if not np.isfinite(one).all():
        return _beside_nan(pair)
    claims = [*number_relations(pair, play), *moved_relations(pair), *part_relations(pair, play)]
    sure = [claim for claim in claims if claim.bits >= claim.needs]
    return max(sure, key=lambda claim: (claim.rank, claim.bits)).text if sure else ""


def _beside_nan(pair: Pair) -> str:
    """A sentence if all entries are right except for those that are NaN or infinite."""
    finite = np.isfinite(pair.found)
    if not pair.same_shape or not finite.any():
        return ""
    limit = pair.tight + pair.rtol * np.abs(pair.right[finite])
    all_right = not (np.abs(pair.found[finite] - pair.right[finite]) > limit).any()
    return "All other entries are right." if all_right and pair.bits(pair.right, finite) >= ENOUGH else ""


def _of_a_list(found: Any, right: Any, tolerance: Tolerance) -> str:
    if not isinstance(found, list | tuple) or len(found) > _MOST_ENTRIES:
        return ""
    try:
        array = np.array(found, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return ""
    same = array.shape == tuple(right.shape) and _is_right(array, right, tolerance)
    return "Its numbers are right: only the type is wrong." if same and array.size > 1 else ""


def _of_lists(found: list[Any], right: list[Any], tolerance: Tolerance, play: InPlay) -> str:
    if max(len(found), len(right)) > _MOST_ENTRIES:
        return ""
    same = partial(_is_right, tolerance=tolerance)
    if text := list_relation(found, right, same):
        return text
    if _are_numbers([*found, *right]):
        return _of_arrays(np.array(found, np.float64), np.array(right, np.float64), tolerance, play)
    if len(found) != len(right):
        return ""
    pairs = enumerate(zip(found, right, strict=True))
    place = next((place for place, pair in pairs if not same(*pair)), None)
    if place is None:
        return ""
    text = relation_of(WrongValue(found[place], right[place], tolerance), play)
    return f"{f'At [{place}]' if len(right) <= MOST_TOLD else 'In a wrong entry'}: {text}" if text else ""


def _of_dicts(found: dict[Any, Any], right: dict[Any, Any], tolerance: Tolerance, play: InPlay) -> str:
    if max(len(found), len(right)) > _MOST_ENTRIES:
        return ""
    same = partial(_is_right, tolerance=tolerance)
    if found.keys() == right.keys():
        own, wanted = [found[key] for key in right], list(right.values())
        if _are_numbers([*own, *wanted]):
            text = _of_arrays(np.array(own, np.float64), np.array(wanted, np.float64), tolerance, play)
            if text:
                return f"Of its values: {text[0].lower()}{text[1:]}"
    return dict_relation(found, right, same)


def _of_columns(wrong: WrongValue, play: InPlay) -> str:
    """A relation of values that the codec splits into arrays of numbers, such as the columns of a table."""
    if type(wrong.found) is not type(wrong.right):
        return ""
    for name, found, right in codec_of(wrong.right).columns(wrong.found, wrong.right):
        if not _is_right(found, right, wrong.tolerance):
            text = _of_arrays(found, right, wrong.tolerance, play)
            return f"{name}: {text}" if text and name else text
    return ""


def _are_numbers(entries: list[Any]) -> bool:
    return all(isinstance(entry, bool | int | float) and abs(entry) < 2**53 for entry in entries)
