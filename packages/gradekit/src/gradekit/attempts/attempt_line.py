"""The lines of a feedback page about its attempt: its number, what changed since the last, and which one counts."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gradekit.attempts import (
    AttemptRecord,
    Attempts,
    Chance,
    Counts,
    Outcomes,
    Rule,
    Shows,
    Turn,
    attempt_that_counts,
    is_in_time,
    time_in_words,
    turns,
)
from gradekit.course.cells import exercise_name
from gradekit.course.language import N_, _, ngettext
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import SubmissionResult, points_in_words


@dataclass(frozen=True)
class NotebookPage:
    """The page of one notebook of an attempt.

    Args:
        result: what the page shows of the notebook's result.
        written: when the page is written; a page that is held back is read only when it is due.
        chance: the second chance that the course offers after it.
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
    """The changes since attempt `since`: points, and names of exercises or sentences of checks."""

    since: int
    points: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]


@dataclass(frozen=True)
class AttemptLine:
    """The sentences of a page about its attempt. The first attempt has no `changes`."""

    number: int
    sentences: tuple[str, ...]
    changes: Changes | None
    second_chance: bool = False


def attempt_line(
    attempts: Attempts, handed_in: datetime, rule: Rule, page: NotebookPage
) -> AttemptLine | None:
    """The lines for the page of the attempt that was handed in then; None if there is no record of it.

    Everything comes from the records and the result, and so from the grader.
    """
    records = attempts.records
    times = [record.handed_in for record in records]
    if handed_in not in times:
        return None
    index = times.index(handed_in)
    record, turn = records[index], turns(rule, times, page.deadline)[index]
    seen = max(page.written, record.due)
    over = not is_in_time(rule, seen, page.deadline)
    known = [other for other in records if other.handed_in <= handed_in or other.due <= seen]
    sentences: list[str] = []
    if record.due > record.handed_in:
        sentences.append(_("This page was held back until %(time)s.", time=time_in_words(record.due)))
    if known[-1] is record and not record.second_chance:
        sentences += _one_more(page, seen) if over else _left(rule, turn, seen, page.deadline)
    if any(other.second_chance for other in known):
        sentences += _chance_taken(rule.counts, known, record)
    else:
        sentences.append(_what_counts(rule.counts, known, record, over, page.shows))
    changes = _changes(index, records[index - 1], record, page) if index else None
    return AttemptLine(turn.number, tuple(sentences), changes, record.second_chance)


def _left(rule: Rule, turn: Turn, seen: datetime, deadline: datetime | None) -> Iterator[str]:
    """How many attempts are left, and when the page of the next one is released; nothing in the grace period."""
    if deadline is not None and deadline <= seen:
        return
    if turn.left is not None and turn.until is not None:
        counts = {"left": turn.left, "attempts": rule.attempts}
        if turn.until <= seen:
            yield ngettext(
                "Starting with your next hand-in, you have one attempt in %(period)s.",
                "Starting with your next hand-in, you have %(attempts)s attempts in %(period)s.",
                rule.attempts,
                attempts=rule.attempts,
                period=_duration(rule.period),
            )
        elif turn.left == 0 and deadline is not None and deadline + rule.grace < turn.until:
            yield _(
                "You have no attempts left until the deadline, %(time)s. Anything you hand in before then is graded, "
                "but you will get its page only afterwards.",
                time=time_in_words(deadline),
            )
        elif turn.left == 0:
            yield _(
                "You have no attempts left until %(time)s. Anything you hand in before then is graded, "
                "but you will get its page only at that time.",
                time=time_in_words(turn.until),
            )
        elif deadline is not None and deadline < turn.until:
            time = time_in_words(deadline)
            yield _("%(left)s of %(attempts)s left until the deadline, %(time)s.", **counts, time=time)
        else:
            time = time_in_words(turn.until)
            yield _("%(left)s of %(attempts)s left until %(time)s.", **counts, time=time)
    if turn.left != 0 and turn.due + rule.pause > seen:
        earliest = time_in_words(turn.due + rule.pause)
        yield _("You will get the page of your next attempt no earlier than %(time)s.", time=earliest)


