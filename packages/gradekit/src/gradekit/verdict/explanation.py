"""Explains how a check ended.

The student reads an outcome, what the check tried, a message, and how the value relates to the right one. Without what
differs between two submissions with the same mistake, the message is also evidence of which mistake it was.
"""

import re
import traceback
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from gradekit.checks.asserts import REJECTS_ALL, CheckFailure
from gradekit.codecs import Drawing, describe, with_article
from gradekit.course.printing import shortened
from gradekit.inside.arrays import is_array, is_float
from gradekit.relations import WrongValue, in_play, relation_of
from gradekit.relations.plain import meaning_of, sizes_relation, unpacking_relation
from gradekit.session.limits import CheckOverrun
from gradekit.session.proxy import Module, Student, asked_by
from gradekit.session.values import CheckOutcome, CheckStep, Implemented, Named, Opaque, StudentError

#: characters of a check's message; a student's exception is cut to far fewer, see `StudentError`
_MAX_MESSAGE = 1_000
#: outcomes of checks that called the student's code
_ASKED = (CheckOutcome.FAILED, CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)
_UNUSABLE = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RuntimeError, StopIteration)
#: the most things that are named, the last ones that the check tried: it compares those, or one of them failed
_MOST_STEPS = 2
_MOST_ARGUMENTS = 8
_MOST_CHARACTERS = 300
#: how the text begins if the student's code raised an exception
RAISED = "raised "
#: the cause of a missing argument, if the function is no method
_SELF = "Its first parameter is `self`, which got the first argument: only functions inside a class need `self`, so remove it."
_INDEX, _RUNTIME = f"{RAISED}IndexError", f"{RAISED}RuntimeError"
#: the bits in a sentence that says what was wrong; and in an exception about sizes, which several mistakes raise
_OF_SENTENCE, _OF_SIZES = 20.0, 5.0
_PLACE = re.compile(r" in line \d+ of the cell `[^`]*`(: `.*`)?", re.DOTALL)
#: words that the student wrote
_OWN_WORDS = re.compile(r"( raised \w+): .*| It says: .*", re.DOTALL)
_MEASURED = re.compile(r"-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+|(?=\s?%))")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![.\d])|(?<=\dx)\d+")


def explain(error: BaseException, student: Student, check_file: Path) -> tuple[CheckOutcome, str] | None:
    """Outcome and message of a check that ended in `error`; None if the check itself is at fault."""
    if isinstance(error, StudentError):
        return error.outcome, str(error)
    if isinstance(error, CheckFailure):
        return CheckOutcome.FAILED, str(error)
    asked = asked_by(student)
    name, value = asked.last or ("", None)
    if isinstance(error, AssertionError):
        # pytest adds lines that may show values; the first may be its own
        said = str(error).split("\n")[0]
        if not said or said.startswith("assert "):
            said = ""
            if isinstance(value, Opaque):
                said = f"`{name}` returned {with_article(value.type_name)}, which checks can't look into."
        return CheckOutcome.FAILED, said
    if asked.last is None:
        return None
    called = f"`{name}`" if asked.last_is_own else f"`{name}`, which this check uses to run your code,"
    if isinstance(error, CheckOverrun):
        return CheckOutcome.FAILED, (
            f"The check was stopped: with the value that {called} returned ({describe(value)}), it needs {error}. "
            "Look at the shapes that the exercise asks for."
        )
    if isinstance(error, _UNUSABLE) or type(error).__module__.startswith("pandas."):
        frames = traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).parent == check_file.parent for frame in frames):
            if isinstance(value, Drawing):
                return CheckOutcome.FAILED, (
                    f"The {value.noun} of `{name}` doesn't have the parts that this check looks for: "
                    "read again what it should show."
                )
            return CheckOutcome.FAILED, (
                f"{called} gave {describe(value)}, which is not what the exercise asks for: "
                "read again what it should return."
            )
    return None


def relation_to(error: BaseException, student: Student) -> str:
    """How the wrong value that ended a check relates to the right one, or an exception to the arguments."""
    asked = asked_by(student)
    if isinstance(error, CheckFailure):
        return relation_of(error.wrong, in_play(asked.arguments)) if error.wrong else ""
    if isinstance(error, StudentError):
        if not error.raised:
            return ""
        meaning = meaning_of(error.raised, error.text)
        step = asked.steps[-1] if asked.steps else CheckStep("")
        got_self = step.parameters[:1] == ("self",) and step.args
        if got_self and error.text.startswith(f"{step.name}() missing "):
            meaning = _SELF
        return " ".join(filter(None, [meaning, sizes_relation(error.text, step.arguments)]))
    return unpacking_relation(error, asked.last[1]) if asked.last else ""


