"""Grading a notebook so that nothing counts against a student that a second try, alone, would not confirm.

A timeout of processor time, or a wrong value, is the same on every machine. Code that was stopped while it waited, a
kernel that died or did not start may have met a busy machine or another student's mischief.
"""

import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace

from nbformat import NotebookNode

from coursekit.checks.results import KERNEL_DIED, SubmissionResult
from coursekit.checks.run import grade
from coursekit.course import Assignment, CourseError
from coursekit.kept import Kept, Key, Results, kept_of, key_of
from coursekit.student.kernel import NotStarted
from coursekit.student.limits import Limits

#: seconds that all second tries of an assignment may take together, by default
REPEAT_BUDGET = 600.0

FAILED = "The grader failed on this notebook ({}). Nothing was graded; a person has to look at it."
UNCONFIRMED = (
    "Some of the code was stopped or ended its process ({}), and there was no time left to try it again alone. "
    "The next `autograde` does."
)


@dataclass(frozen=True)
class Outcome:
    """What came of grading one notebook.

    `fault` says what is wrong with a check; then the class can't be graded. `failure` says why the grader
    failed on this one notebook. `again` is True where a second try may end better.
    """

    kept: Kept | None
    fault: str = ""
    failure: str = ""
    again: bool = False

    @classmethod
    def failed(cls, error: Exception) -> "Outcome":
        """The grader itself made a mistake, which must not cost the others their grades."""
        return cls(None, failure=f"{type(error).__name__}: {error}"[:500])

    @property
    def earned(self) -> float:
        return self.kept.result.earned if self.kept else -1.0


def attempt(
    assignment: Assignment,
    notebook: NotebookNode,
    name: str,
    key: Key,
    exercises: Container[str],
    limits: Limits,
    kernel_name: str,
    wary: bool = False,
) -> Outcome:
    """Grade a repaired notebook once; the notebook stays as it is.

    Args:
        wary: take time to find out which cell ends the kernel, as in a second try.
    """
    copy = deepcopy(notebook)
    released = assignment.released(name)
    try:
        graded = grade(
            assignment, copy, name, released, limits, kernel_name=kernel_name, exercises=exercises, wary=wary
        )
    except CourseError as error:
        return Outcome(None, fault=str(error))
    except NotStarted as error:
        return Outcome(None, failure=str(error), again=True)
    except Exception as error:
        return Outcome.failed(error)
    kept = kept_of(graded, copy, key)
    return Outcome(kept, again=bool(kept.result.suspect))


def settled(first: Outcome, second: Outcome) -> Outcome:
    """The better of two tries, which counts from now on whatever it says; of equal ones, the second."""
    better = first if first.earned > second.earned else second
    if better.kept is None:
        return replace(better, again=False)
    return replace(better, kept=_with_result(better.kept, suspect=[]), again=False)


def unconfirmed(first: Outcome) -> Outcome:
    """The only try of what should have been tried twice, with a note; it is not to be stored."""
    if first.kept is None:
        return first
    note = UNCONFIRMED.format(first.kept.result.suspect[0])
    return replace(first, kept=_with_result(first.kept, notes=[*first.kept.result.notes, note]))


def _with_result(kept: Kept, **changes: object) -> Kept:
    return replace(kept, result=replace(kept.result, **changes))


class Repeats:
    """The time left for the second tries of an assignment."""

    def __init__(self, seconds: float = REPEAT_BUDGET) -> None:
        self._left = seconds

    @property
    def allowed(self) -> bool:
        return self._left > 0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Take what happens inside off the budget."""
        start = time.monotonic()
        try:
            yield
        finally:
            self._left -= time.monotonic() - start


def grade_unless_kept(
    results: Results,
    assignment: Assignment,
    notebook: NotebookNode,
    name: str,
    released: NotebookNode,
    limits: Limits,
    kernel_name: str,
    repeats: Repeats,
    usable: Callable[[Kept], bool] = lambda kept: True,
) -> SubmissionResult:
    """Grade what is not kept yet. The code cells of `notebook` get the outputs of the run.

    Args:
        repeats: the budget for a second try, which follows at once: nothing else is graded meanwhile.
        usable: whether to take what was kept.

    Raises:
        CourseError: a check is at fault.
    """
    key = key_of(assignment, notebook, name, released, limits, kernel_name)
    kept = results.find(assignment.name, key)
    kept = kept if usable(kept) else Kept()
    missing = kept.missing(key)
    if missing or not kept.result.status:
        once = [assignment, notebook, name, key, missing, limits, kernel_name]
        outcome = attempt(*once)
        if outcome.again and repeats.allowed:
            with repeats.spending():
                outcome = settled(outcome, attempt(*once, wary=True))
        elif outcome.again:
            outcome = unconfirmed(outcome)
        if outcome.fault:
            raise CourseError(outcome.fault)
        if outcome.kept is None:
            return SubmissionResult(KERNEL_DIED, notes=[FAILED.format(outcome.failure)])
        kept = kept.with_newer(outcome.kept, key)
        if not outcome.again:
            results.keep(assignment.name, key, kept)
    kept.put_into(notebook)
    return kept.result
