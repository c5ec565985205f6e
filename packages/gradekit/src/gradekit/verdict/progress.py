"""One notebook on its way through the grader: its key, and its result, from the cache or from running it."""

from dataclasses import dataclass, field

from gradekit.course import CourseError
from gradekit.verdict.job import GradingJob
from gradekit.verdict.opened import OpenedNotebook
from gradekit.verdict.result_cache import CachedResult, CacheKey, ResultCache, key_of
from gradekit.verdict.results import Status, SubmissionResult
from gradekit.verdict.tries import GRADER_FAILED, RepeatBudget, Try, repeated, try_once


@dataclass
class NotebookProgress:
    """A notebook, with its result so far.

    Args:
        key: of what is graded; None if nothing can be.
        failure: why the grader failed on it; empty if it didn't.
    """

    opened: OpenedNotebook
    key: CacheKey | None = None
    cached: CachedResult = field(default_factory=CachedResult)
    failure: str = ""

    @property
    def name(self) -> str:
        return self.opened.name

    @property
    def missing(self) -> list[str] | None:
        """The exercises to grade, of which there may be none in a notebook that has to run; None if it is graded."""
        if self.key is None:
            return None
        exercises = self.cached.missing(self.key)
        return exercises if exercises or not self.cached.result.status else None

    @property
    def outcome(self) -> CachedResult:
        """The result to be written."""
        if self.failure:
            notes = [GRADER_FAILED.format(self.failure)]
            return CachedResult(SubmissionResult(Status.KERNEL_DIED, notes=notes))
        return self.cached

    def find(self, job: GradingJob, cache: ResultCache, fresh: bool = False, force: bool = False) -> None:
        """Take the result from the cache, if it is there.

        Args:
            fresh: leave the cache alone.
            force: don't take a result of code that was stopped or ended its process.

        Raises:
            CourseError: the known mistakes can't be read.
        """
        self.key = key_of(job)
        cached = CachedResult() if fresh else cache.find(job.assignment.name, self.key)
        self.cached = CachedResult() if force and cached.stopped else cached

    def take(self, outcome: Try | None, cache: ResultCache) -> None:
        """Add the exercises that have been graded, and store the result unless another try may change it.

        Args:
            outcome: None if its process was lost each time.

        Raises:
            CourseError: a check is at fault.
        """
        assert self.key is not None
        if outcome is None:
            self.failure = "its process ended each time, or took too long"
        elif outcome.fault:
            raise CourseError(outcome.fault)
        elif outcome.cached is None:
            self.failure = outcome.failure
        else:
            self.cached = self.cached.updated(outcome.cached, self.key)
            if not outcome.again:
                cache.store(self.opened.assignment.name, self.key, self.cached)


def grade_here(notebook: NotebookProgress, job: GradingJob, cache: ResultCache, budget: RepeatBudget) -> None:
    """Grade in this process what the cache does not have. A second try follows at once, since nothing else runs.

    Raises:
        CourseError: a check is at fault.
    """
    key, missing = notebook.key, notebook.missing
    if key is None or missing is None:
        return
    outcome = try_once(job, key, missing)
    if outcome.again:
        again = repeated([(job, outcome)], budget, lambda job: try_once(job, key, missing, wary=True))
        ((_, outcome),) = again
    notebook.take(outcome, cache)
