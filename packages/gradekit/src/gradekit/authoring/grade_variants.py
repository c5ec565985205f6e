"""Grades variants of an assignment's solutions: known mistakes, other right answers, the solution, the blank notebook.

Their code is trusted, so a worker reuses its kernel.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from itertools import count
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, TypeVar

from nbformat import NotebookNode, v4

from gradekit.authoring.degenerate import Degenerate
from gradekit.checks.variants import Alternative, Mistake, Variant
from gradekit.course import Assignment, CourseError, blank_copy, read_notebook
from gradekit.course.cells import find_cell
from gradekit.course.kernels import LIMITED, SANDBOX
from gradekit.grading.workers import Workers
from gradekit.session.limits import Limits
from gradekit.session.proxy import Student
from gradekit.session.session import Session
from gradekit.submission.names import top_level_words
from gradekit.submission.submission import Submission
from gradekit.verdict.grade import Graded, grade
from gradekit.verdict.job import GradingJob, HowToRun
from gradekit.verdict.snippet_offers import Offer
from sandbox_kernel.bubblewrap import sandbox_problem

BLANK = "blank"
SOLUTION = "solution"
#: wall time in which a worker has to grade a variant
_SECONDS = Limits().longest_seconds + 120
#: after this many variants a kernel is replaced, since each process in the sandbox may use 20 minutes of CPU time
_VARIANTS_PER_KERNEL = 50
#: called with a variant's name, how many are done, and of how many
Progress = Callable[[str, int, int], None]
VariantOrName = Variant | str
R = TypeVar("R")
V = TypeVar("V", bound=VariantOrName)


def grade_variants(
    assignment: Assignment,
    variants: Sequence[VariantOrName],
    workers: int | None = None,
    progress: Progress | None = None,
    thorough: bool = True,
) -> Iterator[tuple[str, Graded]]:
    """Grade each variant, several at a time."""
    grade_one = partial(grade_variant, thorough=thorough)
    for variant, graded in run_variants(assignment, grade_one, variants, workers, progress):
        if graded is None:
            raise CourseError(f"the process that graded `{name_of(variant)}` hung, or ended each time")
        yield name_of(variant), graded


def run_variants(
    assignment: Assignment,
    grade_one: Callable[[Assignment, V], R],
    variants: Sequence[V],
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[V, R | None]]:
    """Grade each variant with `grade_one`, several at a time; None if its process hung, or ended each time."""
    if not variants:
        return
    workers = workers or os.cpu_count() or 1
    how = _here if workers == 1 else partial(_in_processes, workers)
    grading: Iterator[tuple[V, R | None]] = how(assignment, grade_one, variants)
    for number, (variant, graded) in enumerate(grading, 1):
        yield variant, graded
        if progress:
            progress(name_of(variant), number, len(variants))


def name_of(variant: VariantOrName) -> str:
    return variant if isinstance(variant, str) else variant.name


def _here(
    assignment: Assignment, grade_one: Callable[[Assignment, V], R], variants: Sequence[V]
) -> Iterator[tuple[V, R | None]]:
    try:
        yield from ((variant, grade_one(assignment, variant)) for variant in variants)
    finally:
        _kernel(assignment).close()
        for cached in (_kernel, _source_and_blank, _words_of_checks):
            cached.cache_clear()  # the files may change before the next audit


def _in_processes(
    workers_at_most: int,
    assignment: Assignment,
    grade_one: Callable[[Assignment, V], R],
    variants: Sequence[V],
) -> Iterator[tuple[V, R | None]]:
    number = min(workers_at_most, len(variants))
    hidden = assignment.course.hidden if kernel_for_own_code() == SANDBOX else None
    workers = Workers(partial(grade_one, assignment), number, lambda variant: _SECONDS, hidden)
    workers.start()
    try:
        yield from workers.run(variants)
    finally:
        workers.close()


#: counts the variants that this process has graded
_variants_graded = count(1)


@cache
def _source_and_blank(path: Path) -> tuple[NotebookNode, NotebookNode]:
    source = read_notebook(path)
    return source, blank_copy(source)


def kernel_for_own_code() -> str:
    """The kernel that submissions use, since it starts as a fork; without a sandbox here, the unsandboxed one."""
    return LIMITED if sandbox_problem() else SANDBOX


@cache
def _kernel(assignment: Assignment) -> Session:
    files = assignment.working_files()
    session = Session(v4.new_notebook(), kernel_name=kernel_for_own_code(), files=files, handed_out=files)
    Finalize(None, session.close, exitpriority=10)  # unlike atexit, it runs in forked workers, too
    return session


def grade_variant(
    assignment: Assignment, variant: VariantOrName, thorough: bool = False, first_failure: bool = False
) -> Graded:
    """Grade the notebook that the variant changes; for the solution and the blank notebook, all that have checks.

    Args:
        thorough: also grade the exercises that build on the one with the mistake.
        first_failure: stop at the first check that fails.
    """
    cell = None if isinstance(variant, str) else variant.cell
    found = []
    for path in assignment.source_notebooks():
        source, released = _source_and_blank(path)
        if isinstance(variant, str):
            is_concerned = bool(assignment.bound_cells(path.stem, source.cells))
        else:
            is_concerned = variant.notebook in ("", path.stem) and find_cell(source, variant.cell) is not None
        if not is_concerned:
            continue
        notebook, exercises = deepcopy(released if variant == BLANK else source), None
        if isinstance(variant, Variant):
            notebook = variant.apply(source)
            submission = Submission(notebook, released)
            wide = isinstance(variant, Alternative) or (thorough and not isinstance(variant, Degenerate))
            exercises = _touched_by(variant, assignment, path.stem, submission, wide)
        session = _kernel(assignment)
        graded = grade(
            GradingJob(assignment, path.stem, notebook, released, HowToRun(rule=None)),
            session=session,
            exercises=exercises,
            first_failure=first_failure,
            offer=_offered(variant),
        )
        if next(_variants_graded) % _VARIANTS_PER_KERNEL == 0:
            session.close()  # the next variant starts another one
        if not isinstance(variant, str):
            return graded
        found.append(graded)
    if not found:
        raise CourseError(
            f"{assignment.checks}: `{name_of(variant)}` changes the cell `{cell}`, which no notebook of {assignment.name} has. "
            "Write the grade_id of an answer cell"
        )
    return _merged(found)


def value_after(assignment: Assignment, variant: Variant, name: str) -> Any:
    """The value that a variable of the variant's notebook has after its checks."""
    grade_variant(assignment, variant)
    if not (session := _kernel(assignment)).alive:  # it had graded enough variants
        grade_variant(assignment, variant)
    return Student(session, Submission(session.notebook, session.notebook)).get(name)


