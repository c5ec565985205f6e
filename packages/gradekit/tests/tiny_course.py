"""A tiny course, so that the machinery is tested on something that a reader sees whole.

It is one of tensors, or of NumPy arrays where torch is not installed.
"""

import contextlib
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4
from nbgrader.api import Grade, Gradebook, SubmittedAssignment, SubmittedNotebook

from gradekit.cli import main
from gradekit.course import Assignment, Course
from gradekit.course.cells import grade_id
from gradekit.grading.running_course import RunningCourse
from gradekit.inside.arrays import has_torch

from .forked import run_forked

SOLUTION = """\
def double(x):
    ### BEGIN SOLUTION
    y = 2 * x
    return y
    ### END SOLUTION"""

CHECKS = '''
from gradekit.checks import assert_close, assert_reaches, assert_unchanged, points


@points(4)
def test_value(student, reference):
    """The output is twice the input."""
    (x,) = reference.inputs("some", x=(3, 2))
    reference.assert_close(student.double(x), name="output")


@points(3)
def test_any_size(student, draw):
    """Any size will do."""
    x = draw.normal(*draw.sizes(2))
    assert_close(student.double(x), x + x, name="output")


@points(2)
def test_gradient(student, reference):
    """Gradients reach the input."""
    (x,) = reference.inputs("some", x=(3, 2))
    assert_reaches(student.gradients("double", x))


@points(1)
def test_unchanged(student, reference):
    """The input is left alone."""
    (x,) = reference.inputs("some", x=(3, 2))
    assert_unchanged(student.call("double", x))
'''

MISTAKES = """
from gradekit.checks import Mistake

MISTAKES = [
    Mistake("square", cell="double", edits=[("2 * x", "x * x")], about=["test_value"],
            sentence="You multiplied the input by itself."),
    Mistake("triple", cell="double", edits=[("2 * x", "3 * x")], about=["test_value"],
            sentence="You took three times the input."),
    Mistake("detached", cell="double", edits=[("2 * x", "2 * x.detach()")], about=["test_gradient"],
            sentence="You detached the input."),
]
"""

ALTERNATIVES = """
from gradekit.checks import Alternative

ALTERNATIVES = [Alternative("sum", cell="double", edits=[("2 * x", "x + x")])]
"""

HALF = """\
def half(x):
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION"""

HALF_CHECKS = '''
import torch
from gradekit.checks import assert_close, points


@points(3)
def test_half_of_even(student):
    """Half of an even number."""
    assert_close(student.half(torch.tensor([2.0, 8.0])), torch.tensor([1.0, 4.0]), name="output")


@points(2)
def test_half_of_zero(student):
    """Half of nothing."""
    assert_close(student.half(torch.zeros(3)), torch.zeros(3), name="output")
'''

#: beside the checks: notes which exercises were graded, each time
COUNTING = """
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def counted(request):
    with (Path(__file__).parents[2] / "graded.txt").open("a") as file:
        file.write(request.path.stem + " ")
"""

#: a class in which everything happens: answers of `double` and of `half`
RIGHT = "def double(x):\n    return 2 * x"
RIGHT_HALF = "def half(x):\n    return x / 2"
FOUR_TIMES = "def double(x):\n    # by {}\n    return 4 * x"
CLASS = {
    "exception": ("raise ValueError('not yet')", RIGHT_HALF),
    "exits": ("def double(x):\n    import os\n    os._exit(1)", RIGHT_HALF),
    "floor": (RIGHT, "def half(x):\n    return x // 2"),
    "loop": ("while True: pass", RIGHT_HALF),
    "mistake": ("def double(x):\n    return 3 * x", RIGHT_HALF),
    "right": (RIGHT, RIGHT_HALF),
}

IMPORTS = "import torch"
if not has_torch():
    IMPORTS = "import numpy as np"
    CHECKS = CHECKS.replace("Gradients reach the input.", "The output has the type of the input.")
    CHECKS = CHECKS.replace(
        'assert_reaches(student.gradients("double", x))', "assert student.double(x).dtype == x.dtype"
    )
    MISTAKES = MISTAKES.replace("2 * x.detach()", "(2 * x).astype('float64')")
    HALF_CHECKS = HALF_CHECKS.replace("import torch", IMPORTS).replace("torch.tensor", "np.array")
    HALF_CHECKS = HALF_CHECKS.replace("torch.zeros", "np.zeros")


def mark(name: str, **values: object) -> dict[str, Any]:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": {**base, "grade_id": name, **values}}


