"""Grading with a second try: nothing counts against a student unless a try on an idle machine confirms it.

Using too much CPU time, or returning a wrong value, does not depend on the machine. But code that was stopped while it
waited, or a kernel that died or did not start, may be due to a busy machine or to another student's code.
"""

import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace

from coursekit.checks.job import GradingJob
from coursekit.checks.results import Status, SubmissionResult
from coursekit.course import CourseError
from coursekit.result_cache import CachedResult, CacheKey, ResultCache, key_of
from coursekit.student.limits import REPEAT_BUDGET

GRADER_FAILED = "The grader failed on this notebook ({}). Nothing was graded; a person has to look at it."
UNCONFIRMED = (
    "Some of the code was stopped or ended its process ({}), and no time was left to try again on an idle machine. "
    "The next `autograde` will."
)


@dataclass(frozen=True)
class Attempt:
    """The outcome of one try at grading a notebook.

    Args:
        cached: the result; None if there is none.
        fault: what is wrong with a check, so that the class can't be graded.
        failure: why the grader failed on this notebook.
        again: whether a second try may turn out better.
    """

    cached: CachedResult | None
    fault: str = ""
    failure: str = ""
    again: bool = False

    @classmethod
    def failed(cls, error: Exception) -> "Attempt":
        """A failure of the grader itself, which must not cost the other students their grades."""
        return cls(None, failure=f"{type(error).__name__}: {error}"[:500])

    @property
    def earned(self) -> float:
        return self.cached.result.earned if self.cached else -1.0


def attempt(
    job: GradingJob, key: CacheKey, exercises: Container[str] | None = None, wary: bool = False
) -> Attempt:
    """Grade a notebook once; the notebook itself is not changed.

    Args:
        key: of the job, to be stored with the result.
        exercises: those to grade; by default all.
        wary: take the time to find out which cell ends the kernel, for a second try.
    """
    # here, since a command that finds all results in the cache needs neither pytest nor kernels
    from coursekit.checks.run import grade
    from coursekit.student.kernel import NotStarted

    notebook = deepcopy(job.notebook)
    try:
        graded = grade(replace(job, notebook=notebook), exercises=exercises, wary=wary)
        cached = CachedResult.of(graded, notebook, key)
    except CourseError as error:
        return Attempt(None, fault=str(error))
    except NotStarted as error:
        return Attempt(None, failure=str(error), again=True)
    except Exception as error:
        return Attempt.failed(error)
    return Attempt(cached, again=bool(cached.result.suspect))


def settled(first: Attempt, second: Attempt) -> Attempt:
    """The better of two tries, which is final; the second one if they are equal."""
    better = first if first.earned > second.earned else second
    if better.cached is None:
        return replace(better, again=False)
    result = replace(better.cached.result, suspect=[])
    return replace(better, cached=replace(better.cached, result=result), again=False)


def unconfirmed(first: Attempt) -> Attempt:
    """The outcome of a try that there was no time to repeat, with a note that says so. It must not be cached."""
    if first.cached is None:
        return first
    result = first.cached.result
    result = replace(result, notes=[*result.notes, UNCONFIRMED.format(result.suspect[0])])
    return replace(first, cached=replace(first.cached, result=result))


class RepeatBudget:
    """The time left for the second tries of an assignment."""

    def __init__(self, seconds: float = REPEAT_BUDGET) -> None:
        self._left = seconds
        #: when a second try ended, by the monotonic clock
        self.last_used = time.monotonic()

    @property
    def allowed(self) -> bool:
        return self._left > 0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Deduct the time that the block takes."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.last_used = time.monotonic()
            self._left -= self.last_used - start


def grade_unless_cached(
    job: GradingJob,
    cache: ResultCache,
    budget: RepeatBudget,
    usable: Callable[[CachedResult], bool] = lambda cached: True,
) -> CachedResult:
    """Grade the exercises that are not in the cache, and fill in the outputs of the notebook's cells.

    Args:
        budget: for a second try, which follows at once, since nothing else is being graded.
        usable: whether to use a result from the cache.

    Raises:
        CourseError: a check is at fault.
    """
    key = key_of(job)
    cached = cache.find(job.assignment.name, key)
    cached = cached if usable(cached) else CachedResult()
    missing = cached.missing(key)
    if missing or not cached.result.status:
        found = attempt(job, key, missing)
        if found.again and budget.allowed:
            with budget.spending():
                found = settled(found, attempt(job, key, missing, wary=True))
        elif found.again:
            found = unconfirmed(found)
        if found.fault:
            raise CourseError(found.fault)
        if found.cached is None:
            return CachedResult(
                SubmissionResult(Status.KERNEL_DIED, notes=[GRADER_FAILED.format(found.failure)])
            )
        cached = cached.updated(found.cached, key)
        if not found.again:
            cache.store(job.assignment.name, key, cached)
    cached.put_outputs_into(job.notebook)
    return cached
