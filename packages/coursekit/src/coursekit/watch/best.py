"""Which of a student's attempts counts."""

from collections.abc import Sequence

from coursekit.watch.records import AttemptRecord
from coursekit.watch.rules import Counts


def attempt_that_counts(counts: Counts, records: Sequence[AttemptRecord]) -> AttemptRecord | None:
    """The last of the attempts, or the one with the highest score; of equal ones, the later.

    None if there is no attempt. `records` are oldest first.
    """
    if not records:
        return None
    if counts is Counts.LAST:
        return records[-1]
    return max(reversed(records), key=lambda record: record.score)
