"""Two works side by side: which of their lines are alike, and how many people in the class have them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gradekit.course.printing import shortened
from gradekit_integrity.similar.surprise import SimilarPair
from gradekit_integrity.similar.works import Work

_MAX_LINES, _MAX_LINE = 120, 200
#: the share of a line's fingerprints that must be in the other work
_MARKED = 0.5


@dataclass(frozen=True)
class ShownLine:
    """A physical line. `people` is how many have the rarest part of it that is in the other work; 0 if it isn't alike."""

    text: str
    people: int = 0


@dataclass(frozen=True)
class ExerciseSideBySide:
    """One exercise of two works."""

    name: str
    first: list[ShownLine]
    second: list[ShownLine]


def people_with(works: Sequence[Work]) -> Counter[int]:
    """How many people have each fingerprint."""
    owned = {(work.owner, one) for work in works for found in work.fingerprints.values() for one in found}
    return Counter(one for _, one in owned)


def side_by_side(works: Sequence[Work], pair: SimilarPair, people: Counter[int]) -> list[ExerciseSideBySide]:
    """The exercises of a pair that are unusually alike."""
    first, second = works[pair.first], works[pair.second]
    return [
        ExerciseSideBySide(name, _shown(first, second, name, people), _shown(second, first, name, people))
        for name in pair.exercises
    ]


def _shown(work: Work, other: Work, exercise: str, people: Counter[int]) -> list[ShownLine]:
    shown: list[ShownLine] = []
    theirs = other.fingerprints[exercise]
    for place, (label, source) in enumerate(zip(work.labels, work.sources, strict=True)):
        if label != exercise:
            continue
        alike: dict[int, int] = {}
        for line in work.lines:
            same = line.fingerprints & theirs
            if line.cell == place and same and len(same) >= _MARKED * len(line.fingerprints):
                rarest = min(people[one] for one in same)
                alike |= dict.fromkeys(range(line.line.first, line.line.last + 1), rarest)
        texts = source.split("\n")
        shown += [
            ShownLine(shortened(text, _MAX_LINE), alike.get(number, 0))
            for number, text in enumerate(texts[:_MAX_LINES], 1)
        ]
        if len(texts) > _MAX_LINES:
            shown.append(ShownLine(f"… {len(texts) - _MAX_LINES:,} more lines"))
    return shown
