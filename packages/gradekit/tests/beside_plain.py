"""One course twice: as plain nbgrader runs it, and with gradekit plugged in. Both get the same submissions."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from .forked import run_forked
from .tiny_course import TinyCourse, code, mark

ASSIGNMENT, NOTEBOOK, STUDENT = "a1", "p1", "ada"
CONFIGURE = "from gradekit.nbgrader_plugin import configure\n\nconfigure(get_config())\n"
SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"


def source_notebook() -> NotebookNode:
    """Two ordinary exercises: code worth 2 points, and a written answer worth 3."""
    return v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# Doubling", id="title"),
            code(SOLUTION, mark("double", solution=True), "answer"),
            code("assert double(2) == 4", mark("test_double", grade=True, locked=True, points=2), "test"),
            v4.new_markdown_cell(
                "Because.", metadata=mark("why", grade=True, solution=True, points=3), id="why"
            ),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


class Side:
    """One of the two courses."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, step: str, student: str = STUDENT, assignment: str = ASSIGNMENT) -> Path:
        return self.root / step / student / assignment

    def run(self, *command: str, succeeds: bool = True) -> str:
        """Run a console script in the course; returns everything that it printed."""
        done = run_forked(command, self.root)
        assert done.returncode == 0 or not succeeds, done.stdout + done.stderr
        return done.stdout + done.stderr

    def grades(self, student: str = STUDENT, assignment: str = ASSIGNMENT) -> dict[str, tuple[Any, ...]]:
        """By cell, the automatic score and whether a person has to look at it."""
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}") as book:
            found = book.find_submission(assignment, student).notebooks
            grades = (grade for notebook in found for grade in notebook.grades)
            return {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in grades}

    def autograded(self, student: str = STUDENT) -> NotebookNode:
        return nbformat.read(self.folder("autograded", student) / f"{NOTEBOOK}.ipynb", as_version=4)

    def page(self, student: str = STUDENT) -> str:
        return (self.folder("feedback", student) / f"{NOTEBOOK}.html").read_text()


class BothSides:
    """The course as plain nbgrader has it (`plain`), and with gradekit (`ours`)."""

    def __init__(self, root: Path) -> None:
        self.plain, self.ours = Side(root / "plain"), Side(root / "ours")

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.plain, self.ours

    def write(
        self,
        source: NotebookNode,
        assignment: str = ASSIGNMENT,
        others: dict[str, NotebookNode] | None = None,
    ) -> None:
        """Write the source, and other notebooks, and generate the assignment, on both sides."""
        self.plain.root.mkdir(parents=True, exist_ok=True)
        (self.plain.root / "nbgrader_config.py").write_text("c = get_config()\n")
        folder = self.plain.root / "source" / assignment
        folder.mkdir(parents=True)
        for name, notebook in {NOTEBOOK: source, **(others or {})}.items():
            nbformat.write(notebook, folder / f"{name}.ipynb")
        self.plain.run("nbgrader", "generate_assignment", assignment)
        shutil.copytree(self.plain.root, self.ours.root)
        (self.ours.root / "nbgrader_config.py").write_text(CONFIGURE)

    def released(
        self, answer: str = "def double(x):\n    return 2 * x", why: str | None = None
    ) -> NotebookNode:
        """The released notebook with answers filled in."""
        notebook = nbformat.read(self.plain.root / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", as_version=4)
        for cell in notebook.cells:
            if cell["id"] == "answer":
                cell.source = answer
            if cell["id"] == "why" and why is not None:
                cell.source = why
        return notebook

    def hand_in(
        self,
        notebook: NotebookNode | None = None,
        files: dict[str, bytes] | None = None,
        student: str = STUDENT,
        name: str = f"{NOTEBOOK}.ipynb",
        folder: str = ASSIGNMENT,
    ) -> None:
        """Hand in a notebook, and files beside it, on both sides."""
        for side in self.sides:
            place = side.root / "submitted" / student / folder
            place.mkdir(parents=True, exist_ok=True)
            if notebook is not None:
                nbformat.write(notebook, place / name)
            for path, content in (files or {}).items():
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                (place / path).write_bytes(content)

    def autograde(self, *options: str, succeeds: bool = True) -> tuple[str, str]:
        """What plain nbgrader and gradekit print."""
        command = ("nbgrader", "autograde", ASSIGNMENT, *options)
        return tuple(side.run(*command, succeeds=succeeds) for side in self.sides)  # type: ignore[return-value]


def both_sides(made_once: Callable[..., Path], tmp_path: Path) -> BothSides:
    """A copy of the course, which is generated once for all tests."""

    def make(course: TinyCourse) -> None:
        BothSides(course.root).write(source_notebook())

    return BothSides(Path(shutil.copytree(made_once("both-sides", make), tmp_path / "both")))
