"""The results of a test cell as its output: a table of its checks, for the feedback page and formgrader."""

from collections.abc import Sequence
from html import escape

from markupsafe import Markup
from nbformat import NotebookNode, from_dict

from gradekit.course.cells import exercise_name
from gradekit.course.language import N_, _
from gradekit.page.headings import Heading, explaining, headings, page_titles
from gradekit.page.markdown import highlighted_code
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import STATUSES, CheckResult, ExerciseResult, SubmissionResult, score_in_words

# styles are inline, since formgrader's pages don't have our style sheet
_CELL = "text-align:left; vertical-align:top; padding:0.4em 0.7em; border-bottom:1px solid #d0d7de;"
_COLORS = {CheckOutcome.PASSED: "#1a6b3c", CheckOutcome.FAILED: "#a4262c"}
_TRY_IT = (
    '<details class="try"><summary>{title}</summary><p>{what}</p>'
    '<div style="user-select:all;">{code}</div></details>'
)
_MISTAKE = N_("Likely mistake")
_POINTS = N_("Points")
_COLUMNS = (N_("Check"), N_("Result"), _POINTS)


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
    """True for what `check_output` made."""
    return _CHECKS in output.get("metadata", {})


def checks_as_text(exercise: ExerciseResult) -> str:
    """The score of the exercise, and its checks with their explanations."""
    lines = [score_in_words(exercise.earned, exercise.points)]
    for check in exercise.checks:
        lines.append(f"{_(check.outcome):>12}  {check.earned:g}/{check.points:g}  {check.sentence}")
        lines += [f"{'':>14}{_(label)}: {text}" for label, text in _findings(check) if text]
    return "\n".join(lines)


def checks_as_html(
    exercise: ExerciseResult, notebook: NotebookNode, found: Sequence[Heading], requests: bool = False
) -> str:
    """The table of the checks, with links to those of the notebook's headings that explain them.

    With `requests`, it says how to object to a check that failed.
    """
    title = page_titles(notebook, found).get(exercise.grade_id) or exercise_name(exercise.grade_id)
    head = "".join(
        f'<th scope="col" style="{_CELL} white-space:nowrap;">{escape(_(name))}</th>' for name in _COLUMNS
    )
    of = exercise_name(exercise.grade_id)
    rows = "".join(
        _row(check, explaining(notebook, found, exercise.grade_id, check.see), of if requests else "")
        for check in exercise.checks
    )
    return (
        '<table class="gradekit-checks" '
        'style="border-collapse:collapse; width:100%; font-family:sans-serif;">'
        '<caption style="text-align:left; font-weight:bold; color:inherit; padding:0.4em 0;">'
        f"{escape(title)}: {escape(score_in_words(exercise.earned, exercise.points))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def right_or_not(exercise: ExerciseResult) -> str:
    """The result of an exercise on a page that shows only which exercises are right."""
    return _("right") if exercise.right else _("not answered") if exercise.unanswered else _("not right yet")


def exercise_as_html(exercise: ExerciseResult, title: str) -> str:
    """`right_or_not` as a separate line."""
    color = _COLORS[CheckOutcome.PASSED if exercise.right else CheckOutcome.FAILED]
    mark = "✓" if exercise.right else "✗"
    return f'<p>{escape(title)}: <b style="color:{color};">{mark} {escape(right_or_not(exercise))}</b></p>'


def _row(check: CheckResult, place: Heading | None, exercise: str) -> str:
    color = _COLORS.get(check.outcome, "#7a4f01")
    lines = [f"<div>{code_marked(check.sentence)}</div>"]
    if found := [(label, code_marked(text)) for label, text in _findings(check) if text]:
        tried = [_line(N_("Tried"), code_marked(check.tried))] if check.tried else []
        lines = [*tried, _line(N_("Should hold"), code_marked(check.sentence))]
        lines += [_line(label, text, color if label == _MISTAKE else "") for label, text in found]
    if place and check.outcome != CheckOutcome.PASSED:
        link = f'<a href="#{escape(place.anchor)}">{escape(place.text)}</a>'
        lines.append(_line(N_("Explained in"), Markup(link)))
    if check.try_it:
        lines.append(_try_it(check.try_it))
    if exercise and check.outcome != CheckOutcome.PASSED:
        lines.append(_request(f"{exercise}::{check.name}: "))
    mark = {CheckOutcome.PASSED: "✓", CheckOutcome.PARTLY_PASSED: "◐"}.get(check.outcome, "✗")
    return (
        f'<tr><td style="{_CELL}">{"".join(lines)}</td>'
        f'<td style="{_CELL} color:{color}; white-space:nowrap;"><b>{mark} {escape(_(check.outcome))}</b></td>'
        f'<td style="{_CELL} white-space:nowrap;" data-label="{escape(_(_POINTS))}">{check.earned:g} / {check.points:g}</td></tr>'
    )


def _try_it(lines: str) -> str:
    what = _("Paste these lines into a new cell below your answer, and run it. One click selects them.")
    return _TRY_IT.format(title=escape(_("Try it yourself")), what=escape(what), code=highlighted_code(lines))


def _request(line: str) -> str:
    what = _(
        "Write this line and your reason into a file requests.txt next to the notebook, and hand in again, "
        "or send it to your TA if that would be late. A person reads it."
    )
    return _TRY_IT.format(
        title=escape(_("I think this check is wrong")), what=escape(what), code=escape(line)
    )


def _findings(check: CheckResult) -> list[tuple[str, str]]:
    """The findings of a check that did not pass, with their labels, in reading order."""
    return [
        (N_("Came out"), check.message),
        (N_("How it differs"), check.relation),
        (_MISTAKE, check.diagnosis),
    ]


def _line(label: str, text: Markup, color: str = "") -> str:
    style = f"color:{color}; " if color else ""
    return f'<div style="{style}overflow-wrap:break-word; white-space:pre-wrap;"><b>{escape(_(label))}:</b> {text}</div>'


def code_marked(text: str) -> Markup:
    """The text escaped, with what is in backticks as code. Not for attributes: quotes are not escaped."""
    escaped = escape(text, quote=False)
    parts = escaped.split("`")
    if len(parts) % 2 == 0:
        return Markup(escaped)
    return Markup("".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts)))
