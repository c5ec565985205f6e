"""What wrong answers take off in the gradebook: negative extra credit, which the key knows from what a person typed in.

A submission can be graded at any moment by nbgrader, which waits for nobody: it writes the score first and then looks at
what is taken off; here, what is taken off is written first and then the score is read again. So the later one of the two
sees what the other wrote.
"""

from collections.abc import Iterator

from nbgrader.api import Grade, Gradebook
from sqlalchemy.orm import object_session

from gradekit.course import Assignment
from gradekit.course.cells import exercise_name
from gradekit.grading.grades import grades_of
from gradekit.grading.running_course import RunningCourse
from gradekit_integrity.defend.records import Issued, Key, changing_key, key_path, store_key
from gradekit_integrity.viva.running import tests_of

_EQUAL = 1e-9


def take_off(course: RunningCourse, assignment: Assignment, key: Key, share: float | None) -> list[str]:
    """Take the share of each exercise's score that was not defended off in the gradebook, in a block of `changing_key`.

    Nothing is taken off without a marked page, and nothing is left off a score that a person typed: it counts as it is.
    Called again, it replaces what it took off before; without a share, it only gives that back where a person typed a
    score. Returns a sentence for each grade where a person decided.
    """
    exercises = {
        f"{name}/{test}": f"{name}/{cell}"
        for name, cell in {
            (one.notebook, one.cell) for sheet in key.latest().values() for one in sheet.questions
        }
        for test in tests_of(assignment.released(name), cell)
    }
    given_back: list[str] = []
    with course.gradebook() as gradebook:
        while True:
            left: list[str] = []
            changes = list(_changes(gradebook, assignment, key, share, exercises, left))
            if not changes:
                return left + given_back
            given_back += [
                f"{student}: {exercise_name(grade.cell.name)} has a score that a person typed in, which counts as it is: what was "
                f"taken off before ({-(grade.extra_credit or 0.0):g}) was given back"
                for student, _, grade, _ in changes
                if grade.manual_score is not None
            ]
            for student, place, _, off in changes:
                key.latest()[student].writing[place] = off
            store_key(assignment, key)
            for _, _, grade, off in changes:
                _replace(gradebook, grade, off)
            gradebook.db.commit()
            gradebook.db.expire_all()
            for student, place, _, off in changes:
                key.set_taken(student, place, off)
            store_key(assignment, key)


def _changes(
    gradebook: Gradebook,
    assignment: Assignment,
    key: Key,
    share: float | None,
    exercises: dict[str, str],
    left: list[str],
) -> Iterator[tuple[str, str, Grade, float]]:
    """The students, places and grades from which something else has to be taken off, and how much; adds to `left`."""
    latest = key.latest()
    for student, _, notebook, grade in grades_of(gradebook, assignment.name):
        place = f"{notebook}/{grade.cell.name}"
        sheet, exercise = latest.get(student), exercises.get(place, "")
        if sheet is None or exercise not in sheet.code:
            continue
        present = -(grade.extra_credit or 0.0)
        is_typed = grade.manual_score is not None
        if share is None and not is_typed:
            continue
        missed = _missed(sheet, exercise)
        off = 0.0 if is_typed else round((share or 0.0) * (grade.auto_score or 0.0) * missed, 2)
        if present and not _is_among(present, key.may_have_taken(student, place)):
            left.append(
                f"{student}: {exercise_name(grade.cell.name)} has extra credit that a person typed in, so it was left alone"
            )
            key.set_taken(student, place, 0.0)
        elif abs(off - present) > _EQUAL:
            yield student, place, grade, off
        else:
            if is_typed and share and missed:
                left.append(
                    f"{student}: {exercise_name(grade.cell.name)} was scored by a person, so nothing was taken off"
                )
            key.set_taken(student, place, off)


def _missed(sheet: Issued, exercise: str) -> float:
    """The share of wrong answers; 0 if nothing was marked."""
    asked = len(sheet.numbers_of(exercise))
    return (asked - sheet.right[exercise]) / asked if sheet.right is not None and asked else 0.0


def _is_among(points: float, amounts: set[float]) -> bool:
    return any(abs(points - one) < _EQUAL for one in amounts)


def _replace(gradebook: Gradebook, grade: Grade, off: float) -> None:
    """Write what is taken off, unless a person has typed something in since the grade was read."""
    unchanged = Grade.extra_credit == grade.extra_credit  # or IS NULL
    rows = gradebook.db.query(Grade).filter(Grade.id == grade.id, unchanged)
    rows.update({Grade.extra_credit: -off or None}, synchronize_session=False)


def lessen_deduction(assignment: Assignment, student: str, grade: Grade) -> None:
    """Take off no more than a new answer earns; the entry point `gradekit.deductions`. What a person typed stays."""
    if not key_path(assignment).exists():
        return
    with changing_key(assignment) as key:
        session = object_session(grade)
        assert session is not None  # the grade was read from one
        session.refresh(grade)
        place, earned = f"{grade.notebook.name}/{grade.cell.name}", grade.auto_score or 0.0
        off = -(grade.extra_credit or 0.0)
        if off <= earned or not _is_among(off, key.may_have_taken(student, place)):
            return
        key.latest()[student].writing[place] = earned
        store_key(assignment, key)
        grade.extra_credit = -earned or None
        session.commit()
        key.set_taken(student, place, earned)
