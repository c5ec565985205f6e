"""From how a check ended to what the student reads."""

import traceback
from pathlib import Path

from coursekit.checks.bounds import CheckOverrun
from coursekit.checks.compare import CheckFailure, describe
from coursekit.checks.results import ExerciseResult, Status
from coursekit.student.proxy import Student
from coursekit.student.session import Session
from coursekit.student.values import StudentError

OUTCOMES = {
    "error": "failed",
    "blank": "not answered",
    "blocked": "blocked",
    "timed out": "timed out",
    "kernel died": "kernel died",
}
_UNUSABLE = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RuntimeError)


def explain(error: BaseException, student: Student | None, check_file: Path) -> tuple[str, str] | None:
    """Outcome and message of a check that ended in `error`; None if the check itself is at fault."""
    if isinstance(error, StudentError):
        return OUTCOMES[error.kind], str(error)
    if isinstance(error, CheckFailure):
        return "failed", str(error)
    if isinstance(error, AssertionError):
        # after the first line stands what pytest adds, which may show values
        return "failed", str(error).split("\n")[0] if not _is_introspection(error) else ""
    if student is None or student.last is None:
        return None
    name, value = student.last
    if isinstance(error, CheckOverrun):
        return "failed", (
            f"The check was stopped: with what `{name}` gave ({describe(value)}) it needs {error.needed}. "
            "Look at the shapes that the exercise asks for."
        )
    if isinstance(error, _UNUSABLE):
        frames = traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).parent == check_file.parent for frame in frames):
            return "failed", (
                f"`{name}` gave {describe(value)}, which is not what the exercise asks for: "
                "look at its shape table again."
            )
    return None


def _is_introspection(error: AssertionError) -> bool:
    return str(error).startswith("assert ") or not str(error)


def status_of(session: Session, exercises: list[ExerciseResult]) -> Status:
    """The status of a submission that could be read."""
    outcomes = {check.outcome for exercise in exercises for check in exercise.checks}
    if session.crashed:
        return Status.KERNEL_DIED
    if session.timed_out or "timed out" in outcomes:
        return Status.TIMED_OUT
    broken = {run.index for run in session.runs.values() if run.state != "ok"}
    if broken and "blocked" in outcomes:
        return Status.PARTLY_GRADED
    return Status.GRADED
