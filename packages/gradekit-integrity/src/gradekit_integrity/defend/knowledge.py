"""What somebody who has only another answer would say, and which questions that gives away."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradekit_integrity.defend.closed import ClosedQuestion

#: how much more often than by chance others may be right about a question, on average
EXCESS_AT_MOST = 0.10
#: what a question of a kind, line or name loses that the sheet has already
_SAME_KIND, _SAME_LINE, _SAME_ABOUT = 1, 3, 4
#: what a question loses that all others can answer, and as much if all with nearly the same code can
_KNOWN = 10


@dataclass
class Knowledge:
    """The answers of one student's code to all questions about it, by call and line, name and statement.

    Args:
        code: equal for equivalent answers, whose students know the same.
    """

    code: tuple[str, ...]
    questions: Sequence[ClosedQuestion]

    def __post_init__(self) -> None:
        self._answers: dict[tuple[object, ...], str] = {}
        for one in self.questions:
            for place in _places(one):
                self._answers.setdefault(place, one.right)

    def says(self, question: ClosedQuestion) -> str | None:
        """The option that this code leads to: at the same statement, else name, else line; None if it has none of them."""
        for place in _places(question):
            said = self._answers.get(place)
            if said is not None:
                return said if said in (question.right, *question.wrong) else None
        return None

    def chance(self, question: ClosedQuestion) -> float:
        """The probability that somebody with this code answers right, who guesses where it says nothing."""
        said = self.says(question)
        return question.chance if said is None else float(said == question.right)


def _places(one: ClosedQuestion) -> Iterable[tuple[object, ...]]:
    begin = (one.kind, one.calls)
    if one.key:
        yield (*begin, "statement", one.key, one.about)
    if one.about:
        yield (*begin, "name", one.about)
    if one.line:
        yield (*begin, "line", one.line)
    if not one.line and not one.about:
        yield begin


def excess(question: ClosedQuestion, others: Sequence[Knowledge]) -> float:
    """How much more often than by chance those with other code are right, on average; 0 if there are none."""
    if not others:
        return 0.0
    return sum(other.chance(question) for other in others) / len(others) - question.chance


def choose_closed(own: Knowledge, others: Iterable[Knowledge], count: int, seed: str) -> list[ClosedQuestion]:
    """At most `count` questions about different lines and kinds; the same for the same seed.

    None is one that other code answers, and those come first that even nearly the same code doesn't.
    """
    others = [other for other in others if other.code != own.code]
    near: list[Knowledge] = []
    different: list[Knowledge] = []
    for other in others:
        (near if is_near(own, other) else different).append(other)
    found = [one for one in dict.fromkeys(own.questions) if excess(one, different) <= EXCESS_AT_MOST]
    random.Random(seed).shuffle(found)
    # apart from each other: in a large class, a single friend would hardly count among all
    worth = {
        one: (max(0.0, excess(one, near)) + max(0.0, excess(one, different))) * _KNOWN + one.chance
        for one in found
    }
    chosen: list[ClosedQuestion] = []
    while found and len(chosen) < count:
        best = min(found, key=lambda one: worth[one] + _cost(one, chosen))
        chosen.append(best)
        found = [one for one in found if not _is_repeated(one, best)]
    return sorted(chosen, key=lambda one: (one.line, one.text))


def is_near(own: Knowledge, other: Knowledge) -> bool:
    """True if more than half of the statements of two answers are equivalent: a small edit of the same code."""
    mine, theirs = Counter(own.code), Counter(other.code)
    return 2 * (mine & theirs).total() > (mine | theirs).total()


def _cost(one: ClosedQuestion, chosen: Sequence[ClosedQuestion]) -> float:
    return sum(
        _SAME_KIND * (one.kind == other.kind)
        + _SAME_LINE * (bool(one.line) and one.line == other.line)
        + _SAME_ABOUT * (bool(one.about) and one.about == other.about)
        for other in chosen
    )


def _is_repeated(one: ClosedQuestion, other: ClosedQuestion) -> bool:
    """True if they differ in their inputs only: those who know one know the other."""
    return (one.kind, one.line, one.about) == (other.kind, other.line, other.about)
