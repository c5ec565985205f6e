"""Finds out what grading again would change, and why, before anything is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gradekit.grading.autograde import ClassGrading, SubmissionProgress
from gradekit.grading.grades import RecordedScores
from gradekit.grading.running_course import RunningCourse
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import ExerciseResult, Status, SubmissionResult, points_in_words

#: sentences about the parts that a result depends on; other parts are packages with their versions
_PARTS = {
    "submission": "the submission was changed",
    "assignment": "the assignment was generated again with a changed notebook",
    "own files": "the files that the student put beside the notebook were changed",
    "handed out": "the files that are handed out with the notebook were changed",
    "limits": "the limits were changed",
    "kernel": "the kernel was changed",
    "gradekit": "gradekit was updated",
    "gradekit_data": "gradekit-data was updated",
    "sandbox_kernel": "sandbox-kernel was updated",
}


@dataclass(frozen=True)
class CheckMove:
    """A check whose outcome or points changed. It had no outcome `before` if it is new, and has none `after` if it
    was removed. `message` and `diagnosis` are the new ones, of a check that doesn't pass."""

    name: str
    sentence: str
    before: CheckOutcome | None
    after: CheckOutcome | None
    points_before: float
    points: float
    message: str = ""
    diagnosis: str = ""

    @property
    def reason(self) -> str:
        worth = points_in_words(self.points)
        if self.after is None:
            return f"{self.name} was removed ({points_in_words(self.points_before)})"
        if self.before is None:
            return f"{self.name} is new ({worth}): {self.after}. {self.message}".rstrip()
        if self.before != self.after:
            return f"{self.name} ({worth}): {self.before} before, {self.after} now. {self.message}".rstrip()
        return f"{self.name} was worth {points_in_words(self.points_before)}, now {self.points:g}"


@dataclass(frozen=True)
class Move:
    """An exercise whose score changes for one student, and why; `before` is None if it was not graded yet.

    `causes` say what has changed since then, and `checks` which of them now end differently. `points` is the maximum.
    """

    student: str
    notebook: str
    exercise: str
    before: float | None
    after: float
    points: float
    causes: list[str]
    checks: list[CheckMove] = field(default_factory=list)

    @property
    def reasons(self) -> list[str]:
        return [*self.causes, *(check.reason for check in self.checks)]


def moves(
    course: RunningCourse, grading: ClassGrading, students: list[str]
) -> Iterator[tuple[SubmissionProgress, list[Move]]]:
    """Grade submissions that are not in the cache; yield each submission with its moves."""
    with course.gradebook() as gradebook:
        recorded = RecordedScores(gradebook, grading.assignment.name)
    for submission in grading.grade(students):
        found: list[Move] = []
        for notebook in submission.notebooks:
            old = course.result(submission.student, grading.assignment.name, notebook.name)
            if not notebook.failure:
                old = old or SubmissionResult(Status.UNGRADED)
                scores = recorded.automatic(submission.student, notebook.name)
                for move in _moves(submission.student, notebook.name, old, notebook.cached.result, scores):
                    if grading.assignment.is_shared(move.exercise):
                        move = replace(move, exercise=f"{notebook.name}/{move.exercise}")
                    found.append(move)
        yield submission, found


def _moves(
    student: str,
    notebook: str,
    old: SubmissionResult,
    new: SubmissionResult,
    scores: Mapping[str, float | None],
) -> Iterator[Move]:
    for exercise in new.exercises:
        name, now = exercise.grade_id, (exercise.earned, exercise.points)
        before = old.exercise(name)
        if before is None:
            score = scores.get(name)
            cause = "it was not graded yet" if score is None else "how it was graded before isn't known"
            if score != exercise.earned:
                yield Move(student, notebook, name, score, *now, [cause])
        elif before.earned != exercise.earned:
            causes = list(_causes(old, new, before, exercise)) or ["the result was non-deterministic"]
            yield Move(student, notebook, name, before.earned, *now, causes, list(_changes(before, exercise)))


def _causes(
    old: SubmissionResult, new: SubmissionResult, before: ExerciseResult, after: ExerciseResult
) -> Iterator[str]:
    """The changes since the exercise was graded; none if only chance can be the reason."""
    if before.ordinary and not after.ordinary:
        yield "it has a check file now"
    elif after.ordinary and not before.ordinary:
        yield "it has no check file any more, so the tests in its cell count"
    elif before.key != after.key and after.ordinary:
        points_changed = before.points != after.points
        yield "its points were changed" if points_changed else "the rule for output on stderr was changed"
    elif before.key != after.key:
        yield "its checks were changed"
    if old.key != new.key:
        yield from _changed_parts(old.depends_on, new.depends_on)
        yield from _changed_kinds(old, new, after.grade_id)


def _changed_parts(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    for name in new | old:
        then, now = old.get(name), new.get(name)
        if then == now:
            continue
        if name in _PARTS:
            yield _PARTS[name]
        else:
            yield f"{name} {then or '(none)'} was replaced by {now or '(none)'}"


def _changed_kinds(old: SubmissionResult, new: SubmissionResult, grade_id: str) -> Iterator[str]:
    """Other test cells that got or lost a check file, since cells with one are run differently."""
    was_ordinary = {exercise.grade_id: exercise.ordinary for exercise in old.exercises}
    for exercise in new.exercises:
        name = exercise.grade_id
        if name != grade_id and was_ordinary.get(name, exercise.ordinary) != exercise.ordinary:
            yield f"`{name}` has {'no check file any more' if exercise.ordinary else 'a check file now'}"


def _changes(before: ExerciseResult, after: ExerciseResult) -> Iterator[CheckMove]:
    then = {check.name: check for check in before.checks}
    for check in after.checks:
        old = then.pop(check.name, None)
        if old is None or (old.outcome, old.points) != (check.outcome, check.points):
            was, worth = (old.outcome, old.points) if old else (None, 0.0)
            now = check.outcome, worth, check.points
            yield CheckMove(check.name, check.sentence, was, *now, check.message, check.diagnosis)
    for old in then.values():
        yield CheckMove(old.name, old.sentence, old.outcome, None, old.points, 0.0)


def move_lines(found: list[Move]) -> Iterator[str]:
    """The moves as text."""
    for move in found:
        before = "-" if move.before is None else f"{move.before:g}"
        yield f"{move.student}  {move.exercise}: {before} -> {points_in_words(move.after)}"
        yield from (f"    {reason}" for reason in move.reasons)
