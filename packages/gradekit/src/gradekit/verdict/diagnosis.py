"""Attributes the failed checks of an exercise to a known mistake, if all of them agree with it.

The order is that of the cost, and of what can rule a mistake out. First, the set of failed checks and the test on the
code, which need no numbers and rule out most mistakes. Next, the values of each check: one that contradicts a mistake
rules it out, and the others add up as bits of evidence. Then the messages, which do the same where no value is compared.
Last, all mistakes that are left are counted by their sentences, since only then is it known whether the answer is one
sentence, a choice of two, or none. Pairs of mistakes are tried only if no single one fits.

`fingerprint_of` identifies equal wrong answers in a large class, by a text and a few numbers.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations, starmap
from math import lgamma, log
from typing import Any

import numpy as np

from gradekit.checks.asserts import difference
from gradekit.checks.reference import Reference, Store, is_recordable, number_from
from gradekit.checks.variants import Mistake
from gradekit.codecs import ATOL, DIFFERS, SOME_WRONG, codec_of
from gradekit.inside.arrays import Array, Numpy, as_array, is_array, to_numpy
from gradekit.relations.numbers import ENOUGH
from gradekit.relations.plain import information
from gradekit.session.values import CheckOutcome
from gradekit.verdict.explanation import RAISED, agrees, bits_of_message
from gradekit.verdict.results import MESSAGE, NO_OUTPUT

#: separates the ids of two mistakes that fit
OR = "|"
_MOST_FITTING = 2
_MOST_BITS = 40.0
#: the bits that each of two mistakes needs: there are many pairs, and one number in a loose comparison proves little
_ENOUGH_OF_TWO = 20.0
#: fractions with this denominator, such as 0.5, are often equal by chance
_SIMPLE = 64
_PROJECTIONS = 5
_ANY_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_LINES = re.compile(r"(line|lines) \d+")


@dataclass(frozen=True)
class Diagnosis:
    """The ids of the mistakes that fit, joined by `OR`, and the text that the student reads."""

    mistake: str
    text: str


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


def diagnose(store: Store, exercise: FailedExercise, mistakes: Sequence[Mistake]) -> dict[str, Diagnosis]:
    """The diagnosis of each failed check that has one: the mistake that agrees with all checks, or a question about two.

    A mistake agrees if it fails the same checks, with the same wrong values and, where no value is compared, with the same
    message. Values such as True or a small number are no proof: they decide only where a message or the mistake's test
    on the code confirms it.

    If none agrees, two may explain the exercise together: they fail the same checks, and each is proved by those that it
    alone fails. If there is one such pair, these checks get its names, and a check that both fail gets none.
    """
    if fitting := [mistake for mistake in mistakes if _fits(store, mistake, exercise)]:
        diagnosis = _one_or_a_question(fitting)
        return dict.fromkeys(exercise.failed, diagnosis) if diagnosis else {}
    pairs = _two_that_fit(store, exercise, mistakes)
    if len({frozenset(mistake.sentence for mistake, _ in pair) for pair in pairs}) != 1:
        return {}
    return {check: Diagnosis(mistake.name, mistake.sentence) for mistake, own in pairs[0] for check in own}


def _one_or_a_question(fitting: Sequence[Mistake]) -> Diagnosis | None:
    sentences = {mistake.sentence: mistake for mistake in reversed(fitting)}
    if len(sentences) > _MOST_FITTING:
        return None
    chosen = [mistake for mistake in fitting if sentences[mistake.sentence] is mistake]
    names = OR.join(mistake.name for mistake in chosen)
    texts = [mistake.sentence for mistake in chosen]
    text = texts[0] if len(texts) == 1 else f"Which of the two is it? {texts[0]} Or: {texts[1]}"
    return Diagnosis(names, text)


def _fits(store: Store, mistake: Mistake, exercise: FailedExercise) -> bool:
    if store.fails(mistake.exercise, mistake.name) != exercise.failed:
        return False
    compared = {check.rpartition("::")[2] for check in exercise.references}
    bits = _bits_of_checks(store, mistake, exercise, exercise.failed | compared)
    return bits is not None and (bits >= ENOUGH or bool(mistake.uses or mistake.lacks))


def _two_that_fit(
    store: Store, exercise: FailedExercise, mistakes: Sequence[Mistake]
) -> list[list[tuple[Mistake, set[str]]]]:
    """The pairs that fail exactly these checks together; each mistake with the checks that it alone fails, which prove it."""
    fails = {mistake.name: store.fails(mistake.exercise, mistake.name) or set() for mistake in mistakes}
    parts = [mistake for mistake in mistakes if set() < fails[mistake.name] < exercise.failed]
    pairs = [
        [(one, fails[one.name] - fails[other.name]), (other, fails[other.name] - fails[one.name])]
        for one, other in combinations(parts, 2)
        if fails[one.name] | fails[other.name] == exercise.failed
    ]

    def is_proved(mistake: Mistake, checks: set[str]) -> bool:
        return (_bits_of_checks(store, mistake, exercise, checks) or 0.0) >= _ENOUGH_OF_TWO

    return [pair for pair in pairs if all(starmap(is_proved, pair))]


def _bits_of_checks(
    store: Store, mistake: Mistake, exercise: FailedExercise, checks: Set[str]
) -> float | None:
    """How strongly these checks and the code suggest the mistake, in bits; None if they contradict it."""
    if not mistake.confirmed_by(exercise.code):
        return None
    bits = 0.0
    recorded_as = next((check.rpartition("::")[0] for check in exercise.references), mistake.exercise)
    for name in checks:
        check = f"{recorded_as}::{name}"
        evidence = _bits_of_check(store, mistake.name, check, exercise.references.get(check))
        if evidence is None:
            return None
        bits += evidence
    recorded = store.recorded_messages(mistake.exercise, mistake.name)
    messages = [(exercise.messages.get(check, ""), recorded.get(check, "")) for check in checks]
    if not all(agrees(*pair) for pair in messages):
        return None
    return bits + _bits_of_messages(messages)


def _bits_of_messages(messages: Sequence[tuple[str, str]]) -> float:
    """The bits in the messages that an answer shares with a mistake; each pair is what both say in one check."""
    shared = {message for message, recorded in messages if message == recorded}
    if any(message != recorded for message, recorded in messages if message.startswith(RAISED) and recorded):
        # it is written another way
        shared = {message for message in shared if bits_of_message(message) >= ENOUGH}
    return sum(map(bits_of_message, shared))


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


def fingerprint_of(
    outcome: CheckOutcome, message: str, reference: Reference | None, drawn: bool
) -> tuple[str, list[float]]:
    """The fingerprint of what a check received: a text, and numbers to be compared with `same_numbers`.

    Both are equal for equal wrong outputs. Without a recorded value to compare with, there is only the message. The
    text is empty where the answers of two students can't be compared.

    Args:
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
    if drawn and any(words in message for words in (DIFFERS, SOME_WRONG)):
        return "", []
    text = _ANY_NUMBER.sub("#", message) if drawn else _LINES.sub(r"\1 #", message)
    return f"{MESSAGE}{text}" if text else "", []


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
