"""What somebody who has only another answer would say, and which questions that gives away."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gradekit_integrity.defend.closed import ClosedQuestion

#: how much more often than by chance others may be right about a question, on average
EXCESS_AT_MOST = 0.10
#: a question is judged by answers that weigh at least this much; those that resemble each other weigh 1 together
_JUDGES = 4
#: with fewer that differ, nothing says what others know
_GROUPS = 2
#: answers at most that are taken for unknown, to see what such a student would know
_STRANGERS = 20
#: with fewer, taking one for unknown says little
_ENOUGH = 3
#: questions that have to be left beyond those that are asked: if all that pass are needed, some pass by luck
_SPARE = 1
#: what a question of a kind, line or name loses that the sheet has already
_SAME_KIND, _SAME_LINE, _SAME_ABOUT = 1, 3, 4
#: what a question loses that all others can answer, and as much if all with nearly the same code can
_KNOWN = 10
#: what a question loses whose right option is right in all lines
_USUAL = 5
_LINE = re.compile(r"\bline (\d+)\.$", re.IGNORECASE)
#: for each question, how much more often than by chance somebody is right
_Excess = list[float]


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


@dataclass(frozen=True)
class _Judges:
    """What others say about some questions: those with nearly the same code, the most different first, and those with other code."""

    questions: Sequence[ClosedQuestion]
    near: Sequence[_Excess]
    different: Sequence[tuple[Knowledge, _Excess]]

    def without(self, unknown: Knowledge) -> "_Judges":
        return replace(self, different=[one for one in self.different if one[0] is not unknown])

    def chosen(self, count: int, seed: str) -> list[int]:
        """The places of `count` questions to ask; none if there are too few."""
        codes = [one.code for one, _ in self.different]
        # answers that resemble each other count as one: what all copies of one solution don't know, another may
        weights = [1 / sum(_shared(code, other) > 0.5 for other in codes) for code in codes]
        different = list(zip(weights, (excess for _, excess in self.different), strict=True))
        if sum(weights) < _GROUPS:
            return []
        near = [(1.0, excess) for excess in self.near]
        near_weights = (max(0.0, min(1.0, _JUDGES - sum(weights) - place)) for place in range(len(near)))
        judges = [*different, *zip(near_weights, self.near, strict=True)]
        usual = _usual(self.questions)
        total = sum(weight for weight, _ in judges) + 1

        def is_known(place: int) -> bool:
            # of who names the usual option, all that is right counts, not only what is more than by chance: stricter
            known = sum(weight * excess[place] for weight, excess in judges) + usual[place]
            return known / total > EXCESS_AT_MOST

        found = [place for place in range(len(self.questions)) if not is_known(place)]
        random.Random(seed).shuffle(found)
        # apart from each other: in a large class, a single friend would hardly count among all
        worth = {
            place: (max(0.0, _mean(near, place)) + max(0.0, _mean(different, place))) * _KNOWN
            + usual[place] * _USUAL
            + self.questions[place].chance
            for place in found
        }
        chosen: list[int] = []
        while found and len(chosen) < count + _SPARE:
            had = [self.questions[place] for place in chosen]
            best = min(found, key=lambda place: worth[place] + _cost(self.questions[place], had))
            chosen.append(best)
            found = [
                place for place in found if not _is_repeated(self.questions[place], self.questions[best])
            ]
        return chosen[:count] if len(chosen) == count + _SPARE else []


def choose_closed(own: Knowledge, others: Iterable[Knowledge], count: int, seed: str) -> list[ClosedQuestion]:
    """`count` questions about different lines and kinds, the same for the same seed; none if there are too few.

    No two have the same right option, so that always choosing the same one doesn't defend an answer.
    None is one that other code answers, and those come first that even nearly the same code doesn't, and whose right
    option is right in few lines. If there is too little other code to tell, what is nearly the same counts as other code,
    beginning with the most different. There are no questions if others, each taken for unknown in turn, would on average
    have answered too many of those chosen then.
    """
    questions = list(dict.fromkeys(own.questions))
    near: list[_Excess] = []
    different: list[tuple[Knowledge, _Excess]] = []
    for other in sorted(others, key=lambda other: _shared(own.code, other.code)):
        if other.code != own.code:
            excess = [other.chance(one) - one.chance for one in questions]
            if is_near(own, other):
                near.append(excess)
            else:
                different.append((other, excess))
    judges = _Judges(questions, near, different)
    chosen = judges.chosen(count, seed)
    if chosen and len(different) >= _ENOUGH:
        known = [
            excess[place]
            for unknown, excess in random.Random(seed).sample(different, min(_STRANGERS, len(different)))
            for place in judges.without(unknown).chosen(count, seed)
        ]
        if known and sum(known) / len(known) > EXCESS_AT_MOST:
            return []
    return sorted((questions[place] for place in chosen), key=lambda one: (one.line, one.text))


def _usual(questions: Sequence[ClosedQuestion]) -> list[float]:
    """For each question, how many of its kind about the same call have its right option: who knows none may still name it.

    Each counts only half itself: that it is the only one says little.
    """
    options = Counter((one.kind, one.calls, one.right) for one in questions)
    kinds = Counter((one.kind, one.calls) for one in questions)
    return [(options[one.kind, one.calls, one.right] - 0.5) / kinds[one.kind, one.calls] for one in questions]


def _mean(judges: Sequence[tuple[float, _Excess]], place: int) -> float:
    """How much more often than by chance some are right about a question, on average; 0 if there are none."""
    return sum(weight * excess[place] for weight, excess in judges) / (
        sum(weight for weight, _ in judges) or 1
    )


def is_near(own: Knowledge, other: Knowledge) -> bool:
    """True if more than half of the statements of two answers are equivalent: a small edit of the same code."""
    return _shared(own.code, other.code) > 0.5


@lru_cache(maxsize=100_000)
def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """The share of the statements of two answers that are equivalent."""
    mine, theirs = Counter(one), Counter(other)
    return (mine & theirs).total() / ((mine | theirs).total() or 1)


def _cost(one: ClosedQuestion, chosen: Sequence[ClosedQuestion]) -> float:
    return sum(
        _SAME_KIND * (one.kind == other.kind)
        + _SAME_LINE * (bool(one.line) and one.line == other.line)
        + _SAME_ABOUT * (bool(one.about) and one.about == other.about)
        for other in chosen
    )


def _is_repeated(one: ClosedQuestion, other: ClosedQuestion) -> bool:
    """True if they differ in their inputs only, or one option is right in both: those who know one know the other."""
    same_place = (one.kind, one.line, one.about) == (other.kind, other.line, other.about)
    return same_place or said_by(one.right) == said_by(other.right)


def said_by(option: str) -> str:
    """Equal for options that say the same in other words: `Line 13.` and `In line 13.`, whatever stops there."""
    line = _LINE.search(option)
    return line[1] if line else option
