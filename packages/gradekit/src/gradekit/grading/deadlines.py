"""Deadlines in the gradebook: shown as they are understood, and set in the course's time zone."""

import warnings
from collections.abc import Iterator
from datetime import UTC, datetime

from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment
from sqlalchemy.exc import SAWarning

from gradekit.course import CourseError
from gradekit.course.course_time import CourseTime, looks_misread
from gradekit.course.printing import did_you_mean, quoted


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
