"""Fingerprints of wrong answers: a text and a few numbers that identify equal answers in a large class."""

import re
from typing import Any

import numpy as np

from gradekit.checks.reference import Reference, number_from
from gradekit.codecs import DIFFERS, SOME_WRONG, codec_of
from gradekit.inside.arrays import Array, is_array, to_numpy
from gradekit.session.values import CheckOutcome

#: how the fingerprint of code that returned nothing begins
NO_OUTPUT = (CheckOutcome.TIMED_OUT.value, CheckOutcome.KERNEL_DIED.value)
#: how the fingerprint of a check without a value begins; answers with equal messages may differ
MESSAGE = "message: "
_PROJECTIONS = 5
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_LINE = re.compile(r"(line|lines) \d+")


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
        return "" if own else _of_message(_NUMBER.sub("#", message)), []
    return _of_message(_LINE.sub(r"\1 #", message)), []


def is_of_message(fingerprint: str) -> bool:
    """True if the fingerprint identifies what the student read, but not what the answer returned."""
    return fingerprint.startswith((MESSAGE, *NO_OUTPUT))


def same_numbers(one: list[float], other: list[float]) -> bool:
    """True if the numbers of two fingerprints are equal within the tolerance of the check."""
    return len(one) == len(other) and all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))


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
