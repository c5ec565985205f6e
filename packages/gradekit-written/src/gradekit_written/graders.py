"""How each grader scores written answers, and how far two graders agree on the same answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from gradekit.course import Assignment
from gradekit.course.printing import counted, printable
from gradekit.course.rubrics import RubricItem, rubric_items
from gradekit.grading.running_course import RunningCourse
from gradekit.report.class_report import ReportSection
from gradekit.report.statistics import quartiles
from gradekit_written.deal import Dealt, SecondScore, read_lists
from gradekit_written.rubrics import items_in, rubric_of
from gradekit_written.written_answers import WrittenAnswer, answers_to_grade

#: with at least this many answers, a difference between graders may be more than chance
ENOUGH_ANSWERS = 10
#: with so many, a kappa of 0.6 comes out from 0.2 to 0.9 in 95 of 100 simulated classes; with 10, from 0 to 1
ENOUGH_RATED_TWICE = 20
#: two graders may differ by this many points without being counted
CLOSE = 1.0
_ROUNDING = 1e-6
#: characters of an item in the terminal
_SHOWN = 60
_TEMPLATE = Path(__file__).parent / "templates" / "graders.html.j2"
_FEW = "Too few answers to judge."


@dataclass(frozen=True)
class GraderScores:
    """How a grader scored the answers to one question. `quartiles` is None if there are no scores yet."""

    grader: str
    answer: str
    points: float
    count: int
    waiting: int
    quartiles: tuple[float, float, float] | None

    @property
    def caution(self) -> str:
        return _FEW if self.count < ENOUGH_ANSWERS else ""


@dataclass(frozen=True)
class Agreement:
    """How two graders scored the same answers: the mean of second minus first, and how many are far apart."""

    graders: tuple[str, str]
    answer: str
    count: int
    difference: float
    apart: int

    @property
    def caution(self) -> str:
        return _FEW if self.count < ENOUGH_ANSWERS else ""

    @property
    def in_words(self) -> str:
        one, other = self.graders
        if not self.difference:
            return f"{one} and {other} give the same on average"
        more, less = (other, one) if self.difference > 0 else (one, other)
        return f"{more} gives {abs(self.difference):.1f} more than {less} on average"


@dataclass(frozen=True)
class ItemAgreement:
    """How often graders agreed whether an answer has an idea of the rubric: `same` of `count` answers.

    `value` is Cohen's kappa of two graders, or Krippendorff's alpha of more: 1 is full agreement, 0 that of chance.
    It is None for too few answers, and if everybody, or nobody, was given the item.
    """

    answer: str
    item: str
    graders: tuple[str, ...]
    count: int
    same: int
    value: float | None

    @property
    def in_words(self) -> str:
        return "" if self.value is None else f"{'κ' if len(self.graders) == 2 else 'α'} {self.value:.2f}"

    @property
    def caution(self) -> str:
        if self.count < ENOUGH_RATED_TWICE:
            return f"{ENOUGH_RATED_TWICE} answers are needed."
        return "All or none have it." if self.value is None else ""


@dataclass(frozen=True)
class Calibration:
    """The scores of each grader of an assignment that was dealt out, and how far they agree, also in each item.

    `problems` and `remarks` are those of the lists.
    """

    graders: list[GraderScores]
    agreements: list[Agreement]
    items: list[ItemAgreement]
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def section_of_graders(course: RunningCourse, assignment: Assignment) -> ReportSection | None:
    """The part of the class report that compares the graders."""
    found = calibration(course, assignment)
    if found is None:
        return None
    return ReportSection(
        "graders", "Graders", found, list(calibration_lines(found)), _TEMPLATE, not found.problems
    )


def calibration(course: RunningCourse, assignment: Assignment) -> Calibration | None:
    """Compare the graders of an assignment; None if nothing was dealt out."""
    dealt = read_lists(assignment)
    if not dealt.readings and not dealt.problems:
        return None
    scores = list(_scores(dealt, answers_to_grade(course, assignment)))
    return Calibration(
        list(_of_graders(scores)),
        list(_agreements(scores)),
        list(_items(assignment, scores)),
        dealt.problems,
        dealt.remarks,
    )


def chance_corrected(ratings: Sequence[tuple[str, str, bool]]) -> float | None:
    """Cohen's kappa (1960) if two graders rated, Krippendorff's alpha (1980, nominal) if more did.

    Args:
        ratings: a grader, an answer, and whether the grader found the idea in it. Each answer is rated at least twice.

    Returns:
        None if all ratings are equal, since then no agreement is more than chance.
    """
    if len({given for *_, given in ratings}) < 2:
        return None
    from nltk.metrics.agreement import AnnotationTask  # which takes a second

    task = AnnotationTask(list(ratings))
    return float(task.kappa() if len(task.C) == 2 else task.alpha())


@dataclass(frozen=True)
class _Scored:
    answer: WrittenAnswer
    grader: str
    score: float | None
    second: SecondScore | None = None

    def given(self, items: Sequence[RubricItem]) -> set[RubricItem] | None:
        """The items that were given; None if they don't say what the score is for, or are of another rubric."""
        if self.second is None:
            found = items_in(self.answer.comment, items)
        elif self.second.score and list(self.second.numbered.values()) != items:
            return None
        else:
            found = self.second.given
        total = min(self.answer.points, sum(item.points for item in found))
        return found if self.score is not None and abs(self.score - total) < _ROUNDING else None


