"""Grades variants of an assignment's solutions: known mistakes, other right answers, answers that compute nothing.

Also records what the solutions and the known mistakes return: the values that answers are compared with.

Their code is trusted, so a worker reuses its kernel.
"""

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import count
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, TypeVar

from nbformat import NotebookNode, v4

from gradekit.checks.reference import Store, is_recordable, to_stored
from gradekit.checks.variants import Alternative, Mistake, Variant, mistakes_of
from gradekit.course import RECORDED, Assignment, CourseError, blank_copy, read_notebook
from gradekit.course.cells import TEST_PREFIX, answer_of, find_cell, is_answer_cell
from gradekit.course.kernels import LIMITED, SANDBOX
from gradekit.grading.workers import Workers
from gradekit.inside.arrays import Array
from gradekit.session.limits import Limits
from gradekit.session.proxy import Student
from gradekit.session.session import Session
from gradekit.session.values import CheckOutcome
from gradekit.submission.names import body_of, defined_names, words
from gradekit.submission.submission import Submission
from gradekit.verdict.grade import Graded, Offer, grade
from gradekit.verdict.opened import GradingJob, HowToRun
from gradekit.verdict.results import SubmissionResult
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


def words_by_name(source: str) -> dict[str, set[str]]:
    """The words and arguments of the top-level statements of some code, by the name that they bind ("" for none)."""
    found: dict[str, set[str]] = {}
    for statement in body_of(source):
        nodes = (node for node in ast.walk(statement) if isinstance(node, ast.arg | ast.keyword))
        arguments = {node.arg for node in nodes if node.arg is not None}
        text = ast.unparse(statement)
        for name in defined_names(text) or [""]:
            found.setdefault(name, set()).update(arguments, words(text))
    return found


@cache
def _words_of_checks(file: Path) -> set[str]:
    """The words in a check file and in the parts of its conftest.py that it uses."""
    conftest = file.with_name("conftest.py")
    parts = words_by_name(conftest.read_text(encoding="utf-8")) if conftest.exists() else {}
    used = set().union(*words_by_name(file.read_text(encoding="utf-8")).values())
    used |= {name for name, found in parts.items() if "autouse" in found}
    while more := {word for name in used & parts.keys() for word in parts[name]} - used:
        used |= more
    return used


# Degenerate answers are made from the solution of every answer cell, and show which checks such an answer passes. A
# check of a shape or a dtype may pass, but such an answer must not earn a whole exercise.

KINDS = ("zeros", "ones", "nan", "input")

# Runs in the kernel after the solution, and replaces what the cell has defined.
_REPLACE = """
def _degenerate(kind, names, namespace):
    import copy, functools, inspect, sys

    import numpy as np

    torch, pandas = sys.modules.get("torch"), sys.modules.get("pandas")
    number = {"zeros": 0, "ones": 1, "nan": float("nan"), "input": 0}[kind]

    def column(series):
        constant = np.full(len(series), number if number == number else np.nan)
        if pandas.api.types.is_bool_dtype(series.dtype) or pandas.api.types.is_integer_dtype(series.dtype):
            constant = np.nan_to_num(constant).astype(int)
        elif not pandas.api.types.is_float_dtype(series.dtype):
            return series.where(np.zeros(len(series), bool))
        return pandas.Series(constant, index=series.index, name=series.name).astype(series.dtype)

    def blank(figures):
        for figure in figures:
            figure.clear()

    def drawn():
        # with those that `plt.show()` has closed
        kept = getattr(sys.modules.get("gradekit.inside.agent"), "cell_figures", None)
        if kept:
            kept.notice()
        return kept.drawn_now() if kept else []

    def emptied(value, inputs):
        if torch and isinstance(value, torch.nn.Module):
            return value
        if "matplotlib.figure" in sys.modules and hasattr(value, "figure") and hasattr(value.figure, "clear"):
            blank([value.figure])
            return value
        if pandas and isinstance(value, (pandas.DataFrame, pandas.Series)):
            for other in inputs:
                if kind == "input" and type(other) is type(value) and other.shape == value.shape:
                    return other
            if isinstance(value, pandas.Series):
                return column(value)
            parts = {place: column(value.iloc[:, place]) for place in range(value.shape[1])}
            return pandas.DataFrame(parts, index=value.index).set_axis(value.columns, axis=1)
        if isinstance(value, np.ndarray):
            for other in inputs:
                if kind == "input" and isinstance(other, np.ndarray) and other.shape == value.shape:
                    return other.astype(value.dtype)
            exact = value.dtype.kind in "fc"
            return np.full_like(value, number if exact or number == number else 0)
        if torch and isinstance(value, torch.Tensor):
            for other in inputs:
                if kind == "input" and isinstance(other, torch.Tensor) and other.shape == value.shape:
                    return other.to(value.dtype)
            exact = value.is_floating_point() or value.is_complex()
            return torch.full_like(value, number if exact or number == number else 0)
        if isinstance(value, np.generic):
            return emptied(np.asarray(value), inputs)[()]
        if isinstance(value, bool):
            return bool(number == 1)
        if isinstance(value, int):
            return int(number == 1)
        if isinstance(value, float):
            return float(number)
        if isinstance(value, str):
            return ""
        if type(value) in (list, tuple):
            return type(value)(emptied(part, inputs) for part in value)
        if type(value) is dict:
            return {key: emptied(part, inputs) for key, part in value.items()}
        return value

    def apart(inputs):
        try:
            return copy.deepcopy(inputs)
        except Exception:
            return inputs

    def replaced(function, method=False):
        @functools.wraps(function)
        def run(*args, **kwargs):
            # changes that the function makes to its arguments are undone as well
            own_args, own_kwargs = (args, kwargs) if method else apart((args, kwargs))
            try:
                value = function(*own_args, **own_kwargs)
            except AssertionError:  # what a test that students write has for a result
                value = None
            blank(drawn())
            return emptied(value, [*args, *kwargs.values()])
        return run

    blank(drawn())
    if "get_ipython" in namespace:
        from IPython.display import clear_output

        clear_output()

    for name in names:
        value = namespace.get(name)
        if inspect.isclass(value):
            for method, function in list(vars(value).items()):
                public = not method.startswith("_") or method in ("__call__", "__len__")
                if inspect.isfunction(function) and public:
                    setattr(value, method, replaced(function, method=True))
        elif inspect.isfunction(value):
            namespace[name] = replaced(value)
        elif not inspect.ismodule(value):
            namespace[name] = emptied(value, [])

"""


