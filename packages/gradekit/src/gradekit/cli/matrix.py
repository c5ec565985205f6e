"""The result of an audit as text: a matrix of mistakes and checks, or a score for each exercise and the surviving mutants."""

from collections.abc import Iterator, Sequence

from gradekit.authoring.audit import Audit, mistake_ids
from gradekit.authoring.grade_variants import SOLUTION
from gradekit.authoring.mutants.named import NamedMutant
from gradekit.authoring.mutants.survivors import MutationTest
from gradekit.authoring.recording import failed_checks
from gradekit.checks.snippets import snippets_of


def audit_lines(audit: Audit) -> Iterator[str]:
    """A block for each exercise, with a row for each mistake and a column for each check.

    `#`: the check is meant to catch the mistake, and did. `x`: it caught the mistake as well. `.`: it passed. The last
    columns say which share of the exercise the mistake costs, whether a diagnosis was made, and if the exercise has
    snippets, whether one shows the mistake.
    """
    results = audit.results
    shares = audit.costs()
    snippets = snippets_of(audit.assignment)
    yield f"{audit.assignment.name}"
    for exercise in results[SOLUTION].exercises:
        mistakes = [mistake for mistake in audit.mistakes if mistake.exercise == exercise.grade_id]
        yield ""
        yield f"  {exercise.grade_id}, {exercise.points:g} points"
        for number, check in enumerate(exercise.checks, 1):
            yield f"  {number:>4}  {check.name} ({check.points:g})"
        is_shown = any(snippet.exercise == exercise.grade_id for snippet in snippets)
        width = max((len(mistake.name) for mistake in mistakes), default=0)
        yield (
            f"        {'':{width}}  "
            + " ".join(f"{n:>2}" for n in range(1, len(exercise.checks) + 1))
            + "  costs  named"
            + ("  shown" if is_shown else "")
        )
        for mistake in mistakes:
            failed = failed_checks(results[mistake.name])
            marks = []
            for check in exercise.checks:
                name = f"{exercise.grade_id}::{check.name}"
                caught = "#" if name in mistake.checks() else "x"
                marks.append(f" {caught if name in failed else '.'}")
            offered = results[mistake.name].exercise(exercise.grade_id)
            tried = [check.try_it for check in offered.checks] if offered else []
            shown = ("yes" if any(tried) else "-") if is_shown else ""
            named = "yes" if mistake_ids(results[mistake.name]) else "-"
            yield (
                f"        {mistake.name:{width}}  "
                + " ".join(marks)
                + f"  {shares.get(mistake.name, 0):>5.0%}  {named:5}  {shown}".rstrip()
            )
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
    if not audit.mistakes:
        yield (
            "  NOTE there are no known mistakes, so this shows only that the solution passes: write some into "
            f"{audit.assignment.checks / 'mistakes.py'}"
        )
    yield "  " + figures([audit])


def figures(audits: Sequence[Audit]) -> str:
    """Sum up one or more audits in one line."""
    mistakes = caught = named = alternatives = right = problems = 0
    for audit in audits:
        results = audit.results
        full = results[SOLUTION].earned
        mistakes += len(audit.mistakes)
        caught += sum(results[mistake.name].earned < full for mistake in audit.mistakes)
        named += sum(bool(mistake_ids(results[mistake.name])) for mistake in audit.mistakes)
        alternatives += len(audit.alternatives)
        right += sum(results[variant.name].earned == full for variant in audit.alternatives)
        problems += len(audit.problems)
    return (
        f"{', '.join(audit.assignment.name for audit in audits)}: "
        f"{caught} of {mistakes} mistakes caught, {named} named; "
        f"{right} of {alternatives} alternatives earn full marks; {problems} problems"
    )


def mutation_lines(test: MutationTest) -> Iterator[str]:
    """A line for each exercise, and the diff of each mutant that survived without a reason."""
    yield test.assignment.name
    scores = test.scores()
    width = max(len(score.exercise) for score in scores)
    for score in scores:
        argued = f", {score.may_survive} may survive" if score.may_survive else ""
        yield f"  {score.exercise:{width}}  {score.killed} of {score.tried} killed{argued}"
    for mutant in test.survivors:
        yield ""
        yield f"  SURVIVED {mutant.name}"
        yield from (f"    {line}" for line in mutant.diff())
    yield ""
    yield from (f"  PROBLEM {problem}" for problem in test.problems())
    yield "  " + mutation_figures([test])


def name_lines(named: Sequence[NamedMutant]) -> Iterator[str]:
    """What the page of each mutant says, and its diff."""
    for each in named:
        where = ", which changes other lines" if each.elsewhere else ""
        yield f"  {each.mutant.name} is named {each.mistakes}{where}"
        yield f"    {each.sentence}"
        yield from (f"    {line}" for line in each.mutant.diff())
    yield f"  {len(named)} mutants are named, {sum(each.elsewhere for each in named)} that change other lines"


def mutation_figures(tests: Sequence[MutationTest]) -> str:
    """Sum up one or more assignments in one line."""
    scores = [score for test in tests for score in test.scores()]
    made, tried = sum(len(test.made) for test in tests), sum(score.tried for score in scores)
    killed, argued = sum(score.killed for score in scores), sum(score.may_survive for score in scores)
    part = f" ({made} can be made)" if tried < made else ""
    return (
        f"{', '.join(test.assignment.name for test in tests)}: {killed} of {tried} mutants killed{part}, "
        f"{argued} may survive, {sum(len(test.survivors) for test in tests)} should not have survived"
    )
