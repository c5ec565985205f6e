"""Grades the mutants of an assignment: finds those that survive, and those whose pages name a known mistake.

Every answer that fails the same checks with the same values gets the same sentence, whatever its fault is. So what the
sentence says has to be true of them, too.
"""

import ast
import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from gradekit.checks.variants import Equivalent, Mistake, Variant, equivalents_of, mistakes_of
from gradekit.course import Assignment, CourseError
from gradekit.course.printing import quoted
from gradekit.session.values import CheckOutcome
from gradekit.verdict.diagnosis import OR
from gradekit_authoring.grade_variants import Progress, grade_variant, run_variants
from gradekit_authoring.mutants.make import (
    Mutant,
    is_standard,
    mutants_of,
    sample,
    solutions_of,
    standard_mutants_of,
)

#: how many mutants of an assignment are tried by default
SAMPLE = 40


@dataclass(frozen=True)
class Fate:
    """The fate of a mutant: the first check that failed, or none if it survived. `fault`: a check crashed."""

    killed_by: str = ""
    fault: str = ""


@dataclass(frozen=True)
class MutationScore:
    """The mutants of one exercise. Those that `may_survive` are neither killed nor holes in the checks."""

    exercise: str
    tried: int
    killed: int
    may_survive: int


@dataclass(frozen=True)
class MutationTest:
    """The mutants of one assignment: all that can be made, and the fates of those that were tried, by name."""

    assignment: Assignment
    made: list[Mutant]
    fates: dict[str, Fate]
    equivalents: list[Equivalent]

    @property
    def tried(self) -> list[Mutant]:
        return [mutant for mutant in self.made if mutant.name in self.fates]

    @cached_property
    def survivors(self) -> list[Mutant]:
        """The mutants that survived without an entry that says that they may."""
        argued = set(map(_key, self.equivalents))
        return [
            mutant
            for mutant in self.tried
            if self.fates[mutant.name] == Fate() and _key(mutant) not in argued
        ]

    def scores(self) -> list[MutationScore]:
        tried = Counter(mutant.cell for mutant in self.tried)
        survived = Counter(mutant.cell for mutant in self.tried if self.fates[mutant.name] == Fate())
        holes = Counter(mutant.cell for mutant in self.survivors)
        return [
            MutationScore(cell, count, count - survived[cell], survived[cell] - holes[cell])
            for cell, count in tried.items()
        ]

    def problems(self) -> Iterator[str]:
        """Problems other than survivors: checks that crash, and wrong entries in `equivalent.py`."""
        for mutant in self.tried:
            if fault := self.fates[mutant.name].fault:
                yield f"{mutant.name} makes a check crash: {fault}"
        for entry in self.equivalents:
            same = [mutant for mutant in self.made if _key(mutant) == _key(entry)]
            killers = [self.fates.get(mutant.name, Fate()).killed_by for mutant in same]
            words = f"{self.assignment.checks / 'equivalent.py'}: `{entry.cell}`, {entry.before!r} to {entry.after!r}"
            if not same:
                yield f"{words}: there is no such mutant; remove or correct the entry"
            elif all(killers):
                yield f"{words}: {killers[0]} catches it; remove the entry"


def run_mutants(
    assignment: Assignment,
    workers: int | None = None,
    progress: Progress | None = None,
    only: str = "*",
    everything: bool = False,
    standard: bool = False,
) -> MutationTest:
    """Grade the mutants of an assignment, each until its first check fails.

    Only the checks of its own exercise count: a student who made the mistake should lose the points there.

    Args:
        only: shell-style pattern for the mutants' names, such as `attention:*`. All that match are graded.
        everything: grade all mutants, instead of a sample.
        standard: the standard mutants, instead of the edits of the solutions.

    Raises:
        CourseError: there are no mutants, or a solution fails its own checks.
    """
    made = standard_mutants_of(assignment) if standard else mutants_of(assignment)
    argued = [entry for entry in equivalents_of(assignment) if is_standard(entry) == standard]
    chosen = [mutant for mutant in made if fnmatchcase(mutant.name, only)]
    if not chosen:
        raise CourseError(
            f"{assignment.name} has no mutants" + (f" that match `{only}`" if only != "*" else "")
        )
    if only == "*" and not everything:
        chosen = sample(chosen, SAMPLE)
    cells = {mutant.cell: mutant.tests for mutant in chosen}
    solutions = [
        Variant(f"the solution of {cell}", cell, test=test) for cell in cells for test in cells[cell]
    ]
    fates: dict[str, Fate] = {}
    for variant, fate in run_variants(assignment, _fate_of, [*solutions, *chosen], workers, progress):
        fate = fate or Fate("the time limit")
        if isinstance(variant, Mutant):
            fates[variant.name] = fate
        elif fate != Fate():
            raise CourseError(
                f"{variant.name} itself fails {fate.killed_by or fate.fault}: run `gradekit audit {quoted(assignment.name)}`"
            )
    return MutationTest(assignment, made, fates, argued)


