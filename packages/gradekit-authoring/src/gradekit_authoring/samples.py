"""Sample classes, for demos, sample pages and tests: submissions of every kind, and thirty with made-up names.

The report on the thirty shows what that of a real class does. The course of `gradekit demo` has one small assignment
about NumPy, and five submissions.
"""

import json
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from gradekit.checks.variants import Mistake, Variant, alternatives_of, mistakes_of
from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.cells import (
    answer_of,
    find_cell,
    grade_id,
    is_answer_cell,
    is_test_cell,
    without_markers,
)
from gradekit.course.printing import quoted
from gradekit.grading.generate import generate
from gradekit.grading.running_course import RunningCourse
from gradekit.submission.names import defined_names
from gradekit.verdict.grade import points_of
from gradekit.verdict.results import Status
from gradekit_authoring.grade_variants import record
from gradekit_authoring.new import write_assignment, write_course

_TEXT_ANSWER = "A short answer by the sample student, for manual grading."

Change = Callable[[NotebookNode, str], None]
WriteNotebook = Callable[[Path, NotebookNode], object]


@dataclass(frozen=True)
class Sample:
    """One student of the sample class, named after the oddity of the submission.

    `full` is true if it earns all points from the hidden checks nevertheless.
    """

    student: str
    status: Status = Status.GRADED
    full: bool = False
    change: Change | None = None
    write: WriteNotebook = lambda path, notebook: nbformat.write(notebook, path)
    #: of different answers, or edits that can be made one after the other
    variants: tuple[Variant, ...] = ()
    answered: bool = True


def solved(assignment: Assignment, name: str) -> NotebookNode:
    """The released notebook `name` with a right answer in every answer cell."""
    notebook = assignment.released(name)
    _fill(notebook, read_notebook(assignment.source_folder / f"{name}.ipynb"))
    return notebook


def write_class(assignment: Assignment, submitted: Path, samples: list[Sample]) -> None:
    """Write samples of one assignment below `submitted`, and remove earlier ones.

    Raises:
        CourseError: the assignment has no hidden checks, or several notebooks.
    """
    name, source, main = only_notebook(assignment)
    for sample in samples:
        folder = submitted / sample.student / assignment.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        notebook = assignment.released(name)
        if sample.answered:
            answers = source
            for variant in sample.variants:
                answers = variant.apply(answers)
            _fill(notebook, answers)
        if sample.change:
            sample.change(notebook, main)
        sample.write(folder / f"{name}.ipynb", notebook)


def ordinary_class(assignment: Assignment) -> Iterator[Sample]:
    """A right and a blank notebook, and the first mistake and alternative of the exercise with the most points."""
    yield Sample("right", full=True)
    yield Sample("blank", answered=False)
    _, _, main = only_notebook(assignment)
    for student, variants in (
        ("mistake", mistakes_of(assignment)),
        ("alternative", alternatives_of(assignment)),
    ):
        first = next((variant for variant in variants if variant.cell == main), None)
        if first:
            yield Sample(student, full=student == "alternative", variants=(first,))


def _fill(notebook: NotebookNode, source: NotebookNode) -> None:
    for cell in notebook.cells:
        if is_answer_cell(cell):
            answer = _cell_named(source, grade_id(cell) or "").source
            cell.source = without_markers(answer) if cell.cell_type == "code" else _TEXT_ANSWER


def only_notebook(assignment: Assignment) -> tuple[str, NotebookNode, str]:
    """The notebook's name, its source, and the answer cell whose hidden checks have the most points."""
    names = assignment.released_names()
    if not names:
        raise CourseError(
            f"{assignment.name} is not in release/: run `nbgrader generate_assignment {quoted(assignment.name)} --force` "
            "first"
        )
    if len(names) > 1:
        raise CourseError(
            f"{assignment.name} has {len(names)} released notebooks, and the sample class is for one: choose another "
            "assignment"
        )
    source = read_notebook(assignment.source_folder / f"{names[0]}.ipynb")
    bound = assignment.bound_cells(names[0], source.cells)
    if not bound:
        raise CourseError(
            f"{assignment.name} has no hidden checks, which the sample class needs: choose another assignment"
        )
    points = points_of(source)
    return names[0], source, answer_of(source, max(bound, key=lambda name: points[name]))


