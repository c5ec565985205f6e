"""Relations of text, lists, tuples and dicts; and exceptions: what they mean, and which arguments' sizes they name.

The first are order, duplicates, upper and lower case, spaces, an extra entry, types.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from math import log2
from typing import Any

from gradekit.codecs import describe, letters, with_article
from gradekit.inside.arrays import is_array
from gradekit.relations.numbers import ENOUGH, axis_in_words

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
    parts = (
        ("Its entries are right, but in reverse order.", found, right[::-1]),
        ("The first entry is missing; the rest is right.", found, right[1:]),
        ("The last entry is missing; the rest is right.", found, right[:-1]),
        ("There is an extra entry at the beginning; the rest is right.", found[1:], right),
        ("There is an extra entry at the end; the rest is right.", found[:-1], right),
        ("It is right as far as it goes, but ends too early.", found, right[: len(found)]),
        ("It begins with the right entries and continues after them.", found[: len(right)], right),
        ("Its entries are shifted by one place towards the end.", found[1:], right[:-1]),
        ("Its entries are shifted by one place towards the start.", found[:-1], right[1:]),
    )
    for text, own, wanted in parts:
        if equal(own, wanted) and _telling(wanted):
            return text
    as_long = len(found) == len(right)
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
    own, wanted = ([(str(key), repr(value)) for key, value in part.items()] for part in (found, right))
    if dict(own) == dict(wanted):
        return "Its entries are right, but its keys are of the wrong type."
    if _folded(own) == _folded(wanted):
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
    return [str(int(one) if isinstance(one, float) and one.is_integer() else one) for one in entries]


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


def _folded(entries: list[tuple[str, str]]) -> dict[str, str]:
    return {key.casefold(): value for key, value in entries}


#: words of messages about sizes that don't fit
_ABOUT_SIZES = re.compile(r"size|shape|dimension|broadcast|length", re.IGNORECASE)
#: the indexed value is often not an argument, and has one of their sizes by chance
_ABOUT_AN_INDEX = re.compile(r"out of bounds|out of range", re.IGNORECASE)
_LOADING = "in loading state_dict"
_NUMBER = re.compile(r"(?<![\w.])\d+(?=x\d|\b)|(?<=\dx)\d+")
_UNPACKED = re.compile(r"(?:too many|not enough) values to unpack \(expected (\d+)")
_MOST_LETTERS = 60
_MOST_NAMED = 2
_MOST_SIZES = 3
#: the meaning of frequent messages, whatever the cause; a text may contain groups of its pattern
_MEANINGS = {
    r"a leaf Variable that requires grad is being used in an in-place operation": (
        "A parameter, or an input that needs gradients, is changed in place here. Make a new tensor; if a parameter has to "
        "change, do it under `torch.no_grad()`."
    ),
    r"does not require grad and does not have a grad_fn": (
        "The value that is differentiated here depends on no parameter: something before it was detached, turned into a number, or "
        "computed under `torch.no_grad()`."
    ),
    r"unhashable type: '(list|dict|set)'": (
        "As a key of a dict or an element of a set, {0} is not allowed. A tuple is."
    ),
    r"missing \d+ required positional arguments?: (.+)$": (
        "It was called without {0}: pass it on, or give it a default value if it is optional."
    ),
    r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given": (
        "It was called with {1} arguments, but takes {0}. In a method, `self` counts as one."
    ),
    r"(?:only one element tensors can be converted|a Tensor with \d+ elements cannot be converted)": (
        "A tensor with several numbers can't become one Python number: reduce it first, for example by its mean or its "
        "largest entry."
    ),
    r"Boolean value of Tensor with more than one value is ambiguous": (
        "An `if`, `and`, `or` or `not` needs one truth value, but this tensor has many. Use `&`, `|` or `~`, or `.all()` or "
        "`.any()`."
    ),
    r"(?:must have the same dtype, but got|expected scalar type|expected m1 and m2 to have the same dtype)": (
        "Two dtypes meet here: part of the computation has a different dtype from the rest."
    ),
    r"must be Tensor, not (tuple|list|NoneType|int|float)": "A tensor is needed here, but it got {0}.",
    r"'(tuple|list|NoneType|float|int|str)' object has no attribute '(\w+)'": (
        "The code expects something with `{1}`, but got {0}."
    ),
    r"unsupported operand type\(s\) for (\S+?): '(\w+)' and '(\w+)'": "`{0}` can't combine {1} with {2}.",
    r"math domain error": (
        "The logarithm or root that is taken here does not exist: the number is 0 or negative."
    ),
    _LOADING: "Its parameters have different names or shapes from those that the exercise asks for.",
    r"division by zero": "The divisor is 0 here.",
    r"index out of range in self": (
        "An id or a position is too large for the embedding table that it is looked up in."
    ),
    r"Expected target size \[.*\], got \[": (
        "`F.cross_entropy` takes axis 1 of the logits for the classes. Flatten the axes before the last one."
    ),
}
#: types that messages name
_TYPES = ("tuple", "list", "dict", "set", "float", "int", "str", "Tensor", "method", "function")
#: a key alone, not a sentence that the student wrote
_KEY = re.compile(r"""'[^' ]+'|"[^" ]+"|-?[\d.]+|\(.+\)|True|False|None|nan""")


def _with_article(word: str) -> str:
    """A part of a message: a type with its article, or a student's words, shortened."""
    return "None" if word == "NoneType" else with_article(word) if word in _TYPES else word[:_MOST_LETTERS]


def meaning_of(raised: str, text: str) -> str:
    """The meaning of an exception, if its message is a frequent one that is hard to read; otherwise empty."""
    if raised == "KeyError":
        kind = "dict or table" if "pandas" in sys.modules else "dict"
        return f"{text[:_MOST_LETTERS]} is not a key of the {kind}." if _KEY.fullmatch(text) else ""
    for pattern, meaning in _MEANINGS.items():
        if match := re.search(pattern, text):
            return meaning.format(*map(_with_article, match.groups()))
    return ""


def sizes_relation(text: str, arguments: Iterable[tuple[str, Any]]) -> str:
    """Which sizes in the message of an exception are those of arguments, given by name; empty if none is."""
    if not _ABOUT_SIZES.search(text) or _ABOUT_AN_INDEX.search(text) or _LOADING in text:
        return ""
    owners: dict[str, list[str]] = {}
    for name, value in arguments:
        if is_array(value):
            for axis, size in enumerate(value.shape):
                place = f"{axis_in_words(axis, len(value.shape))} of " if len(value.shape) > 1 else ""
                owners.setdefault(str(size), []).append(f"{place}`{name}`")
    found = [
        f"{number} is the size of {' and of '.join(owners[number])}"
        for number in dict.fromkeys(_NUMBER.findall(text))
        if int(number) > 1 and 0 < len(owners.get(number, ())) <= _MOST_NAMED
    ]
    if not 0 < len(found) <= _MOST_SIZES:
        return ""
    return f"In this call, {', '.join(found[:-1])}{' and ' if found[1:] else ''}{found[-1]}."


def unpacking_relation(error: BaseException, value: Any) -> str:
    """How many values a check expected in place of the one that came back; empty if the error is about something else."""
    several = isinstance(value, list | tuple)
    if (match := _UNPACKED.match(str(error))) and not several:
        return f"{match[1]} values should come back, separated by commas, but only {describe(value)} did."
    attribute = re.match(r"'(tuple|list)' object has no attribute|(tuple|list) indices must be", str(error))
    if attribute and several:
        kind = with_article(type(value).__name__)
        return f"A single value should come back, but it is {kind} of {len(value)}."
    return ""
