"""The messages of failed checks without a recorded value to compare with, as evidence of which mistake it was."""

import re

from gradekit.checks.compare import CheckFailure
from gradekit.relations import WrongValue
from gradekit.session.values import CheckOutcome, StudentError

#: how the text begins if the student's code raised an exception
RAISED = "raised "
#: exceptions that mostly say that sizes or indices don't fit
_MANY_CAUSES = (f"{RAISED}RuntimeError", f"{RAISED}IndexError")
_PLACE = re.compile(r" in line \d+ of the cell `[^`]*`(: `.*`)?", re.DOTALL)
#: words that the student wrote
_OWN_WORDS = re.compile(r"( raised \w+): .*| It says: .*", re.DOTALL)
_MEASURED = re.compile(r"-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+|(?=\s?%))")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![.\d])|(?<=\dx)\d+")


def said_by(error: BaseException, outcome: CheckOutcome, message: str, drawn: bool) -> str:
    """The message of a failed check, without the parts that differ between two submissions with the same mistake.

    It leaves out the place in their code and the words of their own exceptions. Sizes that were drawn become letters, so
    that equal sizes stay equal. It is empty if the message only says that two values differ, or that time ran out.
    """
    compared = isinstance(error, CheckFailure) and isinstance(error.wrong, WrongValue)
    if outcome != CheckOutcome.FAILED or compared:
        return ""
    raised = isinstance(error, StudentError) and error.raised
    text = f"{RAISED}{error.raised}: {error.text}" if raised and isinstance(error, StudentError) else message
    text = _OWN_WORDS.sub(lambda found: found[1] or "", _PLACE.sub("", text))
    return _lettered(text) if drawn else text


def without_measured_numbers(text: str) -> str:
    """The text, with numbers left out that may differ a little on another machine."""
    return _MEASURED.sub("#", text)


def agrees(one: str, other: str) -> bool:
    """False if two texts can't have the same cause. Exceptions always can: there are many ways to write one mistake."""
    if not (one and other) or (one.startswith(RAISED) and other.startswith(RAISED)):
        return True
    return without_measured_numbers(one) == without_measured_numbers(other)


def is_telling(text: str) -> bool:
    """True if a text says what was wrong, and not only that some sizes or indices didn't fit, which has many causes."""
    return bool(text) and not text.startswith(_MANY_CAUSES)


def _lettered(text: str) -> str:
    """The text with a letter for each different integer from 2 on."""
    letters: dict[str, str] = {}

    def letter(found: re.Match[str]) -> str:
        number = found[0]
        return number if number in ("0", "1") else letters.setdefault(number, f"<{len(letters)}>")

    return _NUMBER.sub(letter, text)
