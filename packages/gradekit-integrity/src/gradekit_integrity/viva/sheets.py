"""Sheets of questions, one for each student: questions to which two runs of the same code have the same answer."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import nbformat
from nbformat import NotebookNode

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import find_cell, grade_id, is_answer_cell
from gradekit.course.kernels import other_language
from gradekit.course.printing import listed, printable, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.workers import Workers
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit.report.table import removed_students
from gradekit.session.kernel import NotStarted
from gradekit.session.runner import CellState
from gradekit.submission.extra_files import own_files, own_notebooks
from gradekit.submission.submission import Submission
from gradekit.verdict.opened import GradingJob, HowToRun, open_notebook
from gradekit_integrity.viva.asking import questions_about
from gradekit_integrity.viva.class_answers import keys_of, most_common
from gradekit_integrity.viva.purpose import Prover, purposes
from gradekit_integrity.viva.questions import Asked, Question, QuestionKind, choose, syntax_question
from gradekit_integrity.viva.running import Scene, Stage, drivers_for, hangs, stage
from gradekit_integrity.viva.statements import AnswerCode
from gradekit_integrity.viva.tracer_reports import TracedCall

Q = TypeVar("Q")
#: makes the questions about an answer from its scenes, and from calls with inputs that the course has not declared
Ask = Callable[[Asked, Sequence[Scene], Sequence[TracedCall]], Iterator[Q]]
#: the most runs of a student's notebooks, traced or with their checks
_RUNS_AT_MOST = 20
#: for the random numbers of the two runs: answers that depend on them differ
_SEEDS = 1, 2
#: the most statements of an answer that are removed, one at a time
_TAKEN_OUT_AT_MOST = 8
#: drivers whose inputs are varied
_VARIED_AT_MOST = 2
_TRIES = 2
_TOO_LONG = "The code in `{}` can't be traced to its end, since it runs too many steps or for too long, or uses a tracer itself."
#: why a sheet has no questions
NO_CODE = "There is no code to ask about: the answer is empty, defines no function, or can't be parsed."


@dataclass(frozen=True)
class ToAsk:
    """One student's restored notebooks as JSON, by name, and the most common answers of the class.

    Args:
        common: by notebook and cell, the statements of the most common answer.
        own_files: the files that the student put beside the notebooks.
        problem: why there is nothing to run, in a sentence.
    """

    student: str
    notebooks: dict[str, str]
    common: dict[tuple[str, str], frozenset[str]]
    how: HowToRun
    own_files: tuple[Path, ...] = ()
    problem: str = ""


@dataclass
class Sheet:
    """The questions for a student, with the sources of the cells that they are about, by notebook and cell.

    Args:
        problem: why there are no questions, or fewer, in a sentence.
        dropped: how many questions of the first run the second answered differently.
        suspect: a busy machine may be why something is missing.
        hangs: a cell was stopped, so that running the notebook again takes long.
    """

    student: str
    questions: list[Question] = field(default_factory=list)
    sources: dict[tuple[str, str], str] = field(default_factory=dict)
    problem: str = ""
    dropped: int = 0
    suspect: bool = False
    hangs: bool = False


@dataclass(frozen=True)
class TracedAnswer:
    """An answered code cell: its index in the notebook, its code, and the drivers that call it."""

    index: int
    asked: Asked
    drivers: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """True if it defines no functions, so that the cell itself is run, after those above it."""
        return not self.asked.code.functions


def make_sheet(
    assignment: Assignment, task: ToAsk, count: int, seed: int, only: Collection[str] = ()
) -> Sheet:
    """Make a sheet of `count` questions for a student. It reports problems with this one submission.

    Args:
        only: the answer cells to ask about; empty for all.
    """
    sheet = Sheet(task.student, problem=task.problem)
    if task.problem:
        return sheet
    proven: list[Question] = []
    prover = Prover()
    try:
        for name, text in task.notebooks.items():
            notebook = nbformat.reads(text, as_version=4)
            job = GradingJob(assignment, name, notebook, assignment.released(name), task.how, task.own_files)
            if language := other_language(notebook.metadata):
                sheet.problem = f"{name} is not in Python ({language}), so its code can't be traced."
                continue
            answers, found = answers_in(job, task.common)
            answers = [one for one in answers if not only or one.asked.cell in only]
            proven += [one for one in found if not only or one.cell in only]
            first, second = both_runs(job, answers, sheet, questions_about)
            prover.jobs[name] = job
            for answer in answers:
                prover.changes |= dict(purposes(answer.asked))
            sheet.dropped += sum(one not in second for one in first)
            proven += [one for one in first if one in second]
            if not sheet.hangs:
                proven += [one for one in prover.changes if one.notebook == name]
            cells = [cell for cell in notebook.cells if grade_id(cell)]
            sheet.sources |= {(name, str(grade_id(cell))): cell.source for cell in cells}
    except NotStarted as error:
        sheet.problem = f"The notebook could not be run: {error}."
    parts = [str(seed), task.student, *task.notebooks.values()]
    sheet.questions = _chosen(proven, count, "\0".join(parts), prover)
    asked = {(one.notebook, one.cell) for one in sheet.questions}
    sheet.sources = {place: source for place, source in sheet.sources.items() if place in asked}
    if not sheet.questions and not sheet.problem:
        sheet.problem = NO_CODE
    return sheet


def _chosen(proven: Sequence[Question], count: int, seed: str, prover: Prover) -> list[Question]:
    """The questions to ask. Questions about the purpose of a line are only proven if they are chosen."""
    left = list(proven)
    while True:
        chosen = choose(left, count, seed)
        unproven = [one for one in chosen if one.kind == QuestionKind.PURPOSE and not one.rubric]
        if not unproven:
            return chosen
        found = {one: prover.proven(one) for one in unproven}
        left = [known for one in left if (known := found.get(one, one))]


def answers_in(
    job: GradingJob,
    in_common: Mapping[tuple[str, str], frozenset[str]],
    read: Callable[[str], AnswerCode] = AnswerCode,
) -> tuple[list[TracedAnswer], list[Question]]:
    """The answers that can be run, and the questions about those that Python can't read."""
    answers, unreadable = [], []
    submission = Submission(job.notebook, job.released)
    for index, cell in enumerate(job.notebook.cells):
        cell_name = grade_id(cell)
        if not cell_name or cell.cell_type != "code" or not is_answer_cell(cell):
            continue
        if submission.is_blank(cell_name) or submission.has_placeholder(cell_name):
            continue
        try:
            code = read(cell.source)
        except SyntaxError as error:
            if error.lineno:
                unreadable.append(syntax_question(job.name, cell_name, error.lineno))
            continue
        except ValueError:
            continue
        stub = find_cell(job.released, cell_name)
        given = frozenset(keys_of(stub.source) if stub is not None else ())
        common = in_common.get((job.name, cell_name), frozenset())
        asked = Asked(
            job.name,
            cell_name,
            code,
            lambda one, given=given: one.key in given,  # type: ignore[misc]
            lambda one, common=common: one.key not in common,  # type: ignore[misc]
        )
        drivers = drivers_for(job.assignment, job.released, cell_name) if code.functions else []
        answers.append(TracedAnswer(index, asked, tuple(drivers)))
    return answers, unreadable


