"""Proof of the checks: grade every known mistake, every alternative answer, and the blank notebook."""

import os
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import count
from multiprocessing.util import Finalize
from pathlib import Path

from nbformat import NotebookNode, v4

from coursekit.arrays import Array
from coursekit.cells import find_cell
from coursekit.checks.compare import difference
from coursekit.checks.reference import FILE_NAME, Store, from_stored, is_recordable, to_stored
from coursekit.checks.results import SubmissionResult
from coursekit.checks.run import Graded, grade
from coursekit.checks.variants import Alternative, Mistake, Variant, alternatives_of, mistakes_of
from coursekit.course import Assignment, CourseError, blank_copy, read_notebook
from coursekit.degenerate import Degenerate, degenerate_answers, earns_everything, passed_checks
from coursekit.kernels import LIMITED, SANDBOX
from coursekit.student.limits import Limits
from coursekit.student.names import top_level_words
from coursekit.student.session import Session
from coursekit.student.submission import Submission
from coursekit.workers import Workers
from sandbox_kernel.bubblewrap import sandbox_problem

BLANK = "blank"
SOLUTION = "solution"
#: wall time in which a worker has to grade a variant
_SECONDS = Limits().longest_seconds + 120
#: after this many variants a kernel is replaced, since each process in the sandbox may use 20 minutes of CPU time
_VARIANTS_PER_KERNEL = 50
#: called with a variant's name, how many are done, and of how many
Progress = Callable[[str, int, int], None]
_Answer = Variant | str
_GradeOne = partial[Graded]


@dataclass
class Audit:
    """The results of all variants of one assignment."""

    assignment: Assignment
    mistakes: list[Mistake]
    graded: dict[str, Graded]
    alternatives: list[Alternative]
    degenerate: list[Degenerate] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def results(self) -> dict[str, SubmissionResult]:
        return {name: graded.result for name, graded in self.graded.items()}

    def given_away(self) -> dict[str, list[str]]:
        """For each degenerate answer, the checks that it passes. Checks of a shape or dtype may be among them."""
        results = self.results()
        found = {answer.name: passed_checks(answer, results[answer.name]) for answer in self.degenerate}
        return {name: checks for name, checks in found.items() if checks}


def run_audit(
    assignment: Assignment,
    workers: int | None = None,
    progress: Progress | None = None,
    only: str = "*",
    thorough: bool = True,
    degenerate: bool = True,
) -> Audit:
    """Grade the solution, the blank notebook and every variant, and list what is wrong with the checks.

    - A mistake must lose points in a check that is about it, and must not get the diagnosis of another mistake.
    - The solution and the alternatives must earn full marks, and the blank notebook nothing.
    - An answer that computes nothing must not earn a whole exercise.
    - The recorded tensors must be those that the solutions and mistakes return now.

    An exercise that a variant can't affect has the result of the solution.

    Args:
        only: shell-style pattern for the variants' names.
        thorough: also grade the exercises that build on the one with the mistake. They may lose points, but must not
            get a wrong diagnosis.
        degenerate: also grade answers that compute nothing.
    """
    _require_checks(assignment)
    mistakes = [mistake for mistake in mistakes_of(assignment) if fnmatchcase(mistake.name, only)]
    alternatives = [answer for answer in alternatives_of(assignment) if fnmatchcase(answer.name, only)]
    nothing = degenerate_answers(assignment, only) if degenerate else []
    if only != "*" and not [*mistakes, *alternatives, *nothing]:
        raise CourseError(f"{assignment.checks} has no mistake and no alternative that matches `{only}`")
    variants: list[_Answer] = [SOLUTION, BLANK, *mistakes, *alternatives, *nothing]
    found = dict(grade_variants(assignment, variants, workers, progress, thorough))
    graded = {name: found[name] for name in map(_name, variants)}
    for variant in graded.values():
        mine = {exercise.grade_id: exercise for exercise in variant.result.exercises}
        all_of_them = graded[SOLUTION].result.exercises
        variant.result.exercises = [mine.get(exercise.grade_id, exercise) for exercise in all_of_them]
    audit = Audit(assignment, mistakes, graded, alternatives, nothing)
    audit.problems = [*_problems(audit), *_stale_records(audit)]
    return audit


