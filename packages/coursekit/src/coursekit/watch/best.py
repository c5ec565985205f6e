"""Which of a student's attempts counts."""

from collections.abc import Sequence

from coursekit.watch.records import AttemptRecord
from coursekit.watch.rules import Counts


def attempt_that_counts(counts: Counts, records: Sequence[AttemptRecord]) -> AttemptRecord | None:
    """The last of the attempts, or the one with the highest score; the later one if scores are equal.

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