def _cell_named(notebook: NotebookNode, name: str) -> NotebookNode:
    cell = find_cell(notebook, name)
    if cell is None:
        raise CourseError(f"the notebook has no cell with grade_id `{name}`")
    return cell


def _main_name(notebook: NotebookNode, main: str) -> str:
    source = _cell_named(notebook, main).source
    return next(name for name in sorted(defined_names(source)) if not name.startswith("_"))


def _around(above: str, below: str = "") -> Change:

    def change(notebook: NotebookNode, main: str) -> None:
        cell = _cell_named(notebook, main)
        cell.source = f"{above}{cell.source}{below}"

    return change


def _prepend(text: str) -> Change:
    return _around(f"{text}\n")


def _append(text: str) -> Change:
    return _around("", f"\n\n\n{text}")


def _body(code: str) -> Change:
    """Replace the main function or class by a function with this body."""

    def change(notebook: NotebookNode, main: str) -> None:
        name = _main_name(notebook, main)
        body = textwrap.indent(code, "    ")
        _append(f"right_answer = {name}\n\n\ndef {name}(*args, **kwargs):\n{body}")(notebook, main)

    return change


def _of_test_cell(action: Callable[[NotebookNode, int], object]) -> Change:
    def change(notebook: NotebookNode, main: str) -> None:
        places = [index for index, cell in enumerate(notebook.cells) if is_test_cell(cell)]
        action(notebook, places[0])

    return change


def _double(notebook: NotebookNode, index: int) -> None:
    copy = deepcopy(notebook.cells[index])
    copy["id"] = "a-copy"
    notebook.cells.insert(index + 1, copy)


def _strip_marks(notebook: NotebookNode, main: str) -> None:
    for cell in notebook.cells:
        cell.metadata = v4.new_code_cell().metadata
        cell.pop("id", None)
    notebook.nbformat_minor = 4


def _double_answer(notebook: NotebookNode, main: str) -> None:
    index = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == main)
    first = deepcopy(notebook.cells[index])
    first["id"] = "first-try"
    first.source = f"def {_main_name(notebook, main)}(*args, **kwargs):\n    return None"
    notebook.cells.insert(index, first)


def _extra_cell(notebook: NotebookNode, main: str) -> None:
    marks = {"grade": True, "grade_id": "my_own_test", "points": 100, "schema_version": 3}
    marks |= {"locked": False, "solution": False, "task": False}
    notebook.cells.append(v4.new_code_cell("print('a cell of my own')", metadata={"nbgrader": marks}))


def _other_kernel(notebook: NotebookNode, main: str) -> None:
    notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}


def _write_text(text: str, name: str = "") -> WriteNotebook:
    return lambda path, notebook: path.with_name(name or path.name).write_text(text)


def _write_as(ending: str) -> WriteNotebook:
    return lambda path, notebook: nbformat.write(notebook, path.with_name(f"{path.stem}{ending}"))


