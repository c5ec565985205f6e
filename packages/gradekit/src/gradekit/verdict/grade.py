"""Grades one notebook: runs its cells, scores the ordinary test cells, then runs the checks of the bound ones."""

import time
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import pytest
from nbformat import NotebookNode

from gradekit.checks.reference import Observation, Store
from gradekit.checks.snippets import Snippet, candidates, snippets_of
from gradekit.course import Assignment, CourseError
from gradekit.course.cells import (
    Doubt,
    answer_of,
    decided_by_a_person,
    grade_id,
    is_test_cell,
    nbgrader_metadata,
)
from gradekit.session.files_written import WrittenFiles
from gradekit.session.proxy import begin_check, run_lines
from gradekit.session.runner import CellRun, CellState
from gradekit.session.session import Session
from gradekit.session.values import CheckOutcome, StudentError
from gradekit.submission.submission import Submission
from gradekit.verdict.collected import GraderCrash, collected_checks
from gradekit.verdict.opened import GradingJob, ScoreRule
from gradekit.verdict.ordinary import NOT_REACHED, doubt_about_order, ordinary_results
from gradekit.verdict.plugin import Checking
from gradekit.verdict.results import NO_OUTPUT, ExerciseResult, Status, SubmissionResult

SNIPPET_PASSED = "passed"


class Offer(StrEnum):
    NONE = "none"
    #: for each failed check, until one fails
    THAT_FAIL = "that fail"
    #: all of the exercises that were graded
    ALL = "all"


def _offer_snippets(checking: Checking, snippets: Sequence[Snippet], offer: Offer) -> dict[str, str]:
    """Give each failed check the first of its snippets that fails; returns how each that was run ended, by its name.

    Nothing here counts for the submission. No snippet is run twice, or after one that timed out or ended the kernel.
    """
    errors: dict[str, StudentError | None] = {}

    def fails(snippet: Snippet) -> bool:
        if snippet.name not in errors:
            stopped = any(error and error.outcome in NO_OUTPUT for error in errors.values())
            can_run = checking.session.alive and not stopped
            errors[snippet.name] = _error_of(snippet, checking) if can_run else StudentError("not run")
        error = errors[snippet.name]
        return error is not None and bool(error.raised) and error.outcome == CheckOutcome.FAILED

    with checking.session.off_the_record():
        for snippet in snippets if offer is Offer.ALL else ():
            if snippet.exercise in checking.exercises:
                fails(snippet)
        for exercise in checking.exercises.values():
            for check in exercise.checks:
                if check.outcome == CheckOutcome.FAILED:
                    wanted = candidates(snippets, exercise.grade_id, check.name)
                    check.try_it = next((snippet.text for snippet in wanted if fails(snippet)), "")
    return {name: str(error) if error else SNIPPET_PASSED for name, error in errors.items()}


def _error_of(snippet: Snippet, checking: Checking) -> StudentError | None:
    try:
        begin_check(checking.student, answer_of(checking.session.notebook, snippet.exercise))
        run_lines(checking.student, snippet.text, snippet.needs)
    except StudentError as error:
        return error
    return None


_AT_FAULT = "`{}` could not be graded automatically, because of an error in one of its checks"


@dataclass
class Graded:
    """The result and, by `<file>::<check>`, the comparisons with recorded values and the messages of failed checks.

    `snippets` says how those that were run ended (`SNIPPET_PASSED`, or what went wrong); `written` are the cells' files.
    """

    result: SubmissionResult
    observations: dict[str, list[Observation]]
    messages: dict[str, str]
    snippets: dict[str, str] = field(default_factory=dict)
    written: WrittenFiles = field(default_factory=WrittenFiles)


class CheckAtFault(CourseError):
    """The code of a check raised an exception. `graded` has the other exercises, and a doubt about each with such a check."""

    def __init__(self, faults: list[str], graded: Graded) -> None:
        super().__init__("A check is at fault, not the submission. " + "; ".join(faults))
        self.faults, self.graded = faults, graded

    def __reduce__(self) -> tuple[type["CheckAtFault"], tuple[list[str], Graded]]:
        return CheckAtFault, (self.faults, self.graded)  # it comes from another process