def steps_before(outcome: CheckOutcome, student: Student) -> str:
    """The description of what a check tried before it ended like this."""
    return shown(steps_in_words(asked_by(student).steps)) if outcome in _ASKED else ""


def shown(message: str) -> str:
    """The message, shortened, and without control characters: it may contain a student's text."""
    cut = shortened(message, _MAX_MESSAGE)
    return "".join(
        mark if mark.isprintable() or mark in "\n\t" else "\N{REPLACEMENT CHARACTER}" for mark in cut
    )


def steps_in_words(steps: Sequence[CheckStep]) -> str:
    """The last different things that a check tried: "`attention` with `q` (3, 4, 6) and `k` (3, 4, 6)"."""
    last: list[str] = []
    for step in reversed(steps):
        words = _step(step)
        if words not in last:
            last.insert(0, words)
        if len(last) == _MOST_STEPS:
            break
    sentence = ", then ".join(last)
    return f"{sentence}." if sentence and len(sentence) <= _MOST_CHARACTERS else ""


def _step(step: CheckStep) -> str:
    if step.variable:
        return f"your variable `{step.name}`"
    if step.builds:  # the arguments are the module's sizes, not inputs of the check
        named = (f"{name}={_setting(value)}" for name, value in step.kwargs.items())
        return f"`{step.name}({', '.join([*map(_setting, step.args), *named])})`"
    arguments = list(_arguments(step))
    if len(arguments) > _MOST_ARGUMENTS:
        arguments = [*arguments[:_MOST_ARGUMENTS], "…"]
    last = " and ".join(arguments[-2:])
    given = f" with {', '.join([*arguments[:-2], last])}" if arguments else ""
    return f"{'the gradients of ' if step.gradients else ''}`{step.name}`{given}"


def _setting(value: Any) -> str:
    return f"{value}" if value is None or isinstance(value, bool | int | float) else "…"


def _arguments(step: CheckStep) -> Iterator[str]:
    positional = zip_longest(step.parameters[: len(step.args)], step.args, fillvalue="")
    for name, value in [*positional, *step.kwargs.items()]:
        yield f"`{name}` {_shape(value, named=True)}" if name else _shape(value, named=False)


def _shape(value: Any, named: bool) -> str:
    """The value without its contents; in brackets if it follows a name."""
    if is_array(value):
        dtype = str(value.dtype).removeprefix("torch.")
        unusual = is_float(value) and dtype != "float32"
        return f"{tuple(value.shape)}{f' in {dtype}' if unusual else ''}"
    words = _words(value)
    return f"({words})" if named else words


def _words(value: Any) -> str:
    match value:
        case None:
            return "None"
        case bool():
            return "True or False"
        case int():
            return "an integer"
        case float() | complex():
            return "a number"
        case str():
            return "a string"
        case list() | tuple() | dict():
            return f"{with_article(type(value).__name__)} of {len(value)}"
        case Named() | Implemented():
            return f"the check's `{value.name}`"
        case Module() | Opaque():
            return f"your `{value.type_name}`"
    return describe(value)


def comparable_message(error: BaseException, outcome: CheckOutcome, message: str, drawn: bool) -> str:
    """The message of a failed check, without the parts that differ between two submissions with the same mistake.

    It leaves out the place in their code and the words of their own exceptions. Sizes that were drawn become letters, so
    that equal sizes stay equal. It is empty if the message only says that two values differ, or that time ran out.
    """
    if isinstance(error, CheckFailure) and error.evidence:
        return error.evidence
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


def agrees(message: str, other: str) -> bool:
    """False if two texts can't have the same cause. Exceptions always can: there are many ways to write one mistake."""
    if not (message and other) or (message.startswith(RAISED) and other.startswith(RAISED)):
        return True
    return without_measured_numbers(message) == without_measured_numbers(other)


def bits_of_message(text: str) -> float:
    """The bits of evidence in a text that two submissions share: few if it only says that some sizes didn't fit."""
    if text in ("", REJECTS_ALL):
        return 0.0
    if text.startswith((_INDEX, _RUNTIME)):
        if any(letter.isdigit() for letter in text):
            return _OF_SIZES
        return 0.0 if text.startswith(_INDEX) else _OF_SENTENCE
    return _OF_SENTENCE


def _lettered(text: str) -> str:
    """The text with a letter for each different integer from 2 on."""
    letters: dict[str, str] = {}

    def letter(found: re.Match[str]) -> str:
        number = found[0]
        return number if number in ("0", "1") else letters.setdefault(number, f"<{len(letters)}>")

    return _NUMBER.sub(letter, text)
