"""What a feedback page says about its attempt: which one it is, what changed since the last, and which one counts."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from coursekit.cells import exercise_name
from coursekit.checks.results import SubmissionResult, points_in_words
from coursekit.student.values import CheckOutcome
from coursekit.watch.best import attempt_that_counts
from coursekit.watch.chance import Chance, is_in_time
from coursekit.watch.records import AttemptRecord, Attempts, Outcomes
from coursekit.watch.rules import Counts, Rule, Shows, Turn, time_in_words, turns


@dataclass(frozen=True)
class NotebookPage:
    """The page of one notebook of an attempt.

    Args:
        result: what the page shows of the notebook's result.
        written: when the page is written; one that is held back is read when it is due.
        deadline: None if there is none.
        chance: the second chance that the course gives after it.
        titles: what the page calls each exercise, by the grade_id of its test cell.
    """

    notebook: str
    result: SubmissionResult
    shows: Shows
    written: datetime
    deadline: datetime | None
    chance: Chance | None = None
    titles: Mapping[str, str] = field(default_factory=dict)

    def title(self, test: str) -> str:
        return self.titles.get(test, exercise_name(test))


@dataclass(frozen=True)
class Changes:
    """What changed since the attempt `since`: points, and names of exercises or sentences of checks."""

    since: int
    points: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]


@dataclass(frozen=True)
class AttemptLine:
    """What a page says about its attempt, in sentences. The first attempt has no `changes`."""

    number: int
    sentences: tuple[str, ...]
    changes: Changes | None
    second_chance: bool = False


def attempt_line(
    attempts: Attempts, handed_in: datetime, rule: Rule, page: NotebookPage
) -> AttemptLine | None:
    """What to say on the page about the attempt that was handed in then; None if there is no record of it.

    Everything comes from the records and the result, and so from the grader.
    """
    records = attempts.records
    times = [record.handed_in for record in records]
    if handed_in not in times:
        return None
    index = times.index(handed_in)
    record, turn = records[index], turns(rule, times, page.deadline)[index]
    seen = max(page.written, record.due)
    over = page.deadline is not None and not is_in_time(rule, seen, page.deadline)
    known = [other for other in records if other.handed_in <= handed_in or other.due <= seen]
    sentences = [*_held_back(record)]
    if known[-1] is record and not record.second_chance:
        sentences += _one_more(page, seen) if over else _left(rule, turn, seen, page.deadline)
    if any(other.second_chance for other in known):
        sentences += _chance_taken(rule.counts, known, record)
    else:
        sentences.append(_what_counts(rule.counts, known, record, over, page.shows))
    changes = _changes(index, records[index - 1], record, page) if index else None
    return AttemptLine(turn.number, tuple(sentences), changes, record.second_chance)


def _held_back(record: AttemptRecord) -> Iterator[str]:
    if record.due > record.handed_in:
        yield f"This page was held back until {time_in_words(record.due)}."


def _left(rule: Rule, turn: Turn, seen: datetime, deadline: datetime | None) -> Iterator[str]:
    """How many attempts are left, and when the page of the next one comes; nothing in the grace period."""
    if deadline is not None and deadline <= seen:
        return
    if turn.left is not None and turn.until is not None:
        if turn.until <= seen:
            attempts = "one attempt" if rule.attempts == 1 else f"{rule.attempts} attempts"
            yield f"From your next hand-in, you have {attempts} in {_duration(rule.period)}."
        elif turn.left == 0 and deadline is not None and deadline + rule.grace < turn.until:
            yield (
                f"You have no attempts left until the deadline, {time_in_words(deadline)}. What you hand in before then is "
                "graded, but its page comes only after it."
            )
        elif turn.left == 0:
            yield (
                f"You have no attempts left until {time_in_words(turn.until)}. What you hand in before then is graded, but "
                "its page comes only at that time."
            )
        elif deadline is not None and deadline < turn.until:
            yield f"{turn.left} of {rule.attempts} left until the deadline, {time_in_words(deadline)}."
        else:
            yield f"{turn.left} of {rule.attempts} left until {time_in_words(turn.until)}."
    if turn.left != 0 and turn.due + rule.pause > seen:
        yield f"The page of your next attempt comes no earlier than {time_in_words(turn.due + rule.pause)}."


def _one_more(page: NotebookPage, seen: datetime) -> Iterator[str]:
    """The second chance that is open."""
    if page.chance is not None and page.deadline is not None and seen < page.deadline + page.chance.lasts:
        yield (
            f"You may hand in once more until {time_in_words(page.deadline + page.chance.lasts)}: "
            f"{page.chance.share * 100:g}% of the points that you gain count."
        )


def _chance_taken(counts: Counts, known: list[AttemptRecord], record: AttemptRecord) -> Iterator[str]:
    """What came of the second chance, and which attempt counts then."""
    first = attempt_that_counts(counts, [other for other in known if not other.second_chance])
    counting = attempt_that_counts(counts, known)
    assert counting is not None
    if record.second_chance and first is not None:
        number = known.index(first) + 1
        had = (
            f"This was your second chance: attempt {number} had {points_in_words(first.score)}, this one has"
        )
        yield f"{had} {points_in_words(record.points)}."
        if counting is record and record.penalty:
            yield f"{points_in_words(record.penalty)} of those that you gained do not count."
    if counting is record:
        yield f"This attempt counts, with {points_in_words(record.score)}."
    else:
        yield f"Attempt {known.index(counting) + 1}, with {points_in_words(counting.score)}, counts."


def _what_counts(
    counts: Counts, known: list[AttemptRecord], record: AttemptRecord, over: bool, shows: Shows
) -> str:
    """Which attempt counts, of those `known`: the points of a page that is held back are not given away."""
    best = counts is Counts.BEST
    if best and shows is Shows.EXERCISES:  # which one it is would tell whether partial points have changed
        return "Of all your attempts, the best one counts."
    counting = attempt_that_counts(counts, known)
    assert counting is not None
    so_far = "" if over else " so far"
    if counting is record:
        if best:
            return f"This attempt counts: it is your best{so_far}."
        return "This attempt counts." if over else "This attempt counts unless you hand in again."
    number = known.index(counting) + 1
    if best:
        return f"Attempt {number}, with {points_in_words(counting.score)}, counts: it is your best{so_far}."
    return f"Attempt {number} counts: it is your last{so_far}."


def _changes(since: int, before: AttemptRecord, record: AttemptRecord, page: NotebookPage) -> Changes:
    old, new = (attempt.notebooks.get(page.notebook, {}) for attempt in (before, record))
    if page.shows is Shows.EXERCISES:
        passed, failed = _changed(_right(old), _right(new), {name: page.title(name) for name in new})
        return Changes(since, "", passed, failed)
    sentences = {
        f"{exercise.grade_id}\n{check.name}": f"{page.title(exercise.grade_id)}: {check.sentence}"
        for exercise in page.result.exercises
        for check in exercise.checks
    }
    passed, failed = _changed(_passed(old), _passed(new), sentences)
    same_points = math.isclose(before.max_points, record.max_points)
    return Changes(since, _more(record.points - before.points) if same_points else "", passed, failed)


def _right(outcomes: Outcomes) -> dict[str, bool]:
    """Whether each exercise is right."""
    return {
        name: all(outcome == CheckOutcome.PASSED for outcome in checks.values())
        for name, checks in outcomes.items()
    }


def _passed(outcomes: Outcomes) -> dict[str, bool]:
    """Whether each check passed."""
    return {
        f"{exercise}\n{check}": outcome == CheckOutcome.PASSED
        for exercise, checks in outcomes.items()
        for check, outcome in checks.items()
    }


def _changed(
    old: dict[str, bool], new: dict[str, bool], texts: dict[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of what passed only now, and of what passed only before; what is only in one of them is left out."""
    both = [name for name in texts if name in old and name in new and old[name] != new[name]]
    passed = tuple(texts[name] for name in both if new[name])
    return passed, tuple(texts[name] for name in both if not new[name])


def _more(points: float) -> str:
    rounded = round(points, 6)
    if not rounded:
        return "As many points as before."
    return f"{points_in_words(abs(rounded))} {'more' if rounded > 0 else 'fewer'}."


def _duration(period: timedelta) -> str:
    hours = period / timedelta(hours=1)
    if hours == 1:
        return "one hour"
    return f"{hours:g} hours" if hours > 1 else f"{60 * hours:g} minutes"