def code(source: str, metadata: dict[str, Any] | None = None, name: str = "") -> NotebookNode:
    cell = v4.new_code_cell(source, metadata=metadata or {})
    if name:
        cell["id"] = name
    return cell


def tiny_notebook(points: float = 10) -> NotebookNode:
    kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return v4.new_notebook(
        cells=[
            code(IMPORTS, name="imports"),
            code(SOLUTION, mark("double", solution=True), "answer"),
            code(
                "assert double(1) == 2, 'Twice one is two.'",
                mark("test_double", grade=True, locked=True, points=points),
                "test",
            ),
            code("raise RuntimeError('a long demonstration')", {"tags": ["demo"]}, "show"),
            v4.new_markdown_cell(
                "Because.", metadata=mark("why", grade=True, solution=True, points=5), id="why"
            ),
        ],
        metadata={"kernelspec": kernelspec},
    )


@dataclass
class TinyCourse:
    """A course folder with one assignment, `01_double`, and the commands one runs in it."""

    root: Path

    @property
    def assignment(self) -> Assignment:
        return Course(self.root).assignment("01_double")

    @property
    def running(self) -> RunningCourse:
        """The course with the settings that it has now."""
        return RunningCourse.open(self.root)

    @property
    def checks(self) -> Path:
        return self.assignment.checks / "test_double.py"

    def write_source(self, notebook: NotebookNode) -> None:
        nbformat.write(notebook, self.root / "source" / "01_double" / "double.ipynb")

    def hand_in(self, student: str, notebook: NotebookNode | str, name: str = "double.ipynb") -> Path:
        path = self.root / "submitted" / student / "01_double" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook if isinstance(notebook, str) else nbformat.writes(notebook))
        return path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a console script of this environment in the course folder."""
        return run_forked(command, self.root)

    def run_new(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run it in a process that imports everything itself, as people do."""
        script = Path(sys.executable).with_name(command[0])
        return subprocess.run(
            [script, *command[1:]], cwd=self.root, capture_output=True, text=True, check=False
        )

    def autograded(self, student: str) -> NotebookNode:
        return nbformat.read(self.root / "autograded" / student / "01_double" / "double.ipynb", as_version=4)

    def answer(self, source: str, half: str = "") -> NotebookNode:
        """The released notebook with this source in the answer cell, and in that of the second exercise."""
        notebook = self.assignment.released("double")
        sources = {"answer": source} | ({"half": half} if half else {})
        for cell in notebook.cells:
            cell.source = sources.get(cell["id"], cell.source)
        return notebook

    def gradekit(self, *command: str) -> int:
        """Run the command `gradekit` in this process, which has imported everything already."""
        with contextlib.chdir(self.root):  # nbgrader reads the configuration in the working directory, too
            return main(["--course-dir", str(self.root), *command])

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.root / 'gradebook.db'}")

    def grades(self, gradebook: Gradebook | None = None) -> dict[str, dict[str, tuple[Any, ...]]]:
        """Every grade in the gradebook, by student and cell; fails if one is there twice or not at all."""
        found: dict[str, dict[str, tuple[Any, ...]]] = {}
        with gradebook or self.gradebook() as book:
            cells = {cell.name for cell in book.find_assignment("01_double").notebooks[0].grade_cells}
            students = [submission.student_id for submission in book.db.query(SubmittedAssignment)]
            rows = (
                book.db.query(SubmittedAssignment.student_id, Grade)
                .select_from(Grade)
                .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
                .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            )
            for student, grade in rows:
                values = found.setdefault(student, {})
                assert grade.cell.name not in values
                values[grade.cell.name] = (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
        assert sorted(students) == sorted(found)
        assert all(set(values) == cells for values in found.values())
        return found

    def cached(self) -> dict[str, int]:
        """The files of the result cache, and when each was written."""
        folder = self.root / ".gradekit" / "results" / "01_double"
        return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}

    def gradings(self) -> Counter[str]:
        """How often each exercise was graded since this was last asked."""
        path = self.root / "graded.txt"
        found = Counter(path.read_text().split()) if path.exists() else Counter()
        path.unlink(missing_ok=True)
        return found


def lab(cells: list[NotebookNode]) -> NotebookNode:
    """A source notebook whose cells have their grade_ids as ids."""
    for cell in cells:
        cell["id"] = grade_id(cell) or cell["id"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def at(notebook: NotebookNode, name: str) -> int:
    """The place of the cell with an id."""
    return next(place for place, cell in enumerate(notebook.cells) if cell["id"] == name)


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    """The cell with an id."""
    return notebook.cells[at(notebook, name)]
