"""The beginning of a feedback page: what to look at first, and the score of each exercise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from coursekit.cells import exercise_name, grade_id, nbgrader_metadata
from coursekit.checks.results import CheckResult, ExerciseResult, SubmissionResult

FIRST_THINGS = 3
_NOT_ANSWERED = "Not answered."
_NUMBERS = re.compile(r"[(\[][\d, ]*[)\]]|-?\d[\d.e+-]*")


@dataclass(frozen=True)
class ScoreRow:
    """A row in the table of scores. `grade_id` is also its id on the page; no score: it awaits manual grading."""

    grade_id: str
    name: str
    score: float | None
    points: float
    state: str


@dataclass(frozen=True)
class Loss:
    """The points that one cause costs in one exercise; `grade_id` is also the exercise's id on the page."""

    grade_id: str
    points: float

    @property
    def name(self) -> str:
        return exercise_name(self.grade_id)


@dataclass(frozen=True)
class FirstThing:
    """One cause of lost points, and the exercises where it costs points, the largest loss first."""

    text: str
    losses: tuple[Loss, ...]
    unanswered: bool = False

    @property
    def lost(self) -> float:
        return sum(loss.points for loss in self.losses)


def score_rows(cells: Sequence[NotebookNode], result: SubmissionResult) -> list[ScoreRow]:
    """A row for each graded cell, from the metadata that `GetGradesAndState` wrote."""
    return [
        _score_row(cell, result)
        for cell in cells
        if nbgrader_metadata(cell).get("grade") or nbgrader_metadata(cell).get("task")
    ]


def _score_row(cell: NotebookNode, result: SubmissionResult) -> ScoreRow:
    mark, name = nbgrader_metadata(cell), grade_id(cell) or ""
    awaits_grading = bool(mark.get("needs_manual_grade"))
    exercise = result.exercise(name)
    if exercise and exercise.ordinary:
        state = str(exercise.checks[0].outcome)
    elif exercise and not exercise.unanswered:
        passed = sum(check.outcome == "passed" for check in exercise.checks)
        state = f"{passed} of {len(exercise.checks)} checks passed"
    elif exercise is None and awaits_grading:
        state = "not graded" if result.nothing_graded else "awaiting manual grading"
    else:
        state = "graded manually" if exercise is None and mark.get("by_hand") else "not answered"
    score = None if awaits_grading else mark.get("score") or 0
    return ScoreRow(name, exercise_name(name), score, mark.get("points") or 0, state)


def first_things(result: SubmissionResult, table: Sequence[ScoreRow]) -> list[FirstThing]:
    """The causes that cost the most points, unanswered exercises last."""
    causes: dict[tuple[str, ...], list[tuple[ExerciseResult, CheckResult]]] = {}
    for exercise in result.exercises:
        for check in exercise.checks:
            if check.outcome != "passed":
                causes.setdefault(_cause(exercise, check), []).append((exercise, check))
    written = [
        FirstThing(_NOT_ANSWERED, (Loss(row.grade_id, row.points),), unanswered=True)
        for row in table
        if row.state == "not answered" and result.exercise(row.grade_id) is None
    ]
    things = [*(_first_thing(failed) for failed in causes.values()), *written]
    return sorted(things, key=lambda thing: (thing.unanswered, -thing.lost))[:FIRST_THINGS]


def _first_thing(failed: Sequence[tuple[ExerciseResult, CheckResult]]) -> FirstThing:
    """Sum up the checks that failed for one reason, in the words of the check with the most points."""
    exercise, check = max(failed, key=lambda pair: pair[1].points)
    lost: dict[str, float] = {}
    for each, its_check in failed:
        lost[each.grade_id] = lost.get(each.grade_id, 0) + its_check.points - its_check.earned
    losses = sorted((Loss(name, points) for name, points in lost.items()), key=lambda loss: -loss.points)
    if not check.message:
        text = f"This check failed: {check.sentence}"
    else:  # what several checks share, such as a missing function, is not about one of them
        text = " ".join(filter(None, [check.message, check.relation]))
        text += "" if len(failed) > 1 else f" The check: {check.sentence}"
    text = check.diagnosis or text
    return FirstThing(_NOT_ANSWERED if exercise.unanswered else text, tuple(losses), exercise.unanswered)


def _cause(exercise: ExerciseResult, check: CheckResult) -> tuple[str, ...]:
    """What checks that failed for the same reason share: a diagnosis, or a message apart from its numbers."""
    if exercise.unanswered:
        return "unanswered", exercise.grade_id
    if check.diagnosis:  # by its sentence, since each exercise has its own name for the same mistake
        return "mistake", check.diagnosis
    if check.message:
        return "message", _NUMBERS.sub("", check.message)
    return "check", exercise.grade_id, check.name
