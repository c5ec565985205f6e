"""Grades the mutants of an assignment, and compares the survivors with those that may survive."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from gradekit.authoring.grade_variants import Progress, grade_variant, run_variants
from gradekit.authoring.mutants.make import Mutant, mutants_of, sample
from gradekit.authoring.mutants.standard import is_standard, standard_mutants_of
from gradekit.checks.variants import Equivalent, Variant, equivalents_of
from gradekit.course import Assignment, CourseError
from gradekit.course.printing import quoted
from gradekit.session.values import CheckOutcome

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
        """A score for each exercise, in the order of the notebooks."""
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
    """Grade a mutant, or a solution."""
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
