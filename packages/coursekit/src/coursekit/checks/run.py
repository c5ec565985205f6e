"""Grades one notebook: runs its cells, scores the ordinary test cells, then runs the checks of the bound ones."""

import re
import time
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nbformat import NotebookNode

from coursekit.cells import grade_id, is_test_cell, nbgrader_metadata
from coursekit.checks.beside import forget_modules, importable
from coursekit.checks.ordinary import ordinary_results
from coursekit.checks.plugin import ASSIGNMENTS, RUNS, CheckRun
from coursekit.checks.reference import Observation, Store
from coursekit.checks.results import ExerciseResult, Status, SubmissionResult
from coursekit.checks.score_rule import ScoreRule
from coursekit.checks.snippets import snippets_of
from coursekit.checks.trying import Offer, Trials
from coursekit.course import Assignment, CourseError
from coursekit.kernels import SANDBOX
from coursekit.student.limits import Limits
from coursekit.student.runner import CellRun
from coursekit.student.session import Session
from coursekit.student.submission import Submission
from coursekit.student.values import CheckOutcome
from sandbox_kernel.view import hide

_UNUSED = (
    *("terminal", "cacheprovider", "faulthandler", "warnings", "logging", "junitxml", "pastebin", "doctest"),
    *("debugging", "setuponly", "setupplan", "stepwise", "legacypath", "unittest"),
    *("unraisableexception", "threadexception"),  # they collect garbage five times per run, which takes 0.4 s
)
_PLUGIN = "coursekit.checks.plugin"


class GraderCrash(Exception):
    """The grader itself failed on one submission, which must not keep the others from being graded."""


@dataclass
class Graded:
    """The result, and by `<file>::<check>` the comparisons with recorded values, and what the failed checks said.

    `tried` says by name how the snippets ended that were run (see `Trials`).
    """

    result: SubmissionResult
    observations: dict[str, list[Observation]]
    said: dict[str, str]
    tried: dict[str, str] = field(default_factory=dict)


def grade(
    assignment: Assignment,
    notebook: NotebookNode,
    name: str,
    released: NotebookNode | None = None,
    limits: Limits | None = None,
    store: Store | None = None,
    kernel_name: str = SANDBOX,
    notes: Sequence[str] = (),
    seed: int | None = None,
    session: Session | None = None,
    exercises: Container[str] | None = None,
    wary: bool = False,
    rule: ScoreRule | None = None,
    own_files: Sequence[Path] = (),
    first_failure: bool = False,
    offer: Offer = Offer.THAT_FAIL,
) -> Graded:
    """Grade a repaired notebook, and put the outputs of this run into its code cells.

    Args:
        assignment: where the checks are.
        notebook: the submission, changed in place.
        name: the notebook's name, without folder and suffix.
        released: the released notebook, to recognize unanswered cells.
        seed: for the checks that draw their inputs; by default it follows from the notebook's sources.
        session: a session to reuse (see `Session.reuse`) and leave open; by default a new one.
        exercises: grade_ids of the test cells to grade; by default all.
        wary: take time to find out which cell ends the kernel.
        rule: how ordinary test cells are scored; by default they are neither run nor scored.
        own_files: what the student has put beside the notebook; files that were handed out replace them.
        first_failure: stop at the first check that fails, and diagnose nothing.
        offer: which snippets to run after the checks; none while recording, or with `first_failure`.

    Raises:
        CourseError: a check or a recorded value is at fault.
        GraderCrash: the grader failed on this submission.
        NotStarted: no kernel could be started.
    """
    started = time.monotonic()
    submission = Submission(notebook, released)
    ordinary = assignment.ordinary_cells(name, notebook.cells) if rule else []
    kept_open = session
    if session is None:
        hide(assignment.course.root)
        files = assignment.working_files(own_files)
        session = Session(notebook, limits, kernel_name, files, wary, ordinary)
    else:
        session.reuse(notebook)
    store = store or Store.load(assignment.checks)
    offer = Offer.NONE if store.recording or first_failure else offer
    run = CheckRun(assignment, submission, session, store, submission.seed if seed is None else seed)
    try:
        session.run_cells()
        # before the checks, since a call in them may end the kernel, and with it what the cells defined
        wanted = [test for test in ordinary if exercises is None or test in exercises]
        scored = ordinary_results(submission, session.runs, wanted, rule or ScoreRule())
        _run_pytest(run, name, exercises, first_failure)
        trials = Trials(session, run.student, snippets_of(assignment) if offer is not Offer.NONE else [])
        trials.offer(run.exercises, offer)
    except GraderCrash as crash:
        if kept_open is not None:  # the instructor's code
            raise CourseError(str(crash)) from crash
        raise
    finally:
        if kept_open is None:
            session.close()
    if run.faults:
        raise CourseError("A check is at fault, not the submission. " + "; ".join(run.faults))
    if not store.recording and not first_failure:
        run.diagnose()
    found = run.exercises | {exercise.grade_id: exercise for exercise in scored}
    results = [found[test] for cell in notebook.cells if (test := grade_id(cell)) in found]
    others = [run for index, run in session.runs.items() if grade_id(notebook.cells[index]) not in ordinary]
    result = SubmissionResult(
        status=status_of(session, results, others),
        notes=[*notes, *run.notes],
        cells=[_cell_line(submission, run) for run in others if _is_worth_reporting(submission, run)],
        exercises=results,
        seed=run.seed,
        seconds=round(time.monotonic() - started, 1),
        kernel=session.kernel_name,
        suspect=list(dict.fromkeys(session.suspect)),
    )
    observations = {name: found.observations for name, found in run.references.items()}
    return Graded(result, observations, run.said, trials.ended)