def _one_more(page: NotebookPage, seen: datetime) -> Iterator[str]:
    """The sentence about a second chance that is open."""
    if page.chance is not None and page.deadline is not None and seen < page.deadline + page.chance.lasts:
        yield _(
            "You may hand in once more until %(time)s: %(share)s%% of the points that you gain count.",
            time=time_in_words(page.deadline + page.chance.lasts),
            share=f"{page.chance.share * 100:g}",
        )


def _chance_taken(counts: Counts, known: list[AttemptRecord], record: AttemptRecord) -> Iterator[str]:
    """The outcome of the second chance, and which attempt now counts."""
    first = attempt_that_counts(counts, [other for other in known if not other.second_chance])
    counting = attempt_that_counts(counts, known)
    assert counting is not None
    if record.second_chance and first is not None:
        number = known.index(first) + 1
        yield _(
            "This was your second chance: attempt %(number)s had %(before)s, this one has %(now)s.",
            number=number,
            before=points_in_words(first.score),
            now=points_in_words(record.points),
        )
        if counting is record and record.penalty:
            cost = points_in_words(record.penalty)
            yield _("Of what you gained, %(points)s will not count.", points=cost)
    score = points_in_words(counting.score)
    if counting is record:
        yield _("This attempt counts, with %(points)s.", points=score)
    else:
        number = known.index(counting) + 1
        yield _("Attempt %(number)s, with %(points)s, counts.", number=number, points=score)


def _what_counts(
    counts: Counts, known: list[AttemptRecord], record: AttemptRecord, over: bool, shows: Shows
) -> str:
    """Which attempt counts, of those `known`; the points of a page that is held back are not revealed."""
    if counts is Counts.BEST and shows is Shows.EXERCISES:
        # its number would reveal whether partial points have changed
        return _("Of all your attempts, the best one counts.")
    counting = attempt_that_counts(counts, known)
    assert counting is not None
    values = {"number": known.index(counting) + 1, "points": points_in_words(counting.score)}
    return _(_WHAT_COUNTS[counts, counting is record, over], **values)


#: by the rule, whether this is the attempt that counts, and whether no other can follow
_WHAT_COUNTS = {
    (Counts.BEST, True, True): N_("This attempt counts: it is your best."),
    (Counts.BEST, True, False): N_("This attempt counts: it is your best so far."),
    (Counts.BEST, False, True): N_("Attempt %(number)s, with %(points)s, counts: it is your best."),
    (Counts.BEST, False, False): N_("Attempt %(number)s, with %(points)s, counts: it is your best so far."),
    (Counts.LAST, True, True): N_("This attempt counts."),
    (Counts.LAST, True, False): N_("This attempt counts unless you hand in again."),
    (Counts.LAST, False, True): N_("Attempt %(number)s counts: it is your last."),
    (Counts.LAST, False, False): N_("Attempt %(number)s counts: it is your last so far."),
}


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
    return {name: set(checks.values()) <= {CheckOutcome.PASSED} for name, checks in outcomes.items()}


def _passed(outcomes: Outcomes) -> dict[str, bool]:
    return {
        f"{exercise}\n{check}": outcome == CheckOutcome.PASSED
        for exercise, checks in outcomes.items()
        for check, outcome in checks.items()
    }


def _changed(
    old: dict[str, bool], new: dict[str, bool], texts: dict[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of items that passed only now, and only before; items that are not in both are left out."""
    both = [name for name in texts if name in old and name in new and old[name] != new[name]]
    passed = tuple(texts[name] for name in both if new[name])
    return passed, tuple(texts[name] for name in both if not new[name])


def _more(points: float) -> str:
    rounded = round(points, 6)
    if not rounded:
        return _("The same number of points as before.")
    number = f"{abs(rounded):g}"
    if rounded > 0:
        return ngettext("%(points)s point more.", "%(points)s points more.", rounded, points=number)
    return ngettext("%(points)s point fewer.", "%(points)s points fewer.", -rounded, points=number)


def _duration(period: timedelta) -> str:
    hours = period / timedelta(hours=1)
    if hours < 1:
        minutes = f"{60 * hours:g}"
        return ngettext("%(minutes)s minute", "%(minutes)s minutes", 60 * hours, minutes=minutes)
    return ngettext("one hour", "%(hours)s hours", hours, hours=f"{hours:g}")
