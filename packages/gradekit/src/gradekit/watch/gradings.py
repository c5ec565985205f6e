"""Warm workers for the assignments that are handed in."""

from gradekit.course import Assignment, stamp_of
from gradekit.course.files import Stamp
from gradekit.grading.autograde import ClassGrading, GradingOptions
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.task import local_workers


class Gradings:
    """The grading of each assignment that is handed in. All of them share their workers."""

    def __init__(self, course: RunningCourse, options: GradingOptions) -> None:
        self._course, self._options = course, options
        self._workers = None if options.scheduler else local_workers(options.workers, course.layout)
        self._gradings: dict[str, tuple[ClassGrading, Stamp]] = {}

    def of(self, assignment: Assignment) -> ClassGrading:
        """The grading of an assignment, a new one if its files have changed.

        Raises:
            CourseError: something is wrong in these files.
        """
        stamp = stamp_of(assignment)
        grading, started_with = self._gradings.get(assignment.name, (None, ()))
        if grading is None or stamp != started_with:
            self.drop(assignment.name)
            grading = ClassGrading(self._course, assignment, self._options, self._workers)
            grading.require_bound()  # before anything is collected
            self._gradings[assignment.name] = grading, stamp
        return grading

    def is_current(self, assignment: Assignment) -> bool:
        """Whether the files are those that the assignment's grading started with."""
        return assignment.name in self._gradings and self._gradings[assignment.name][1] == stamp_of(
            assignment
        )

    def drop(self, name: str) -> None:
        """Close a grading, if there is one, and end the workers, which may have read its files."""
        if name in self._gradings:
            self._gradings.pop(name)[0].close()
            self._end_workers()

    def close(self) -> None:
        """Close all gradings."""
        for grading, _ in self._gradings.values():
            grading.close()
        self._gradings.clear()
        self._end_workers()

    def _end_workers(self) -> None:
        if self._workers is not None:
            self._workers.close()
