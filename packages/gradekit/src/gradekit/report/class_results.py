"""The results of a class in one assignment, by student and check."""

import glob
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from gradekit.course import Assignment
from gradekit.course.cells import exercise_name
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import ClassTable, Row, class_table
from gradekit.session.values import CheckOutcome
from gradekit.submission.extra_files import time_handed_in
from gradekit.verdict.results import CheckResult


@dataclass(frozen=True)
class Check:
    """A check of the assignment and the sentence that students read about it. `title` is that of the exercise."""

    exercise: str
    name: str
    sentence: str
    points: float
    title: str = ""

    @property
    def key(self) -> str:
        return f"{self.exercise}::{self.name}"

    @property
    def id(self) -> str:
        """The name of the check in a command: `exercise::check`."""
        notebook, slash, test = self.exercise.rpartition("/")
        return f"{notebook}{slash}{exercise_name(test)}::{self.name}"

    @property
    def label(self) -> str:
        """Exercise and check, without the `test_` of their names."""
        title = self.title or exercise_name(self.exercise)
        if self.name == self.exercise.rpartition("/")[2]:  # an ordinary test cell is its own check
            return title
        return f"{title}: {self.name.removeprefix('test_').replace('_', ' ')}"


@dataclass
class Member:
    """One student of the class. `score` is in percent of the points graded so far; None if nothing is graded."""

    student: str
    status: str
    total: float | None = None
    score: float | None = None
    seconds: float = 0.0
    handed_in: datetime | None = None
    #: by the key of the check
    outcomes: dict[str, CheckResult] = field(default_factory=dict)

    @property
    def missed(self) -> int:
        """The number of checks that were not passed."""
        return sum(outcome.outcome != CheckOutcome.PASSED for outcome in self.outcomes.values())


@dataclass
class ClassResults:
    """A class in one assignment.

    `waiting` is the number of answers awaiting manual grading. `removed` are students whose work was graded, and who are
    not in the gradebook anymore; they are no members.
    """

    assignment: str
    maximum: float
    members: list[Member]
    checks: list[Check]
    waiting: int = 0
    removed: list[str] = field(default_factory=list)

    @property
    def graded(self) -> list[Member]:
        """The students with at least one check result."""
        return [member for member in self.members if member.outcomes]

    @property
    def scores(self) -> list[float]:
        return [member.score for member in self.members if member.score is not None]


def class_results(course: RunningCourse, assignment: Assignment) -> ClassResults:
    """Collect the results of all students who are in the gradebook or in submitted/.

    Raises:
        CourseError: there is no gradebook yet.
    """
    with course.alone():  # another command may be rewriting a student's folder
        table = class_table(course, assignment)
        rows = [row for row in table.rows if row.student not in table.removed]
        members = [_member(course, table, row) for row in rows]
    waiting = sum(len(row.waiting) for row in rows)
    maximum = sum(table.maximum.values())
    return ClassResults(assignment.name, maximum, members, list(_checks(table)), waiting, table.removed)


def was_graded(course: RunningCourse, assignment: Assignment) -> bool:
    """True if any student's work in the assignment was autograded."""
    return bool(glob.glob(str(course.autograded("*", assignment.name) / "*.ipynb")))


def _member(course: RunningCourse, table: ClassTable, row: Row) -> Member:
    out_of = sum(table.maximum.get(name, 0) for name, points in row.points.items() if points is not None)
    return Member(
        row.student,
        row.status,
        row.total,
        100 * row.earned / out_of if row.earned is not None and out_of else None,
        sum(result.seconds for result in row.results),
        time_handed_in(course.autograded(row.student, table.assignment)),
        {f"{label}::{check.name}": check for label, check in _outcomes(row)},
    )


def _checks(table: ClassTable) -> Iterator[Check]:
    """All checks with a result, in the order of the notebook and of the check files."""
    seen = set()
    for row in sorted(table.rows, key=lambda row: -sum(1 for _ in _outcomes(row))):
        for label, check in _outcomes(row):
            found = Check(label, check.name, check.sentence, check.points, table.titles.get(label, ""))
            if found.key not in seen:
                seen.add(found.key)
                yield found


def _outcomes(row: Row) -> Iterator[tuple[str, CheckResult]]:
    """The checks with the labels of their exercises."""
    for label, exercise in row.exercises:
        for check in exercise.checks:
            yield label, check
