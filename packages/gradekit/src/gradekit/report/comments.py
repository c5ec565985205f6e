"""Writes one comment for many students into the gradebook, for formgrader and the feedback page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from nbgrader.api import Comment, Gradebook, MissingEntry

from gradekit.course import Assignment, CourseError
from gradekit.grading.running_course import RunningCourse
from gradekit.report.groups import AnswerGroup
from gradekit.report.pages import REPORTS_FOLDER
from gradekit.report.report_files import groups_in
from gradekit.verdict.fingerprint import same_numbers


@dataclass(frozen=True)
class Recipients:
    """The students who get a comment on their answer `cell` of a notebook.

    `still_concerns` is False for those who have handed in again, so that the comment may not fit.
    """

    students: tuple[str, ...]
    cell: str
    notebook: str
    still_concerns: Callable[[str], bool]


@dataclass
class Commented:
    """Students who got the comment, who had it already, and who were skipped because their answer has changed."""

    written: list[str]
    there_before: list[str]
    left_out: list[str]


def find_group(assignments: Iterable[Assignment], id: str) -> tuple[Assignment, AnswerGroup]:
    """Find the answer group with this id in the latest reports.

    Raises:
        CourseError: there is no such group, or more than one.
    """
    found = [
        (assignment, group) for assignment in assignments for group in groups_in(assignment) if group.id == id
    ]
    if not found:
        raise CourseError(
            f"there is no answer group {id}: `gradekit report ASSIGNMENT` lists the groups and their ids "
            f"in {REPORTS_FOLDER}/ASSIGNMENT/report.html"
        )
    if len(found) > 1:
        names = " and ".join(assignment.name for assignment, _ in found)
        raise CourseError(f"{names} both have an answer group {id}: name one with --assignment")
    return found[0]


def in_group(course: RunningCourse, assignment: Assignment, group: AnswerGroup) -> Recipients:
    """The students of an answer group.

    Raises:
        CourseError: the assignment has no such answer cell.
    """
    notebook = group.notebook or assignment.notebook_of(group.cell).stem
    still_wrong = partial(_still_wrong, course, assignment, group, notebook)
    return Recipients(group.students, group.cell, notebook, still_wrong)


def comment_on(course: RunningCourse, assignment: Assignment, recipients: Recipients, text: str) -> Commented:
    """Append the text to the comment on the answer cell of each recipient.

    Raises:
        CourseError: the text is empty.
    """
    text = text.strip()
    if not text:
        raise CourseError('the comment is empty: gradekit comment GROUP "the comment"')
    course.require_gradebook(writing=True)
    commented = Commented([], [], [])
    with course.alone(), course.gradebook() as gradebook:
        for student in recipients.students:
            comment = _comment(gradebook, recipients.cell, recipients.notebook, assignment.name, student)
            if comment is None or not recipients.still_concerns(student):
                commented.left_out.append(student)
            elif _BETWEEN + text + _BETWEEN in f"{_BETWEEN}{comment.manual_comment or ''}{_BETWEEN}":
                commented.there_before.append(student)
            else:
                parts = [part for part in (comment.manual_comment, text) if part]
                comment.manual_comment = _BETWEEN.join(parts)
                commented.written.append(student)
        gradebook.db.commit()
    return commented


_BETWEEN = "\n\n"


def _comment(gradebook: Gradebook, cell: str, notebook: str, assignment: str, student: str) -> Comment | None:
    try:
        return gradebook.find_comment(cell, notebook, assignment, student)
    except MissingEntry:
        return None


def _still_wrong(
    course: RunningCourse, assignment: Assignment, group: AnswerGroup, notebook: str, student: str
) -> bool:
    """False if the student has handed in a different answer since, or one that isn't graded yet."""
    result = course.result(student, assignment.name, notebook)
    exercise = result.exercise(group.exercise.rpartition("/")[2]) if result else None
    checks = exercise.checks if exercise else []
    found = next((check for check in checks if check.name == group.checks[0]), None)
    if found is None or found.fingerprint != group.fingerprint:
        return False
    return same_numbers(list(group.fingerprint_numbers), found.fingerprint_numbers)