def grade(
    job: GradingJob,
    *,
    store: Store | None = None,
    seed: int | None = None,
    session: Session | None = None,
    exercises: Container[str] | None = None,
    wary: bool = False,
    first_failure: bool = False,
    offer: Offer = Offer.THAT_FAIL,
) -> Graded:
    """Grade a repaired notebook, and put the outputs of this run into its code cells.

    Args:
        job: its notebook is changed in place.
        seed: the seed for checks that draw their inputs; by default it follows from the notebook's sources.
        session: a session to reuse (see `Session.reuse`) and leave open; by default a new one.
        exercises: grade_ids of the test cells to grade; by default all.
        wary: take time to find out which cell ends the kernel.
        first_failure: stop at the first check that fails, and diagnose nothing.
        offer: which snippets to run after the checks; none while recording, or with `first_failure`.

    Raises:
        CheckAtFault: the code of a check raised an exception.
        CourseError: the checks or the recorded values can't be used at all.
        GraderCrash: the grader failed on this submission.
        NotStarted: no kernel could be started.
    """
    started = time.monotonic()
    assignment, notebook, rule = job.assignment, job.notebook, job.how.rule
    submission = Submission(notebook, job.released)
    ordinary = assignment.ordinary_cells(job.name, notebook.cells) if rule else []
    reused = session is not None
    if session is None:
        files, handed_out = assignment.working_files(job.own_files), assignment.working_files()
        how = job.how
        session = Session(notebook, how.limits, how.kernel_name, files, wary, ordinary, handed_out)
    else:
        session.reuse(notebook)
    store = store or Store.load(assignment.checks)
    offer = Offer.NONE if store.recording or first_failure else offer
    written = WrittenFiles()
    checking = Checking(assignment, submission, session, store, submission.seed if seed is None else seed)
    try:
        session.run_cells()
        if not reused:  # before the checks, whose calls may write as well
            written = session.read_written()
            checking.notes.extend(written.notes())
        # before the checks, since a call in them may end the kernel, and with it what the cells defined
        wanted = [test for test in ordinary if exercises is None or test in exercises]
        runs, earlier = session.runs, session.earlier
        scored, doubts = ordinary_results(submission, runs, wanted, rule or ScoreRule(), earlier)
        bound = assignment.bound_cells(job.name, notebook.cells)
        if chosen := [file for test, file in bound.items() if exercises is None or test in exercises]:
            collected_checks(assignment, job.name, list(bound.values())).run(checking, chosen, first_failure)
        for name in checking.faults:
            del checking.exercises[name]
            doubts.append(Doubt(name, decided_by_a_person(_AT_FAULT.format(name))))
        doubts += _doubts_about_not_reached(checking)
        ended = _offer_snippets(checking, [] if offer is Offer.NONE else snippets_of(assignment), offer)
    except GraderCrash as crash:
        if reused:  # the instructor's code
            raise CourseError(str(crash)) from crash
        raise
    finally:
        if not reused:
            session.close()
    if not store.recording and not first_failure:
        checking.diagnose()
    result = _result(checking, scored, doubts, ordinary, time.monotonic() - started)
    observations = {name: reference.observations for name, reference in checking.references.items()}
    graded = Graded(result, observations, checking.messages, ended, written)
    if checking.faults:
        raise CheckAtFault([fault for faults in checking.faults.values() for fault in faults], graded)
    return graded


def _result(
    checking: Checking,
    scored: list[ExerciseResult],
    doubts: list[Doubt],
    ordinary: Container[str],
    seconds: float,
) -> SubmissionResult:
    """The result, with the exercises in the order of their test cells; `scored` are those with `ordinary` ones."""
    submission, session = checking.submission, checking.session
    cells = submission.notebook.cells
    by_test = checking.exercises | {exercise.grade_id: exercise for exercise in scored}
    exercises = [by_test[test] for cell in cells if (test := grade_id(cell)) in by_test]
    out_of_order = [doubt_about_order(submission, session.runs, exercise) for exercise in exercises]
    out_of_order += [checking.changed_below.doubt_about(exercise) for exercise in exercises]
    others = [run for index, run in session.runs.items() if grade_id(cells[index]) not in ordinary]
    failed = [run for run in others if _is_worth_reporting(submission, run)]
    return SubmissionResult(
        status=status_of(session, exercises, others),
        notes=list(checking.notes),
        cells=[f"The cell `{submission.label(run.index)}` {run.description}." for run in failed],
        exercises=exercises,
        seed=checking.seed,
        seconds=round(seconds, 1),
        kernel=session.kernel_name,
        cold_because=session.cold_because,
        suspect=list(dict.fromkeys(session.suspect)),
        doubts=doubts + [doubt for doubt in out_of_order if doubt],
    )


def _doubts_about_not_reached(checking: Checking) -> list[Doubt]:
    """A doubt about each exercise with a check that could not be run, since code of others had used up the kernels."""
    return [
        Doubt(name, decided_by_a_person(NOT_REACHED.format(name)))
        for name, exercise in checking.exercises.items()
        if checking.submission.answer_to(name) in checking.session.not_reached
        and any(check.outcome == CheckOutcome.KERNEL_DIED for check in exercise.checks)
    ]


def status_of(session: Session, exercises: list[ExerciseResult], runs: list[CellRun]) -> Status:
    """The status of a submission that could be read; `runs` are those of its cells without ordinary test cells."""
    outcomes = {check.outcome for exercise in exercises for check in exercise.checks}
    if session.crashed:
        return Status.KERNEL_DIED
    if session.timed_out or CheckOutcome.TIMED_OUT in outcomes:
        return Status.TIMED_OUT
    broken = any(run.state != CellState.OK for run in runs)
    return Status.PARTLY_GRADED if broken and CheckOutcome.BLOCKED in outcomes else Status.GRADED


def points_of(notebook: NotebookNode) -> dict[str, float]:
    """The points of the test cells, by grade_id, from the notebook's metadata."""
    tests = filter(is_test_cell, notebook.cells)
    return {str(grade_id(cell)): float(nbgrader_metadata(cell)["points"]) for cell in tests}


def collect_marks(
    assignment: Assignment, name: str, notebook: NotebookNode
) -> dict[str, dict[str, pytest.Mark | None]]:
    """The `points` marks of the checks, in order, by the grade_id of their test cell and by name; runs nothing.

    A check without such a mark has None. `name` is the notebook's, without folder and suffix.
    """
    files = assignment.bound_cells(name, notebook.cells)
    marks: dict[str, dict[str, pytest.Mark | None]] = {test: {} for test in files}
    if files:
        checks = collected_checks(assignment, name, list(files.values()))
        checks.have_imported(list(files.values()))
        for item in checks.items:
            marks[item.path.stem][item.name] = item.get_closest_marker("points")
    return marks


def _is_worth_reporting(submission: Submission, run: CellRun) -> bool:
    """True for a cell that did not run, unless its checks report why: it is unanswered, or a call ended the kernel."""
    name = submission.label(run.index)
    blank = submission.is_blank(name) or submission.has_placeholder(name)
    stopped = run.state not in (CellState.OK, CellState.LEFT_OUT)
    return stopped and not (blank and run.state == CellState.ERROR)
