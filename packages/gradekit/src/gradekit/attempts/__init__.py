"""The rules of attempts: how many pages a student gets in a period, what they show, and which attempt counts.

A course may offer a second chance: one more hand-in, after the deadline and the feedback, for a share of the points
that it gains. A student's attempts at an assignment are recorded in `.gradekit/attempts/<assignment>/<student>.json`.
"""

import hashlib
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Self
from urllib.parse import quote

from msgspec import Struct
from traitlets import Bunch, Enum, Float, Integer, TraitError, validate
from traitlets.config import Configurable

from gradekit.course import CourseError
from gradekit.course.configuration import PerAssignment
from gradekit.course.files import STATE_FOLDER, read_json, write_json
from gradekit.course.language import _, month_name
from gradekit.verdict.results import SubmissionResult

#: version of the stored form; a file of another version is read as empty
_SCHEMA = 1
#: bytes of a quoted name; a longer one is cut and gets a hash
_LONGEST = 180
#: the outcomes of the checks of a notebook, by grade_id and by the check's name
Outcomes = dict[str, dict[str, str]]
#: the longest period, and the longest pause or grace period: a year
_MAX_HOURS = 366 * 24
_MAX_MINUTES = 60 * _MAX_HOURS


class Page(StrEnum):
    HELD = "held"
    RELEASED = "released"


class Shows(StrEnum):
    """How much a page shows before the deadline."""

    EVERYTHING = "everything"
    SENTENCES = "sentences"
    EXERCISES = "exercises"


class Counts(StrEnum):
    LAST = "last"
    BEST = "best"


@dataclass(frozen=True)
class Rule:
    """The rules of one assignment. `attempts` is 0 if there is no limit."""

    attempts: int = 0
    period: timedelta = timedelta(hours=24)
    pause: timedelta = timedelta()
    shows: Shows = Shows.EVERYTHING
    grace: timedelta = timedelta()
    counts: Counts = Counts.LAST

    def shown(self, now: datetime, deadline: datetime | None) -> Shows:
        """How much a page that is written now shows."""
        return self.shows if is_in_time(self, now, deadline) else Shows.EVERYTHING


class AttemptRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One attempt.

    Args:
        handed_in: when, with time zone UTC. No two attempts of a student have the same time.
        earned: the automatic points of each notebook, before the penalty. Points from manual grading are not included.
        penalty: points deducted for handing in late.
        due: when the page may be released.
        final: whether the page was written after the deadline, when it shows everything.
        second_chance: whether it was handed in after the deadline, for a share of the points that it gains.
        digest: of its notebooks as they were graded; empty in records of older versions.
    """

    handed_in: datetime
    earned: dict[str, float]
    max_points: float
    penalty: float
    notebooks: dict[str, Outcomes]
    due: datetime
    page: Page = Page.HELD
    final: bool = False
    second_chance: bool = False
    digest: str = ""

    @property
    def points(self) -> float:
        """The automatic points of all notebooks, before the penalty."""
        return sum(self.earned.values())

    @property
    def score(self) -> float:
        """The points after the penalty, never below 0."""
        return max(0.0, self.points - self.penalty)


class _Stored(Struct, forbid_unknown_fields=True):
    schema: int
    attempts: list[AttemptRecord]


class Attempts:
    """The attempts of one student at one assignment, oldest first."""

    def __init__(self, path: Path, records: Iterable[AttemptRecord] = ()) -> None:
        self._path = path
        self.records = sorted(records, key=attrgetter("handed_in"))

    @classmethod
    def load(cls, root: Path, assignment: str, student: str) -> Self:
        """The stored attempts; none if there are none, or the file is damaged or of another schema version.

        Raises:
            CourseError: the file can't be opened.
        """
        path = root / STATE_FOLDER / "attempts" / file_name(assignment) / f"{file_name(student)}.json"
        try:
            stored = read_json(path, _Stored)
        except OSError as error:
            raise CourseError(f"{path} can't be read ({error.strerror}): make it readable") from error
        return cls(path, stored.attempts if stored and stored.schema == _SCHEMA else ())

    def at(self, handed_in: datetime) -> AttemptRecord | None:
        return next((record for record in self.records if record.handed_in == handed_in), None)

    def add(self, record: AttemptRecord) -> None:
        """Add an attempt, or replace the one that was handed in at the same time."""
        others = [other for other in self.records if other.handed_in != record.handed_in]
        self.records = sorted([*others, record], key=attrgetter("handed_in"))

    def store(self) -> None:
        write_json(self._path, _Stored(_SCHEMA, self.records))


def outcomes_of(result: SubmissionResult) -> Outcomes:
    """The part of a notebook's result that a record stores."""
    checks = {exercise.grade_id: exercise.checks for exercise in result.exercises}
    return {name: {check.name: str(check.outcome) for check in found} for name, found in checks.items()}