def both_runs(
    job: GradingJob, answers: Sequence[TracedAnswer], sheet: Sheet, ask: Ask[Q]
) -> tuple[list[Q], set[Q]]:
    """The questions of two runs; both are repeated once if a busy machine may have spoiled one."""
    first: list[Q] = []
    second: set[Q] = set()
    before = sheet.problem
    for _ in range(_TRIES):
        sheet.problem, sheet.suspect = before, False
        first = _questions(job, answers, _SEEDS[0], sheet, ask)
        second = set(_questions(job, answers, _SEEDS[1], sheet, ask)) if first else set()
        if not sheet.suspect:
            break
    return first, second


def _questions(
    job: GradingJob, answers: Sequence[TracedAnswer], seed: int, sheet: Sheet, ask: Ask[Q]
) -> list[Q]:
    """All questions about the answers of a notebook, from one run of it."""
    found: dict[int, list[Q]] = {}
    alone = [answer for answer in answers if answer.alone]
    if len(alone) < len(answers):
        with stage(job, seed) as whole:
            for answer in answers:
                if answer.alone:
                    continue
                if hangs(whole.run_of(answer.index)):
                    sheet.hangs = True
                    _note(sheet, whole, answer)
                    continue
                whole.stopped = False
                scenes = list(_scenes(whole, answer))
                varied = _varied(whole, answer) if scenes else []
                found[answer.index] = list(ask(answer.asked, scenes, varied))
                if whole.ended:
                    sheet.problem = (
                        sheet.problem or f"Nothing below `{answer.asked.cell}` was run: {whole.ended}."
                    )
                elif whole.stopped and not scenes:
                    sheet.problem = _TOO_LONG.format(answer.asked.cell)
            sheet.suspect = sheet.suspect or whole.suspect
    for answer in alone:
        with stage(job, seed, before=answer.index) as above:
            scenes = list(above.scenes(answer.asked.code, "", []))
            found[answer.index] = list(ask(answer.asked, scenes, ()))
            sheet.suspect = sheet.suspect or above.suspect
            if not scenes:
                sheet.problem = _TOO_LONG.format(answer.asked.cell)
    return [question for index in sorted(found) for question in found[index]]


