"""The verdict of a test cell as its output: a table of checks."""

from html import escape

from nbformat import NotebookNode, v4

from coursekit.checks.results import STATUSES, CheckResult, ExerciseResult, SubmissionResult

_CELL = "text-align:left; vertical-align:top; padding:0.35em 0.7em; border-bottom:1px solid #d0d7de;"
_COLOURS = {"passed": "#1a6b3c", "failed": "#a4262c"}


def verdict_output(result: SubmissionResult, grade_id: str) -> NotebookNode:
    """A display of the exercise's checks, as HTML and as plain text."""
    exercise = result.exercise(grade_id)
    if exercise is None:
        sentence = STATUSES[result.status]
        return v4.new_output(
            "display_data", {"text/plain": sentence, "text/html": f"<p>{escape(sentence)}</p>"}
        )
    return v4.new_output("display_data", {"text/plain": as_text(exercise), "text/html": as_html(exercise)})


def as_text(exercise: ExerciseResult) -> str:
    lines = [f"{exercise.earned:g} of {exercise.points:g} points"]
    for check in exercise.checks:
        lines.append(f"{check.outcome:>12}  {check.earned:g}/{check.points:g}  {check.sentence}")
        lines += [f"{'':>14}{text}" for text in _explanations(check)]
    return "\n".join(lines)


def as_html(exercise: ExerciseResult) -> str:
    head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("Check", "Result", "Points"))
    rows = "".join(_row(check) for check in exercise.checks)
    return (
        '<table class="coursekit-checks" '
        'style="border-collapse:collapse; width:100%; font-family:sans-serif;">'
        f'<caption style="text-align:left; font-weight:bold; color:inherit; padding:0.4em 0;">'
        f"{exercise.earned:g} of {exercise.points:g} points</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(check: CheckResult) -> str:
    colour = _COLOURS.get(check.outcome, "#7a4f01")
    lines = [f"<div>{marked(check.sentence)}</div>"]
    if check.message:
        lines.append(f'<div style="color:#57606a; overflow-wrap:anywhere;">{marked(check.message)}</div>')
    if check.diagnosis:
        lines.append(f'<div style="color:{colour};"><b>Likely mistake:</b> {marked(check.diagnosis)}</div>')
    mark = "✓" if check.outcome == "passed" else "✗"
    return (
        f'<tr><td style="{_CELL}">{"".join(lines)}</td>'
        f'<td style="{_CELL} color:{colour}; white-space:nowrap;"><b>{mark} {escape(check.outcome)}</b></td>'
        f'<td style="{_CELL} white-space:nowrap;">{check.earned:g} / {check.points:g}</td></tr>'
    )


def _explanations(check: CheckResult) -> list[str]:
    named = f"Likely mistake: {check.diagnosis}" if check.diagnosis else ""
    return [text for text in (check.message, named) if text]


def marked(text: str) -> str:
    """Escaped text, with `code` as code."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
