"""Courses with one assignment of two points, for tests of nbgrader's configuration."""

import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from .forked import run_forked

#: names of folders, and the settings that say so
RENAMED = {"source": "Quelle", "release": "Ausgabe", "submitted": "Abgaben 2026"}
LINES = [f"c.CourseDirectory.{step}_directory = {name!r}" for step, name in RENAMED.items()]
CONFIGURE = "from gradekit.nbgrader_plugin import configure\n\nc = get_config()\n{}\nconfigure(c)\n"
SOLUTION = "def times(x):\n    ### BEGIN SOLUTION\n    return {} * x\n    ### END SOLUTION"
CHECKS = '''
from gradekit.checks import points


@points({points})
def test_value(student, factor):
    """The right multiple."""
    assert student.times(5) == 5 * factor
'''
#: for all assignments of a course, and so outside of their own folders
FACTOR = """
import pytest


@pytest.fixture
def factor():
    return {}


@pytest.fixture
def arrays():
    return "numpy"
"""


@cache
def _empty_gradebook() -> bytes:
    """A new gradebook, for which nbgrader takes more than a second."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gradebook.db"
        Gradebook(f"sqlite:///{path}").close()
        return path.read_bytes()


def mark(name: str, **values: object) -> dict[str, Any]:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": {**base, "grade_id": name, **values}}


def plain_notebook(answer: str, points: int = 2) -> NotebookNode:
    kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    test = mark("test_times", grade=True, locked=True, points=points)
    cells = [
        v4.new_code_cell(answer, metadata=mark("times", solution=True)),
        v4.new_code_cell("assert callable(times)", metadata=test),
    ]
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})


@dataclass
class PlainCourse:
    """A course of plain Python with one assignment, in folders of any names."""

    root: Path
    assignment: str = "ps1"
    notebook: str = "p1"
    factor: int = 2
    points: int = 2
    structure: str = "{nbgrader_step}/{student_id}/{assignment_id}"
    names: dict[str, str] = field(default_factory=dict)
    database: Path | None = None

    def folder(self, step: str, student: str = ".") -> Path:
        name = self.names.get(step, step)
        below = self.structure.format(nbgrader_step=name, student_id=student, assignment_id=self.assignment)
        return self.root / below

    def write(self, settings: str = "") -> "PlainCourse":
        """Write the source, the checks, and the configuration with these lines."""
        self.folder("source").mkdir(parents=True)
        source = plain_notebook(SOLUTION.format(self.factor), self.points)
        nbformat.write(source, self.folder("source") / f"{self.notebook}.ipynb")
        checks = self.root / "tests" / self.assignment
        checks.mkdir(parents=True)
        (checks / "test_times.py").write_text(CHECKS.format(points=self.points))
        (checks.parent / "conftest.py").write_text(FACTOR.format(self.factor))
        (self.root / "nbgrader_config.py").write_text(CONFIGURE.format(settings))
        return self

    def pretend_generated(self, *students: str) -> "PlainCourse":
        """Write what the commands need of `nbgrader generate_assignment`: the release and a gradebook."""
        self.folder("release").mkdir(parents=True)
        released = plain_notebook("# YOUR CODE HERE\nraise NotImplementedError()", self.points)
        nbformat.write(released, self.folder("release") / f"{self.notebook}.ipynb")
        (self.database or self.root / "gradebook.db").write_bytes(_empty_gradebook())
        with self.gradebook() as gradebook:
            gradebook.add_assignment(self.assignment)
            gradebook.add_notebook(self.notebook, self.assignment)
            gradebook.add_grade_cell(
                "test_times", self.notebook, self.assignment, max_score=self.points, cell_type="code"
            )
            for student in students:
                gradebook.add_student(student)
        return self

    def hand_in(self, student: str, factor: int) -> None:
        notebook = nbformat.read(self.folder("release") / f"{self.notebook}.ipynb", as_version=4)
        notebook.cells[0].source = f"def times(x):\n    return {factor} * x"
        self.folder("submitted", student).mkdir(parents=True)
        nbformat.write(notebook, self.folder("submitted", student) / f"{self.notebook}.ipynb")

    def nbgrader(self, *command: str) -> None:
        """Run nbgrader's command in the folder where the test is."""
        words = ["nbgrader", *command, self.assignment, "--course-dir", str(self.root)]
        done = run_forked(words, Path.cwd())
        assert done.returncode == 0, done.stderr

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.database or self.root / 'gradebook.db'}")

    def scores(self) -> dict[str, float]:
        with self.gradebook() as gradebook:
            return {
                found.student_id: found.score for found in gradebook.assignment_submissions(self.assignment)
            }


def settings_of(folder: Path, *lines: str, name: str = "nbgrader_config.py") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(["c = get_config()", *lines, ""]))
    return folder


# ---------------------------------------------------------------- (where the configuration is) × (command)


def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and working directory, and no folders of the system."""
    for name in ("home", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "home" / ".jupyter"))
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path / "home"
