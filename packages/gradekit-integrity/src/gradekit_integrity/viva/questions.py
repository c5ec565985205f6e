"""The questions, how they show a call and its inputs, and which of them a sheet has."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gradekit_integrity.viva.statements import AnswerCode, AnswerStatement, Sort
from gradekit_integrity.viva.tracer_reports import SeenValue, TracedCall

#: how much more interesting a question is if something in its cell is the student's own
_NEAR_OWN = 2
#: what a question about the student's own line gains, what one like those already chosen loses, and the most that chance adds
_OWN, _SAME_CELL, _SAME_KIND, _SAME_LINE, _CHANCE = 5, 3, 4, 20, 3


class QuestionKind(StrEnum):
    """The kinds of questions. `INTEREST` says which come first."""

    PURPOSE = "purpose"
    TAKEN_OUT = "taken out"
    CRASH = "crash"
    FAILS = "which fails"
    BRANCH = "branch"
    LOOP = "loop"
    SHAPE = "shape"
    VALUE = "value"
    RESULT = "result"
    NAMES = "names"
    SYNTAX = "syntax"


INTEREST = {
    QuestionKind.CRASH: 7,
    QuestionKind.SYNTAX: 7,
    QuestionKind.PURPOSE: 6,
    QuestionKind.FAILS: 6,
    QuestionKind.TAKEN_OUT: 5,
    QuestionKind.BRANCH: 4,
    QuestionKind.LOOP: 4,
    QuestionKind.SHAPE: 4,
    QuestionKind.VALUE: 4,
    QuestionKind.RESULT: 1,
    QuestionKind.NAMES: 1,
}


@dataclass(frozen=True)
class Question:
    """A question about the answer cell `cell`, and its answer. Text in backticks is code.

    Args:
        line: the line of the cell that it is about; 0 for none.
        calls: the calls that it is about, each with its inputs, as text.
        own: the line is neither handed out nor in the most common solution.
        rubric: what counts as a right answer, if the answer is in words.
    """

    kind: QuestionKind
    notebook: str
    cell: str
    line: int
    text: str
    answer: str
    calls: tuple[tuple[str, tuple[str, ...]], ...] = ()
    choices: tuple[str, ...] = ()
    own: bool = False
    interest: int = 0
    rubric: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """An answer cell to ask about.

    Args:
        given: says whether a statement was handed out, so that it is not asked about.
        own: says whether a statement differs from the most common solution.
    """

    notebook: str
    cell: str
    code: AnswerCode
    given: Callable[[AnswerStatement], bool]
    own: Callable[[AnswerStatement], bool]

    def is_open(self, number: int) -> bool:
        """True if the statement may be asked about."""
        return self.code.is_clear(number) and not self.given(self.code.statements[number])

    @property
    def has_own(self) -> bool:
        """True if a statement that may be asked about is the student's own."""
        return any(self.own(one) and not self.given(one) for one in self.code.statements)

    def can_be_taken_out(self) -> list[int]:
        """The statements whose removal is worth asking about, the student's own first.

        Leaves out statements without which a variable is missing: everybody knows what happens then, unless a global
        variable has the same name.
        """
        found = [
            number
            for number, one in enumerate(self.code.statements)
            if one.sort in (Sort.ASSIGN, Sort.CALL)
            and one.optional
            and one.alone
            and one.function
            and self.is_open(number)
        ]
        return sorted(found, key=lambda number: not self.own(self.code.statements[number]))

    def question(
        self,
        kind: QuestionKind,
        text: str,
        answer: str,
        about: AnswerStatement | None = None,
        calls: Sequence[TracedCall] = (),
        choices: tuple[str, ...] = (),
        interest: int | None = None,
    ) -> Question:
        own = self.own(about) if about else self.has_own
        shown = tuple((title_of(call), inputs_of(call)) for call in calls)
        weight = (INTEREST[kind] if interest is None else interest) + (_NEAR_OWN if self.has_own else 0)
        line = about.first if about else 0
        return Question(kind, self.notebook, self.cell, line, text, answer, shown, choices, own, weight)


def syntax_question(notebook: str, cell: str, line: int) -> Question:
    """The question about a cell that Python can't read."""
    text = "Python can't read this cell. Which kind of error does it report, and in which line?"
    answer = f"A `SyntaxError` in line {line}."
    return Question(
        QuestionKind.SYNTAX,
        notebook,
        cell,
        line,
        text,
        answer,
        own=True,
        interest=INTEREST[QuestionKind.SYNTAX],
    )


def title_of(call: TracedCall) -> str:
    name = call.name.removesuffix(".__init__")
    return f"{name}({', '.join(name for name, _ in call.args)})" if name else ""


def inputs_of(call: TracedCall) -> tuple[str, ...]:
    return tuple(f"{name}: {shown_value(seen)}" for name, seen in call.args)


def shown_value(seen: SeenValue) -> str:
    """An input for a reader; empty if it can't be shown."""
    if seen.shape is not None:
        size = f"shape {as_tuple(seen.shape)}, {seen.dtype.removeprefix('torch.')}".rstrip(", ")
        return f"{seen.about} ({size})" if seen.about else size
    if seen.about:
        return seen.about
    return f"{seen.type} with {seen.length} entries" if seen.length is not None else seen.name


def as_tuple(shape: tuple[int, ...]) -> str:
    return repr(tuple(shape))


def choose(questions: Sequence[Question], count: int, seed: str) -> list[Question]:
    """At most `count` questions, in the order of the cells; the same ones for the same seed.

    The student's own lines come first, then different cells, lines and kinds.
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
