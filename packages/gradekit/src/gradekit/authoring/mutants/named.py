"""Lists the mutants whose pages name a known mistake: what its sentence says has to be true of them too.

Every answer that fails the same checks with the same values gets the same sentence, whatever its fault is.
"""

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gradekit.authoring.grade_variants import Progress, grade_variant, run_variants
from gradekit.authoring.mutants.make import Mutant, mutants_of, sample, solutions_of
from gradekit.authoring.mutants.survivors import SAMPLE
from gradekit.checks.variants import Mistake, mistakes_of
from gradekit.course import Assignment, CourseError
from gradekit.course.printing import quoted
from gradekit.verdict.diagnosis import OR


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
    """The source of the cell with the variant's changes."""
    source = variant.source or sources.get(variant.cell, "")
    for old, new in variant.edits:
        source = source.replace(old, new)
    return source


def _is(mutant: Mutant, mistake: Mistake, sources: dict[str, str]) -> bool:
    """Whether the two are the same code."""
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
