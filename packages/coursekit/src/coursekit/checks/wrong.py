"""Telling one wrong answer from another, in a few numbers, so that equal ones can be found in a large class."""

import re

import torch

from coursekit.checks.compare import DIFFERS
from coursekit.checks.draw import number_from
from coursekit.checks.reference import Observation, Reference

#: how the text about code begins that gave nothing
NO_OUTPUT = ("timed out", "kernel died")
_PROJECTIONS = 5
#: of what is larger than any right answer, the shape says enough
_MOST_ENTRIES = 1_000_000
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_LINE = re.compile(r"(line|lines) \d+")


def wrong_answer(
    outcome: str, message: str, reference: Reference | None, drawn: bool
) -> tuple[str, list[float]]:
    """What a check that did not pass was given: a text, and numbers to be compared by `same_numbers`.

    Both are equal for equal wrong outputs. The text is empty where the answers of two students can't be compared.

    Args:
        outcome: how the check ended; see `CheckResult`.
        message: what the student reads.
        reference: the check's comparisons with recorded values, for which everybody got the same inputs.
        drawn: the check draws inputs that differ from student to student, so that numbers in its message do too.
    """
    if outcome in NO_OUTPUT:
        return f"{outcome}: {message}", []
    if outcome != "failed":
        return "", []
    seen = next((seen for seen in reference.observations if not seen.passed), None) if reference else None
    if seen is not None and seen.value is not None:
        return _of_value(seen, reference)
    if drawn:
        return "" if DIFFERS in message else _NUMBER.sub("#", message), []
    return _LINE.sub(r"\1 #", message), []


def same_numbers(one: list[float], other: list[float]) -> bool:
    """True if two outputs are equal within the tolerance of the check."""
    return len(one) == len(other) and all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))


def _of_value(seen: Observation, reference: Reference) -> tuple[str, list[float]]:
    """The kind of a wrong value, and its projections on fixed random directions.

    They are in units of what the check tolerates at the size that the entries have. Each entry may be off by
    about one unit, and so may a projection, whose weights have a mean square of 1/n.
    """
    value = seen.value.detach()
    text = f"`{seen.key}` of shape {tuple(value.shape)}"
    if value.is_complex() or not 0 < value.numel() <= _MOST_ENTRIES:
        return text + (", complex" if value.is_complex() else ""), []
    flat = value.double().flatten()
    finite = flat.isfinite()
    if not finite.all():
        text += f", {int((~finite).sum())} entries of it not finite"
    flat = flat.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
    atol, rtol = reference.tolerances[seen.key]
    unit = float(torch.as_tensor(atol).max()) + rtol * float(flat.square().mean().sqrt())
    generator = torch.Generator().manual_seed(number_from(seen.key, *value.shape))
    directions = torch.randn(_PROJECTIONS, flat.numel(), generator=generator, dtype=torch.float64)
    projections = directions @ flat / flat.numel() ** 0.5 / (unit or 1.0)
    return text, [float(f"{number:.6g}") for number in projections.tolist()]
