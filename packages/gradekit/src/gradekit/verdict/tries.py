"""One notebook on its way to its result, from the cache or from running it, with a second try: nothing counts for or against a student unless a try on an idle machine confirms it.

Using too much CPU time, or returning a wrong value, does not depend on the machine. But code that was stopped while it
waited, or a kernel that died or did not start, may be due to a busy machine or to another student's code. It may also be
the student's own code that ends itself when it doesn't like the draw, so where two tries disagree, a person decides.

What has to be confirmed is decided where the code is stopped, in `gradekit.session.session`, which fills `suspect`; what
follows from that is decided here.
"""

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gradekit.course import CourseError
from gradekit.course.cells import Doubt, decided_by_a_person
from gradekit.course.printing import first_of, quoted
from gradekit.session.limits import REPEAT_BUDGET
from gradekit.session.values import CheckOutcome
from gradekit.verdict.opened import GradingJob, OpenedNotebook
from gradekit.verdict.result_cache import CachedResult, CacheKey, ResultCache, key_of
from gradekit.verdict.results import ExerciseResult, Status, SubmissionResult

T = TypeVar("T")

GRADER_FAILED = "The grader failed on this notebook ({}). Nothing was graded; a person has to look at it."
UNCONFIRMED = (
    "Some of the code was stopped or ended its process ({}), and no time was left to try again on an idle machine. "
    "The next `autograde` will."
)
_DISAGREE = "`{}` was graded twice, because some of the code was stopped or ended its process ({}), and only once earned some of its points"
#: in the kernel that follows, everything that is drawn is drawn again, also for exercises that end nothing themselves
_REDRAWN = "Only one of two tries ended the Python process ({}), and `{}` may have run again after it"
_ONE_TRY = "Some checks of `{}` did not finish, because some of the code was stopped or ended its process ({}), and no other try confirms it"
#: how checks end that may end better in another try
_NOT_FINISHED = {CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED, CheckOutcome.BLOCKED}


@dataclass(frozen=True)
class Try:
    """The outcome of one try at grading a notebook.

    Args:
        cached: the result; None if there is none.
        fault: what is wrong with a check: its exercise is not in the result. Without a result, the class can't be graded.
        failure: why the grader failed on this notebook.
        again: whether a second try may turn out better.
    """

    cached: CachedResult | None
    fault: str = ""
    failure: str = ""
    again: bool = False

    @property
    def earned(self) -> float:
        return self.cached.result.earned if self.cached else -1.0


def try_once(
    job: GradingJob, key: CacheKey, exercises: Container[str] | None = None, wary: bool = False
) -> Try:
    """Grade a notebook once; the notebook itself is not changed. For `exercises` and `wary`, see `grade`."""
    # here, since a command that finds all results in the cache needs neither pytest nor kernels
    from gradekit.session.kernel import NotStarted
    from gradekit.verdict.grade import CheckAtFault, grade

    notebook, fault = deepcopy(job.notebook), ""
    try:
        try:
            graded = grade(replace(job, notebook=notebook), exercises=exercises, wary=wary)
        except CheckAtFault as error:
            graded, fault = error.graded, str(error)
            key = replace(key, submission="")  # so it isn't done
        cached = CachedResult.of(graded, notebook, key)
    except CourseError as error:
        return Try(None, fault=str(error))
    except NotStarted as error:
        return Try(None, failure=str(error), again=True)
    except Exception as error:  # which must not cost the other students their grades
        return Try(None, failure=f"{type(error).__name__}: {error}"[:500])
    return Try(cached, fault, again=bool(cached.result.suspect))


def settled(first: Try, second: Try) -> Try:
    """The final outcome of two tries: what both confirm counts, and a person decides where they disagree.

    A try without a result, such as one whose kernel failed to start, says nothing about the submission. If the other one
    was ended by the submission, nothing confirms that this would happen again.
    """
    if first.cached is None or second.cached is None:
        only = second if first.cached is None else first
        if only.cached is None:
            return replace(only, again=False)
        result = _in_doubt(only.cached.result) if only.again else only.cached.result
        cached = only.cached
    else:
        shown = min(second, first, key=lambda one: (not one.fault, one.earned))  # it shows what was lost
        cached = shown.cached or first.cached
        result = _confirmed(cached.result, first.cached.result, second.cached.result)
    return Try(replace(cached, result=replace(result, suspect=[])), first.fault or second.fault)


