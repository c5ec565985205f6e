"""Finds everybody who failed a check, to write one comment for all of them."""

import difflib
from collections.abc import Iterable

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import answer_of, exercise_name
from gradekit.course.printing import listed, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.class_results import Check, class_results, was_graded
from gradekit.report.comments import Recipients
from gradekit.session.values import CheckOutcome

#: separates the exercise and the check in a check's name
BETWEEN = "::"
#: without an answer that ran, a comment on the check makes no sense
_NOTHING_CHECKED = (CheckOutcome.NOT_ANSWERED, CheckOutcome.BLOCKED)
_MAX_NEAR = 3


def who_failed(
    course: RunningCourse, assignments: Iterable[Assignment], name: str
) -> tuple[Assignment, Recipients]:
    """Everybody whose latest submission failed the check `exercise::check`.

    Raises:
        CourseError: there is no such check, several assignments have it, or nobody failed it.
    """
    graded = [(found, class_results(course, found)) for found in assignments if was_graded(course, found)]
    known = [(assignment, results, check) for assignment, results in graded for check in results.checks]
    found = [entry for entry in known if name in (entry[2].id, entry[2].key)]
    if not found:
        raise CourseError(_no_such_check(name, [entry[2] for entry in known]))
    if len(found) > 1:
        names = " and ".join(assignment.name for assignment, *_ in found)
        raise CourseError(f"{names} both have a check {name}: name one with --assignment")
    ((assignment, results, check),) = found
    outcomes = {m.student: m.outcomes[check.key].outcome for m in results.members if check.key in m.outcomes}
    failed = [student for student, outcome in outcomes.items() if outcome != CheckOutcome.PASSED]
    students = tuple(student for student in failed if outcomes[student] not in _NOTHING_CHECKED)
    if not students:
        passed = len(outcomes) - len(failed)
        empty = f", and the answers of {len(failed)} are empty or did not run" if failed else ""
        raise CourseError(f"nobody failed {name} in {assignment.name}: {passed} passed it{empty}")
    return assignment, _recipients(course, assignment, check, students)


def _recipients(
    course: RunningCourse, assignment: Assignment, check: Check, students: tuple[str, ...]
) -> Recipients:
    notebook, _, test = check.exercise.rpartition("/")
    notebook = notebook or assignment.notebook_of(test).stem
    cell = answer_of(assignment.released(notebook), test)
    return Recipients(students, cell, notebook, lambda student: not course.is_newer(student, assignment.name))


def _no_such_check(name: str, checks: list[Check]) -> str:
    exercise, _, wanted = name.partition(BETWEEN)
    every = list(dict.fromkeys(check.id for check in checks))
    same_check = [known for known in every if known.partition(BETWEEN)[2] == wanted]
    same_exercise = [known for known in every if known.partition(BETWEEN)[0] == exercise_name(exercise)]
    close = difflib.get_close_matches(name, same_exercise or every, n=_MAX_NEAR, cutoff=0.6)
    near = list(dict.fromkeys([*same_check, *close, *same_exercise]))[:_MAX_NEAR]
    if not near:
        return (
            f"no graded assignment has a check {quoted(name)}: `gradekit report ASSIGNMENT` lists the checks"
        )
    return f"no graded assignment has a check {quoted(name)}; similar ones are {listed(near)}"
