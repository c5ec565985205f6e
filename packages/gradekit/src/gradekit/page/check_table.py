"""Results on a page: the table of a test cell's checks, the beginning of the page, and what must not be shown yet.

The table is also the test cell's output, in formgrader. The beginning has the causes that cost most, and the scores.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from html import escape

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from nbformat import NotebookNode, from_dict
from nbgrader.api import Gradebook, MissingEntry

from gradekit.attempts import Shows
from gradekit.course.cells import exercise_name, grade_id, is_graded_cell, is_test_cell, nbgrader_metadata
from gradekit.course.language import N_, _, ngettext
from gradekit.page import PAGE_TEMPLATES
from gradekit.page.headings import Heading, explaining, headings, page_titles
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import (
    STATUSES,
    CheckResult,
    ExerciseResult,
    Status,
    SubmissionResult,
    points_in_words,
    score_in_words,
)

_COLORS = {CheckOutcome.PASSED: "#1a6b3c", CheckOutcome.FAILED: "#a4262c"}
_MISTAKE = N_("Likely mistake")


#: in the metadata of the output with the results of a test cell
_CHECKS = "gradekit_checks"


def check_output(result: SubmissionResult, grade_id: str, notebook: NotebookNode) -> NotebookNode:
    """An output that shows the checks of a test cell, as HTML and as plain text."""
    exercise = result.exercise(grade_id)
    if exercise is None:
        whys = [doubt.why for doubt in result.doubts if doubt.grade_id == grade_id]
        text = " ".join(whys) or _(STATUSES[result.status])
        html = f"<p>{escape(text)}</p>"
    else:
        text = checks_as_text(exercise)
        html = checks_as_html(exercise, notebook, headings(notebook))
    data = {"text/plain": text, "text/html": html}
    output = {"output_type": "display_data", "data": data, "metadata": {_CHECKS: True}}
    made: NotebookNode = from_dict(output)  # `v4.new_output` validates each one for a millisecond
    return made


def is_check_output(output: NotebookNode) -> bool:
    return _CHECKS in output.get("metadata", {})


def checks_as_text(exercise: ExerciseResult) -> str:
    lines = [score_in_words(exercise.earned, exercise.points)]
    for check in exercise.checks:
        lines.append(f"{_(check.outcome):>12}  {check.earned:g}/{check.points:g}  {check.sentence}")
        lines += [f"{'':>14}{_(label)}: {text}" for label, text in _findings(check)]
    return "\n".join(lines)


def checks_as_html(
    exercise: ExerciseResult, notebook: NotebookNode, found: Sequence[Heading], requests: bool | None = None
) -> str:
    """The table of the checks, with links to those of the notebook's headings that explain them.

    On a page of our own, `requests` says whether to tell how to object to a check that failed.
    """
    name = exercise_name(exercise.grade_id)
    places = [explaining(notebook, found, exercise.grade_id, check.see) for check in exercise.checks]
    return JINJA_PAGES.get_template("checks.html.j2").render(
        exercise=exercise,
        title=page_titles(notebook, found).get(exercise.grade_id) or name,
        checks=list(zip(exercise.checks, places, strict=True)),
        colors=_COLORS,
        mistake=_MISTAKE,
        requests=requests and name,
        own=requests is not None,
    )


def right_or_not(exercise: ExerciseResult) -> str:
    """The result of an exercise on a page that shows only which exercises are right."""
    return _("right") if exercise.right else _("not answered") if exercise.unanswered else _("not right yet")


def exercise_as_html(exercise: ExerciseResult, title: str) -> str:
    """`right_or_not` as a separate line."""
    color = _COLORS[CheckOutcome.PASSED if exercise.right else CheckOutcome.FAILED]
    mark = "✓" if exercise.right else "✗"
    return f'<p>{escape(title)}: <b style="color:{color};">{mark} {escape(right_or_not(exercise))}</b></p>'


def _findings(check: CheckResult) -> list[tuple[str, str]]:
    found = (
        (N_("Came out"), check.message),
        (N_("How it differs"), check.relation),
        (_MISTAKE, check.diagnosis),
    )
    return [(label, text) for label, text in found if text]


def code_marked(text: str) -> Markup:
    """The text escaped, with what is in backticks as code. Not for attributes: quotes are not escaped."""
    escaped = escape(text, quote=False)
    parts = escaped.split("`")
    if len(parts) % 2 == 0:
        return Markup(escaped)
    return Markup("".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts)))


JINJA_PAGES = Environment(
    loader=FileSystemLoader(PAGE_TEMPLATES),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.i18n"],
)
JINJA_PAGES.filters |= {"code_marked": code_marked, "score": score_in_words, "points": points_in_words}
JINJA_PAGES.filters |= {"findings": _findings, "code": partial(escape, quote=False)}
JINJA_PAGES.install_gettext_callables(_, ngettext, newstyle=True)  # type: ignore[attr-defined] # by the extension

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
    if awaits_grading:
        nothing = exercise is None and result.nothing_graded
        state = _("not graded") if nothing else _("awaiting manual grading")
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
    elif exercise is None and mark.get("by_hand"):
        state = _("graded manually")
    else:
        state, unanswered = _(CheckOutcome.NOT_ANSWERED), True
    score = mark.get("score") or (None if awaits_grading else 0)
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
    from gradekit.session.reasons import cause_in  # the configuration imports this module in every command

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


#: the sentence in which a page explains what it leaves out
EXPLANATIONS = {
    Shows.EVERYTHING: "",
    Shows.SENTENCES: N_(
        "Until the deadline, this page shows which checks failed, but not what they compared."
    ),
    Shows.EXERCISES: N_("Until the deadline, this page shows only which exercises are right."),
}


def deadline_of(gradebook: Gradebook, assignment: str, student: str) -> datetime | None:
    """The student's deadline, with any extension, in UTC; None if there is none."""
    try:
        due = gradebook.find_submission(assignment, student).duedate
    except MissingEntry:
        return None
    return due.replace(tzinfo=UTC) if due else None


