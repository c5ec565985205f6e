"""A class of thirty with made-up names, for `make demo` and the sample pages: its report shows what that of a real class does."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from gradekit.authoring.samples import ODD_CLASS, Sample, only_notebook
from gradekit.checks.variants import Mistake, Variant, alternatives_of, mistakes_of
from gradekit.course import Assignment, CourseError
from gradekit.course.cells import answer_of

_NAMES = (
    *("ada", "anton", "bella", "ben", "carla", "chen", "dilan", "dora", "emil", "fatma", "greta", "hugo"),
    *("ines", "jonas", "karim", "lena", "marco", "nadia", "olga", "pavel", "quinn", "rosa", "samir"),
    *("tara", "umar", "vera", "wanda", "xenia", "yusuf", "zoe"),
)
_ODD = ("syntax-error", "endless-loop-in-a-call", "other-name", "invalid-json")
_Slip = tuple[int, int]
#: an exercise, and one of its known mistakes: both in the order of the assignment, but the exercise with the most points first
_FREQUENT: _Slip = (0, 0)
#: for each student, from strong to weak
_MISTAKES: tuple[tuple[_Slip, ...], ...] = (
    *((),) * 7,
    ((4, 0),),
    ((3, 2),),
    ((2, 3),),
    ((1, 5),),
    *((_FREQUENT,),) * 3,
    *((_FREQUENT, (1, 0)),) * 2,
    ((0, 4), (1, 4)),
    (_FREQUENT, (1, 0), (3, 1)),
    (_FREQUENT, (1, 0), (2, 1), (3, 0)),
    ((0, 4), (1, 4), (2, 0), (3, 1), (4, 1)),
)
#: how many have the same wrong answer that isn't among the known mistakes
_UNKNOWN = 3


def typical_class(assignment: Assignment, unknown: Variant | None = None) -> Iterator[Sample]:
    """Thirty students: a few frequent mistakes, some rare ones, two answers that are alike, some odd files, an empty notebook.

    Other answers are right: the solution, or one of the known alternatives.

    Args:
        unknown: a wrong answer that isn't a known mistake, by default two known mistakes at once.

    Raises:
        CourseError: the assignment has no hidden checks, or several notebooks.
    """
    # names that are near each other in the alphabet don't all have the same
    order = sorted(_NAMES, key=lambda name: name[::-1])
    for student, sample in zip(order, _samples(assignment, unknown), strict=True):
        yield replace(sample, student=student)


def frequent_mistake(samples: Sequence[Sample]) -> str:
    """The first student with the most frequent mistake."""
    made = [(sample.student, sample.variants) for sample in samples]
    names = [next((v.name for v in variants if isinstance(v, Mistake)), "") for _, variants in made]
    most = max(filter(None, names), key=names.count)
    return min(student for (student, _), name in zip(made, names, strict=True) if name == most)


def _samples(assignment: Assignment, unknown: Variant | None) -> Iterator[Sample]:
    answers = _Answers(assignment)
    for number, mistakes in enumerate(_MISTAKES):
        yield answers.sample(number, answers.wrong(mistakes))
    made = [unknown] if unknown else answers.two_at_once()
    for number in range(_UNKNOWN):
        yield answers.sample(len(_MISTAKES) + number, made)
    # the last alternatives are the most unusual ones
    for _ in range(2):
        yield answers.sample(-1, answers.wrong([(1, 2)]))
    yield Sample("", answered=False)
    odd = {sample.student: sample for sample in ODD_CLASS}
    for number, name in enumerate(_ODD):
        yield replace(odd[name], variants=answers.right(len(_MISTAKES) + _UNKNOWN + number, set()))


class _Answers:
    """The known answers to each exercise, the exercise with the most points first."""

    def __init__(self, assignment: Assignment) -> None:
        name, self.source, main = only_notebook(assignment)
        bound = assignment.bound_cells(name, self.source.cells)
        cells = list(dict.fromkeys(answer_of(self.source, test) for test in bound))
        self.cells = [main, *(cell for cell in cells if cell != main)]
        self.mistakes = [[v for v in mistakes_of(assignment) if v.cell == cell] for cell in self.cells]
        self.alternatives = [
            [v for v in alternatives_of(assignment) if v.cell == cell] for cell in self.cells
        ]

    def wrong(self, places: Sequence[_Slip]) -> list[Variant]:
        """At most one mistake in each exercise; a smaller assignment has fewer."""
        chosen: dict[str, Variant] = {}
        for exercise, number in places:
            if exercise >= len(self.cells):
                exercise, number = 0, exercise + number
            for variant in self.mistakes[exercise][number : number + 1]:
                chosen.setdefault(variant.cell, variant)
        return list(chosen.values())

    def sample(self, number: int, wrong: Sequence[Variant]) -> Sample:
        right = self.right(number, {variant.cell for variant in wrong})
        return Sample("", full=not wrong, variants=(*wrong, *right))

    def right(self, number: int, without: set[str]) -> tuple[Variant, ...]:
        """The alternatives of a student to the exercises that are not in `without`; the solution where there is none."""
        chosen = []
        for place, (cell, listed) in enumerate(zip(self.cells, self.alternatives, strict=True)):
            turn = number if number < 0 else (number + place) % (len(listed) + 1) - 1
            if listed and cell not in without and (turn >= 0 or number < 0):
                chosen.append(listed[turn])
        return tuple(chosen)

    def two_at_once(self) -> list[Variant]:
        """Two rarer mistakes in one answer, if there are two that can be made together."""
        for pair in combinations(self.mistakes[0][1:], 2):
            try:
                pair[1].apply(pair[0].apply(self.source))
            except CourseError:
                continue
            if pair[0].edits and pair[1].edits:
                return list(pair)
        return []
