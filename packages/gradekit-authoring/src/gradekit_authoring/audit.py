"""Tests the checks: grades every known mistake, every alternative answer, and the blank notebook."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from gradekit.checks.asserts import difference
from gradekit.checks.reference import PACKED, Store, from_stored
from gradekit.checks.snippets import NOT_SHOWN, assigned, bound, not_shown, snippets_of, used_from_outside
from gradekit.checks.variants import Alternative, Mistake, Variant, alternatives_of, mistakes_of
from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.printing import counted, quoted
from gradekit.inside.arrays import Array
from gradekit.session.values import CheckOutcome
from gradekit.verdict.diagnosis import OR
from gradekit.verdict.explanation import without_measured_numbers
from gradekit.verdict.grade import SNIPPET_PASSED, Graded
from gradekit.verdict.results import ExerciseResult, SubmissionResult
from gradekit_authoring.grade_variants import (
    BLANK,
    SOLUTION,
    Degenerate,
    Progress,
    VariantOrName,
    degenerate_answers,
    failed_checks,
    grade_variants,
    mistake_records,
    name_of,
    require_checks,
)

#: the share of its exercise that a mistake may cost without saying why
LEAST_COST, MOST_COST = 0.05, 0.70


@dataclass(frozen=True)
class Audit:
    """The results of all variants of one assignment."""

    assignment: Assignment
    mistakes: list[Mistake]
    alternatives: list[Alternative]
    degenerate: list[Degenerate]
    graded: dict[str, Graded]

    @cached_property
    def results(self) -> dict[str, SubmissionResult]:
        return {name: graded.result for name, graded in self.graded.items()}

    @property
    def right(self) -> list[str]:
        """The names of the variants that must earn full marks."""
        return [SOLUTION, *(alternative.name for alternative in self.alternatives)]

    @cached_property
    def problems(self) -> list[str]:
        """What is wrong with the checks, the mistakes, the snippets and the records."""
        kinds = (_problems, _disproportionate, _wrong_snippets, _stale_records)
        return [problem for problems_of_kind in kinds for problem in problems_of_kind(self)]

    def exercise_of(self, variant: Variant) -> ExerciseResult | None:
        return self.results[variant.name].exercise(variant.exercise)

    def costs(self) -> dict[str, float]:
        """The share of the points of its exercise that each mistake costs."""
        found = {mistake.name: self.exercise_of(mistake) for mistake in self.mistakes}
        return {
            name: 1 - found.earned / found.points for name, found in found.items() if found and found.points
        }

    def given_away(self) -> dict[str, list[str]]:
        """For each degenerate answer, the checks that it passes, which may include checks of a shape or dtype."""
        passed = {}
        for answer in self.degenerate:
            exercise = self.exercise_of(answer)
            checks = [c for c in exercise.checks if c.outcome == CheckOutcome.PASSED] if exercise else []
            if checks:
                passed[answer.name] = [f"{check.name} ({check.points:g})" for check in checks]
        return passed


def run_audit(
    assignment: Assignment,
    workers: int | None = None,
    progress: Progress | None = None,
    only: str = "*",
    thorough: bool = True,
    degenerate: bool = True,
) -> Audit:
    """Grade the solution, the blank notebook and every variant, and list what is wrong with the checks.

    - A mistake must lose points in a check that is about it, and must not get the diagnosis of another mistake. It must
      get its own, or say why it doesn't.
    - The solution and the alternatives must earn full marks, and the blank notebook nothing.
    - A mistake must cost between 5 and 70 % of its exercise, or say why it doesn't.
    - An answer that computes nothing must not earn a whole exercise.
    - The recorded tensors must be those that the solutions and mistakes return now.
    - Each snippet must pass for the solution and the alternatives. In an exercise that has snippets, one must fail for each
      check that a mistake fails, or the mistake is listed as not shown.

    An exercise that a variant can't affect has the result of the solution.

    Args:
        only: shell-style pattern for the variants' names.
        thorough: also grade the exercises that build on the one with the mistake. They may lose points, but must not
            get a wrong diagnosis.
        degenerate: also grade answers that compute nothing.
    """
    require_checks(assignment)
    mistakes = [mistake for mistake in mistakes_of(assignment) if fnmatchcase(mistake.name, only)]
    alternatives = [answer for answer in alternatives_of(assignment) if fnmatchcase(answer.name, only)]
    nothing = degenerate_answers(assignment, only) if degenerate else []
    if only != "*" and not [*mistakes, *alternatives, *nothing]:
        raise CourseError(f"{assignment.checks} has no mistake and no alternative that matches `{only}`")
    variants: list[VariantOrName] = [SOLUTION, BLANK, *mistakes, *alternatives, *nothing]
    found = dict(grade_variants(assignment, variants, workers, progress, thorough))
    graded = {name: found[name] for name in map(name_of, variants)}
    for variant in graded.values():
        mine = {exercise.grade_id: exercise for exercise in variant.result.exercises}
        all_of_them = graded[SOLUTION].result.exercises
        variant.result.exercises = [mine.get(exercise.grade_id, exercise) for exercise in all_of_them]
    return Audit(assignment, mistakes, alternatives, nothing, graded)


def _problems(audit: Audit) -> Iterator[str]:
    results = audit.results
    for name in audit.right:
        for check_name, check in results[name].named_checks():
            if check.outcome != CheckOutcome.PASSED:
                yield f"false alarm: {name} fails {check_name}. {check.message}"
    if results[BLANK].earned:
        yield f"the blank notebook earns {results[BLANK].earned:g} points"
    for answer in audit.degenerate:
        earned = audit.exercise_of(answer)
        if earned and earned.earned == earned.points > 0:
            yield f"given away: {answer.name} earn all points of {answer.exercise}"
    sentences = {mistake.name: mistake.sentence for mistake in mistakes_of(audit.assignment)}
    known = {name for name, _ in results[SOLUTION].named_checks()}
    for mistake in audit.mistakes:
        failed = failed_checks(results[mistake.name])
        if mistake.checks() - known:
            yield f"{mistake.name} is said to be about {', '.join(mistake.checks() - known)}: no such check"
        if not failed:
            yield f"not caught: {mistake.name} keeps full marks"
        elif not failed & mistake.checks():
            yield f"caught only by others: {mistake.name} fails {', '.join(sorted(failed))}"
        named = mistake_ids(results[mistake.name])
        if named and mistake.sentence not in {sentences[name] for name in named}:
            yield f"wrong diagnosis: {mistake.name} is taken for {', '.join(sorted(named))}"
        if failed and not named and not mistake.unnamed:
            yield (
                f"no diagnosis: {mistake.name} gets none; compare more values through `reference`, give its check a "
                "message of its own, or say why with `unnamed`"
            )
        if named and mistake.unnamed:
            yield f"{mistake.name} is said to get no diagnosis (`unnamed`), but gets one: remove the reason"
    for alternative in audit.alternatives:
        for name in mistake_ids(results[alternative.name]):
            yield f"wrong diagnosis: {alternative.name} is taken for {name}"


def _stale_records(audit: Audit) -> Iterator[str]:
    now = mistake_records(audit.assignment, audit.graded)
    left_out = {m.name for m in mistakes_of(audit.assignment)} - {m.name for m in audit.mistakes}
    then = {
        key: tensor
        for key, tensor in Store.load(audit.assignment.checks).tensors.items()
        if any(part in key for part in ("/mistakes/", "/fails/", "/said/"))
        and key.removesuffix(PACKED).split("/")[2] not in left_out
    }
    both = now.keys() & then.keys()
    old = now.keys() ^ then.keys()
    old |= {key for key in both if difference(_comparable(key, now[key]), _comparable(key, then[key]))}
    if old:
        name = audit.assignment.name
        yield f"records out of date: run `gradekit record {quoted(name)}` ({len(old)} tensors, first {min(old)})"


def _comparable(key: str, tensor: Array) -> Any:
    """A recorded value, without the parts that may differ between machines."""
    value = from_stored(key, tensor)
    if "/said/" not in key:
        return value
    return {check: without_measured_numbers(text) for check, text in value.items()}


def _disproportionate(audit: Audit) -> Iterator[str]:
    reasons = {mistake.name: mistake.cost for mistake in audit.mistakes}
    for name, share in audit.costs().items():
        if share and not LEAST_COST <= share <= MOST_COST and not reasons[name]:
            yield (
                f"out of proportion: {name} costs {share:.0%} of its exercise; "
                f"between {LEAST_COST:.0%} and {MOST_COST:.0%}, or say why with `costs`"
            )


def _wrong_snippets(audit: Audit) -> Iterator[str]:
    snippets, reasons = snippets_of(audit.assignment), not_shown(audit.assignment)
    results = audit.results
    checks = {e.grade_id: {check.name for check in e.checks} for e in results[SOLUTION].exercises}
    shared = {name for path in audit.assignment.source_notebooks() for name in _shared_names(path)}
    for snippet in snippets:
        unknown = set(snippet.checks) - checks.get(snippet.exercise, set())
        if unknown or snippet.exercise not in checks:
            which = f"::{min(unknown)}" if unknown else ""
            yield f"the snippet `{snippet.name}` is for {snippet.exercise}{which}: no such check"
        for name in sorted(assigned(snippet.text) & shared):
            yield f"the snippet `{snippet.name}` assigns `{name}`, which the notebook needs: use another name"
    for answer in audit.right:
        for name, ended in audit.graded[answer].snippets.items():
            if ended != SNIPPET_PASSED:
                yield f"false alarm: the snippet `{name}` fails for {answer}. {ended}"
    if unknown := reasons.keys() - {mistake.name for mistake in mistakes_of(audit.assignment)}:
        yield f"{NOT_SHOWN} names {', '.join(sorted(unknown))}: no such mistake"
    for mistake in audit.mistakes:
        exercise = audit.exercise_of(mistake)
        if exercise is None or mistake.exercise not in {snippet.exercise for snippet in snippets}:
            continue
        hidden = [c.name for c in exercise.checks if c.outcome == CheckOutcome.FAILED and not c.try_it]
        if hidden and mistake.name not in reasons:
            snippets_run = audit.graded[mistake.name].snippets
            stopped = [f" {name}: {how}" for name, how in snippets_run.items() if how != SNIPPET_PASSED]
            yield f"no snippet shows {mistake.name} for {', '.join(hidden)}.{''.join(stopped)}"
        if not hidden and mistake.name in reasons:
            yield f"{NOT_SHOWN} names {mistake.name}, but a snippet shows it"


def _shared_names(path: Path) -> set[str]:
    """The names that a cell of the notebook binds and another one needs."""
    cells = []
    for cell in read_notebook(path).cells:
        if cell.cell_type == "code":
            with suppress(SyntaxError):  # a magic
                cells.append((bound(cell.source), used_from_outside(cell.source)))
    needed = {name for _, names in cells for name in names}
    return {name for names, _ in cells for name in names if name in needed}


def mistake_ids(result: SubmissionResult) -> set[str]:
    """The ids of all mistakes that are offered to the student."""
    return {name for _, check in result.named_checks() for name in check.mistake.split(OR) if name}


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
        numbers = " ".join(f"{number:>2}" for number in range(1, len(exercise.checks) + 1))
        yield f"        {'':{width}}  {numbers}  costs  named{'  shown' if is_shown else ''}"
        for mistake in mistakes:
            failed = failed_checks(results[mistake.name])
            names = [f"{exercise.grade_id}::{check.name}" for check in exercise.checks]
            caught = {name: "#" if name in mistake.checks() else "x" for name in failed}
            marks = " ".join(f" {caught.get(name, '.')}" for name in names)
            offered = results[mistake.name].exercise(exercise.grade_id)
            tried = [check.try_it for check in offered.checks] if offered else []
            shown = ("yes" if any(tried) else "-") if is_shown else ""
            named = "yes" if mistake_ids(results[mistake.name]) else "-"
            share = f"{shares.get(mistake.name, 0):>5.0%}"
            yield f"        {mistake.name:{width}}  {marks}  {share}  {named:5}  {shown}".rstrip()
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
        f"{right} of {alternatives} alternatives earn full marks; {counted(problems, 'problem')}"
    )