def status_of(session: Session, exercises: list[ExerciseResult], runs: list[CellRun]) -> Status:
    """The status of a submission that could be read; `runs` are those of its cells without ordinary test cells."""
    outcomes = {check.outcome for exercise in exercises for check in exercise.checks}
    if session.crashed:
        return Status.KERNEL_DIED
    if session.timed_out or CheckOutcome.TIMED_OUT in outcomes:
        return Status.TIMED_OUT
    broken = any(run.state != "ok" for run in runs)
    return Status.PARTLY_GRADED if broken and CheckOutcome.BLOCKED in outcomes else Status.GRADED


def points_of(notebook: NotebookNode) -> dict[str, float]:
    """The points of the test cells, by grade_id, from the notebook's metadata."""
    return {
        str(grade_id(cell)): float(nbgrader_metadata(cell)["points"])
        for cell in notebook.cells
        if is_test_cell(cell)
    }


def collect_marks(
    assignment: Assignment, name: str, notebook: NotebookNode
) -> dict[str, dict[str, pytest.Mark | None]]:
    """The `points` marks of the checks, in order, by the grade_id of their test cell and by name; runs nothing.

    A check without such a mark has None. `name` is the notebook's, without folder and suffix.
    """
    files = assignment.bound_cells(name, notebook.cells)
    marks: dict[str, dict[str, pytest.Mark | None]] = {test: {} for test in files}

    class Collector:
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            for item in items:
                marks[item.path.stem][item.name] = item.get_closest_marker("points")

    _pytest(assignment, list(files.values()), Collector(), "--collect-only")
    return marks


def _run_pytest(run: CheckRun, name: str, exercises: Container[str] | None, first_failure: bool) -> None:
    class Prepared:
        def pytest_configure(self, config: pytest.Config) -> None:
            config.stash[RUNS] = {(run.assignment.checks, name): run}
            config.stash[ASSIGNMENTS] = {run.assignment.checks: run.assignment}

    files = run.assignment.bound_cells(name, run.submission.notebook.cells)
    chosen = [file for test, file in files.items() if exercises is None or test in exercises]
    _pytest(run.assignment, chosen, Prepared(), *(["--exitfirst"] if first_failure else []))


def _pytest(assignment: Assignment, files: list[Path], plugin: object, *options: str) -> None:
    """Run pytest in this process, independent of the course's own pytest settings."""
    if not files:
        return
    # no other installed plugin may affect a grade
    plugins = ["--disable-plugin-autoload", "-p", _PLUGIN]
    plugins += [part for name in _UNUSED for part in ("-p", f"no:{name}")]
    root = str(assignment.course.root)
    own = ["-c", "/dev/null", "--rootdir", root, "--confcutdir", root, "--import-mode=importlib"]
    own += ["-o", "python_files=*.py"]  # a check file has the name of its test cell, whatever that is
    folders = {parent for file in files for parent in file.parents}
    problems: list[str] = []
    crashes: list[str] = []

    class Collector:
        def pytest_configure(self, config: pytest.Config) -> None:
            config.option.tbstyle = "line"  # nobody sees the traceback, and formatting a long one is slow

        def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
            inside = assignment.checks in collection_path.parents
            return (
                True if inside and collection_path not in files and collection_path not in folders else None
            )

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            items.sort(key=lambda item: files.index(item.path))

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                problems.append(_in_a_line(report))

        def pytest_internalerror(self, excrepr: object) -> None:
            crashes.append(str(excrepr).strip().splitlines()[-1])

    course = assignment.course
    try:
        with importable(dict.fromkeys([*(file.parent for file in files), assignment.checks])):
            code = pytest.main(
                # given single files, pytest would search the folder for each of them
                [*plugins, *own, "--assert=plain", "--capture=no", *options, str(assignment.checks)],
                plugins=[plugin, Collector()],
            )
    finally:  # pytest would reuse imported ones, even those of another course
        forget_modules([str(course.root / course.tests), str(course.root / "conftest.py")])
    if crashes:
        raise GraderCrash(f"grading the checks of {assignment.name} crashed: {crashes[0]}")
    if problems or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise CourseError(f"The checks of {assignment.name} can't run. " + "; ".join(problems or [str(code)]))


def _in_a_line(report: pytest.CollectReport) -> str:
    """Where and why a check file can't be imported."""
    text = str(report.longrepr)
    name = re.escape(Path(report.nodeid).name)
    lines = re.findall(rf'{name}(?:", line |:)(\d+)', text)
    place = f"{report.nodeid}, line {lines[-1]}" if lines else report.nodeid
    return f"{place}: {text.strip().splitlines()[-1].removeprefix('E').strip()}"


def _is_worth_reporting(submission: Submission, run: CellRun) -> bool:
    """True for a cell that did not run, unless its checks report why: it is unanswered, or a call ended the kernel."""
    name = submission.label(run.index)
    blank = submission.is_blank(name) or submission.has_placeholder(name)
    return run.state not in ("ok", "left out") and not (blank and run.state == "error")


def _cell_line(submission: Submission, run: CellRun) -> str:
    return f"The cell `{submission.label(run.index)}` {run.description}."