def _scenes(whole: Stage, answer: TracedAnswer) -> Iterator[Scene]:
    candidates = answer.asked.can_be_taken_out()[:_TAKEN_OUT_AT_MOST]
    run = whole.run_of(answer.index)
    broken = run is not None and run.state != CellState.OK
    for driver in ("",) if broken else answer.drivers:
        for scene in whole.scenes(answer.asked.code, driver, candidates):
            yield scene
            if scene.effects:
                candidates = []  # only once for each answer


def _varied(whole: Stage, answer: TracedAnswer) -> list[TracedCall]:
    """Calls with other inputs, from the first driver that has some."""
    tried = (whole.varied(answer.asked.code, driver) for driver in answer.drivers[:_VARIED_AT_MOST])
    return next(filter(None, tried), [])


def _note(sheet: Sheet, whole: Stage, answer: TracedAnswer) -> None:
    run = whole.run_of(answer.index)
    if run is not None and run.state != CellState.LEFT_OUT:
        sheet.problem = f"The cell `{answer.asked.cell}` {run.description}."


def tasks_of(
    course: RunningCourse, assignment: Assignment, students: Sequence[str], kernel_name: str = ""
) -> list[ToAsk]:
    """The notebooks to run for each of the students, by default for all who handed in.

    Raises:
        CourseError: nobody has handed in, or one of the students has not.
    """
    removed = removed_students(course, assignment.name)
    everybody = course.gradable([name for name in course.handed_in(assignment.name) if name not in removed])
    if not everybody:
        raise CourseError(f"nobody has handed in {assignment.name}: there is no code to ask about")
    if unknown := [name for name in students if name not in everybody]:
        raise CourseError(f"{listed(unknown)} handed in nothing for {assignment.name}")
    settings = RunChecks(config=course.config)
    how = settings.how_to_run(assignment.name, kernel_name)
    tasks = [_read(course, assignment, name, how) for name in everybody]
    common = _in_common(tasks)
    return [replace(task, common=common) for task in tasks if not students or task.student in students]