@dataclass(frozen=True)
class Degenerate(Variant):
    """The solution of a cell, with everything that it returns replaced by zeros, ones, NaN or the input."""


def degenerate_answers(assignment: Assignment, only: str = "*") -> list[Degenerate]:
    """The degenerate answers of every answer cell, for each bound test cell that is about it."""
    found = []
    for path in assignment.source_notebooks():
        notebook = read_notebook(path)
        for test in assignment.bound_cells(path.stem, notebook.cells):
            name = answer_of(notebook, test)
            answer = find_cell(notebook, name)
            if answer is None or answer.cell_type != "code" or not is_answer_cell(answer):
                continue
            names = sorted(defined_names(answer.source))
            where = name if test == TEST_PREFIX + name else f"{name} in {test}"
            for kind in KINDS:
                source = f"{answer.source}\n{_REPLACE}\n_degenerate({kind!r}, {names!r}, globals())\n"
                found.append(Degenerate(f"{kind} for {where}", name, source=source, test=test))
    return [answer for answer in found if fnmatchcase(answer.name, only)]


def record(assignment: Assignment, workers: int | None = None, progress: Progress | None = None) -> Store:
    """Write what the solutions and the mistakes return now into `reference.safetensors`.

    Raises:
        CourseError: a check fails for a solution, or is at fault. The file stays as it was.
    """
    require_checks(assignment)
    path = assignment.checks / RECORDED
    before = path.read_bytes() if path.exists() else None
    try:
        return _record(assignment, workers, progress)
    except BaseException:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(before)
        raise


def _record(assignment: Assignment, workers: int | None, progress: Progress | None) -> Store:
    store = Store(assignment.checks / RECORDED, recording=True)
    for path in assignment.source_notebooks():
        source = read_notebook(path)
        if not assignment.bound_cells(path.stem, source.cells):
            continue
        job = GradingJob(
            assignment,
            path.stem,
            source,
            blank_copy(source),
            HowToRun(kernel_name=kernel_for_own_code(), rule=None),
        )
        graded = grade(job, store=store)
        for name, check in graded.result.named_checks():
            if check.outcome != CheckOutcome.PASSED:
                raise CourseError(
                    f"{path}: the solution doesn't pass {name} ({check.outcome}), so nothing was recorded. "
                    f"{check.message}".rstrip()
                )
    store.recording = False
    store.save()
    mistakes = dict(grade_variants(assignment, mistakes_of(assignment), workers, progress, thorough=False))
    store.tensors |= mistake_records(assignment, mistakes)
    store.save()
    return store


def require_checks(assignment: Assignment) -> None:
    """Raise CourseError if the assignment has ordinary test cells only."""
    for path in assignment.source_notebooks():
        if assignment.bound_cells(path.stem, read_notebook(path).cells):
            return
    raise CourseError(
        f"{assignment.name} has no hidden checks, and only they are recorded and audited: write one for a test cell, "
        f"as {assignment.checks}/<grade_id>.py"
    )


def mistake_records(assignment: Assignment, graded: dict[str, Graded]) -> dict[str, Array]:
    """For each mistake, in its exercise: the checks that it failed, their messages, and its values in failed comparisons."""
    found: dict[str, Array] = {}
    for mistake in mistakes_of(assignment):
        if mistake.name not in graded:
            continue
        for check, observations in graded[mistake.name].observations.items():
            if _exercise_of(check) == mistake.exercise:
                found |= dict(
                    to_stored(f"{check}/mistakes/{mistake.name}/{seen.key}", seen.value)
                    for seen in observations
                    if not seen.passed and is_recordable(seen.value)
                )
        failed = [
            name.removeprefix(f"{mistake.exercise}::")
            for name in sorted(failed_checks(graded[mistake.name].result))
            if name.startswith(f"{mistake.exercise}::")
        ]
        found |= dict([to_stored(f"{mistake.exercise}/fails/{mistake.name}", failed)])
        said = {
            check.rpartition("::")[2]: text
            for check, text in sorted(graded[mistake.name].messages.items())
            if _exercise_of(check) == mistake.exercise
        }
        found |= dict([to_stored(f"{mistake.exercise}/said/{mistake.name}", said)]) if said else {}
    return found


def failed_checks(result: SubmissionResult) -> set[str]:
    """The names of the checks that were not passed, as `<grade_id>::<check>`."""
    return {name for name, check in result.named_checks() if check.outcome != CheckOutcome.PASSED}


def _exercise_of(check: str) -> str:
    """The grade_id of the test cell in the recorded name of a check, `<grade_id>::…` or `<notebook>:<grade_id>::…`."""
    return check.split("::")[0].rpartition(":")[2]
