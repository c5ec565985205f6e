"""One comment to all students of an answer group, in the gradebook, where formgrader and the feedback show it."""

from collections.abc import Iterable
from dataclasses import dataclass

from nbgrader.api import Comment, Gradebook, MissingEntry

from coursekit.checks.fingerprint import same_numbers
from coursekit.course import Assignment, CourseError
from coursekit.grading.folders import RunningCourse
from coursekit.report.data import FOLDER, groups_in
from coursekit.report.groups import AnswerGroup


@dataclass
class Commented:
    """Who got a comment, who had it already, and who was left out, since their answer is another by now."""

    written: list[str]
    there_before: list[str]
    left_out: list[str]


def find_group(assignments: Iterable[Assignment], id: str) -> tuple[Assignment, AnswerGroup]:
    """The answer group of this id in the newest reports.

    Raises:
        CourseError: there is none, or more than one.
    """
    found = [(assignment, group) for assignment in assignments for group in groups_in(assignment)]
    found = [(assignment, group) for assignment, group in found if group.id == id]
    if not found:
        raise CourseError(
            f"there is no answer group {id}: `coursekit report ASSIGNMENT` lists the groups in "
            f"{FOLDER}/ASSIGNMENT/report.html, each with its id"
        )
    if len(found) > 1:
        names = " and ".join(assignment.name for assignment, _ in found)
        raise CourseError(f"{names} both have an answer group {id}: name one with --assignment")
    return found[0]


def comment_on(assignment: Assignment, group: AnswerGroup, text: str) -> Commented:
    """Add the text to the comments on the group's answer cell. What a person wrote there stays before it.

    Raises:
        CourseError: the text is empty, or the assignment has no such answer cell.
    """
    text = text.strip()
    if not text:
        raise CourseError('the comment is empty: coursekit comment GROUP "what to tell them"')
    course = RunningCourse.open(assignment.course.root)
    notebook = assignment.notebook_of(group.cell).stem
    commented = Commented([], [], [])
    with course.alone(), course.gradebook() as gradebook:
        for student in group.students:
            comment = _comment(gradebook, group.cell, notebook, assignment.name, student)
            if comment is None or not _still_wrong(course, assignment, group, notebook, student):
                commented.left_out.append(student)
            elif text in (comment.manual_comment or "").split(_BETWEEN):
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
    """False if what the student handed in since passes the check, fails it otherwise, or was not graded."""
    result = course.result(student, assignment.name, notebook)
    exercise = result.exercise(group.exercise) if result else None
    checks = {check.name: check for check in exercise.checks} if exercise else {}
    found = checks.get(group.checks[0])
    if found is None or found.fingerprint != group.fingerprint:
        return False
    return same_numbers(list(group.fingerprint_numbers), found.fingerprint_numbers)
