"""Explains how a check ended.

The student reads an outcome, what the check tried, a message, and how the value relates to the right one. Without what
differs between two submissions with the same mistake, the message is also evidence of which mistake it was.

`diagnose` attributes the failed checks of an exercise to a known mistake, if all of them agree with it. The order is that
of the cost, and of what can rule a mistake out. First, the set of failed checks and the test on the code, which need no
numbers and rule out most mistakes. Next, the values of each check: one that contradicts a mistake rules it out, and the
others add up as bits of evidence. Then the messages, which do the same where no value is compared. Last, all mistakes
that are left are counted by their sentences, since only then is it known whether the answer is one sentence, a choice of
two, or none.

`fingerprint_of` identifies equal wrong answers in a large class, by a text and a few numbers.
"""

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import lgamma, log
from pathlib import Path
from typing import Any

import numpy as np

from gradekit.checks.asserts import REJECTS_ALL, CheckFailure, difference
from gradekit.checks.reference import Reference, Store, is_recordable, number_from
from gradekit.checks.variants import Mistake
from gradekit.codecs import ATOL, DIFFERS, SOME_WRONG, codec_of, describe, with_article
from gradekit.course.printing import shortened
from gradekit.inside.arrays import Array, Numpy, as_array, is_array, is_float, to_numpy
from gradekit.relations import WrongValue, in_play, relation_of
from gradekit.relations.numbers import ENOUGH
from gradekit.relations.plain import information, meaning_of, sizes_relation, unpacking_relation
from gradekit.session.limits import CheckOverrun
from gradekit.session.proxy import Student, asked_by
from gradekit.session.values import CheckOutcome, CheckStep, Implemented, Module, Named, Opaque, StudentError
from gradekit.verdict.results import MESSAGE, NO_OUTPUT

#: characters of a check's message; a student's exception is cut to far fewer, see `StudentError`
_MAX_MESSAGE = 1_000
#: outcomes of checks that called the student's code
_ASKED = (CheckOutcome.FAILED, CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)
_UNUSABLE = (
    *(TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RuntimeError),
    StopIteration,
)
#: the most things that are named, the last ones that the check tried: it compares those, or one of them failed
_MOST_STEPS = 2
_MOST_ARGUMENTS = 8
_MOST_CHARACTERS = 300
#: how the text begins if the student's code raised an exception
RAISED = "raised "
#: the cause of a missing argument, if the function is no method
_SELF = "Its first parameter is `self`, which got the first argument: only functions inside a class need `self`, so remove it."
#: exceptions that mostly say that sizes or indices don't fit, and tests that accept nothing
_MANY_CAUSES = (f"{RAISED}RuntimeError", f"{RAISED}IndexError", REJECTS_ALL)
_PLACE = re.compile(r" in line \d+ of the cell `[^`]*`(: `.*`)?", re.DOTALL)
#: words that the student wrote
_OWN_WORDS = re.compile(r"( raised \w+): .*| It says: .*", re.DOTALL)
_MEASURED = re.compile(r"-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+|(?=\s?%))")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![.\d])|(?<=\dx)\d+")


def explain(
    error: BaseException, student: Student | None, check_file: Path
) -> tuple[CheckOutcome, str] | None:
    """Outcome and message of a check that ended in `error`; None if the check itself is at fault."""
    if isinstance(error, StudentError):
        return error.outcome, str(error)
    if isinstance(error, CheckFailure):
        return CheckOutcome.FAILED, str(error)
    if isinstance(error, AssertionError):
        # pytest adds lines that may show values
        text = _of_handle(student) if _is_introspection(error) else str(error).split("\n")[0]
        return CheckOutcome.FAILED, text
    asked = asked_by(student) if student else None
    if asked is None or asked.last is None:
        return None
    name, value = asked.last
    called = f"`{name}`" if asked.last_is_own else f"`{name}`, which this check uses to run your code,"
    if isinstance(error, CheckOverrun):
        return CheckOutcome.FAILED, (
            f"The check was stopped: with the value that {called} returned ({describe(value)}), it needs {error.needed}. "
            "Look at the shapes that the exercise asks for."
        )
    if isinstance(error, _UNUSABLE) or type(error).__module__.startswith("pandas."):
        frames = traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).parent == check_file.parent for frame in frames):
            from gradekit.codecs.figure_codec import Figure

            if isinstance(value, Figure):
                return CheckOutcome.FAILED, (
                    f"The figure of `{name}` doesn't have the parts that this check looks for: "
                    "read again what it should show."
                )
            return CheckOutcome.FAILED, (
                f"{called} gave {describe(value)}, which is not what the exercise asks for: "
                "read again what it should return."
            )
    return None


def _of_handle(student: Student | None) -> str:
    """What to say of a check without words, if it had a handle to compare instead of a value."""
    name, value = (asked_by(student).last if student else None) or ("", None)
    if not isinstance(value, Opaque):
        return ""
    return f"`{name}` returned {with_article(value.type_name)}, which checks can't look into."


