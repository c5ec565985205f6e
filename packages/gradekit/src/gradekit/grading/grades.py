"""The grades and deadlines of an assignment in the gradebook."""

import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeGuard

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import joinedload

from gradekit.course import CourseError
from gradekit.course.cells import certain_score
from gradekit.course.course_time import CourseTime, looks_misread
from gradekit.course.printing import did_you_mean, quoted
from gradekit.verdict.results import Status, SubmissionResult


def grades_of(gradebook: Gradebook, assignment: str) -> Iterable[tuple[str, str, str, Grade]]:
    """The grade of each cell with its student, the submitted notebook's id and the notebook's name, in one query."""
    grades = (
        gradebook.db.query(SubmittedAssignment.student_id, SubmittedNotebook.id, Notebook.name, Grade)
        .select_from(Grade)
        .options(joinedload(Grade.cell))
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
    )
    found: Iterable[tuple[str, str, str, Grade]] = _with_names(grades, assignment)
    return found


def _with_names(notebooks: Any, assignment: str) -> Any:
    """A query of submitted notebooks: those for one assignment, with their names and students."""
    return (
        notebooks.join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )


def penalties_of(gradebook: Gradebook, assignment: str) -> dict[str, float]:
    """The points that each student has lost for handing in late, in all notebooks."""
    found: dict[str, float] = {}
    columns = SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty
    rows = gradebook.db.query(*columns).select_from(SubmittedNotebook)
    for student, penalty in _with_names(rows, assignment):
        found[student] = found.get(student, 0.0) + (penalty or 0.0)
    return found


class RecordedScores:
    """The automatic scores of an assignment that are in the gradebook, read in one query.

    A folder in autograded/ doesn't prove that they are: the student's rows may have been removed, or the gradebook may
    be new, or restored from a backup.
    """

    def __init__(self, gradebook: Gradebook, assignment: str) -> None:
        scores = Grade.auto_score, Grade.manual_score
        rows = (
            gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, BaseCell.name, *scores)
            .select_from(SubmittedNotebook)
            .outerjoin(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .outerjoin(BaseCell, BaseCell.id == Grade.cell_id)
        )
        self._grades: dict[tuple[str, str], dict[str, tuple[float | None, float | None]]] = {}
        for student, notebook, cell, *grade in _with_names(rows, assignment):
            self._grades.setdefault((student, notebook), {})[cell] = (grade[0], grade[1])

    def automatic(self, student: str, notebook: str) -> dict[str, float | None]:
        return {cell: score for cell, (score, _) in self._grades.get((student, notebook), {}).items()}

    def agree(self, student: str, notebook: str, result: SubmissionResult) -> bool:
        """Whether they are those of the result."""
        grades = self._grades.get((student, notebook))
        if grades is None:
            return False
        return result.nothing_graded or all(
            _agrees(
                certain_score(exercise.earned, result.is_undecided(exercise.grade_id)),
                *grades.get(exercise.grade_id, (None, None)),
            )
            for exercise in result.exercises
        )


def _agrees(certain: float | None, score: float | None, manual_score: float | None) -> bool:
    """Whether this is the automatic score of a cell; a person may have decided where there was none."""
    return score == certain or (score is None and manual_score is not None)


def is_done(result: SubmissionResult | None) -> TypeGuard[SubmissionResult]:
    """False if the result is missing or unconfirmed, or the grader failed: then it has no key."""
    if result is None or result.suspect:
        return False
    return bool(result.key) or result.status in (Status.MISSING, Status.UNREADABLE)


def deadline_lines(gradebook: Gradebook, assignment: str, clock: CourseTime) -> Iterator[str]:
    """The deadline and the extensions; nothing if there is none."""
    try:
        entry = gradebook.find_assignment(assignment)
    except MissingEntry:
        return
    if entry.duedate is None:
        return
    deadline = entry.duedate.replace(tzinfo=UTC)
    yield f"deadline: {clock.in_words(deadline)}"
    if looks_misread(deadline):
        yield (
            "  Is this right? nbgrader reads a zone such as +0200 as seconds. To set it: "
            f'`gradekit deadline {quoted(assignment)} "{deadline:%Y-%m-%d %H:%M}"`'
        )
    extended = gradebook.db.query(SubmittedAssignment.student_id, SubmittedAssignment.extension).filter(
        SubmittedAssignment.assignment_id == entry.id, SubmittedAssignment.extension.isnot(None)
    )
    for student, extension in sorted(extended):
        if extension:
            yield f"  {student}: {clock.in_words(deadline + extension)}"


def set_deadline(gradebook: Gradebook, assignment: str, deadline: datetime) -> None:
    """Set an assignment's deadline; extensions count from it."""
    gradebook.update_or_create_assignment(assignment, duedate=deadline.replace(tzinfo=None))


def deadline_of_all(gradebook: Gradebook, assignment: str) -> datetime:
    """The deadline without extensions.

    Raises:
        CourseError: the assignment has none.
    """
    due: datetime | None = gradebook.find_assignment(assignment).duedate
    if due is None:
        raise CourseError(
            f"{assignment} has no deadline to extend: set one with `gradekit deadline {quoted(assignment)} TIME`"
        )
    return due.replace(tzinfo=UTC)


def extend(gradebook: Gradebook, assignment: str, student: str, until: datetime) -> None:
    """Set one student's deadline.

    Raises:
        CourseError: the assignment has no deadline, or the gradebook no such student.
    """
    due = deadline_of_all(gradebook, assignment)
    try:
        gradebook.find_student(student)
    except MissingEntry:
        nearest = did_you_mean(student, [known.id for known in gradebook.students])
        raise CourseError(
            f"the gradebook has no student {student}: add them with `nbgrader db student add {quoted(student)}`{nearest}"
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own queries
        submission = gradebook.update_or_create_submission(assignment, student)
    submission.extension = until - due
    gradebook.db.commit()
