"""What a page says about its attempt."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gradekit.attempts import AttemptRecord, Attempts, Counts, Rule, Shows, outcomes_of, turns
from gradekit.attempts.attempt_line import AttemptLine, NotebookPage, attempt_line
from gradekit.page.check_table import result_as_shown
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), 24 * 60
FIVE = Rule(attempts=5)
LAST = "This attempt counts unless you hand in again."


def result(value: str = "passed", size: str = "passed", half: str = "passed") -> SubmissionResult:
    def check(name: str, sentence: str, points: float, outcome: str) -> CheckResult:
        return CheckResult(
            name, sentence, points, outcome, message="" if outcome == "passed" else "`x` is 7."
        )

    double = [check("value", "The output is twice the input.", 4, value), check("size", "Any size.", 3, size)]
    exercises = [
        ExerciseResult("test_double", double),
        ExerciseResult("test_half", [check("half", "Half.", 3, half)]),
    ]
    return SubmissionResult("graded", exercises=exercises)


class Student:
    """A student who hands in a notebook, at minutes after noon."""

    def __init__(self, rule: Rule = FIVE, deadline: float | None = None) -> None:
        self.rule, self.deadline = rule, deadline
        self.results: list[tuple[float, SubmissionResult]] = []

    def hand_in(self, minutes: float, found: SubmissionResult | None = None) -> "Student":
        self.results.append((minutes, found or result()))
        return self

    def reads(self, minutes: float, number: int = 0) -> AttemptLine | None:
        """The line on the page of one of the attempts, by default the last, that is written after so many minutes."""
        attempts = Attempts(Path())
        deadline = None if self.deadline is None else at(self.deadline)
        found_turns = turns(self.rule, [at(when) for when, _ in self.results], deadline)
        for (when, found), turn in zip(self.results, found_turns, strict=True):
            notebooks = {"nb": outcomes_of(found)}
            attempts.add(AttemptRecord(at(when), {"nb": found.earned}, 10, 0, notebooks, turn.due))
        when, found = self.results[number - 1]
        over = self.deadline is not None and self.deadline <= minutes
        shows = Shows.EVERYTHING if over else self.rule.shows
        page = NotebookPage("nb", result_as_shown(found, shows), shows, at(minutes), deadline)
        return attempt_line(attempts, at(when), self.rule, page)


def at(minutes: float) -> datetime:
    return NOON + minutes * MINUTE


def test_without_a_record_nothing_is_said():
    page = NotebookPage("nb", result(), Shows.EVERYTHING, at(1), None)
    assert attempt_line(Attempts(Path()), at(0), FIVE, page) is None


def test_without_a_limit_the_attempt_has_a_number_only():
    line = Student(Rule()).hand_in(0).hand_in(1).reads(2)
    assert (line.number, line.sentences) == (2, (LAST,))


def test_the_page_says_how_many_attempts_are_left_and_until_when():
    line = Student().hand_in(125).hand_in(130).hand_in(140).reads(141)
    assert (line.number, line.sentences) == (3, ("2 of 5 left until 14:05 UTC on 4 May.", LAST))


def test_the_last_of_a_period_says_when_the_next_page_comes():
    line = Student(Rule(attempts=1)).hand_in(0.5).reads(1)
    assert line.sentences[0] == (
        "You have no attempts left until 12:01 UTC on 4 May. Anything you hand in before then is graded, but you "
        "will get its page only at that time."
    )


def test_a_page_that_was_held_back_says_so_and_what_comes_next():
    line = Student(Rule(attempts=2)).hand_in(0).hand_in(1).hand_in(2).reads(2)
    assert line.sentences == (
        "This page was held back until 12:00 UTC on 4 May.",
        "Starting with your next hand-in, you have 2 attempts in 24 hours.",
        LAST,
    )


def test_a_pause_is_said_as_the_time_of_the_next_page():
    line = Student(Rule(pause=10 * MINUTE)).hand_in(0).hand_in(3).reads(3)
    assert line.sentences == (
        "This page was held back until 12:10 UTC on 3 May.",
        "You will get the page of your next attempt no earlier than 12:20 UTC on 3 May.",
        LAST,
    )


def test_attempts_are_left_only_until_the_deadline():
    line = Student(deadline=60).hand_in(0).reads(1)
    assert line.sentences[0] == "4 of 5 left until the deadline, 13:00 UTC on 3 May."


def test_a_page_is_held_no_longer_than_until_the_deadline():
    one = Rule(attempts=1, grace=10 * MINUTE)
    assert Student(one, deadline=60).hand_in(0).reads(1).sentences[0] == (
        "You have no attempts left until the deadline, 13:00 UTC on 3 May. Anything you hand in before then is "
        "graded, but you will get its page only afterwards."
    )
    assert Student(one, deadline=60).hand_in(0).hand_in(2).reads(2).sentences == (
        "This page was held back until 13:11 UTC on 3 May.",
        "This attempt counts.",
    )


def test_after_the_deadline_none_are_left_and_the_last_attempt_counts():
    assert Student(deadline=60).hand_in(0).reads(61).sentences == ("This attempt counts.",)


def test_in_the_grace_period_another_attempt_may_still_count():
    rule = Rule(attempts=5, grace=10 * MINUTE)
    assert Student(rule, deadline=60).hand_in(0).reads(65).sentences == (LAST,)
    assert Student(rule, deadline=60).hand_in(0).reads(71).sentences == ("This attempt counts.",)


def test_an_older_page_says_which_attempt_is_the_last():
    line = Student().hand_in(0).hand_in(1).reads(2, number=1)
    assert line.sentences == ("Attempt 2 counts: it is your last so far.",)


def test_the_first_attempt_has_nothing_to_compare_with():
    assert Student().hand_in(0).reads(1).changes is None


def test_what_changed_is_said_in_points_and_in_the_sentences_of_the_checks():
    changes = (
        Student()
        .hand_in(0, result("failed", "passed"))
        .hand_in(1, result("passed", "timed out"))
        .reads(2)
        .changes
    )
    assert (changes.since, changes.points) == (1, "1 point more.")
    assert changes.passed == ("double: The output is twice the input.",)
    assert changes.failed == ("double: Any size.",)


@pytest.mark.parametrize(
    ("before", "after", "points"),
    [
        (result(), result(half="failed"), "3 points fewer."),
        (result(size="failed"), result(half="failed"), "The same number of points as before."),
    ],
)
def test_points_may_become_fewer_or_stay_as_they_are(before, after, points):
    assert Student().hand_in(0, before).hand_in(1, after).reads(2).changes.points == points


def test_a_check_that_the_attempt_before_did_not_have_is_not_a_change():
    before = result()
    before.exercises.pop()
    changes = Student().hand_in(0, before).hand_in(1).reads(2).changes
    assert (changes.passed, changes.failed) == ((), ())


def test_with_sentences_no_values_are_in_the_line():
    line = Student(Rule(shows=Shows.SENTENCES)).hand_in(0, result("failed")).hand_in(1).reads(2)
    assert line.changes.passed == ("double: The output is twice the input.",)
    assert "7" not in str(line.changes)


def test_with_exercises_the_line_names_exercises_only():
    student = Student(Rule(shows=Shows.EXERCISES)).hand_in(0, result("failed", half="failed"))
    changes = student.hand_in(1, result(size="failed")).reads(2).changes
    assert (changes.points, changes.passed, changes.failed) == ("", ("half",), ())


def test_partial_progress_within_an_exercise_changes_nothing_when_only_exercises_are_shown():
    rule = Rule(shows=Shows.EXERCISES, counts=Counts.BEST)
    worse = Student(rule).hand_in(0, result("failed")).hand_in(1, result("failed", "failed")).reads(2)
    better = Student(rule).hand_in(0, result("failed", "failed")).hand_in(1, result("failed")).reads(2)
    assert worse == better


def test_the_best_attempt_counts_and_the_page_says_which_one_it_is():
    student = (
        Student(Rule(counts=Counts.BEST), deadline=60)
        .hand_in(0, result(size="failed"))
        .hand_in(1, result("failed"))
    )
    assert student.reads(2, number=1).sentences == ("This attempt counts: it is your best so far.",)
    assert student.reads(2).sentences == ("Attempt 1, with 7 points, counts: it is your best so far.",)
    assert student.reads(61).sentences == ("Attempt 1, with 7 points, counts: it is your best.",)


def test_the_points_of_a_page_that_is_held_back_are_not_given_away_on_an_earlier_page():
    student = Student(Rule(attempts=1, counts=Counts.BEST)).hand_in(0, result("failed")).hand_in(1, result())
    assert student.reads(2, number=1).sentences[-1] == "This attempt counts: it is your best so far."
    assert (
        student.reads(DAY, number=1).sentences[-1]
        == "Attempt 2, with 10 points, counts: it is your best so far."
    )