def relation_to(error: BaseException, student: Student) -> str:
    """How the wrong value that ended a check relates to the right one, or an exception to the arguments."""
    asked = asked_by(student)
    if isinstance(error, CheckFailure):
        return relation_of(error.wrong, in_play(asked.arguments)) if error.wrong else ""
    if isinstance(error, StudentError):
        if not error.raised:
            return ""
        meaning = meaning_of(error.raised, error.text)
        arguments = asked.steps[-1].arguments if asked.steps else []
        if (
            arguments
            and arguments[0][0] == "self"
            and error.text.startswith(f"{asked.steps[-1].name}() missing ")
        ):
            meaning = _SELF
        return " ".join(filter(None, [meaning, sizes_relation(error.text, arguments)]))
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


def _is_introspection(error: AssertionError) -> bool:
    return str(error).startswith("assert ") or not str(error)


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
        return f"`{step.name}({', '.join(_as_written(step))})`"
    arguments = list(_arguments(step))
    if len(arguments) > _MOST_ARGUMENTS:
        arguments = [*arguments[:_MOST_ARGUMENTS], "…"]
    last = " and ".join(arguments[-2:])
    given = f" with {', '.join([*arguments[:-2], last])}" if arguments else ""
    return f"{'the gradients of ' if step.gradients else ''}`{step.name}`{given}"


def _as_written(step: CheckStep) -> Iterator[str]:
    for value in step.args:
        yield _setting(value)
    for name, value in step.kwargs.items():
        yield f"{name}={_setting(value)}"


def _setting(value: Any) -> str:
    return f"{value}" if value is None or isinstance(value, bool | int | float) else "…"


def _arguments(step: CheckStep) -> Iterator[str]:
    for place, value in enumerate(step.args):
        name = f"`{step.parameters[place]}` " if place < len(step.parameters) else ""
        yield name + _shape(value, bool(name))
    for name, value in step.kwargs.items():
        yield f"`{name}` {_shape(value, named=True)}"


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


def is_telling(text: str) -> bool:
    """True if a text says what was wrong, and not only what has many causes, such as that some sizes didn't fit."""
    return bool(text) and not text.startswith(_MANY_CAUSES)


def _lettered(text: str) -> str:
    """The text with a letter for each different integer from 2 on."""
    letters: dict[str, str] = {}

    def letter(found: re.Match[str]) -> str:
        number = found[0]
        return number if number in ("0", "1") else letters.setdefault(number, f"<{len(letters)}>")

    return _NUMBER.sub(letter, text)


#: separates the ids of two mistakes that fit
OR = "|"
_MOST_FITTING = 2
_MOST_BITS = 40.0
#: fractions with this denominator, such as 0.5, are often equal by chance
_SIMPLE = 64


@dataclass(frozen=True)
class Diagnosis:
    """The ids of the mistakes that fit, joined by `OR`, and the text that the student reads; empty if none does."""

    mistake: str = ""
    text: str = ""


@dataclass(frozen=True)
class FailedExercise:
    """An exercise that was not solved: the checks that failed, the values that were compared, and the code."""

    failed: Set[str]
    #: the comparisons with recorded values, by `<file>::<check>`
    references: Mapping[str, Reference]
    #: the statements that the answer consists of
    code: Sequence[str] = ()
    #: the messages of the failed checks, by name (see `gradekit.verdict.explanation`)
    messages: Mapping[str, str] = field(default_factory=dict)


def diagnose(store: Store, exercise: FailedExercise, mistakes: Sequence[Mistake]) -> Diagnosis:
    """The one mistake of the exercise that agrees with all of its checks, or a question about two.

    A mistake agrees if it fails the same checks, with the same wrong values and, where no value is compared, with the same
    message. Values such as True or a small number are no proof: they decide only where a message or the mistake's test
    on the code confirms it.
    """
    fitting = [mistake for mistake in mistakes if _fits(store, mistake, exercise)]
    sentences = {mistake.sentence: mistake for mistake in reversed(fitting)}
    if not 0 < len(sentences) <= _MOST_FITTING:
        return Diagnosis()
    chosen = [mistake for mistake in fitting if sentences[mistake.sentence] is mistake]
    names = OR.join(mistake.name for mistake in chosen)
    texts = [mistake.sentence for mistake in chosen]
    return Diagnosis(
        names, texts[0] if len(texts) == 1 else f"Which of the two is it? {texts[0]} Or: {texts[1]}"
    )


def _fits(store: Store, mistake: Mistake, exercise: FailedExercise) -> bool:
    if store.fails(mistake.exercise, mistake.name) != exercise.failed or not mistake.confirmed_by(
        exercise.code
    ):
        return False
    bits = 0.0
    recorded_as = next((check.rpartition("::")[0] for check in exercise.references), mistake.exercise)
    for check in {f"{recorded_as}::{name}" for name in exercise.failed} | exercise.references.keys():
        evidence = _bits_of_check(store, mistake.name, check, exercise.references.get(check))
        if evidence is None:
            return False
        bits += evidence
    of_mistake = store.recorded_messages(mistake.exercise, mistake.name)
    for check in exercise.failed:
        message, recorded = exercise.messages.get(check, ""), of_mistake.get(check, "")
        if not agrees(message, recorded):
            return False
        bits += ENOUGH if message == recorded and is_telling(message) else 0.0
    return bits >= ENOUGH or bool(mistake.uses or mistake.lacks)