def _fate_of(assignment: Assignment, variant: Variant) -> Fate:
    try:
        result = grade_variant(assignment, variant, first_failure=True).result
    except CourseError as error:
        return Fate(fault=str(error))
    failed = (name for name, check in result.named_checks() if check.outcome != CheckOutcome.PASSED)
    return Fate(next(failed, ""))


def _key(item: Mutant | Equivalent) -> tuple[str, str, str]:
    """A key that a mutant and its entry share, whatever the indentation and the comments."""
    return item.cell, _bare(item.before), _bare(item.after)


def _bare(text: str) -> str:
    lines = (line.split("  #")[0].strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


@dataclass(frozen=True)
class NamedMutant:
    """A mutant, the ids of the mistakes that its page names, and the sentence that a student reads.

    `elsewhere`: it changes none of the lines that these mistakes change, so the sentence is the likelier to be wrong.
    """

    mutant: Mutant
    mistakes: str
    sentence: str
    elsewhere: bool


def named_mutants(
    assignment: Assignment,
    workers: int | None = None,
    progress: Progress | None = None,
    only: str = "*",
    everything: bool = False,
) -> list[NamedMutant]:
    """Grade mutants with all checks of their exercise; returns those that are named, and that aren't the mistake itself.

    Args:
        only: shell-style pattern for the mutants' names, such as `attention:*`. All that match are graded.
        everything: grade all mutants, instead of a sample.

    Raises:
        CourseError: no mutant matches.
    """
    made = [mutant for mutant in mutants_of(assignment) if fnmatchcase(mutant.name, only)]
    if not made:
        raise CourseError(f"{quoted(assignment.name)} has no mutants that match `{only}`")
    if only == "*" and not everything:
        made = sample(made, SAMPLE)
    mistakes = {mistake.name: mistake for mistake in mistakes_of(assignment)}
    sources = {solution.cell: solution.source for solution in solutions_of(assignment)}
    found = []
    for mutant, said in run_variants(assignment, _said_of, made, workers, progress):
        for names, sentence in (said or {}).items():
            named = [mistakes[name] for name in names.split(OR)]
            if not any(_is(mutant, mistake, sources) for mistake in named):
                near = [_lines(sources, each) & _lines(sources, mutant) for each in named]
                found.append(NamedMutant(mutant, names, sentence, not any(near)))
    return sorted(found, key=lambda each: not each.elsewhere)


def _said_of(assignment: Assignment, mutant: Mutant) -> dict[str, str]:
    """The sentences on the page of a mutant, by the ids of the mistakes."""
    checks = [check for _, check in grade_variant(assignment, mutant).result.named_checks()]
    return {check.mistake: check.diagnosis for check in checks if check.mistake}


def _changed(sources: dict[str, str], variant: Mutant | Mistake) -> str:
    source = variant.source or sources.get(variant.cell, "")
    for old, new in variant.edits:
        source = source.replace(old, new)
    return source


def _is(mutant: Mutant, mistake: Mistake, sources: dict[str, str]) -> bool:
    one, other = (ast.dump(ast.parse(_changed(sources, each))) for each in (mutant, mistake))
    return mutant.cell == mistake.cell and one == other


def _lines(sources: dict[str, str], variant: Mutant | Mistake) -> set[tuple[str, int]]:
    """The lines of the solution that a variant changes; for one that is inserted, the line that it is put before."""
    old: Sequence[str] = sources.get(variant.cell, "").splitlines()
    new = _changed(sources, variant).splitlines()
    edits = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {
        (variant.cell, line)
        for kind, begin, end, _, _ in edits
        if kind != "equal"
        for line in range(begin, max(end, begin + 1))
    }


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
