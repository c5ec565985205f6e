"""Explains an exception: its meaning, the argument sizes that it names, and how many values a check expected."""

import re
import sys
from collections.abc import Iterable
from typing import Any

from gradekit.codecs import describe, with_article
from gradekit.inside.arrays import is_array
from gradekit.relations.evidence import axis_in_words

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
