"""Removes from a result and its notebook everything that a feedback page must not show before the deadline."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from gradekit.attempts.rules import Shows
from gradekit.course.cells import grade_id, is_test_cell, nbgrader_metadata
from gradekit.course.language import N_
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, ExerciseResult, Status, SubmissionResult

#: the sentence in which a page explains what it leaves out
EXPLANATIONS = {
    Shows.EVERYTHING: "",
    Shows.SENTENCES: N_(
        "Until the deadline, this page shows which checks failed, but not what they compared."
    ),
    Shows.EXERCISES: N_("Until the deadline, this page shows only which exercises are right."),
}


def deadline_of(gradebook: Gradebook, assignment: str, student: str) -> datetime | None:
    """The student's deadline, with any extension, in UTC; None if there is none."""
    try:
        due = gradebook.find_submission(assignment, student).duedate
    except MissingEntry:
        return None
    return due.replace(tzinfo=UTC) if due else None


def result_as_shown(result: SubmissionResult, shows: Shows) -> SubmissionResult:
    """The result without anything that the page must not show, so that no part of the page can show it."""
    if shows is Shows.EVERYTHING:
        return result
    if shows is Shows.SENTENCES:
        return replace(result, exercises=[_without_values(exercise) for exercise in result.exercises])
    # a check may have been stopped; if it was a cell, the page lists it
    stopped = (
        result.status in (Status.TIMED_OUT, Status.KERNEL_DIED) and result.exercises and not result.cells
    )
    return replace(
        result,
        status=Status.GRADED if stopped else result.status,
        exercises=[_only_whether_right(exercise) for exercise in result.exercises],
    )


def hide_outputs(cells: Sequence[NotebookNode], result: SubmissionResult, shows: Shows) -> None:
    """Remove what test cells displayed and, if the page shows only which exercises are right, their scores."""
    for cell in cells:
        if is_test_cell(cell) and shows is not Shows.EVERYTHING:
            cell.outputs = []
            if shows is Shows.EXERCISES and result.exercise(grade_id(cell) or ""):
                nbgrader_metadata(cell).pop("score", None)


def _without_values(exercise: ExerciseResult) -> ExerciseResult:
    """The exercise with only the sentence and diagnosis of each check, both of which the instructor wrote."""
    checks = [
        replace(check, tried="", message="", relation="", fingerprint="", fingerprint_numbers=[])
        for check in exercise.checks
    ]
    return replace(exercise, checks=checks)


def _only_whether_right(exercise: ExerciseResult) -> ExerciseResult:
    """The exercise with one check in place of all of them, without a name or a sentence."""
    if exercise.unanswered:
        outcome = CheckOutcome.NOT_ANSWERED
    else:
        outcome = CheckOutcome.PASSED if exercise.right else CheckOutcome.FAILED
    return replace(exercise, checks=[CheckResult("", "", exercise.points, outcome)])
