"""Warm workers for the assignments that are handed in."""

from gradekit.course import Assignment, stamp_of
from gradekit.course.files import Stamp
from gradekit.grading.autograde import ClassRun, RunOptions
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.task import local_workers


class Runs:
    """A run for each assignment that is handed in. All of them share their workers."""

    def __init__(self, course: RunningCourse, options: RunOptions) -> None:
        self._course, self._options = course, options
        self._workers = None if options.scheduler else local_workers(options.workers)
        self._runs: dict[str, tuple[ClassRun, Stamp]] = {}

    def of(self, assignment: Assignment) -> ClassRun:
        """The run of an assignment, a new one if its files have changed.

        Raises:
            CourseError: something is wrong in these files.
        """
        stamp = stamp_of(assignment)
        run, started_with = self._runs.get(assignment.name, (None, ()))
        if run is None or stamp != started_with:
            self.drop(assignment.name)
            run = ClassRun(self._course, assignment, self._options, self._workers)
            run.require_bound()  # before anything is collected
            self._runs[assignment.name] = run, stamp
        return run

    def is_current(self, assignment: Assignment) -> bool:
        """Whether the files are those that the assignment's run started with."""
        return assignment.name in self._runs and self._runs[assignment.name][1] == stamp_of(assignment)

    def drop(self, name: str) -> None:
        """Close a run, if there is one, and end the workers, which may have read its files."""
        if name in self._runs:
            self._runs.pop(name)[0].close()
            self._end_workers()

    def close(self) -> None:
        """Close all runs."""
        for run, _ in self._runs.values():
            run.close()
        self._runs.clear()
        self._end_workers()

    def _end_workers(self) -> None:
        if self._workers is not None:
            self._workers.close()
