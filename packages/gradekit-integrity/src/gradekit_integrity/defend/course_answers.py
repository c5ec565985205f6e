"""The course's own answers as if students had handed them in: what a small class doesn't show, they know."""

from collections.abc import Iterator, Sequence

import nbformat

from gradekit.checks.variants import Variant, alternatives_of, mistakes_of
from gradekit.course import Assignment, read_notebook
from gradekit.verdict.opened import HowToRun
from gradekit_integrity.defend.proving import ExercisePlace
from gradekit_integrity.viva.sheets import ToAsk

#: alternatives, and as many mistakes, of each exercise
_MOST = 6


def course_answers(assignment: Assignment, places: Sequence[ExercisePlace], how: HowToRun) -> list[ToAsk]:
    """The solution, alternatives and mistakes of some exercises; no student can have the names.

    Raises:
        CourseError: the solution or a catalog can't be read.
    """
    sources = {
        name: read_notebook(path)
        for name in dict.fromkeys(name for name, _ in places)
        if (path := assignment.source_folder / f"{name}.ipynb").is_file()
    }
    found = [sources] if sources else []
    for variants in (alternatives_of(assignment), mistakes_of(assignment)) if sources else ():
        for number in range(_MOST):
            notebooks = dict(sources)
            for name, variant in _the(number, variants, places):
                if name in notebooks:
                    notebooks[name] = variant.apply(notebooks[name])
            if any(notebooks[name] is not sources[name] for name in sources):
                found.append(notebooks)
    return [
        ToAsk(f"/{number}", {name: nbformat.writes(one) for name, one in notebooks.items()}, {}, how)
        for number, notebooks in enumerate(found)
    ]


def _the(
    number: int, variants: Sequence[Variant], places: Sequence[ExercisePlace]
) -> Iterator[tuple[str, Variant]]:
    """The variant of each exercise that has this number among its own, with the name of its notebook."""
    for name, cell in places:
        mine = [one for one in variants if one.cell == cell and one.notebook in ("", name)]
        yield from ((name, one) for one in mine[number : number + 1])