def result_as_shown(result: SubmissionResult, shows: Shows) -> SubmissionResult:
    """The result without anything that the page must not show, so that no part of the page can show it."""
    if shows is Shows.EVERYTHING:
        return result
    if shows is Shows.SENTENCES:
        return replace(result, exercises=[_without_values(exercise) for exercise in result.exercises])
    # a check may have been stopped; if it was a cell, the page lists it
    stopped = result.status in (Status.TIMED_OUT, Status.KERNEL_DIED) and not result.cells
    return replace(
        result,
        status=Status.GRADED if stopped and result.exercises else result.status,
        exercises=[_only_whether_right(exercise) for exercise in result.exercises],
    )


def hide_outputs(cells: Sequence[NotebookNode], result: SubmissionResult, shows: Shows) -> None:
    """Remove what test cells displayed and, if the page shows only which exercises are right, their scores."""
    for cell in cells:
        if is_test_cell(cell) and shows is not Shows.EVERYTHING:
            cell.outputs = []
            if shows is Shows.EXERCISES and result.exercise(grade_id(cell) or ""):
                nbgrader_metadata(cell).pop("score", None)


def _without_values(exercise: ExerciseResult) -> ExerciseResult:
    """The exercise with only the sentence and diagnosis of each check, both of which the instructor wrote."""
    checks = [
        replace(check, tried="", message="", relation="", fingerprint="", fingerprint_numbers=[])
        for check in exercise.checks
    ]
    return replace(exercise, checks=checks)


def _only_whether_right(exercise: ExerciseResult) -> ExerciseResult:
    """The exercise with one check in place of all of them, without a name or a sentence."""
    if exercise.unanswered:
        outcome = CheckOutcome.NOT_ANSWERED
    else:
        outcome = CheckOutcome.PASSED if exercise.right else CheckOutcome.FAILED
    return replace(exercise, checks=[CheckResult("", "", exercise.points, outcome)])
