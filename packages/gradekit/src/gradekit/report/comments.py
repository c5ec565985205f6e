"""Writes one comment for many students into the gradebook, for formgrader and the feedback page."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nbgrader.api import Comment, Gradebook, MissingEntry

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import answer_of, exercise_name
from gradekit.course.printing import listed, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.class_report import groups_in
from gradekit.report.pages import REPORTS_FOLDER
from gradekit.report.table import Check, locked_class_table, was_graded
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import same_numbers

#: separates the exercise and the check in a check's name
_OF_CHECK = "::"
#: separates the comments of one answer
_GAP = "\n\n"
#: without an answer that ran, a comment on the check makes no sense
_NOTHING_CHECKED = (CheckOutcome.NOT_ANSWERED, CheckOutcome.BLOCKED)
_MAX_NEAR = 3


@dataclass(frozen=True)
class Recipients:
    """The students who get a comment on their answer `cell`.

    `still_concerns` is False for those who have handed in again, so that the comment may not fit.
    """

    assignment: Assignment
    notebook: str
    cell: str
    students: tuple[str, ...]
    still_concerns: Callable[[str], bool]


@dataclass
class Commented:
    """Students who got the comment, who had it already, and who were skipped because their answer has changed."""

    written: list[str]
    there_before: list[str]
    left_out: list[str]


def recipients_of(course: RunningCourse, assignments: Iterable[Assignment], about: str) -> Recipients:
    """Everybody in the answer group with this id, or whose latest submission failed the check `exercise::check`.

    Raises:
        CourseError: there is no such group or check, several assignments have it, or nobody failed the check.
    """
    return (_who_failed if _OF_CHECK in about else _in_group)(course, assignments, about)


def comment_on(course: RunningCourse, recipients: Recipients, text: str) -> Commented:
    """Append the text to the comment on the answer cell of each recipient.

    Raises:
        CourseError: the text is empty.
    """
    text = text.strip()
    if not text:
        raise CourseError('the comment is empty: gradekit comment GROUP "the comment"')
    course.require_gradebook(writing=True)
    commented = Commented([], [], [])
    with course.write_lock(), course.gradebook() as gradebook:
        for student in recipients.students:
            comment = _comment(gradebook, recipients, student)
            if comment is None or not recipients.still_concerns(student):
                commented.left_out.append(student)
            elif _GAP + text + _GAP in f"{_GAP}{comment.manual_comment or ''}{_GAP}":
                commented.there_before.append(student)
            else:
                comment.manual_comment = _GAP.join(filter(None, (comment.manual_comment, text)))
                commented.written.append(student)
        gradebook.db.commit()
    return commented


def _comment(gradebook: Gradebook, recipients: Recipients, student: str) -> Comment | None:
    try:
        return gradebook.find_comment(
            recipients.cell, recipients.notebook, recipients.assignment.name, student
        )
    except MissingEntry:
        return None


def _in_group(course: RunningCourse, assignments: Iterable[Assignment], id: str) -> Recipients:
    found = [(each, group) for each in assignments for group in groups_in(each) if group.id == id]
    if not found:
        raise CourseError(
            f"there is no answer group {id}: `gradekit report ASSIGNMENT` lists the groups and their ids "
            f"in {REPORTS_FOLDER}/ASSIGNMENT/report.html"
        )
    _require_one([assignment for assignment, _ in found], f"an answer group {id}")
    ((assignment, group),) = found
    notebook = group.notebook or assignment.notebook_of(group.cell).stem

    def still_wrong(student: str) -> bool:
        """False if the student has handed in a different answer since, or one that isn't graded yet."""
        result = course.result(student, assignment.name, notebook)
        exercise = result.exercise(group.exercise.rpartition("/")[2]) if result else None
        return any(
            check.name == group.checks[0]
            and check.fingerprint == group.fingerprint
            and same_numbers(list(group.fingerprint_numbers), check.fingerprint_numbers)
            for check in (exercise.checks if exercise else ())
        )

    return Recipients(assignment, notebook, group.cell, group.students, still_wrong)


def _who_failed(course: RunningCourse, assignments: Iterable[Assignment], name: str) -> Recipients:
    graded = [(each, locked_class_table(course, each)) for each in assignments if was_graded(course, each)]
    known = [(assignment, table, check) for assignment, table in graded for check in table.checks]
    found = [entry for entry in known if name in (entry[2].id, entry[2].key)]
    if not found:
        raise CourseError(_no_such_check(name, [check for _, _, check in known]))
    _require_one([assignment for assignment, _, _ in found], f"a check {name}")
    ((assignment, table, check),) = found
    outcomes = {m.student: m.outcomes[check.key].outcome for m in table.members if check.key in m.outcomes}
    failed = [student for student, outcome in outcomes.items() if outcome != CheckOutcome.PASSED]
    students = tuple(student for student in failed if outcomes[student] not in _NOTHING_CHECKED)
    if not students:
        passed = len(outcomes) - len(failed)
        empty = f", and the answers of {len(failed)} are empty or did not run" if failed else ""
        raise CourseError(f"nobody failed {name} in {assignment.name}: {passed} passed it{empty}")
    notebook, _, test = check.exercise.rpartition("/")
    notebook = notebook or assignment.notebook_of(test).stem
    cell = answer_of(assignment.released(notebook), test)
    return Recipients(
        *(assignment, notebook, cell, students), lambda student: not course.is_newer(student, assignment.name)
    )


def _require_one(assignments: Sequence[Assignment], what: str) -> None:
    if len(assignments) > 1:
        names = " and ".join(assignment.name for assignment in assignments)
        raise CourseError(f"{names} both have {what}: name one with --assignment")


def _no_such_check(name: str, checks: Sequence[Check]) -> str:
    exercise, _, wanted = name.partition(_OF_CHECK)
    every = list(dict.fromkeys(check.id for check in checks))
    same_check = [known for known in every if known.partition(_OF_CHECK)[2] == wanted]
    same_exercise = [known for known in every if known.partition(_OF_CHECK)[0] == exercise_name(exercise)]
    close = difflib.get_close_matches(name, same_exercise or every, n=_MAX_NEAR, cutoff=0.6)
    near = list(dict.fromkeys([*same_check, *close, *same_exercise]))[:_MAX_NEAR]
    remedy = (
        f"; similar ones are {listed(near)}" if near else ": `gradekit report ASSIGNMENT` lists the checks"
    )
    return f"no graded assignment has a check {quoted(name)}{remedy}"