def _bits_of_check(store: Store, mistake: str, check: str, reference: Reference | None) -> float | None:
    """How strongly the values of one check suggest the mistake, in bits; None if they contradict it."""
    given = store.mistakes(check).get(mistake, {})
    if reference is None:
        return None if given else 0.0
    failed = [seen for seen in reference.observations if not seen.passed and is_recordable(seen.value)]
    if {seen.key for seen in failed} != given.keys():
        return None
    for seen in failed:
        if difference(seen.value, given[seen.key], *reference.tolerances[seen.key]) is not None:
            return None
    return sum(_bits(seen.value, store.get(f"{check}/expected/{seen.key}")) for seen in failed)


def _bits(value: Any, right: Any) -> float:
    """The bits of evidence in a wrong value that two submissions share: few, if many causes can produce it."""
    array, wanted = as_array(value), as_array(right)
    if array is None:
        return min(information(value), _MOST_BITS)
    found = to_numpy(array)
    if found.dtype.kind not in "biuf":
        return min(information(found.tolist()), _MOST_BITS)
    found = np.nan_to_num(found.astype(np.float64))
    pattern = 0.0
    right_one = np.array("") if wanted is None else to_numpy(wanted)
    if right_one.dtype.kind in "biuf" and right_one.shape == found.shape and found.ndim:
        off = np.abs(found - np.nan_to_num(right_one.astype(np.float64))) > ATOL
        pattern = _choices(off.size, int(off.sum()))
        found = found[off]
    return min(pattern + _of_entries(found.ravel()), _MOST_BITS)


def _choices(size: int, chosen: int) -> float:
    """The base-2 logarithm of the number of ways to choose some entries."""
    return (lgamma(size + 1) - lgamma(chosen + 1) - lgamma(size - chosen + 1)) / log(2)


def _of_entries(entries: Numpy) -> float:
    """The bits in some entries: many for numbers with many digits; few for integers, simple fractions and equal entries."""
    with np.errstate(over="ignore"):
        simple = entries * _SIMPLE == np.round(entries * _SIMPLE)
    values, counts = np.unique(entries[simple], return_counts=True)
    bits = -float((counts * np.log2(counts / counts.sum())).sum()) + 2 if len(values) else 0.0
    return bits + ENOUGH * len(np.unique(np.round(entries[~simple], 3)))


_PROJECTIONS = 5
_ANY_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_LINES = re.compile(r"(line|lines) \d+")


def fingerprint_of(
    outcome: CheckOutcome, message: str, reference: Reference | None, drawn: bool
) -> tuple[str, list[float]]:
    """The fingerprint of what a check received: a text, and numbers to be compared with `same_numbers`.

    Both are equal for equal wrong outputs. Without a recorded value to compare with, there is only the message. The
    text is empty where the answers of two students can't be compared.

    Args:
        outcome: how the check ended.
        message: what the student reads.
        reference: the check's comparisons with recorded values, for which everybody got the same inputs.
        drawn: the check draws inputs that differ between students, so the numbers in its message do too.
    """
    if outcome in NO_OUTPUT:
        return f"{outcome}: {message}", []
    if outcome != CheckOutcome.FAILED:
        return "", []
    seen = next((seen for seen in reference.observations if not seen.passed), None) if reference else None
    if reference is not None and seen is not None and seen.value is not None:
        return _of_value(seen.key, seen.value, *reference.tolerances[seen.key][:2])
    if drawn:
        own = any(words in message for words in (DIFFERS, SOME_WRONG))
        return "" if own else _of_message(_ANY_NUMBER.sub("#", message)), []
    return _of_message(_LINES.sub(r"\1 #", message)), []


def _of_message(message: str) -> str:
    return f"{MESSAGE}{message}" if message else ""


def _of_value(key: str, value: Any, atol: float | Array, rtol: float) -> tuple[str, list[float]]:
    """The codec's text for a wrong value, and projections of its numbers on fixed random directions, with their size.

    The unit is the check's tolerance for entries of typical size. Each entry may be off by about one unit,
    and so may a projection, since its weights have a mean square of 1/n.
    """
    text, flat = codec_of(value).fingerprint(value)
    text = f"`{key}` {text}"
    if flat is None:
        return text, []
    finite = np.isfinite(flat)
    if not finite.all():
        text += f", {int((~finite).sum())} entries of it not finite"
    flat = np.where(finite, flat, 0.0)
    largest = to_numpy(atol).max() if is_array(atol) else atol
    unit = float(largest + rtol * np.sqrt(np.square(flat).mean())) or 1.0
    shape = value.shape if is_array(value) else flat.shape
    directions = np.random.default_rng(number_from(key, *shape)).standard_normal((_PROJECTIONS, flat.size))
    projections = directions @ flat / flat.size**0.5 / unit
    # where the unit grows with the entries, twice the entries would have the same projections
    size = [np.log(unit) / rtol] if rtol else []
    return text, [float(f"{number:.6g}") for number in [*projections, *size]]
