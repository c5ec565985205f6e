"""The audit as text: mistakes × checks, and one line of figures."""

from collections.abc import Iterator

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
    yield ""
    yield from (f"  PROBLEM {problem}" for problem in audit.problems)
    yield "  " + figures(audit)


def figures(audit: Audit) -> str:
    results = audit.results()
    full = results[SOLUTION].earned
    caught = [mistake for mistake in audit.mistakes if results[mistake.name].earned < full]
    named = [mistake for mistake in audit.mistakes if named_mistakes(results[mistake.name])]
    right = [variant for variant in audit.alternatives if results[variant.name].earned == full]
    return (
        f"{audit.assignment.name}: "
        f"{len(caught)} of {len(audit.mistakes)} mistakes caught, {len(named)} named; "
        f"{len(right)} of {len(audit.alternatives)} alternatives earn full marks; "
        f"blank {results['blank'].earned:g} of {full:g}; {len(audit.problems)} problems"
    )
