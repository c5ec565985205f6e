"""What grading again would change, and why, before anything is written."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from coursekit.checks.results import ExerciseResult, Status, SubmissionResult, points_in_words
from coursekit.grading.autograde import ClassRun, SubmissionRun
from coursekit.grading.running_course import RunningCourse


@dataclass(frozen=True)
class Move:
    """An exercise whose score changes for one student; `before` is None if it was not graded yet."""

    student: str
    exercise: str
    before: float | None
    after: float
    reasons: list[str]


def moves(course: RunningCourse, run: ClassRun, students: list[str]) -> Iterator[SubmissionRun | Move]:
    """Grade what is not in the cache; yield the moves of each submission, then the submission."""
    for submission in run.grade(students):
        for notebook in submission.notebooks:
            old = course.result(submission.student, run.assignment.name, notebook.name)
            if not notebook.failure:
                old = old or SubmissionResult(Status.UNGRADED)
                for move in _moves(submission.student, old, notebook.cached.result):
                    shared = run.assignment.is_shared(move.exercise)
                    yield replace(move, exercise=f"{notebook.name}/{move.exercise}") if shared else move
        yield submission


def _moves(student: str, old: SubmissionResult, new: SubmissionResult) -> Iterator[Move]:
    for exercise in new.exercises:
        before = old.exercise(exercise.grade_id)
        if before is None:
            yield Move(student, exercise.grade_id, None, exercise.earned, ["it was not graded yet"])
        elif before.earned != exercise.earned:
            reasons = [_cause(old, new, before, exercise), *_changes(before, exercise)]
            yield Move(student, exercise.grade_id, before.earned, exercise.earned, reasons)


def _cause(
    old: SubmissionResult, new: SubmissionResult, before: ExerciseResult, after: ExerciseResult
) -> str:
    if before.key != after.key:
        return "its checks were changed"
    if old.key != new.key:
        return "the submission, the limits, or the versions of Python, torch or coursekit have changed"
    return "the result was non-deterministic"


def _changes(before: ExerciseResult, after: ExerciseResult) -> Iterator[str]:
    then = {check.name: check for check in before.checks}
    for check in after.checks:
        old = then.pop(check.name, None)
        worth = points_in_words(check.points)
        if old is None:
            yield f"{check.name} is new ({worth}): {check.outcome}. {check.message}".rstrip()
        elif old.outcome != check.outcome:
            yield f"{check.name} ({worth}): {old.outcome} before, {check.outcome} now. {check.message}".rstrip()
        elif old.points != check.points:
            yield f"{check.name} was worth {points_in_words(old.points)}, now {check.points:g}"
    yield from (f"{name} was removed ({points_in_words(check.points)})" for name, check in then.items())


def move_lines(found: list[Move]) -> Iterator[str]:
    """The moves as text."""
    for move in found:
        before = "-" if move.before is None else f"{move.before:g}"
        yield f"{move.student}  {move.exercise}: {before} -> {points_in_words(move.after)}"
        yield from (f"    {reason}" for reason in move.reasons)