def _scores(dealt: Dealt, answers: Sequence[WrittenAnswer]) -> Iterator[_Scored]:
    """Every reading of every answer. The gradebook has the scores of first readings, the lists those of second ones."""
    for reading, answer in dealt.read(answers):
        if reading.second:
            second = dealt.scores.get((answer.submission, answer.cell))
            yield _Scored(answer, reading.grader, second.score if second else None, second)
        else:
            yield _Scored(answer, reading.grader, answer.score)


def _of_graders(scores: Sequence[_Scored]) -> Iterator[GraderScores]:
    questions = list(dict.fromkeys(scored.answer.cell for scored in scores))
    graders = sorted({scored.grader for scored in scores})
    for question in questions:
        for grader in graders:
            own = [one for one in scores if (one.answer.cell, one.grader) == (question, grader)]
            given = [one.score for one in own if one.score is not None]
            if own:
                middle = quartiles(given) if given else None
                points = own[0].answer.points
                yield GraderScores(grader, question, points, len(given), len(own) - len(given), middle)


def _agreements(scores: Sequence[_Scored]) -> Iterator[Agreement]:
    given: dict[tuple[str, str], dict[str, float]] = {}
    for scored in scores:
        if scored.score is not None:
            answer = scored.answer.submission, scored.answer.cell
            given.setdefault(answer, {})[scored.grader] = scored.score
    graders = sorted({scored.grader for scored in scores})
    for question in dict.fromkeys(scored.answer.cell for scored in scores):
        for one, other in combinations(graders, 2):
            differences = [
                both[other] - both[one]
                for (_, cell), both in given.items()
                if cell == question and one in both and other in both
            ]
            if differences:
                apart = sum(abs(difference) > CLOSE for difference in differences)
                mean = sum(differences) / len(differences)
                yield Agreement((one, other), question, len(differences), mean, apart)


def _items(assignment: Assignment, scores: Sequence[_Scored]) -> Iterator[ItemAgreement]:
    """The agreement in each item of each rubric, if any answer's items are known from two graders."""
    by_question: dict[tuple[str, str], list[_Scored]] = {}
    for one in scores:
        by_question.setdefault((one.answer.notebook, one.answer.cell), []).append(one)
    for (notebook, question), readings in by_question.items():
        items, _ = rubric_items(rubric_of(assignment, notebook, question))
        known: dict[str, dict[str, set[RubricItem]]] = {}
        for one in readings:
            if (given := one.given(items)) is not None:
                known.setdefault(one.answer.submission, {})[one.grader] = given
        twice = {submission: readers for submission, readers in known.items() if len(readers) > 1}
        graders = tuple(sorted({grader for readers in twice.values() for grader in readers}))
        for item in items if twice else ():
            rated = [
                (grader, submission, item in given)
                for submission, readers in twice.items()
                for grader, given in readers.items()
            ]
            same = sum(len({item in given for given in readers.values()}) == 1 for readers in twice.values())
            value = chance_corrected(rated) if len(twice) >= ENOUGH_RATED_TWICE else None
            yield ItemAgreement(question, item.text, graders, len(twice), same, value)


def calibration_lines(found: Calibration) -> Iterator[str]:
    for own in found.graders:
        spread = ""
        if own.quartiles:
            low, middle, high = own.quartiles
            spread = f": median {middle:g} of {own.points:g}, middle half from {low:g} to {high:g}"
        waiting = f", {own.waiting} to grade" if own.waiting else ""
        caution = f". {own.caution}" if own.caution and own.count else ""
        yield f"  {own.grader}, {own.answer}: {own.count} graded{waiting}{spread}{caution}"
    for both in found.agreements:
        few = f". {both.caution}" if both.caution else ""
        yield (
            f"  {both.answer}, {counted(both.count, 'answer')} graded twice: {both.in_words}; "
            f"{both.apart} differ by more than {CLOSE:g} point{few}"
        )
    for item in found.items:
        same = f"the same for {item.same} of {item.count} answers"
        yield f"  {item.answer}, {printable(item.item, _SHOWN)}: {same}. {item.in_words or item.caution}"
    yield from (f"  left out: {problem}" for problem in found.problems)
    yield from (f"  {remark}" for remark in found.remarks)
