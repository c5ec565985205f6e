"""Relations of single numbers: only striking ones, since any two numbers have some factor."""

from collections.abc import Callable
from itertools import combinations
from math import exp, isfinite, log, log2, sqrt

from gradekit.relations.evidence import InPlay

#: float32 computes a few steps to within this
_CLOSE = 3e-6
#: fractions with smaller denominators are often equal by chance
_SIMPLE = 64
#: the largest factor that is reported without a size that explains it
_MOST_TIMES = 40
_FUNCTIONS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("has the right magnitude and the wrong sign", lambda x: -x),
    ("is e to the power of the right number", exp),
    ("is the logarithm of the right number", log),
    (
        "is the right number in units of log 2: a base-2 logarithm instead of the natural one",
        lambda x: x / log(2),
    ),
    ("is 2 to the power of the right number", lambda x: 2**x),
    ("is the base-2 logarithm of the right number", log2),
    ("is the square of the right number", lambda x: x * x),
    ("is the square root of the right number", sqrt),
    ("is 1 divided by the right number", lambda x: 1 / x),
    ("is 1 minus the right number", lambda x: 1 - x),
    ("is twice the right number", lambda x: 2 * x),
    ("is half of the right number", lambda x: x / 2),
)


def scalar_relation(found: float, right: float, play: InPlay) -> str:
    """One sentence about a wrong number; empty if none is sure."""
    if not (isfinite(found) and isfinite(right)):
        return ""
    if 0 < right < 1 and found > 1 and _same(found, 100 * right):
        return "It is 100 times the right number: a percentage instead of a fraction."
    if _is_simple(right) or _is_simple(found) or min(abs(right), abs(found)) < 1e-4:
        return ""
    for words, function in _FUNCTIONS:
        try:
            if _same(found, function(right)):
                return f"It {words}."
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
    sizes = sorted(size for size in play.sizes if 2 < size < 10_000)
    known = [(float(size), f"{size}, a size of the inputs") for size in sizes]
    known += [(one * two, f"{one} · {two}, sizes of the inputs") for one, two in combinations(sizes, 2)]
    known += [(sqrt(size), f"√{size}, and {size} is a size of the inputs") for size in sizes]
    for number, words in known:
        for way, factor in (("times", number), ("divided by", 1 / number)):
            if _same(found, right * factor):
                return f"It is the right number {way} {words}."
    for way, ratio in (("times", found / right), ("divided by", right / found)):
        if 3 <= round(ratio) <= _MOST_TIMES and _same(ratio, float(round(ratio))):
            return f"It is the right number {way} {round(ratio)}."
    return ""


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= _CLOSE * abs(other)


def _is_simple(number: float) -> bool:
    """True for a number of at most three digits after the point, or a fraction with a small denominator."""
    return abs(number - round(number, 3)) < _CLOSE or any(
        abs(number * below - round(number * below)) < _CLOSE * max(abs(number * below), 1)
        for below in range(1, _SIMPLE)
    )
