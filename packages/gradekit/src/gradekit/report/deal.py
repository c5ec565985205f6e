"""Deals out submissions to graders: piles of equal size, and some submissions to two graders."""

import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from gradekit.course import CourseError


@dataclass(frozen=True)
class Reading:
    """A submission that a grader reads; a `second` reading is only compared with the first."""

    submission: str
    grader: str
    second: bool = False


def deal_out(
    submissions: Collection[str],
    graders: Sequence[str],
    twice: float = 0.0,
    seed: int = 0,
    kept: Iterable[Reading] = (),
) -> list[Reading]:
    """Assign each submission to a grader, and a share of them to a second one as well.

    The same arguments result in the same piles. They differ by at most one submission, unless those that are `kept` do.

    Args:
        twice: the share that two graders read, from 0 to 1, rounded up to whole submissions.
        kept: readings dealt out before, which stay with their graders.

    Raises:
        CourseError: one grader can't read anything twice.
    """
    if twice and len(graders) < 2:
        raise CourseError("--twice needs two graders: name them with --to ann,bob")
    order = sorted(submissions)
    random.Random(seed).shuffle(order)
    dealt = [reading for reading in kept if reading.submission in order]
    piles = Counter(dict.fromkeys(graders, 0))
    piles.update(reading.grader for reading in dealt)
    first = {reading.submission: reading.grader for reading in dealt if not reading.second}
    second = {reading.submission: reading.grader for reading in dealt if reading.second}
    for submission in order:
        if submission not in first:
            free = [grader for grader in graders if grader != second.get(submission)]
            first[submission] = min(free or graders, key=piles.__getitem__)
            piles[first[submission]] += 1
            dealt.append(Reading(submission, first[submission]))
    for _ in range(len(second), math.ceil(twice * len(order) - 1e-9)):
        grader, submission = _next_second(order, graders, piles, first, second)
        second[submission] = grader
        piles[grader] += 1
        dealt.append(Reading(submission, grader, second=True))
    return dealt


def _next_second(
    order: Sequence[str],
    graders: Sequence[str],
    piles: Counter[str],
    first: dict[str, str],
    second: dict[str, str],
) -> tuple[str, str]:
    """The grader with the smallest pile, and a submission, read by one person so far, from the largest pile."""
    for grader in sorted(graders, key=piles.__getitem__):
        left = [name for name in order if name not in second and first[name] != grader]
        if left:
            of_each = Counter(first[name] for name in left)
            return grader, max(left, key=lambda name: of_each[first[name]])
    raise AssertionError("with two graders, somebody can read any submission for the second time")