def _offered(variant: VariantOrName) -> Offer:
    """The snippets to run: all that a right answer must pass, those that may show a mistake, none for the rest."""
    if variant == SOLUTION or isinstance(variant, Alternative):
        return Offer.ALL
    return Offer.THAT_FAIL if isinstance(variant, Mistake) else Offer.NONE


def _merged(found: Sequence[Graded]) -> Graded:
    """The results of several notebooks as one."""
    exercises = [exercise for graded in found for exercise in graded.result.exercises]
    observations = {name: seen for graded in found for name, seen in graded.observations.items()}
    messages = {name: text for graded in found for name, text in graded.messages.items()}
    snippets = {name: ended for graded in found for name, ended in graded.snippets.items()}
    return Graded(replace(found[0].result, exercises=exercises), observations, messages, snippets)


def _touched_by(
    variant: Variant, assignment: Assignment, notebook: str, submission: Submission, dependents: bool
) -> set[str]:
    """The variant's exercise, and those whose checks use its cell, directly or through other cells."""
    touched = variant.exercises()
    bound = assignment.bound_cells(notebook, submission.notebook.cells) if dependents else {}
    for test, file in bound.items():
        if variant.cell in submission.cells_behind(_words_of_checks(file)):
            touched.add(test)
    return touched


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
