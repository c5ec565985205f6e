"""The grades of an assignment in the gradebook."""

from collections.abc import Iterable
from typing import TypeGuard

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy.orm import joinedload

from gradekit.course.cells import certain_score
from gradekit.verdict.results import Status, SubmissionResult


def grades_of(gradebook: Gradebook, assignment: str) -> Iterable[tuple[str, str, str, Grade]]:
    """The grade of each cell with its student, the submitted notebook's id and the notebook's name, in one query."""
    found: Iterable[tuple[str, str, str, Grade]] = (
        gradebook.db.query(SubmittedAssignment.student_id, SubmittedNotebook.id, Notebook.name, Grade)
        .select_from(Grade)
        .options(joinedload(Grade.cell))
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
    return found


def penalties_of(gradebook: Gradebook, assignment: str) -> dict[str, float]:
    """The points that each student has lost for handing in late, in all notebooks."""
    found: dict[str, float] = {}
    rows = (
        gradebook.db.query(SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty)
        .select_from(SubmittedNotebook)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
    for student, penalty in rows:
        found[student] = found.get(student, 0.0) + (penalty or 0.0)
    return found


class RecordedScores:
    """The automatic scores of an assignment that are in the gradebook, read in one query.

    A folder in autograded/ doesn't prove that they are: the student's rows may have been removed, or the gradebook may
    be new, or restored from a backup.
    """

    def __init__(self, gradebook: Gradebook, assignment: str) -> None:
        found = (
            gradebook.db.query(
                SubmittedAssignment.student_id,
                Notebook.name,
                BaseCell.name,
                Grade.auto_score,
                Grade.manual_score,
            )
            .select_from(SubmittedNotebook)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .outerjoin(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .outerjoin(BaseCell, BaseCell.id == Grade.cell_id)
            .filter(Assignment.name == assignment)
        )
        self._grades: dict[tuple[str, str], dict[str, tuple[float | None, float | None]]] = {}
        for student, notebook, cell, *grade in found:
            self._grades.setdefault((student, notebook), {})[cell] = (grade[0], grade[1])

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
