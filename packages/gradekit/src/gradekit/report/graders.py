"""How each grader scores written answers, and how far two graders agree on the same answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from gradekit.course import Assignment
from gradekit.course.printing import counted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.deal import Dealt, WrittenAnswer, answers_to_grade, read_lists
from gradekit.report.statistics import quartiles

#: with at least this many answers, a difference between graders may be more than chance
ENOUGH_ANSWERS = 10
#: two graders may differ by this many points without being counted
CLOSE = 1.0
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
class Calibration:
    """The scores of each grader of an assignment that was dealt out, and how far they agree."""

    graders: list[GraderScores]
    agreements: list[Agreement]


def calibration(course: RunningCourse, assignment: Assignment) -> Calibration | None:
    """Compare the graders of an assignment; None if nothing was dealt out.

    Raises:
        CourseError: a list can't be read.
    """
    dealt = read_lists(assignment)
    if not dealt.readings:
        return None
    scores = list(_scores(dealt, answers_to_grade(course, assignment)))
    return Calibration(list(_of_graders(scores)), list(_agreements(scores)))


@dataclass(frozen=True)
class _Scored:
    answer: WrittenAnswer
    grader: str
    score: float | None


def _scores(dealt: Dealt, answers: Sequence[WrittenAnswer]) -> Iterator[_Scored]:
    """Every reading of every answer. The gradebook has the scores of first readings, the lists those of second ones."""
    by_submission: dict[str, list[WrittenAnswer]] = {}
    for answer in answers:
        by_submission.setdefault(answer.submission, []).append(answer)
    for reading in dealt.readings:
        for answer in by_submission.get(reading.submission, []):
            second = dealt.scores.get((answer.submission, answer.cell))
            yield _Scored(answer, reading.grader, second if reading.second else answer.score)


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


def calibration_lines(found: Calibration) -> Iterator[str]:
    """The comparison in a few lines of text."""
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
