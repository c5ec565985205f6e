"""One notebook on its way through the grader: its key, and its result, from the cache or from running it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gradekit.course import CourseError
from gradekit.course.printing import first_of, quoted
from gradekit.verdict.opened import GradingJob, OpenedNotebook
from gradekit.verdict.result_cache import CachedResult, CacheKey, ResultCache, key_of
from gradekit.verdict.results import Status, SubmissionResult
from gradekit.verdict.tries import GRADER_FAILED, RepeatBudget, Try, repeated, try_once

#: students that a line names
_MAX_NAMES = 5


@dataclass
class NotebookProgress:
    """A notebook, with its result so far.

    Args:
        key: of what is graded; None if nothing can be.
        failure: why the grader failed on it; empty if it didn't.
        fault: what is wrong with a check, which was left out; empty if nothing is.
    """

    opened: OpenedNotebook
    key: CacheKey | None = None
    cached: CachedResult = field(default_factory=CachedResult)
    failure: str = ""
    fault: str = ""

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
            CourseError: the checks can't be used at all.
        """
        assert self.key is not None
        if outcome is None:
            self.failure = "its process ended each time, or took too long"
        elif outcome.cached is None:
            if outcome.fault:
                raise CourseError(outcome.fault)
            self.failure = outcome.failure
        else:
            self.fault = outcome.fault
            self.cached = self.cached.updated(outcome.cached, self.key)
            if not outcome.again:
                cache.store(self.opened.assignment.name, self.key, self.cached)


def fault_lines(
    faults: Mapping[str, Sequence[str]],
    assignment: str,
    until: str = "a person has to grade this exercise for {}",
) -> Iterator[str]:
    """A line for each fault of a check, with what to do, and what holds for its students `until` then."""
    for fault, students in faults.items():
        yield (
            f"{fault}. Correct it, then run `gradekit regrade {quoted(assignment)}`; until then, "
            + until.format(first_of(sorted(students), _MAX_NAMES))
        )


def grade_here(notebook: NotebookProgress, job: GradingJob, cache: ResultCache, budget: RepeatBudget) -> None:
    """Grade in this process what the cache does not have. A second try follows at once, since nothing else runs.

    Raises:
        CourseError: the checks can't be used at all.
    """
    key, missing = notebook.key, notebook.missing
    if key is None or missing is None:
        return
    outcome = try_once(job, key, missing)
    if outcome.again:
        again = repeated([(job, outcome)], budget, lambda job: try_once(job, key, missing, wary=True))
        ((_, outcome),) = again
    notebook.take(outcome, cache)