def sheets_of(
    assignment: Assignment,
    tasks: Sequence[ToAsk],
    count: int,
    seed: int,
    workers: int,
    only: Collection[str] = (),
) -> Iterator[Sheet]:
    """Make the sheets, each as soon as it is ready; `only` as in `make_sheet`.

    Raises:
        CourseError: the assignment has no such answer cell with code.
    """
    names = sorted(
        str(grade_id(cell))
        for book in assignment.released_names()
        for cell in assignment.released(book).cells
        if cell.cell_type == "code" and is_answer_cell(cell)
    )
    if unknown := [name for name in only if name not in names]:
        have = ", ".join(names) or "none"
        raise CourseError(f"{assignment.name} has no answer in code {quoted(unknown[0])}; it has {have}")
    make = partial(_sheet, assignment, count, seed, only)
    return each_task(assignment, tasks, make, _no_sheet, workers)


def each_task(
    assignment: Assignment,
    tasks: Sequence[ToAsk],
    make: Callable[[ToAsk], Q],
    without: Callable[[str, str], Q],
    workers: int,
) -> Iterator[Q]:
    """What `make` returns for each task, as soon as it is ready; if it fails, `without` for the student, and why."""
    one = partial(_made, make, without)
    if workers == 1:
        yield from map(one, tasks)
        return
    hidden = assignment.course.hidden
    pool: Workers[ToAsk, Q] = Workers(one, min(workers, len(tasks)), _longest_seconds, hidden)
    pool.start()
    try:
        for task, made in pool.run(tasks):
            yield made or without(task.student, "Running the code hung, or ended the grader's process.")
    finally:
        pool.close()


def _sheet(assignment: Assignment, count: int, seed: int, only: Collection[str], task: ToAsk) -> Sheet:
    return make_sheet(assignment, task, count, seed, only)


def _no_sheet(student: str, problem: str) -> Sheet:
    return Sheet(student, problem=problem)


def _made(make: Callable[[ToAsk], Q], without: Callable[[str, str], Q], task: ToAsk) -> Q:
    try:
        return make(task)
    except CourseError:
        raise
    except Exception as error:  # one student's files must not cost the others their sheets
        reason = f"{type(error).__name__}: {printable(str(error))}"
        return without(task.student, f"No questions could be made about the code ({reason}).")


def _longest_seconds(task: ToAsk) -> float:
    return _RUNS_AT_MOST * task.how.limits.longest_seconds


def _read(course: RunningCourse, assignment: Assignment, student: str, how: HowToRun) -> ToAsk:
    folder = course.submitted(student, assignment.name)
    notebooks: dict[str, str] = {}
    problem = ""
    own: tuple[Path, ...] = ()
    try:
        course.set_aside(student, assignment.name)  # links, which would be followed
        own = own_files(folder, assignment.course.ignore)
        opened: set[Path] = set()
        for name in course.notebooks_of(assignment):
            found = open_notebook(assignment, folder / f"{name}.ipynb", assignment.released(name))
            if found.result.status:
                problem = problem or f"There is nothing to ask: {found.result.notes[0]}"
                continue
            notebooks[name] = nbformat.writes(found.notebook)
            opened |= set(own_notebooks(folder, found.notebook.cells, own))
        own += tuple(sorted(opened))
    except OSError as error:
        problem = f"The files can't be read ({error.strerror})."
    return ToAsk(student, notebooks, {}, how, own, "" if notebooks else problem)


def _in_common(tasks: Sequence[ToAsk]) -> dict[tuple[str, str], frozenset[str]]:
    """The statements of the most frequent answer, by notebook and cell."""
    answers: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for task in tasks:
        for name, text in task.notebooks.items():
            notebook: NotebookNode = nbformat.reads(text, as_version=4)
            for cell in notebook.cells:
                if cell.cell_type == "code" and is_answer_cell(cell):
                    answers.setdefault((name, str(grade_id(cell))), []).append(keys_of(cell.source))
    return {place: most_common(found) for place, found in answers.items()}
