"""The beginning of a feedback page: what to look at first, and the score of each exercise."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from gradekit.attempts.rules import Shows
from gradekit.course.cells import exercise_name, grade_id, is_graded_cell, nbgrader_metadata
from gradekit.course.language import N_, _, ngettext
from gradekit.page.check_table import right_or_not
from gradekit.page.headings import page_titles
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

FIRST_THINGS = 3
_NOT_ANSWERED = N_("Not answered.")
_NUMBERS = re.compile(r"[(\[][\d, ]*[)\]]|-?\d[\d.e+-]*")


@dataclass(frozen=True)
class ScoreRow:
    """A row in the table of scores. `grade_id` is also its id on the page; `score` is None if there is none to show yet."""

    grade_id: str
    name: str
    score: float | None
    points: float
    state: str
    awaits_grading: bool = False
    unanswered: bool = False


@dataclass(frozen=True)
class Loss:
    """The points that one cause costs in one exercise; `grade_id` is also the exercise's id on the page."""

    grade_id: str
    points: float
    name: str


@dataclass(frozen=True)
class FirstThing:
    """One cause of lost points, and the exercises where it costs points, the largest loss first."""

    text: str
    losses: tuple[Loss, ...]
    unanswered: bool = False

    @property
    def lost(self) -> float:
        return sum(loss.points for loss in self.losses)


def score_rows(
    notebook: NotebookNode, result: SubmissionResult, shows: Shows = Shows.EVERYTHING
) -> list[ScoreRow]:
    """A row for each graded cell, from the metadata that `GetGradesAndState` wrote."""
    titles = page_titles(notebook)
    return [_score_row(cell, titles, result, shows) for cell in notebook.cells if is_graded_cell(cell)]


def _score_row(
    cell: NotebookNode, titles: Mapping[str, str], result: SubmissionResult, shows: Shows
) -> ScoreRow:
    mark, name = nbgrader_metadata(cell), grade_id(cell) or ""
    awaits_grading = bool(mark.get("needs_manual_grade"))
    title = titles.get(name, exercise_name(name))
    exercise = result.exercise(name)
    if exercise and shows is Shows.EXERCISES:
        score = exercise.points if exercise.right else None
        state = _("awaiting manual grading") if awaits_grading else right_or_not(exercise)
        return ScoreRow(name, title, score, exercise.points, state, awaits_grading)
    unanswered = False
    if exercise and awaits_grading:
        state = _("awaiting manual grading")
    elif exercise and exercise.ordinary:
        state = _(exercise.checks[0].outcome)
    elif exercise and not exercise.unanswered:
        passed = sum(check.outcome == CheckOutcome.PASSED for check in exercise.checks)
        state = ngettext(
            "%(passed)s of %(checks)s check passed",
            "%(passed)s of %(checks)s checks passed",
            len(exercise.checks),
            passed=passed,
            checks=len(exercise.checks),
        )
    elif exercise is None and awaits_grading:
        state = _("not graded") if result.nothing_graded else _("awaiting manual grading")
    elif exercise is None and mark.get("by_hand"):
        state = _("graded manually")
    else:
        state, unanswered = _(CheckOutcome.NOT_ANSWERED), True
    score = mark.get("score") or None if awaits_grading else mark.get("score") or 0
    return ScoreRow(name, title, score, mark.get("points") or 0, state, awaits_grading, unanswered)


def first_things(result: SubmissionResult, table: Sequence[ScoreRow]) -> list[FirstThing]:
    """The causes that cost the most points, unanswered exercises last."""
    names = {row.grade_id: row.name for row in table}
    undecided = {row.grade_id for row in table if row.awaits_grading}
    causes: dict[tuple[str, ...], list[tuple[ExerciseResult, CheckResult]]] = {}
    for exercise in result.exercises:
        if exercise.unanswered and exercise.grade_id in undecided:
            continue
        for check in exercise.checks:
            if check.outcome != CheckOutcome.PASSED:
                causes.setdefault(_cause(exercise, check), []).append((exercise, check))
    written = [
        FirstThing(_(_NOT_ANSWERED), (Loss(row.grade_id, row.points, row.name),), unanswered=True)
        for row in table
        if row.unanswered and result.exercise(row.grade_id) is None
    ]
    things = [*(_first_thing(failed, names) for failed in causes.values()), *written]
    return sorted(things, key=lambda thing: (thing.unanswered, -thing.lost))[:FIRST_THINGS]


def _first_thing(
    failed: Sequence[tuple[ExerciseResult, CheckResult]], names: Mapping[str, str]
) -> FirstThing:
    """Sum up the checks that failed for one reason, in the words of the check with the most points.

    If a cell did not run, the checks that need it directly say it in the fewest words.
    """
    exercise, check = max(failed, key=lambda pair: pair[1].points)
    if _failed_cell(check):
        exercise, check = min(failed, key=lambda pair: len(pair[1].message))
    lost: dict[str, float] = {}
    for each, its_check in failed:
        lost[each.grade_id] = lost.get(each.grade_id, 0) + its_check.points - its_check.earned
    found = (Loss(name, points, names.get(name, exercise_name(name))) for name, points in lost.items())
    losses = sorted(found, key=lambda loss: -loss.points)
    if not check.message:
        text = _("This check failed: %(sentence)s", sentence=check.sentence)
    else:  # a cause of several failures, such as a missing function, is not about one check
        text = " ".join(filter(None, [check.message, check.relation]))
        if len(failed) == 1:
            text += " " + _("The check: %(sentence)s", sentence=check.sentence)
    text = check.diagnosis or text
    return FirstThing(_(_NOT_ANSWERED) if exercise.unanswered else text, tuple(losses), exercise.unanswered)


def _failed_cell(check: CheckResult) -> tuple[str, ...]:
    """The cell whose failure caused that of the check, and how it failed; empty if the check itself failed."""
    from gradekit.session.causes import cause_in  # the configuration imports this module in every command

    found = cause_in(check.message) if check.outcome != CheckOutcome.FAILED else None
    return found.groups() if found else ()


def _cause(exercise: ExerciseResult, check: CheckResult) -> tuple[str, ...]:
    """A key that checks share if they failed for the same reason: a diagnosis, or a message without its numbers."""
    if exercise.unanswered:
        return "unanswered", exercise.grade_id
    if check.diagnosis:  # by its sentence, since each exercise has its own name for the same mistake
        return "mistake", check.diagnosis
    if cell := _failed_cell(check):
        return "cell", *cell
    if check.message:
        return "message", _NUMBERS.sub("", check.message)
    return "check", exercise.grade_id, check.name