def _problems(audit: Audit) -> Iterator[str]:
    results = audit.results()
    for name in [SOLUTION, *(alternative.name for alternative in audit.alternatives)]:
        for exercise in results[name].exercises:
            for check in exercise.checks:
                if check.outcome != "passed":
                    yield f"false alarm: {name} fails {exercise.grade_id}::{check.name}. {check.message}"
    if results[BLANK].earned:
        yield f"the blank notebook earns {results[BLANK].earned:g} points"
    for answer in audit.degenerate:
        if earns_everything(answer, results[answer.name]):
            yield f"given away: {answer.name} earn all points of {answer.exercise}"
    sentences = {mistake.name: mistake.sentence for mistake in mistakes_of(audit.assignment)}
    for mistake in audit.mistakes:
        failed = failed_checks(results[mistake.name])
        known = {f"{e.grade_id}::{c.name}" for e in results[SOLUTION].exercises for c in e.checks}
        if mistake.checks() - known:
            yield f"{mistake.name} is said to be about {', '.join(mistake.checks() - known)}: no such check"
        if not failed:
            yield f"not caught: {mistake.name} keeps full marks"
        elif not failed & mistake.checks():
            yield f"caught only by others: {mistake.name} fails {', '.join(sorted(failed))}"
        for name in named_mistakes(results[mistake.name]):
            if sentences[name] != mistake.sentence:
                yield f"wrong diagnosis: {mistake.name} is taken for {name}"
    for alternative in audit.alternatives:
        for name in named_mistakes(results[alternative.name]):
            yield f"wrong diagnosis: {alternative.name} is taken for {name}"


def _stale_records(audit: Audit) -> Iterator[str]:
    now = mistake_records(audit.assignment, audit.graded)
    left_out = {m.name for m in mistakes_of(audit.assignment)} - {m.name for m in audit.mistakes}
    then = {
        key: tensor
        for key, tensor in Store.load(audit.assignment.checks).tensors.items()
        if "/mistakes/" in key and key.split("/")[2] not in left_out
    }
    old = {key for key in now.keys() ^ then.keys()}
    both = now.keys() & then.keys()
    old |= {key for key in both if difference(from_stored(key, now[key]), from_stored(key, then[key]))}
    if old:
        name = audit.assignment.name
        yield f"records out of date: run `coursekit record {name}` ({len(old)} tensors, first {min(old)})"


def failed_checks(result: SubmissionResult) -> set[str]:
    return {
        f"{exercise.grade_id}::{check.name}"
        for exercise in result.exercises
        for check in exercise.checks
        if check.outcome != "passed"
    }


def named_mistakes(result: SubmissionResult) -> set[str]:
    return {check.mistake for exercise in result.exercises for check in exercise.checks if check.mistake}


def record(assignment: Assignment, workers: int | None = None, progress: Progress | None = None) -> Store:
    """Write what the solutions and the mistakes return now into `reference.safetensors`."""
    _require_checks(assignment)
    store = Store(assignment.checks / FILE_NAME, recording=True)
    for path in assignment.source_notebooks():
        source = read_notebook(path)
        if not assignment.bound_cells(path.stem, source.cells):
            continue
        grade(assignment, source, path.stem, blank_copy(source), store=store)
    store.recording = False
    store.save()
    graded = dict(grade_variants(assignment, mistakes_of(assignment), workers, progress, thorough=False))
    store.tensors |= mistake_records(assignment, graded)
    store.save()
    return store


def _require_checks(assignment: Assignment) -> None:
    """Raise CourseError if the assignment has ordinary test cells only."""
    for path in assignment.source_notebooks():
        if assignment.bound_cells(path.stem, read_notebook(path).cells):
            return
    raise CourseError(
        f"{assignment.name} has no hidden checks, and only they are recorded and audited: write one for a test cell, "
        f"as {assignment.checks}/<grade_id>.py"
    )


def mistake_records(assignment: Assignment, graded: dict[str, Graded]) -> dict[str, Array]:
    """The values of each mistake in the comparisons that it failed, in its own exercise."""
    return dict(
        to_stored(f"{check}/mistakes/{mistake.name}/{seen.key}", seen.value)
        for mistake in mistakes_of(assignment)
        if mistake.name in graded
        for check, observations in graded[mistake.name].observations.items()
        if check.startswith(f"{mistake.exercise}::")
        for seen in observations
        if not seen.passed and is_recordable(seen.value)
    )


