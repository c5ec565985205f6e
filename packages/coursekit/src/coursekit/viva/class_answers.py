"""The answers of a whole class to one cell, and which statements are in the most common one."""

from collections import Counter
from collections.abc import Iterable

from coursekit.viva.statements import AnswerCode

#: in a smaller class, nothing is common
SMALLEST_CLASS = 3


def keys_of(source: str) -> tuple[str, ...]:
    """The statements of an answer as they compare (see `Statement.key`); empty if it can't be read."""
    try:
        return tuple(one.key for one in AnswerCode(source).statements)
    except (SyntaxError, ValueError):
        return ()


def most_common(answers: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """The statements of the answer that most students gave; none if no two gave the same."""
    counts = Counter(filter(None, answers))
    if counts.total() < SMALLEST_CLASS:
        return frozenset()
    answer, count = counts.most_common(1)[0]
    return frozenset(answer) if count > 1 else frozenset()
