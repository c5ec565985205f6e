"""Grading a class: tasks go to the workers, their results into the cache and to the writer."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat

from gradekit.course import Assignment, CourseError
from gradekit.course.printing import quoted
from gradekit.grading.cluster import DaskWorkers
from gradekit.grading.instructors_text import instructors_texts, put_instructors_text
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.task import LocalWorkers, Task, local_workers
from gradekit.nbgrader_plugin.bind import require_bound
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit.nbgrader_plugin.run_checks import RunChecks
from gradekit.submission.extra_files import own_files, own_notebooks
from gradekit.submission.notebook_file import read_submitted
from gradekit.submission.restore import restore_notebook
from gradekit.verdict.job import GradingJob
from gradekit.verdict.result_cache import CachedResult, CacheKey, ResultCache, key_of
from gradekit.verdict.tries import RepeatBudget, Try, settled, unconfirmed


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
class NotebookProgress:
    """A notebook that could be read: its result so far, and why the grader failed on it, if it did."""

    name: str
    content: nbformat.NotebookNode
    key: CacheKey
    cached: CachedResult
    failure: str = ""
    own_files: tuple[Path, ...] = ()


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
        workers: DaskWorkers | LocalWorkers | None = None,
    ) -> None:
        if options.kernel_name:
            course.config.RunChecks.student_kernel = options.kernel_name
        course.hide()
        settings = RunChecks(config=course.config)
        if not settings.enabled:
            raise CourseError(
                "c.Execute.enabled is False: remove it, or grade the outputs in the submitted files with "
                f"`nbgrader autograde {quoted(assignment.name)} --no-execute`"
            )
        self._course, self.assignment = course, assignment
        self._how = settings.how_to_run(assignment.name)
        self._fresh, self._force = options.fresh or settings.fresh, options.force
        self._repeat_seconds = settings.repeat_budget
        self._cache = ResultCache(course.root)
        self._bound = False
        self._shared = workers is not None
        if options.scheduler:
            workers = workers or DaskWorkers(assignment, options.scheduler)
        self._workers = workers or local_workers(options.workers)
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
            CourseError: a check is at fault, or not bound to its cell. The workers have ended then.
        """
        under_way: dict[str, SubmissionProgress] = {}
        ready: deque[SubmissionProgress] = deque()
        doubtful: list[tuple[Task, Try]] = []

        def tasks() -> Iterator[Task]:
            for student in students:
                submission = self._submission(student)
                needed = [n for n in submission.notebooks if n.cached.missing(n.key)]
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
            self._take(
                next(n for n in submission.notebooks if n.name == task.notebook_name),
                outcome and self._with_unconfirmed(task, outcome),
            )
            submission.waiting -= 1
            if not submission.waiting:
                ready.append(under_way.pop(task.student))

        for task, outcome in self._workers.run(tasks()):
            if outcome is not None and outcome.again:
                doubtful.append((task, outcome))
            else:
                take(task, outcome)
            while ready:
                yield ready.popleft()
        yield from ready
        ready.clear()
        for task, outcome in self._tried_again(doubtful):
            take(task, outcome)
            while ready:
                yield ready.popleft()

    def require_bound(self) -> None:
        """Make sure, once, that the check files belong to test cells; this imports them."""
        if not self._bound:
            require_bound(self.assignment)
            self._bound = True

    def _tried_again(self, doubtful: Sequence[tuple[Task, Try]]) -> Iterator[tuple[Task, Try]]:
        """Repeat each task alone while there is time; keep the first result of the others."""
        budget = RepeatBudget(self._repeat_seconds)
        for task, first in doubtful:
            if not budget.allowed:
                yield task, unconfirmed(first)
                continue
            with budget.spending():
                ((_, second),) = self._workers.run([replace(task, wary=True)], alone=True)
            yield task, first if second is None else settled(first, second)

    def _with_unconfirmed(self, task: Task, outcome: Try) -> Try:
        """The outcome, of which the last command's try is the first one if there was no time to repeat it then."""
        last = self._course.result(task.student, self.assignment.name, task.notebook_name)
        if last is None or not last.suspect or last.key != task.key.submission:
            return outcome
        if outcome.cached is None or outcome.again:
            return outcome
        doubts = [doubt for doubt in last.doubts if doubt.stands_by]
        first = CachedResult(replace(last, notes=[], doubts=doubts), outcome.cached.outputs)
        return settled(Try(first, again=True), outcome)

    def _submission(self, student: str) -> SubmissionProgress:
        """Read a submission. For a file that can't be read, nbgrader's own steps report the reason."""
        submission = SubmissionProgress(student)
        try:
            submission.problems = self._course.set_aside(student, self.assignment.name)
            submission.notebooks = list(self._read(submission))
        except CourseError:
            raise
        except Exception as error:  # one student's files must not cost the others their grades
            submission.problems.append(f"not read: {reason_of(error)}")
        return submission

    def _read(self, submission: SubmissionProgress) -> Iterator[NotebookProgress]:
        folder = self._course.submitted(submission.student, self.assignment.name)
        own = own_files(folder, self.assignment.course.ignore)
        for name, released in self._released.items():
            handed_in = read_submitted(folder / f"{name}.ipynb", self.assignment)
            if handed_in.notebook is not None:
                submission.problems += handed_in.versions
                content, _ = restore_notebook(handed_in.notebook, released)
                put_instructors_text(content, self._texts.get(name, {}))
                for cell in content.cells:  # no result depends on pictures, which may be large
                    cell.pop("attachments", None)
                opened = own + own_notebooks(folder, content.cells, own)
                key = key_of(GradingJob(self.assignment, name, content, released, self._how, opened))
                cached = CachedResult() if self._fresh else self._cache.find(self.assignment.name, key)
                cached = CachedResult() if self._force and cached.stopped else cached
                yield NotebookProgress(name, content, key, cached, own_files=opened)

    def _task(self, student: str, notebook: NotebookProgress) -> Task:
        return Task(
            self.assignment,
            student,
            notebook.name,
            nbformat.writes(notebook.content),
            notebook.key,
            tuple(notebook.cached.missing(notebook.key)),
            self._how,
            notebook.own_files,
        )

    def _take(self, notebook: NotebookProgress, outcome: Try | None) -> None:
        if outcome is None:
            notebook.failure = "its process ended each time, or took too long"
        elif outcome.fault:
            raise CourseError(outcome.fault)
        elif outcome.cached is None:
            notebook.failure = outcome.failure
        else:
            notebook.cached = notebook.cached.updated(outcome.cached, notebook.key)
            if not outcome.again:
                self._cache.store(self.assignment.name, notebook.key, notebook.cached)
