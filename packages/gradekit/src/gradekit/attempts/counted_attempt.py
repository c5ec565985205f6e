"""Which attempts count, and the second chance.

The second chance is one more hand-in, after the deadline and the feedback, for a share of the points that it gains.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gradekit.attempts.records import AttemptRecord, Attempts
from gradekit.attempts.rules import Counts, Rule, time_in_words


class NoChance(Exception):
    """This hand-in has no second chance; the message says why."""


@dataclass(frozen=True)
class Chance:
    """The rules of second chances.

    Args:
        share: of the points gained that count.
        lasts: how long after the deadline.
    """

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
        if handed_in > deadline + self.lasts:
            raise NoChance(
                f"it was handed in after {time_in_words(deadline + self.lasts)}, when the second chance had ended"
            )
        used = next((record for record in earlier if record.second_chance), None)
        if used is not None:
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
    """The last of the attempts, or the one with the highest score; of equal ones, the later.

    A second chance counts if its score is not lower than that of the attempt that counts without it.

    Args:
        records: all attempts that were graded, oldest first.

    Returns:
        None if there is no attempt.
    """
    in_time = [record for record in records if not record.second_chance]
    candidates = in_time[-1:] if counts is Counts.LAST else in_time
    candidates += [record for record in records if record.second_chance]
    return max(reversed(candidates), key=lambda record: record.score, default=None)