def _confirmed(
    shown: SubmissionResult, first: SubmissionResult, second: SubmissionResult
) -> SubmissionResult:
    """The result `shown`, with only the points that both tries earned, and a doubt where one earned more.

    What was not answered in one of the tries is in no doubt: there is nothing to grade, whatever ended the process.
    """
    exercises, doubts = [], list(shown.doubts)
    redrawn = (first.status == Status.KERNEL_DIED) != (second.status == Status.KERNEL_DIED)
    for exercise in shown.exercises:
        in_first, in_second = first.exercise(exercise.grade_id), second.exercise(exercise.grade_id)
        if in_first and in_second and _points_of(in_first) != _points_of(in_second):
            unanswered = next((each for each in (in_first, in_second) if each.unanswered), None)
            exercise = unanswered or _common(in_first, in_second)
            if unanswered is None:
                why = decided_by_a_person(_DISAGREE.format(exercise.grade_id, _ends(first, second)))
                doubts.append(Doubt(exercise.grade_id, why))
        elif redrawn and exercise.earned:
            why = decided_by_a_person(_REDRAWN.format(_ends(first, second), exercise.grade_id))
            doubts.append(Doubt(exercise.grade_id, why))
        exercises.append(exercise)
    return replace(shown, exercises=exercises, doubts=doubts)


def _points_of(exercise: ExerciseResult) -> list[float]:
    return [check.earned for check in exercise.checks]


def _common(in_first: ExerciseResult, in_second: ExerciseResult) -> ExerciseResult:
    """The worse result of each check."""
    if [check.name for check in in_first.checks] != [check.name for check in in_second.checks]:
        return min(in_first, in_second, key=lambda exercise: exercise.earned)
    pairs = zip(in_first.checks, in_second.checks, strict=True)
    return replace(in_first, checks=[min(pair, key=lambda check: check.earned) for pair in pairs])


def _ends(*results: SubmissionResult) -> str:
    """Why the first of the tries that ended early did so; empty if none did."""
    return next((reason for result in results for reason in result.suspect), "")


def _in_doubt(result: SubmissionResult) -> SubmissionResult:
    """The result, with doubts about the exercises that lost points because code was stopped or ended its process."""
    doubts = [
        Doubt(exercise.grade_id, decided_by_a_person(_ONE_TRY.format(exercise.grade_id, _ends(result))))
        for exercise in result.exercises
        if any(check.outcome in _NOT_FINISHED and check.earned < check.points for check in exercise.checks)
    ]
    return replace(result, doubts=[*result.doubts, *doubts])


def unconfirmed(first: Try) -> Try:
    """The outcome of a try that there was no time to repeat, with a note that says so. It must not be cached."""
    if first.cached is None:
        return first
    result = first.cached.result
    result = replace(_in_doubt(result), notes=[*result.notes, UNCONFIRMED.format(result.suspect[0])])
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


def repeated(
    doubtful: Iterable[tuple[T, Try]], budget: RepeatBudget, again: Callable[[T], Try | None]
) -> Iterator[tuple[T, Try]]:
    """Repeat each try while there is time; yield what was tried with the final outcome.

    `again` makes the second try, while nothing else runs; it returns None if its process was lost.
    """
    for what, first in doubtful:
        if not budget.allowed:
            yield what, unconfirmed(first)
            continue
        with budget.spending():
            second = again(what)
        yield what, first if second is None else settled(first, second)


def with_unconfirmed(last: SubmissionResult | None, key: CacheKey, outcome: Try) -> Try:
    """The outcome, after the try of the last command, if there was no time to repeat that one then."""
    if last is None or not last.suspect or last.key != key.submission:
        return outcome
    if outcome.cached is None or outcome.again:
        return outcome
    doubts = [doubt for doubt in last.doubts if doubt.stands_by]
    first = CachedResult(replace(last, notes=[], doubts=doubts), outcome.cached.outputs)
    return settled(Try(first, again=True), outcome)


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

        The outcome is None if its process was lost each time.

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
