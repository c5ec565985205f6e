"""Several processes that write a class's results, each for one student at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from gradekit.course.printing import printable
from gradekit.grading.autograde import SubmissionProgress
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.workers import Workers
from gradekit.grading.write import Writer

#: writing takes a tenth of a second, but another command may hold the lock for longer
_HUNG_SECONDS = 3600.0


@dataclass(frozen=True)
class _Place:
    """The information that a new process needs to write in the same course as this one."""

    opened_at: Path | None
    kernel_name: str


#: the writer of this process, by course; forks inherit it
_writers: dict[_Place, Writer] = {}


class Writers:
    """Writes results of one assignment in up to `count` processes, as `Writer` does in one. Close it to end them.

    This process writes the first submission itself: the modules it imports and the queries it compiles are then available
    to all the others, which are forked from it. So are the rows that students share.

    Args:
        warm: have a notebook that has changed since it was graded run with the warm server of this process.
    """

    def __init__(self, course: RunningCourse, assignment: str, count: int, warm: bool) -> None:
        hidden = course.layout.hidden if warm else None
        place = _Place(course.opened_at, course.config.RunChecks.get("student_kernel", ""))
        self._writer = _writers[place] = Writer(course)
        self._assignment = assignment
        self._processes: Workers[SubmissionProgress, list[str]] = Workers(
            partial(_write, place, assignment), count, _longest_seconds, hidden, computes=False
        )

    def close(self) -> None:
        """End the processes, once they have finished writing."""
        self._processes.close()

    def write(self, submissions: Iterable[SubmissionProgress]) -> Iterator[tuple[str, list[str]]]:
        """Write submissions; yield each student when done, with a line about what went wrong, if anything did.

        Args:
            submissions: the next one is taken when a process is idle.

        Raises:
            NoSpace, GradebookAway: nothing can be written for anybody.
        """
        submissions = iter(submissions)
        first = next(submissions, None)
        if first is None:
            return
        yield first.student, self._writer.write(first, self._assignment)
        second = next(submissions, None)
        if second is None:
            return
        self._processes.start()
        for submission, problems in self._processes.run(chain([second], submissions)):
            student = submission.student
            lost = [f"{printable(student)}: not written: the process that wrote it ended, or took an hour"]
            yield student, lost if problems is None else problems


def _write(place: _Place, assignment: str, submission: SubmissionProgress) -> list[str]:
    """Write one student's results, in a process of `Writers`."""
    if place not in _writers:  # it isn't a fork of the command
        course = RunningCourse.open(place.opened_at)
        if place.kernel_name:
            course.config.RunChecks.student_kernel = place.kernel_name
        _writers[place] = Writer(course)
    return _writers[place].write(submission, assignment)


def _longest_seconds(submission: SubmissionProgress) -> float:
    return _HUNG_SECONDS
