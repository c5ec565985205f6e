"""A tiny course, so that the machinery is tested on something that a reader sees whole."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from coursekit.course import Assignment, Course

ROOT = Path(__file__).parents[2]

LONGEST_FIRST = ("test_course_audit.py", "test_sample_class.py", "test_notebooks.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes starts first, so that several workers end at about the same time."""
    items.sort(key=lambda item: LONGEST_FIRST.index(item.path.name) if item.path.name in LONGEST_FIRST else 3)


SOLUTION = """\
def double(x):
    ### BEGIN SOLUTION
    y = 2 * x
    return y
    ### END SOLUTION"""

CHECKS = '''
from coursekit.checks import assert_close, assert_reaches, assert_unchanged, points


@points(4)
def test_value(student, reference):
    """The output is twice the input."""
    (x,) = reference.inputs("some", x=(3, 2))
    reference.assert_close("output", student.double(x))


@points(3)
def test_any_size(student, draw):
    """Any size will do."""
    x = draw.normal(*draw.sizes(2))
    assert_close("output", student.double(x), x + x)


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
from coursekit.checks import Mistake

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
from coursekit.checks import Alternative

ALTERNATIVES = [Alternative("sum", cell="double", edits=[("2 * x", "x + x")])]
"""


def mark(name: str, **values: object) -> dict:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": {**base, "grade_id": name, **values}}


def code(source: str, metadata: dict | None = None, name: str = "") -> NotebookNode:
    cell = v4.new_code_cell(source, metadata=metadata or {})
    if name:
        cell["id"] = name
    return cell


def tiny_notebook(points: float = 10) -> NotebookNode:
    kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return v4.new_notebook(
        cells=[
            code("import torch", name="imports"),
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
    def checks(self) -> Path:
        return self.assignment.checks / "test_double.py"

    def write_source(self, notebook: NotebookNode) -> None:
        nbformat.write(notebook, self.root / "source" / "01_double" / "double.ipynb")

    def hand_in(self, student: str, notebook: NotebookNode | str, name: str = "double.ipynb") -> Path:
        path = self.root / "submitted" / student / "01_double" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook if isinstance(notebook, str) else nbformat.writes(notebook))
        return path

    def run(self, *command: str) -> subprocess.CompletedProcess:
        """Run a console script of this environment in the course folder."""
        script = Path(sys.executable).with_name(command[0])
        return subprocess.run(
            [script, *command[1:]], cwd=self.root, capture_output=True, text=True, check=False
        )

    def autograded(self, student: str) -> NotebookNode:
        return nbformat.read(self.root / "autograded" / student / "01_double" / "double.ipynb", as_version=4)

    def answer(self, source: str) -> NotebookNode:
        """The released notebook with this source in the answer cell."""
        notebook = self.assignment.released("double")
        next(cell for cell in notebook.cells if cell["id"] == "answer").source = source
        return notebook


@pytest.fixture
def tiny_source() -> NotebookNode:
    return tiny_notebook()


@pytest.fixture(scope="session")
def tiny_original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course, recorded once, and with its notebook in release/ as nbgrader strips it."""
    from coursekit.audit import record
    from coursekit.student.blank import blank_copy

    course = TinyCourse(tmp_path_factory.mktemp("tiny") / "course")
    course.checks.parent.mkdir(parents=True)
    course.checks.write_text(CHECKS)
    (course.checks.parent / "mistakes.py").write_text(MISTAKES)
    (course.checks.parent / "alternatives.py").write_text(ALTERNATIVES)
    (course.root / "nbgrader_config.py").write_text(
        "from coursekit.nbgrader_plugin import configure\nconfigure(get_config())\n"
    )
    for folder in ("source", "release"):
        (course.root / folder / "01_double").mkdir(parents=True)
    course.write_source(tiny_notebook())
    nbformat.write(blank_copy(tiny_notebook()), course.root / "release" / "01_double" / "double.ipynb")
    record(course.assignment, workers=1)
    return course.root


@pytest.fixture
def tiny_course(tiny_original: Path, tmp_path: Path) -> TinyCourse:
    """A copy of the course for one test."""
    return TinyCourse(Path(shutil.copytree(tiny_original, tmp_path / "course")))


@pytest.fixture(scope="session")
def generated_original(tiny_original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = TinyCourse(Path(shutil.copytree(tiny_original, tmp_path_factory.mktemp("generated") / "course")))
    done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 0, done.stderr
    return course.root


@pytest.fixture
def generated(generated_original: Path, tmp_path: Path) -> TinyCourse:
    """The course after `nbgrader generate_assignment`: with its gradebook."""
    return TinyCourse(Path(shutil.copytree(generated_original, tmp_path / "course")))


@pytest.fixture
def grade_answer(tiny_course: TinyCourse) -> Callable:
    """Grade one answer of the tiny course, as source text of the answer cell; gives the result."""
    from coursekit.checks.run import grade
    from coursekit.student.session import Limits

    def run(source: str, limits: Limits | None = None) -> object:
        released = tiny_course.assignment.released("double")
        return grade(tiny_course.assignment, tiny_course.answer(source), "double", released, limits).result

    return run
