"""Relations of text, lists, tuples and dicts: order, duplicates, upper and lower case, spaces, an extra entry, types."""

from collections import Counter
from collections.abc import Callable
from math import log2
from typing import Any

from gradekit.codecs import letters, with_article
from gradekit.relations.evidence import ENOUGH

#: the bits that one letter contributes
_LETTER = 3.0


def text_relation(found: str, right: str) -> str:
    """How a wrong text relates to the right one; empty if it doesn't."""
    if len(right) * _LETTER < ENOUGH or not found:
        return ""
    slight = _slight_difference([(found, right)])
    if slight and (slight != _PUNCTUATION or len(letters(right)) * _LETTER >= ENOUGH):
        return f"Only {slight} differ."
    own, words = found.split(), right.split()
    several, most = len(words) > 2, len(found) >= max(8, len(right) / 2)
    relations = {
        "It is right, but written backwards.": found == right[::-1],
        "Its words are right, but in reverse order.": several and own == words[::-1],
        "Its words are right, but in another order.": several and sorted(own) == sorted(words),
        "It is right as far as it goes, but ends too early.": most and right.startswith(found),
        "It begins with the right text and continues after it.": found.startswith(right),
        "It is right at the end, but its beginning is missing.": most and right.endswith(found),
        "It ends with the right text, but something precedes it.": found.endswith(right),
    }
    return next((text for text, holds in relations.items() if holds), "")


def list_relation(found: list[Any], right: list[Any], same: Callable[[Any, Any], bool]) -> str:
    """How the entries of a wrong list or tuple relate to the right ones; `same` compares two entries."""

    def equal(one: list[Any], other: list[Any]) -> bool:
        return len(one) == len(other) and all(map(same, one, other))

    if information(right) < ENOUGH or not found:
        return ""
    if equal(found, right):
        return "Its entries are right: only the type of the whole is wrong."
    as_long = len(found) == len(right)
    if len(right) > 1 and equal(found, right[::-1]):
        return "Its entries are right, but in reverse order."
    if _telling(right[1:]) and equal(found, right[1:]):
        return "The first entry is missing; the rest is right."
    if _telling(right[:-1]) and equal(found, right[:-1]):
        return "The last entry is missing; the rest is right."
    if equal(found[1:], right):
        return "There is an extra entry at the beginning; the rest is right."
    if equal(found[:-1], right):
        return "There is an extra entry at the end; the rest is right."
    if len(found) < len(right) and _telling(found) and equal(found, right[: len(found)]):
        return "It is right as far as it goes, but ends too early."
    if len(found) > len(right) and equal(found[: len(right)], right):
        return "It begins with the right entries and continues after them."
    if as_long and _telling(right[:-1]) and equal(found[1:], right[:-1]):
        return "Its entries are shifted by one place towards the end."
    if as_long and _telling(right[1:]) and equal(found[:-1], right[1:]):
        return "Its entries are shifted by one place towards the start."
    try:
        counts = Counter(map(repr, found)), Counter(map(repr, right))
    except (TypeError, RecursionError):
        return ""
    if counts[0] == counts[1]:
        order = log2(max(len(right), 1)) * len(right)
        return (
            "Its entries are right, but in another order." if information(right) >= ENOUGH + order / 4 else ""
        )
    if set(counts[0]) == set(counts[1]) and list(dict.fromkeys(map(repr, found))) == list(map(repr, right)):
        return "Its entries are right, but some appear more than once."
    if list(dict.fromkeys(map(repr, right))) == list(map(repr, found)):
        return "Its entries are right, but those that should appear more than once appear only once."
    if as_long and _as_text(found) == _as_text(right):
        return f"Its entries have the right values, but some are of the wrong type, such as {_odd_type(found, right)}."
    return _of_each_text(found, right)


def dict_relation(found: dict[Any, Any], right: dict[Any, Any], same: Callable[[Any, Any], bool]) -> str:
    """How the keys and values of a wrong dict relate to the right ones."""
    if information(list(right.items())) < ENOUGH or not found:
        return ""
    try:
        if len(found) == len(right) and {value: key for key, value in found.items()} == right:
            return "Keys and values are exchanged."
    except TypeError:  # a value that can't be a key
        pass
    if set(found) == set(right):
        wrong = sum(not same(found[key], right[key]) for key in right)
        return "Its keys are right, and all of its values are wrong." if wrong == len(right) > 3 else ""
    if {str(key): repr(value) for key, value in found.items()} == {
        str(key): repr(value) for key, value in right.items()
    }:
        return "Its entries are right, but its keys are of the wrong type."
    if _folded(found) == _folded(right):
        return "In its keys, only upper and lower case differ."
    common = found.keys() & right.keys()
    if common and all(same(found[key], right[key]) for key in common):
        if common == found.keys() and _telling(list(found.items())):
            return "The entries that it has are right; the others are missing."
        if common == right.keys():
            return "It has all the right entries, and others as well."
    return ""


def information(value: Any) -> float:
    """A rough number of bits in a plain value."""
    if isinstance(value, str):
        return min(len(value), 12) * _LETTER
    if isinstance(value, bool) or value is None:
        return 1.0
    if isinstance(value, int):
        return 3.0
    if isinstance(value, float):
        return 3.0 if value == round(value) else 8.0
    if isinstance(value, list | tuple):
        different = {repr(part): part for part in value}
        return sum(map(information, different.values()))
    if isinstance(value, dict):
        return information(list(value.items()))
    return 8.0


def is_larger(value: Any, most: int) -> bool:
    """True if a plain value has more than `most` letters and entries in all."""
    left, waiting = most, [value]
    while waiting and left >= 0:
        part = waiting.pop()
        if isinstance(part, dict):
            part = [*part.keys(), *part.values()]
        if isinstance(part, list | tuple):
            waiting += part
        left -= len(part) if isinstance(part, list | tuple | str) else 1
    return left < 0


def _telling(part: Any) -> bool:
    return information(part) >= ENOUGH


def _as_text(entries: list[Any]) -> list[str]:
    return [
        str(int(entry) if isinstance(entry, float) and entry.is_integer() else entry) for entry in entries
    ]


def _odd_type(found: list[Any], right: list[Any]) -> str:
    pairs = enumerate(zip(found, right, strict=True))
    place = next((place for place, (one, two) in pairs if type(one) is not type(two)), 0)
    names = [with_article(type(part[place]).__name__) for part in (found, right)]
    return f"[{place}], which is {names[0]} and should be {names[1]}"


def _of_each_text(found: list[Any], right: list[Any]) -> str:
    """A sentence that is true of every wrong text in a list."""
    if len(found) != len(right) or not all(isinstance(entry, str) for entry in [*found, *right]):
        return ""
    slight = _slight_difference([(one, two) for one, two in zip(found, right, strict=True) if one != two])
    return f"In its entries, only {slight} differ." if slight else ""


_PUNCTUATION = "punctuation, spaces, or upper and lower case"


def _slight_difference(pairs: list[tuple[str, str]]) -> str:
    """The only thing in which the texts of each pair differ, in words; empty if they differ in more."""
    for words, essence in (
        ("spaces or line breaks", lambda text: "".join(text.split())),
        ("upper and lower case", str.casefold),
        (_PUNCTUATION, letters),
    ):
        if all(essence(one) == essence(two) for one, two in pairs):
            return words
    return ""


def _folded(entries: dict[Any, Any]) -> dict[str, str]:
    return {str(key).casefold(): repr(value) for key, value in entries.items()}
