"""The verdict of a test cell as its output: a table of checks, on the feedback page and in formgrader."""

from collections.abc import Sequence
from html import escape

from markupsafe import Markup
from nbformat import NotebookNode, v4

from coursekit.checks.results import STATUSES, CheckResult, ExerciseResult, SubmissionResult
from coursekit.course import exercise_name
from coursekit.nbgrader_plugin.headings import Heading, explaining, headings

# styles stand in the tags, since formgrader's pages have none of ours
_CELL = "text-align:left; vertical-align:top; padding:0.4em 0.7em; border-bottom:1px solid #d0d7de;"
_COLOURS = {"passed": "#1a6b3c", "failed": "#a4262c"}
_COLUMNS = ("Check", "Result", "Points", "Explained in")


def verdict_output(result: SubmissionResult, grade_id: str, notebook: NotebookNode) -> NotebookNode:
    """A display of the exercise's checks, as HTML and as plain text."""
    exercise = result.exercise(grade_id)
    if exercise is None:
        sentence = STATUSES[result.status]
        return v4.new_output(
            "display_data", {"text/plain": sentence, "text/html": f"<p>{escape(sentence)}</p>"}
        )
    places = explained_in(exercise, notebook, headings(notebook))
    return v4.new_output(
        "display_data", {"text/plain": as_text(exercise), "text/html": as_html(exercise, places)}
    )


def explained_in(
    exercise: ExerciseResult, notebook: NotebookNode, found: Sequence[Heading]
) -> list[Heading | None]:
    """For each check of the exercise, the heading of the notebook that explains it, if it is there."""
    return [explaining(notebook, found, exercise.grade_id, check.see) for check in exercise.checks]


def as_text(exercise: ExerciseResult) -> str:
    lines = [f"{exercise.earned:g} of {exercise.points:g} points"]
    for check in exercise.checks:
        lines.append(f"{check.outcome:>12}  {check.earned:g}/{check.points:g}  {check.sentence}")
        lines += [f"{'':>14}{text}" for text in _explanations(check)]
    return "\n".join(lines)


def as_html(exercise: ExerciseResult, places: Sequence[Heading | None]) -> str:
    """The table of the exercise's checks; `places` says where each of them is explained."""
    head = "".join(f'<th scope="col" style="{_CELL} white-space:nowrap;">{name}</th>' for name in _COLUMNS)
    rows = "".join(map(_row, exercise.checks, places))
    return (
        '<table class="coursekit-checks" '
        'style="border-collapse:collapse; width:100%; font-family:sans-serif;">'
        '<caption style="text-align:left; font-weight:bold; color:inherit; padding:0.4em 0;">'
        f"{escape(exercise_name(exercise.grade_id))}: "
        f"{exercise.earned:g} of {exercise.points:g} points</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(check: CheckResult, place: Heading | None) -> str:
    colour = _COLOURS.get(check.outcome, "#7a4f01")
    lines = [f"<div>{marked(check.sentence)}</div>"]
    if check.message:
        lines.append(
            '<div style="color:#505a64; overflow-wrap:anywhere; white-space:pre-wrap;">'
            f"{marked(check.message)}</div>"
        )
    if check.diagnosis:
        lines.append(f'<div style="color:{colour};"><b>Likely mistake:</b> {marked(check.diagnosis)}</div>')
    mark = "✓" if check.outcome == "passed" else "✗"
    link = f'<a href="#{escape(place.anchor)}">{escape(place.text)}</a>' if place else ""
    return (
        f'<tr><td style="{_CELL}">{"".join(lines)}</td>'
        f'<td style="{_CELL} color:{colour}; white-space:nowrap;"><b>{mark} {escape(check.outcome)}</b></td>'
        f'<td style="{_CELL} white-space:nowrap;" data-label="Points">{check.earned:g} / {check.points:g}</td>'
        f'<td style="{_CELL}" data-label="Explained in">{link}</td></tr>'
    )


def _explanations(check: CheckResult) -> list[str]:
    named = f"Likely mistake: {check.diagnosis}" if check.diagnosis else ""
    return [text for text in (check.message, named) if text]


def marked(text: str) -> Markup:
    """Escaped text for between tags, with `code` as code."""
    escaped = escape(text, quote=False)
    parts = escaped.split("`")
    if len(parts) % 2 == 0:
        return Markup(escaped)
    return Markup("".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts)))