def file_name(name: str) -> str:
    """A file name for any name of a student or an assignment; different names have different ones."""
    quoted = quote(os.fsencode(name), safe=" ").replace(".", "%2E")
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[:_LONGEST]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:32]}"


@dataclass(frozen=True)
class Turn:
    """The place of one attempt among all attempts of a student at an assignment.

    Args:
        number: 1 for the first attempt.
        left: attempts that are left in the period after this one; None if there is no limit.
        due: when the page may be released.
        until: when the period ends; None if there is no limit.
    """

    number: int
    left: int | None
    due: datetime
    until: datetime | None


def turns(rule: Rule, times: Sequence[datetime], deadline: datetime | None = None) -> list[Turn]:
    """The turns of hand-ins at these times, oldest first.

    A period begins with the first hand-in that is not in an earlier one. The pages of its first `attempts` hand-ins
    are due at once, those of the others when it ends.

    With a pause, a page is due no earlier than that after the page before. Hand-ins within one pause share its end, so
    nobody waits longer by handing in more often.

    Once the deadline and its grace period are over, no page of a hand-in from before the deadline is held.
    """
    end = None if deadline is None else deadline + rule.grace + timedelta(seconds=1)
    found: list[Turn] = []
    ends: datetime | None = None
    in_period = 0
    for number, time in enumerate(times, 1):
        if ends is None or time >= ends:
            ends, in_period = time + rule.period, 0
        in_period += 1
        held_back = 0 < rule.attempts < in_period
        due = ends if held_back else time
        if found:
            before = found[-1].due
            due = before if due <= before else max(due, before + rule.pause)
        if end is not None and time < end:
            due = min(due, end)
        limited = rule.attempts > 0
        left = max(0, rule.attempts - in_period) if limited else None
        found.append(Turn(number, left, due, ends if limited else None))
    return found


def time_in_words(time: datetime) -> str:
    """The time in UTC, such as `14:05 UTC on 3 May`; seconds are rounded up."""
    full = time.astimezone(UTC)
    if full.second or full.microsecond:
        full = full.replace(second=0, microsecond=0) + timedelta(minutes=1)
    return _("%(time)s UTC on %(day)s %(month)s", time=f"{full:%H:%M}", day=full.day, month=month_name(full))


class NoChance(Exception):
    """This hand-in has no second chance; the message says why."""