def _write_truncated(path: Path, notebook: NotebookNode) -> None:
    text = nbformat.writes(notebook)
    path.write_text(text[: len(text) // 2])


def _write_huge(path: Path, notebook: NotebookNode) -> None:
    content = json.loads(nbformat.writes(notebook))
    code = next(cell for cell in content["cells"] if cell["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "0123456789abcdef" * (50 * 2**16)}]
    path.write_text(json.dumps(content))


#: students with odd submissions, for any assignment
ODD_CLASS = [
    Sample("syntax-error", Status.PARTLY_GRADED, change=_append("def broken(:")),
    Sample("exception", change=_body("raise ValueError('this does not work yet')")),
    Sample("wrong-type", change=_body("return 'a string'")),
    Sample(
        "wrong-shape",
        change=_body(
            "result = right_answer(*args, **kwargs)\nreturn tuple(part[..., :1] for part in result)"
        ),
    ),
    Sample("endless-loop-in-a-cell", Status.TIMED_OUT, change=_prepend("while True:\n    pass")),
    Sample("endless-loop-in-a-call", Status.TIMED_OUT, change=_body("while True:\n    pass")),
    Sample(
        "endless-loop-that-ignores-interrupts",
        Status.TIMED_OUT,
        change=_body(
            "while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass"
        ),
    ),
    Sample("os-exit-in-a-cell", Status.KERNEL_DIED, change=_prepend("import os\nos._exit(1)")),
    Sample("os-exit-in-a-call", Status.KERNEL_DIED, change=_body("import os\nos._exit(1)")),
    Sample(
        "memory-hog",
        Status.KERNEL_DIED,
        change=_body(  # the pauses let the memory's limit be noticed before an allocation fails
            "import time\nhoard = []\nwhile True:\n    hoard.append(bytearray(b'x') * 2**28)\n    time.sleep(0.1)"
        ),
    ),
    Sample("sys-exit", Status.PARTLY_GRADED, change=_prepend("import sys\nsys.exit('done')")),
    Sample(
        "warnings",
        full=True,
        change=_prepend(
            "import os, sys, warnings\nwarnings.warn('careful')\nprint('oh', file=sys.stderr)\nos.write(2, b'!')"
        ),
    ),
    Sample("prints-50-MB", full=True, change=_append("for _ in range(50):\n    print('x' * 2**20)")),
    Sample(
        "test-cell-deleted",
        full=True,
        change=_of_test_cell(lambda notebook, place: notebook.cells.pop(place)),
    ),
    Sample(
        "test-cell-edited",
        full=True,
        change=_of_test_cell(
            lambda notebook, place: notebook.cells[place].update(source="print('all tests pass')")
        ),
    ),
    Sample("test-cell-doubled", full=True, change=_of_test_cell(_double)),
    Sample("marks-stripped", full=True, change=_strip_marks),
    Sample("answer-doubled", full=True, change=_double_answer),
    Sample("extra-cell", full=True, change=_extra_cell),
    Sample("other-kernel", full=True, change=_other_kernel),
    Sample("other-name", full=True, write=_write_as(" (1).ipynb")),
    Sample("invalid-json", Status.UNREADABLE, write=_write_truncated),
    Sample("empty-file", Status.UNREADABLE, write=_write_text("")),
    Sample("not-a-notebook", Status.UNREADABLE, write=_write_text('{"cells": 3, "nbformat": 4}')),
    Sample("50-MB-of-output", full=True, write=_write_huge),
    Sample("no-notebook", Status.MISSING, write=_write_text("I could not finish in time.", "notes.txt")),
]


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


ASSIGNMENT = "01_standardized"
_OF_DEMO = {
    "right": "a right answer",
    "mistake": "a typical mistake: the variance divided by n - 1",
    "syntax-error": "a right answer, and a syntax error below it",
    "endless-loop": "an endless loop",
    "undecided": "an empty answer cell, and a function with another name below it",
}
_CELL_SECONDS = 3  # so that nobody waits for the endless loop
_ELSEWHERE = """\
def z_scores(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)"""


def write_demo(root: Path) -> tuple[Assignment, dict[str, str]]:
    """Write and release the assignment, and hand in for the students; returns what each submission is, by student.

    Raises:
        CourseError: there is something in the folder.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise CourseError(f"{root} isn't an empty folder: `gradekit demo FOLDER` takes another one")
    write_course(root, "demo", _CELL_SECONDS)
    course = RunningCourse.open(root)
    assignment = write_assignment(course.layout, ASSIGNMENT, "numpy")
    record(assignment, workers=1)
    generate(course, assignment)
    samples = {sample.student: sample for sample in [*ordinary_class(assignment), *ODD_CLASS]}
    samples["endless-loop"] = replace(samples["endless-loop-in-a-cell"], student="endless-loop")
    samples["undecided"] = Sample("undecided", answered=False, change=_answer_elsewhere)
    write_class(assignment, root / "submitted", [samples[student] for student in _OF_DEMO])
    return assignment, _OF_DEMO


def _answer_elsewhere(notebook: NotebookNode, main: str) -> None:
    place = next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == main)
    notebook.cells.insert(place + 1, v4.new_code_cell(_ELSEWHERE))
