"""The audit as text: mistakes × checks, and one line of figures."""

from collections.abc import Iterator, Sequence

from coursekit.audit import SOLUTION, Audit, failed_checks, named_mistakes


def audit_lines(audit: Audit) -> Iterator[str]:
    """One block per exercise: a row per mistake, a column per check.

    `#` the check is about the mistake and caught it, `x` caught it as well, `.` passed; then the diagnosis.
    """
    results = audit.results()
    yield f"{audit.assignment.name}"
    for exercise in results[SOLUTION].exercises:
        mistakes = [mistake for mistake in audit.mistakes if mistake.exercise == exercise.grade_id]
        yield ""
        yield f"  {exercise.grade_id}, {exercise.points:g} points"
        for number, check in enumerate(exercise.checks, 1):
            yield f"  {number:>4}  {check.name} ({check.points:g})"
        width = max((len(mistake.name) for mistake in mistakes), default=0)
        yield (
            f"        {'':{width}}  "
            + " ".join(f"{n:>2}" for n in range(1, len(exercise.checks) + 1))
            + "  named"
        )
        for mistake in mistakes:
            failed = failed_checks(results[mistake.name])
            marks = []
            for check in exercise.checks:
                name = f"{exercise.grade_id}::{check.name}"
                caught = "#" if name in mistake.checks() else "x"
                marks.append(f" {caught if name in failed else '.'}")
            named = "yes" if named_mistakes(results[mistake.name]) else "-"
            yield f"        {mistake.name:{width}}  " + " ".join(marks) + f"  {named}"
    yield ""
    yield "  alternatives: " + ", ".join(
        f"{variant.name} {results[variant.name].earned:g}" for variant in audit.alternatives
    )
    if given_away := audit.given_away():
        yield ""
        yield "  answers that compute nothing still pass"
        yield from (f"    {name}: {', '.join(checks)}" for name, checks in given_away.items())
    yield ""
    yield from (f"  PROBLEM {problem}" for problem in audit.problems)
    yield "  " + figures([audit])


def figures(audits: Sequence[Audit]) -> str:
    """One line about one audit or several."""
    mistakes = caught = named = alternatives = right = problems = 0
    for audit in audits:
        results = audit.results()
        full = results[SOLUTION].earned
        mistakes += len(audit.mistakes)
        caught += sum(results[mistake.name].earned < full for mistake in audit.mistakes)
        named += sum(bool(named_mistakes(results[mistake.name])) for mistake in audit.mistakes)
        alternatives += len(audit.alternatives)
        right += sum(results[variant.name].earned == full for variant in audit.alternatives)
        problems += len(audit.problems)
    return (
        f"{', '.join(audit.assignment.name for audit in audits)}: "
        f"{caught} of {mistakes} mistakes caught, {named} named; "
        f"{right} of {alternatives} alternatives earn full marks; {problems} problems"
    )
