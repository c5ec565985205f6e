"""Grading a class: tasks go to the workers, their results into the cache and to the writer."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nbformat import NotebookNode
from nbgrader.api import Assignment as AssignmentEntry
from nbgrader.api import Gradebook, Notebook, SourceCell

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import grade_id
from gradekit.course.kernels import libraries_of
from gradekit.course.printing import quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.workers import LocalWorkers, Task, local_workers
from gradekit.nbgrader_plugin.bind import require_bound_once
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit.verdict.opened import GradingJob, OpenedNotebook, open_notebook
from gradekit.verdict.result_cache import CachedResult, ResultCache
from gradekit.verdict.tries import NotebookProgress, RepeatBudget, Try, repeated, with_unconfirmed

if TYPE_CHECKING:
    from gradekit.grading.cluster import DaskWorkers


#: the text of each locked cell, by grade_id and type
LockedTexts = dict[tuple[str, str], str]


def instructors_texts(gradebook: Gradebook, assignment: str) -> dict[str, LockedTexts]:
    """The locked cells of an assignment by notebook, in one query.

    `nbgrader generate_assignment` stores them before it removes hidden tests.
    """
    found = (
        gradebook.db.query(Notebook.name, SourceCell.name, SourceCell.cell_type, SourceCell.source)
        .select_from(SourceCell)
        .join(Notebook, Notebook.id == SourceCell.notebook_id)
        .join(AssignmentEntry, AssignmentEntry.id == Notebook.assignment_id)
        .filter(AssignmentEntry.name == assignment, SourceCell.locked)
    )
    texts: dict[str, LockedTexts] = {}
    for notebook, name, cell_type, source in found:
        texts.setdefault(notebook, {})[name, cell_type] = source
    return texts


def put_instructors_text(notebook: NotebookNode, texts: LockedTexts) -> None:
    """Put the text into the locked cells of a restored notebook, as nbgrader's `OverwriteCells` does."""
    for cell in notebook.cells:
        cell.source = texts.get((grade_id(cell) or "", cell.cell_type), cell.source)


@dataclass(frozen=True)
class GradingOptions:
    """How to grade a class.

    Args:
        workers: number of processes on this machine.
        scheduler: address of a Dask scheduler whose workers grade instead.
        kernel_name: kernelspec to use instead of the configured one.
        fresh: don't use the cache.
        force: don't use cached results of code that was stopped or ended its process.
    """

    workers: int
    scheduler: str = ""
    kernel_name: str = ""
    fresh: bool = False
    force: bool = False


@dataclass
class SubmissionProgress:
    """One student's notebooks for the assignment.

    Args:
        waiting: number of notebooks that the workers have not finished.
        problems: sentences about other files in the folder, or why the notebooks could not be read.
    """

    student: str
    notebooks: list[NotebookProgress] = field(default_factory=list)
    waiting: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def faults(self) -> dict[str, list[str]]:
        """What is wrong with checks, whose exercises were left out, each with this student."""
        return {notebook.fault: [self.student] for notebook in self.notebooks if notebook.fault}