def grade_variants(
    assignment: Assignment,
    variants: Sequence[_Answer],
    workers: int | None = None,
    progress: Progress | None = None,
    thorough: bool = True,
) -> Iterator[tuple[str, Graded]]:
    """Grade each variant, several at a time. Their code is trusted, so a worker reuses its kernel."""
    if not variants:
        return
    workers = workers or os.cpu_count() or 1
    grade_one = partial(_grade_variant, assignment, thorough)
    how = _grade_here if workers == 1 else partial(_grade_in_processes, workers)
    grading = how(grade_one, variants)
    for number, (variant, graded) in enumerate(grading, 1):
        yield _name(variant), graded
        if progress:
            progress(_name(variant), number, len(variants))


def _name(variant: _Answer) -> str:
    return variant if isinstance(variant, str) else variant.name


def _grade_here(grade_one: _GradeOne, variants: Sequence[_Answer]) -> Iterator[tuple[_Answer, Graded]]:
    try:
        yield from ((variant, grade_one(variant)) for variant in variants)
    finally:
        _kernel(grade_one.args[0]).close()
        for cached in (_kernel, _source_and_blank, _words_of_checks):
            cached.cache_clear()  # the files may change before the next audit


def _grade_in_processes(
    workers_at_most: int, grade_one: _GradeOne, variants: Sequence[_Answer]
) -> Iterator[tuple[_Answer, Graded]]:
    number = min(workers_at_most, len(variants))
    workers = Workers(grade_one, number, lambda variant: _SECONDS, warm=_kernel_name() == SANDBOX)
    workers.start()
    try:
        for variant, graded in workers.run(variants):
            if graded is None:
                raise CourseError(f"the process that graded `{_name(variant)}` hung, or ended each time")
            yield variant, graded
    finally:
        workers.close()


#: counts the variants that this process has graded
_variants_graded = count(1)


@cache
def _source_and_blank(path: Path) -> tuple[NotebookNode, NotebookNode]:
    source = read_notebook(path)
    return source, blank_copy(source)


def _kernel_name() -> str:
    """The kernel that submissions have, since it starts as a fork; where there is no sandbox, one without."""
    return LIMITED if sandbox_problem() else SANDBOX


@cache
def _kernel(assignment: Assignment) -> Session:
    session = Session(v4.new_notebook(), kernel_name=_kernel_name(), files=assignment.handed_out())
    Finalize(None, session.close, exitpriority=10)  # unlike atexit, it runs in forked workers, too
    return session


def _grade_variant(assignment: Assignment, thorough: bool, variant: _Answer) -> Graded:
    cell = None if isinstance(variant, str) else variant.cell
    for path in assignment.source_notebooks():
        source, released = _source_and_blank(path)
        if cell is not None and find_cell(source, cell) is None:
            continue
        notebook, exercises = deepcopy(released if variant == BLANK else source), None
        if isinstance(variant, Variant):
            notebook = variant.apply(source)
            submission = Submission(notebook, released)
            wide = isinstance(variant, Alternative) or (thorough and not isinstance(variant, Degenerate))
            exercises = _touched_by(variant, assignment, path.stem, submission, wide)
        session = _kernel(assignment)
        graded = grade(assignment, notebook, path.stem, released, session=session, exercises=exercises)
        if next(_variants_graded) % _VARIANTS_PER_KERNEL == 0:
            session.close()  # the next variant starts another one
        return graded
    raise CourseError(f"no notebook of {assignment.name} has a cell `{cell}`")


def _touched_by(
    variant: Variant, assignment: Assignment, notebook: str, submission: Submission, dependents: bool
) -> set[str]:
    """The variant's exercise, and those whose checks use its cell, directly or through other cells."""
    touched = {variant.exercise}
    bound = assignment.bound_cells(notebook, submission.notebook.cells) if dependents else {}
    for test, file in bound.items():
        if variant.cell in submission.cells_behind(_words_of_checks(file)):
            touched.add(test)
    return touched | {name.split("::")[0] for name in getattr(variant, "about", ()) if "::" in name}


@cache
def _words_of_checks(file: Path) -> set[str]:
    """The words in a check file and in the parts of its conftest.py that it uses."""
    conftest = file.with_name("conftest.py")
    parts = top_level_words(conftest.read_text(encoding="utf-8")) if conftest.exists() else {}
    used = set().union(*top_level_words(file.read_text(encoding="utf-8")).values())
    used |= {name for name, found in parts.items() if "autouse" in found}
    while more := {word for name in used & parts.keys() for word in parts[name]} - used:
        used |= more
    return used
