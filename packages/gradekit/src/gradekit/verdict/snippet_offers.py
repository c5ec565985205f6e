"""Runs snippets in the student's kernel, once the checks are over, to offer those that fail on this answer."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from gradekit.checks.snippets import Snippet, candidates
from gradekit.course.cells import answer_of
from gradekit.session.proxy import Student, begin_check, run_lines
from gradekit.session.session import Session
from gradekit.session.values import CheckOutcome, StudentError
from gradekit.verdict.results import CheckResult, ExerciseResult

SNIPPET_PASSED = "passed"


class Offer(StrEnum):
    """Which snippets are run."""

    NONE = "none"
    #: for each failed check, until one fails
    THAT_FAIL = "that fail"
    #: all of the exercises that were graded
    ALL = "all"


class SnippetOffers:
    """Runs each snippet at most once, in `student`'s kernel.

    Nothing that happens here counts for the submission. Once a snippet runs out of time or ends the kernel, no other
    is run.
    """

    def __init__(self, session: Session, student: Student, snippets: list[Snippet]) -> None:
        self._session = session
        self._student = student
        self._snippets = snippets
        self._stopped = False
        #: by name, how each snippet ended: `SNIPPET_PASSED`, or what went wrong
        self.ended: dict[str, str] = {}
        self._failed: set[str] = set()

    def offer(self, exercises: Mapping[str, ExerciseResult], offer: Offer) -> None:
        """Give each failed check the first of its snippets that fails."""
        if offer is Offer.NONE or not self._snippets:
            return
        with self._session.off_the_record():
            if offer is Offer.ALL:
                for snippet in self._snippets:
                    if snippet.exercise in exercises:
                        self._fails(snippet)
            for exercise, check in _failed(exercises):
                wanted = candidates(self._snippets, exercise, check.name)
                check.try_it = next((snippet.text for snippet in wanted if self._fails(snippet)), "")

    def _fails(self, snippet: Snippet) -> bool:
        if snippet.name not in self.ended:
            self.ended[snippet.name] = self._run(snippet)
        return snippet.name in self._failed

    def _run(self, snippet: Snippet) -> str:
        if self._stopped or not self._session.alive:
            return "not run"
        try:
            begin_check(self._student, answer_of(self._session.notebook, snippet.exercise))
            run_lines(self._student, snippet.text, snippet.needs)
        except StudentError as error:
            self._stopped = error.outcome in (CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)
            if error.raised and error.outcome == CheckOutcome.FAILED:
                self._failed.add(snippet.name)
            return str(error)
        return SNIPPET_PASSED


def _failed(exercises: Mapping[str, ExerciseResult]) -> Iterator[tuple[str, CheckResult]]:
    for exercise in exercises.values():
        for check in exercise.checks:
            if check.outcome == CheckOutcome.FAILED:
                yield exercise.grade_id, check
