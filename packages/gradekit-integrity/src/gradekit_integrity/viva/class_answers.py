"""The answers of a whole class to one cell, and which statements are in the most common one."""

from collections import Counter
from collections.abc import Iterable

from gradekit_integrity.viva.statements import AnswerCode

#: a smaller class has no most common answer
SMALLEST_CLASS = 3


def keys_of(source: str) -> tuple[str, ...]:
    """The keys of an answer's statements (see `AnswerStatement.key`); empty if it can't be parsed."""
    try:
        return tuple(one.key for one in AnswerCode(source).statements)
    except (SyntaxError, ValueError):
        return ()


def most_common(answers: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """The statements of the most frequent answer; none if no two students have the same."""
    counts = Counter(filter(None, answers))
    if counts.total() < SMALLEST_CLASS:
        return frozenset()
    answer, count = counts.most_common(1)[0]
    return frozenset(answer) if count > 1 else frozenset()
