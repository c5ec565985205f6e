"""A class whose students answer independently of each other, and a course for it that needs no torch."""

import random
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from gradekit.course.cells import grade_id

from ...gradekit.tests.plain_course import mark

EXERCISES = [f"part_{letter}" for letter in "abcdef"]
_CALLS = [
    "sort",
    "reverse",
    "cumsum",
    "mean",
    "clip",
    "round",
    "abs",
    "diff",
    "unique",
    "ravel",
    "prod",
    "argmax",
    "repeat",
    "tile",
    "roll",
]
_CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'similar'\n"
Answers = dict[str, str]


def answers(seed: object) -> Answers:
    """One student's answers: each is a function with steps drawn at random."""
    draw = random.Random(str(seed))
    return {exercise: _answer(exercise, draw) for exercise in EXERCISES}


def _answer(exercise: str, draw: random.Random) -> str:
    names = draw.sample(["one", "two", "three", "four", "five", "six"], 4)
    lines, known = [f"def {exercise}(x):"], ["x"]
    for name in names:
        call, used, other = draw.choice(_CALLS), draw.choice(known), draw.choice(known)
        sign, number = draw.choice("+-*/"), draw.randint(2, 9)
        lines.append(f"    {name} = np.{call}({used} {sign} {number}, {other})")
        known.append(name)
    return "\n".join([*lines, f"    return {known[-1]} + {known[-2]}"])


class SimilarCourse:
    """A course folder with the assignment `01_parts` and six exercises."""

    def __init__(self, root: Path) -> None:
        self.root = root
        cells = [v4.new_code_cell("import numpy as np")]
        for exercise in EXERCISES:
            text = f"def {exercise}(x):\n    ### BEGIN SOLUTION\n    return np.sort(x)\n    ### END SOLUTION"
            cells.append(v4.new_code_cell(text, metadata=mark(exercise, solution=True)))
        why = mark("why", grade=True, solution=True, points=5)
        cells.append(
            v4.new_markdown_cell("Because it is sorted by now, and every part of it is.", metadata=why)
        )
        self.notebook = v4.new_notebook(cells=cells)
        for step in ("source", "release"):
            folder = root / step / "01_parts"
            folder.mkdir(parents=True)
            nbformat.write(self.notebook, folder / "parts.ipynb")
        (root / "nbgrader_config.py").write_text(_CONFIG)

    def answered(self, found: Answers) -> NotebookNode:
        copy = nbformat.from_dict(self.notebook)
        copy.cells = [nbformat.from_dict(cell) for cell in copy.cells]
        for cell in copy.cells:
            cell.source = found.get(grade_id(cell) or "", cell.source)
        return copy

    def hand_in(self, student: str, found: Answers | str, folder: Path | None = None) -> Path:
        """Hand in answers, or any text as the file."""
        path = (folder or self.root / "submitted") / student / "01_parts" / "parts.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found if isinstance(found, str) else nbformat.writes(self.answered(found)))
        return path

    def honest(self, count: int = 40) -> None:
        for number in range(count):
            self.hand_in(f"s{number:02}", answers(number))
