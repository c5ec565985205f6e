"""Records what the solutions and the known mistakes return: the values that answers are compared with."""

from gradekit.authoring.grade_variants import Progress, grade_variants
from gradekit.checks.reference import Store, is_recordable, to_stored
from gradekit.checks.variants import mistakes_of
from gradekit.course import RECORDED, Assignment, CourseError, blank_copy, read_notebook
from gradekit.inside.arrays import Array
from gradekit.session.values import CheckOutcome
from gradekit.verdict.grade import Graded, grade
from gradekit.verdict.job import GradingJob, HowToRun
from gradekit.verdict.results import SubmissionResult


def record(assignment: Assignment, workers: int | None = None, progress: Progress | None = None) -> Store:
    """Write what the solutions and the mistakes return now into `reference.safetensors`.

    Raises:
        CourseError: a check fails for a solution, or is at fault. The file stays as it was.
    """
    require_checks(assignment)
    path = assignment.checks / RECORDED
    before = path.read_bytes() if path.exists() else None
    try:
        return _record(assignment, workers, progress)
    except BaseException:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(before)
        raise


def _record(assignment: Assignment, workers: int | None, progress: Progress | None) -> Store:
    store = Store(assignment.checks / RECORDED, recording=True)
    for path in assignment.source_notebooks():
        source = read_notebook(path)
        if not assignment.bound_cells(path.stem, source.cells):
            continue
        job = GradingJob(assignment, path.stem, source, blank_copy(source), HowToRun(rule=None))
        graded = grade(job, store=store)
        for name, check in graded.result.named_checks():
            if check.outcome != CheckOutcome.PASSED:
                raise CourseError(
                    f"{path}: the solution doesn't pass {name} ({check.outcome}), so nothing was recorded. "
                    f"{check.message}".rstrip()
                )
    store.recording = False
    store.save()
    mistakes = dict(grade_variants(assignment, mistakes_of(assignment), workers, progress, thorough=False))
    store.tensors |= mistake_records(assignment, mistakes)
    store.save()
    return store


def require_checks(assignment: Assignment) -> None:
    """Raise CourseError if the assignment has ordinary test cells only."""
    for path in assignment.source_notebooks():
        if assignment.bound_cells(path.stem, read_notebook(path).cells):
            return
    raise CourseError(
        f"{assignment.name} has no hidden checks, and only they are recorded and audited: write one for a test cell, "
        f"as {assignment.checks}/<grade_id>.py"
    )


def mistake_records(assignment: Assignment, graded: dict[str, Graded]) -> dict[str, Array]:
    """For each mistake, in its exercise: the checks that it failed, their messages, and its values in failed comparisons."""
    found: dict[str, Array] = {}
    for mistake in mistakes_of(assignment):
        if mistake.name not in graded:
            continue
        for check, observations in graded[mistake.name].observations.items():
            if _exercise_of(check) == mistake.exercise:
                found |= dict(
                    to_stored(f"{check}/mistakes/{mistake.name}/{seen.key}", seen.value)
                    for seen in observations
                    if not seen.passed and is_recordable(seen.value)
                )
        failed = [
            name.removeprefix(f"{mistake.exercise}::")
            for name in sorted(failed_checks(graded[mistake.name].result))
            if name.startswith(f"{mistake.exercise}::")
        ]
        found |= dict([to_stored(f"{mistake.exercise}/fails/{mistake.name}", failed)])
        said = {
            check.rpartition("::")[2]: text
            for check, text in sorted(graded[mistake.name].messages.items())
            if _exercise_of(check) == mistake.exercise
        }
        found |= dict([to_stored(f"{mistake.exercise}/said/{mistake.name}", said)]) if said else {}
    return found


def failed_checks(result: SubmissionResult) -> set[str]:
    """The names of the checks that were not passed, as `<grade_id>::<check>`."""
    return {name for name, check in result.named_checks() if check.outcome != CheckOutcome.PASSED}


def _exercise_of(check: str) -> str:
    """The grade_id of the test cell in the recorded name of a check, `<grade_id>::…` or `<notebook>:<grade_id>::…`."""
    return check.split("::")[0].rpartition(":")[2]
