"""Chooses the questions of a sheet: the student's own lines first, then different cells, lines and kinds."""

import random
from collections import Counter
from collections.abc import Sequence

from gradekit_integrity.viva.questions import Question

_OWN, _SAME_CELL, _SAME_KIND, _SAME_LINE, _CHANCE = 5, 3, 4, 20, 3


def choose(questions: Sequence[Question], count: int, seed: str) -> list[Question]:
    """At most `count` questions, in the order of the cells; the same ones for the same seed.

    A question's worth depends on the questions already chosen, not on the other candidates.
    """
    left = {question: _chance(question, seed) for question in dict.fromkeys(questions)}
    order = {cell: place for place, cell in enumerate(dict.fromkeys(_cell(one) for one in questions))}
    chosen: list[Question] = []
    while left and len(chosen) < count:
        cells = Counter(map(_cell, chosen))
        kinds = Counter(one.kind for one in chosen)
        lines = Counter((*_cell(one), one.line) for one in chosen)

        def worth(one: Question) -> float:
            again = _SAME_CELL * cells[_cell(one)] + _SAME_KIND * kinds[one.kind]  # noqa: B023
            again += _SAME_LINE * lines[(*_cell(one), one.line)]  # noqa: B023
            return one.interest + _OWN * one.own + left[one] - again

        best = max(left, key=worth)
        del left[best]
        chosen.append(best)
    return sorted(chosen, key=lambda one: (order[_cell(one)], one.line))


def _chance(question: Question, seed: str) -> float:
    key = "\0".join(
        [seed, *_cell(question), question.kind, str(question.line), question.text, *map(str, question.calls)]
    )
    return random.Random(key).uniform(0, _CHANCE)


def _cell(question: Question) -> tuple[str, str]:
    return question.notebook, question.cell
