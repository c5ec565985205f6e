"""Grading a class: what is to be graded goes to the workers, what comes back is kept and written."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import nbformat

from coursekit.attempt import Outcome, Repeats, settled, unconfirmed
from coursekit.checks.results import MISSING, UNREADABLE, SubmissionResult
from coursekit.course import Assignment, CourseError
from coursekit.grading.cluster import DaskWorkers
from coursekit.grading.folders import RunningCourse
from coursekit.grading.task import Task
from coursekit.grading.workers import LocalWorkers
from coursekit.kept import Kept, Key, Results, key_of
from coursekit.nbgrader_plugin.bind import require_bound
from coursekit.nbgrader_plugin.converters import reason_of
from coursekit.nbgrader_plugin.run_checks import RunChecks
from coursekit.student.reading import read
from coursekit.student.repair import repair


@dataclass
class Notebook:
    """A readable notebook: what is kept of it, and why it could not be graded, if so."""

    name: str
    content: nbformat.NotebookNode
    key: Key
    kept: Kept
    failure: str = ""


@dataclass
class Submission:
    """One student's notebooks for the assignment; `waiting` are with the workers.

    `problems` are sentences about what lies beside the notebooks, or why these could not be read.
    """

    student: str
    notebooks: list[Notebook] = field(default_factory=list)
    waiting: int = 0
    problems: list[str] = field(default_factory=list)


class ClassRun:
    """Grades submissions of an assignment, with the settings of the course.

    Args:
        workers: number of processes on this machine.
        scheduler: address of a Dask scheduler whose workers grade instead.
        kernel_name: kernelspec in place of the configured one.
        fresh: take no result from those that were kept.
        force: take none of code that was stopped or ended its process.
    """

    def __init__(
        self,
        course: RunningCourse,
        assignment: Assignment,
        workers: int,
        scheduler: str = "",
        kernel_name: str = "",
        fresh: bool = False,
        force: bool = False,
    ) -> None:
        if kernel_name:
            course.config.RunChecks.student_kernel = kernel_name
        settings = RunChecks(config=course.config)
        self._course, self.assignment = course, assignment
        self._limits, self._kernel_name = settings.limits, settings.student_kernel
        self._fresh, self._force = fresh or settings.fresh, force
        self._repeats = Repeats(settings.repeat_budget)
        self._results = Results(course.root)
        self._workers = DaskWorkers(assignment, scheduler) if scheduler else LocalWorkers(assignment, workers)
        if assignment.name not in course.assignments():
            raise CourseError(
                f"the gradebook has no {assignment.name}: run `nbgrader generate_assignment {assignment.name} --force` first"
            )
        self._released = {name: assignment.released(name) for name in assignment.released_names()}
        if not self._released:
            raise CourseError(
                f"{course.root / assignment.course.release / assignment.name} holds no notebook: "
                f"run `nbgrader generate_assignment {assignment.name} --force` first"
            )
        require_bound(assignment)
        self._workers.start()

    def to_do(self) -> list[str]:
        """Students whose submission is not autograded yet, not completely, or was handed in anew."""
        name = self.assignment.name
        return [
            student
            for student in self._course.handed_in(name)
            if self._course.is_newer(student, name)
            or not all(_is_done(self._course.result(student, name, notebook)) for notebook in self._released)
        ]

    def grade(self, students: Sequence[str]) -> Iterator[Submission]:
        """Grade what is not kept, and keep it; gives each submission once it has all its results.

        What a second try may change waits until all others are graded, and is then tried again, alone.

        Raises:
            CourseError: a check is at fault.
        """
        under_way: dict[str, Submission] = {}
        ready: deque[Submission] = deque()
        doubtful: list[tuple[Task, Outcome]] = []

        def tasks() -> Iterator[Task]:
            for student in students:
                submission = self._submission(student)
                needed = [n for n in submission.notebooks if n.kept.missing(n.key)]
                submission.waiting = len(needed)
                if needed:
                    under_way[student] = submission
                else:
                    ready.append(submission)
                for notebook in needed:
                    yield self._task(student, notebook)

        def take(task: Task, outcome: Outcome | None) -> None:
            submission = under_way[task.student]
            self._take(next(n for n in submission.notebooks if n.name == task.notebook_name), outcome)
            submission.waiting -= 1
            if not submission.waiting:
                ready.append(under_way.pop(task.student))

        try:
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
        finally:
            self._workers.close()

    def _tried_again(self, doubtful: Sequence[tuple[Task, Outcome]]) -> Iterator[tuple[Task, Outcome]]:
        """Second tries, one at a time; the first ones once there is no time left."""
        for task, first in doubtful:
            if not self._repeats.allowed:
                yield task, unconfirmed(first)
                continue
            with self._repeats.spending():
                ((_, second),) = self._workers.run(iter([replace(task, wary=True)]), alone=True)
            yield task, first if second is None else settled(first, second)

    def _submission(self, student: str) -> Submission:
        """A file that can't be read yields no notebook; nbgrader's own steps report the reason."""
        submission = Submission(student)
        try:
            submission.problems = self._course.set_aside(student, self.assignment.name)
            submission.notebooks = list(self._read(student))
        except CourseError:
            raise
        except Exception as error:  # whatever one student causes must not cost the others their grades
            submission.problems.append(f"not read: {reason_of(error)}")
        return submission

    def _read(self, student: str) -> Iterator[Notebook]:
        folder = self._course.submitted(student, self.assignment.name)
        for name, released in self._released.items():
            handed = read(folder / f"{name}.ipynb")
            if handed.notebook is not None:
                content, _ = repair(handed.notebook, released)
                key = key_of(self.assignment, content, name, released, self._limits, self._kernel_name)
                kept = Kept() if self._fresh else self._results.find(self.assignment.name, key)
                kept = Kept() if self._force and kept.stopped else kept
                yield Notebook(name, content, key, kept)

    def _task(self, student: str, notebook: Notebook) -> Task:
        return Task(
            student,
            notebook.name,
            nbformat.writes(notebook.content),
            notebook.key,
            tuple(notebook.kept.missing(notebook.key)),
            self._limits,
            self._kernel_name,
        )

    def _take(self, notebook: Notebook, outcome: Outcome | None) -> None:
        if outcome is None:
            notebook.failure = "its process ended each time"
        elif outcome.fault:
            raise CourseError(outcome.fault)
        elif outcome.kept is None:
            notebook.failure = outcome.failure
        else:
            notebook.kept = notebook.kept.with_newer(outcome.kept, notebook.key)
            if not outcome.again:
                self._results.keep(self.assignment.name, notebook.key, notebook.kept)


def _is_done(result: SubmissionResult | None) -> bool:
    """False for what was not graded, or not confirmed, or on which the grader failed: that has no key."""
    if result is not None and result.suspect:
        return False
    return result is not None and (bool(result.key) or result.status in (MISSING, UNREADABLE))
