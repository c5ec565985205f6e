"""Students who were removed from the gradebook after their work was graded, as when they leave the course."""

from collections.abc import Iterable, Iterator, Set

from nbgrader.api import MissingEntry

from gradekit.course.printing import printable, quoted
from gradekit.grading.running_course import RunningCourse

#: their status
NOT_IN_GRADEBOOK = "not in the gradebook"


def removed_students(course: RunningCourse, assignment: str) -> set[str]:
    """Students whose work was graded, and who are not in the gradebook.

    If it has no grades for the assignment, nobody was removed: it is a new gradebook.
    """
    with course.gradebook() as gradebook:
        known = {student.id for student in gradebook.students}
        try:
            graded = gradebook.assignment_submissions(assignment)
        except MissingEntry:
            graded = []
    strangers = set(course.handed_in(assignment)) - known if graded else set()
    return {student for student in strangers if course.autograded(student, assignment).is_dir()}


def never_graded(course: RunningCourse, known: Set[str]) -> set[str]:
    """Students who handed in something for any assignment, but nothing that could be graded, so nbgrader doesn't know them."""
    assignments = course.layout.assignments()
    return {
        student
        for student in set(course.handed_in()) - known
        if not any(course.autograded(student, assignment.name).is_dir() for assignment in assignments)
    }


def removed_lines(assignment: str, students: Iterable[str]) -> Iterator[str]:
    """What to do about each of them."""
    for student in students:
        yield (
            f"{printable(student)} was removed from the gradebook, and doesn't count. A student who comes back: "
            f"`nbgrader db student add {quoted(student)}`, then `gradekit autograde {quoted(assignment)} --force`"
        )
