"""The result of grading mutants as text: a score for each exercise, the survivors as diffs, and the problems."""

from collections.abc import Iterator, Sequence

from coursekit.mutants.run import MutationRun


def mutation_lines(run: MutationRun) -> Iterator[str]:
    """A line for each exercise, and the diff of each mutant that survived without a reason."""
    yield run.assignment.name
    scores = run.scores()
    width = max(len(score.exercise) for score in scores)
    for score in scores:
        argued = f", {score.may_survive} may survive" if score.may_survive else ""
        yield f"  {score.exercise:{width}}  {score.killed} of {score.tried} killed{argued}"
    for mutant in run.survivors:
        yield ""
        yield f"  SURVIVED {mutant.name}"
        yield from (f"    {line}" for line in mutant.diff())
    yield ""
    yield from (f"  PROBLEM {problem}" for problem in run.problems())
    yield "  " + mutation_figures([run])


def mutation_figures(runs: Sequence[MutationRun]) -> str:
    """Sum up one or more assignments in one line."""
    scores = [score for run in runs for score in run.scores()]
    made, tried = sum(len(run.made) for run in runs), sum(score.tried for score in scores)
    killed, argued = sum(score.killed for score in scores), sum(score.may_survive for score in scores)
    part = f" ({made} can be made)" if tried < made else ""
    return (
        f"{', '.join(run.assignment.name for run in runs)}: {killed} of {tried} mutants killed{part}, "
        f"{argued} may survive, {sum(len(run.survivors) for run in runs)} should not have survived"
    )
