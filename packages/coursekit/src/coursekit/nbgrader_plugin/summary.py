"""What stands on top of a feedback page: the points of each exercise, and what to look at first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from coursekit.checks.results import CheckResult, ExerciseResult, SubmissionResult
from coursekit.course import exercise_name, grade_id, nbgrader_metadata

FIRST_THINGS = 3
_NOT_ANSWERED = "Not answered."
_NUMBERS = re.compile(r"[(\[][\d, ]*[)\]]|-?\d[\d.e+-]*")


@dataclass(frozen=True)
class Row:
    """An exercise in the table of points. `grade_id` is its place on the page; no score: it waits for a person."""

    grade_id: str
    name: str
    score: float | None
    points: float
    state: str


@dataclass(frozen=True)
class Loss:
    """What one cause costs in one exercise; `grade_id` is its place on the page."""

    grade_id: str
    points: float

    @property
    def name(self) -> str:
        return exercise_name(self.grade_id)


@dataclass(frozen=True)
class FirstThing:
    """One cause of lost points, with the exercises in which it costs any, the largest loss first."""

    text: str
    losses: tuple[Loss, ...]
    unanswered: bool = False

    @property
    def lost(self) -> float:
        return sum(loss.points for loss in self.losses)


def rows(cells: Sequence[NotebookNode], result: SubmissionResult) -> list[Row]:
    """The graded cells of a notebook, as `GetGradesAndState` left them."""
    return [
        Row(
            grade_id(cell),
            exercise_name(grade_id(cell)),
            _score(nbgrader_metadata(cell)),
            nbgrader_metadata(cell).get("points") or 0,
            _state(cell, result),
        )
        for cell in cells
        if nbgrader_metadata(cell).get("grade") or nbgrader_metadata(cell).get("task")
    ]


def _score(mark: dict[str, Any]) -> float | None:
    return None if mark.get("needs_manual_grade") else mark.get("score") or 0


def _state(cell: NotebookNode, result: SubmissionResult) -> str:
    mark, exercise = nbgrader_metadata(cell), result.exercise(grade_id(cell))
    if exercise is None:
        if mark.get("needs_manual_grade"):
            return "not graded" if result.nothing_graded else "waits to be graded by hand"
        return "graded by hand" if mark.get("by_hand") else "not answered"
    if exercise.unanswered:
        return "not answered"
    passed = sum(check.outcome == "passed" for check in exercise.checks)
    return f"{passed} of {len(exercise.checks)} checks passed"


def first_things(result: SubmissionResult, table: Sequence[Row]) -> list[FirstThing]:
    """The causes that cost most points, each once, those of unanswered exercises last."""
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
    things = [*(_thing(failed) for failed in causes.values()), *written]
    return sorted(things, key=lambda thing: (thing.unanswered, -thing.lost))[:FIRST_THINGS]


def _thing(failed: Sequence[tuple[ExerciseResult, CheckResult]]) -> FirstThing:
    """The checks that failed for one reason, in the words of the one that costs most."""
    exercise, check = max(failed, key=lambda pair: pair[1].points)
    lost: dict[str, float] = {}
    for each, its_check in failed:
        lost[each.grade_id] = lost.get(each.grade_id, 0) + its_check.points
    losses = sorted((Loss(name, points) for name, points in lost.items()), key=lambda loss: -loss.points)
    return FirstThing(_text(exercise, check), tuple(losses), exercise.unanswered)


def _cause(exercise: ExerciseResult, check: CheckResult) -> tuple[str, ...]:
    """What failed for the same reason counts as one: a named mistake, or a message that differs in numbers only."""
    if exercise.unanswered:
        return "unanswered", exercise.grade_id
    if check.diagnosis:  # two exercises have mistakes of the same sentence under names of their own
        return "mistake", check.diagnosis
    if check.message:
        return "message", _NUMBERS.sub("", check.message)
    return "check", exercise.grade_id, check.name


def _text(exercise: ExerciseResult, check: CheckResult) -> str:
    if exercise.unanswered:
        return _NOT_ANSWERED
    return check.diagnosis or f"{check.sentence} {check.message}".strip()