@dataclass(frozen=True)
class Chance:
    """The rules of second chances: the `share` of gained points that counts, and how long after the deadline it `lasts`."""

    share: float
    lasts: timedelta

    def first_attempt(
        self, rule: Rule, attempts: Attempts, handed_in: datetime, deadline: datetime
    ) -> AttemptRecord:
        """The attempt, from before the deadline, that a hand-in after it improves on.

        Raises:
            NoChance: it is too late or too early for a second chance, or the student has had one.
        """
        earlier = [record for record in attempts.records if record.handed_in < handed_in]
        first = attempt_that_counts(rule.counts, [record for record in earlier if not record.second_chance])
        if first is None:
            raise NoChance(
                "there is no record of an attempt before the deadline, which a second chance would improve on. "
                "`gradekit watch` records attempts"
            )
        end = deadline + self.lasts
        if handed_in > end:
            raise NoChance(f"it was handed in after {time_in_words(end)}, when the second chance had ended")
        if used := next((record for record in earlier if record.second_chance), None):
            raise NoChance(
                f"the second chance was used by the hand-in of {time_in_words(used.handed_in)}: there is only one"
            )
        last_page = max(record.due for record in earlier)
        if last_page > handed_in:
            raise NoChance(
                f"it was handed in before {time_in_words(last_page)}, when the last page from before the deadline "
                "is released and the second chance begins"
            )
        return first

    def penalty(self, first: float, second: float) -> float:
        """The deduction from the points of the second hand-in, so that only a share of the points gained counts."""
        return max(0.0, (1 - self.share) * (second - first))


def is_in_time(rule: Rule, handed_in: datetime, deadline: datetime | None) -> bool:
    """Whether a hand-in is an ordinary attempt, within the deadline and its grace period."""
    return deadline is None or handed_in <= deadline + rule.grace


def attempt_that_counts(counts: Counts, records: Sequence[AttemptRecord]) -> AttemptRecord | None:
    """The last of the graded attempts, or the one with the highest score, and of equal ones, the later; None without any.

    A second chance counts if its score is not lower than that of the attempt that counts without it.
    """
    in_time = [record for record in records if not record.second_chance]
    candidates = in_time[-1:] if counts is Counts.LAST else in_time
    candidates += [record for record in records if record.second_chance]
    return max(reversed(candidates), key=lambda record: record.score, default=None)


class AttemptRules(Configurable):
    """The rules that an instructor sets, for all assignments and for single ones."""

    attempts = Integer(
        0,
        min=0,
        help="hand-ins in a period whose pages are released at once; the pages of others come when the period ends. "
        "0: no limit",
    ).tag(config=True)
    period_hours = Float(
        24,
        min=0.01,
        max=_MAX_HOURS,
        help="length of a period in hours; it begins with a student's first hand-in",
    ).tag(config=True)
    pause_minutes = Float(
        0, min=0, max=_MAX_MINUTES, help="minutes between the pages of two hand-ins of a student"
    ).tag(config=True)
    shows = Enum(
        [str(value) for value in Shows],
        str(Shows.EVERYTHING),
        help="what a page shows before the deadline: `everything`; `sentences`: which checks failed, without "
        "differences and values; or `exercises`: only which exercises are right",
    ).tag(config=True)
    grace_minutes = Float(
        0, min=0, max=_MAX_MINUTES, help="minutes after the deadline in which hand-ins are still graded"
    ).tag(config=True)
    counts = Enum(
        [str(value) for value in Counts],
        str(Counts.LAST),
        help="which attempt is in the gradebook: the `last` or the `best`",
    ).tag(config=True)
    per_assignment = PerAssignment(
        *("attempts", "period_hours", "pause_minutes", "shows", "grace_minutes", "counts"),
        help='other rules for single assignments, such as {"02_attention": {"attempts": 3}}',
    ).tag(config=True)

    @validate("period_hours", "pause_minutes", "grace_minutes")
    def _finite(self, proposal: Bunch) -> float:
        number: float = proposal.value
        if math.isnan(number):  # it passes as larger than `min`
            raise TraitError(f"c.AttemptRules.{proposal.trait.name} must be a number")
        return number

    def of(self, assignment: str) -> Rule:
        rules = AttemptRules(**AttemptRules.per_assignment.of(self, assignment))
        period, pause = timedelta(hours=rules.period_hours), timedelta(minutes=rules.pause_minutes)
        grace = timedelta(minutes=rules.grace_minutes)
        return Rule(rules.attempts, period, pause, Shows(rules.shows), grace, Counts(rules.counts))