class ClassGrading:
    """Grades submissions of an assignment with the settings of the course. Close it to end its workers.

    Args:
        workers: workers to use instead of those of the options. They are shared with other gradings, so the caller ends them.
    """

    def __init__(
        self,
        course: RunningCourse,
        assignment: Assignment,
        options: GradingOptions,
        workers: "DaskWorkers | LocalWorkers | None" = None,
    ) -> None:
        if options.kernel_name:
            course.config.RunChecks.student_kernel = options.kernel_name
        settings = RunChecks(config=course.config)
        if not settings.enabled:
            raise CourseError(
                "c.Execute.enabled is False: remove it, or grade the outputs in the submitted files with "
                f"`nbgrader autograde {quoted(assignment.name)} --no-execute`"
            )
        self._course, self.assignment = course, assignment
        how, libraries = settings.how_to_run(assignment.name), libraries_of([assignment])
        self._how = replace(how, limits=replace(how.limits, torch="torch" in libraries))
        self._fresh, self._force = options.fresh or settings.fresh, options.force
        self._repeat_seconds = settings.repeat_budget
        self._cache = ResultCache(course.root)
        self._bound = False
        self._shared = workers is not None
        if options.scheduler:
            from gradekit.grading.cluster import DaskWorkers

            workers = workers or DaskWorkers(assignment, options.scheduler)
        self._workers = workers or local_workers(options.workers, course.layout, libraries)
        self._released = {name: assignment.released(name) for name in course.notebooks_of(assignment)}
        with course.gradebook() as gradebook:
            self._texts = instructors_texts(gradebook, assignment.name)

    def close(self) -> None:
        """End the workers, unless they are shared."""
        if not self._shared:
            self._workers.close()

    def grade(self, students: Iterable[str]) -> Generator[SubmissionProgress]:
        """Grade and cache what is not cached yet; yield each submission when it has all its results.

        Results that need a second try wait until all others are graded. Each is then graded again, while nothing else runs.

        Args:
            students: the next one is taken when a worker is idle. No student may occur twice.

        Raises:
            CourseError: the checks can't be used, or one isn't bound to its cell. The workers have ended then.
        """
        under_way: dict[str, SubmissionProgress] = {}
        ready: deque[SubmissionProgress] = deque()
        doubtful: list[tuple[Task, Try]] = []

        def tasks() -> Iterator[Task]:
            for student in students:
                submission = self._submission(student)
                needed = [notebook for notebook in submission.notebooks if notebook.missing is not None]
                submission.waiting = len(needed)
                if needed:  # not before, since nothing in this class may be new
                    self.require_bound()
                    self._workers.start()
                    under_way[student] = submission
                else:
                    ready.append(submission)
                for notebook in needed:
                    yield self._task(student, notebook)

        def take(task: Task, outcome: Try | None) -> None:
            submission = under_way[task.student]
            if outcome is not None:
                last = self._course.result(task.student, self.assignment.name, task.job.name)
                outcome = with_unconfirmed(last, task.key, outcome)
            notebook = next(each for each in submission.notebooks if each.name == task.job.name)
            notebook.take(outcome, self._cache)
            submission.waiting -= 1
            if not submission.waiting:
                ready.append(under_way.pop(task.student))

        def run_alone(task: Task) -> Try | None:
            ((_, second),) = self._workers.run([replace(task, wary=True)], alone=True)
            return second

        for task, outcome in self._workers.run(tasks()):
            if outcome is not None and outcome.again:
                doubtful.append((task, outcome))
            else:
                take(task, outcome)
            while ready:
                yield ready.popleft()
        yield from ready
        ready.clear()
        for task, outcome in repeated(doubtful, RepeatBudget(self._repeat_seconds), run_alone):
            take(task, outcome)
            while ready:
                yield ready.popleft()

    def require_bound(self) -> None:
        """Make sure, once, that the check files belong to test cells; this imports them."""
        if not self._bound:
            require_bound_once(self.assignment)
            self._bound = True

    def _submission(self, student: str) -> SubmissionProgress:
        """Open a submission, and find its results in the cache."""
        submission = SubmissionProgress(student)
        folder = self._course.submitted(student, self.assignment.name)
        try:
            set_aside = self._course.set_aside(student, self.assignment.name)
            submission.problems += set_aside
            for name, released in self._released.items():
                path = folder / f"{name}.ipynb"
                opened = open_notebook(self.assignment, path, released, set_aside=set_aside)
                notebook = NotebookProgress(opened, cached=CachedResult(opened.result))
                if not opened.result.status:
                    submission.problems += opened.versions
                    notebook.find(self._job(opened), self._cache, self._fresh, self._force)
                submission.notebooks.append(notebook)
        except CourseError:
            raise
        except Exception as error:  # one student's files must not cost the others their grades
            submission.problems.append(f"not read: {reason_of(error)}")
        return submission

    def _job(self, opened: OpenedNotebook) -> GradingJob:
        """The notebook as it is after nbgrader's own steps, without pictures, on which no result depends."""
        cells = [
            NotebookNode((name, value) for name, value in cell.items() if name != "attachments")
            for cell in opened.notebook.cells
        ]
        notebook = NotebookNode(opened.notebook, cells=cells)
        put_instructors_text(notebook, self._texts.get(opened.name, {}))
        return opened.job(notebook, self._released[opened.name], self._how)

    def _task(self, student: str, notebook: NotebookProgress) -> Task:
        assert notebook.key is not None
        return Task(student, self._job(notebook.opened), notebook.key, tuple(notebook.missing or ()))
