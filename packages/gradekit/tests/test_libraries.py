"""Which large libraries grading imports: those that the assignment's files import, and no others."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from gradekit.course import Assignment, Course
from gradekit.course.kernels import libraries_of, modules_for

from .plain_course import PlainCourse

#: a cell that has the word matplotlib makes its kernel import it
TWICE_WITHOUT_LIBRARIES = """
def times(x):
    import sys
    return x * (2 if {"torch", "pandas", "mat" + "plotlib"}.isdisjoint(sys.modules) else 3)
"""
GRADE = """
import sys
from gradekit.cli import main
assert main(["autograde", "--fresh", "--quiet"]) == 0
print([name for name in ("torch", "pandas", "matplotlib") if name in sys.modules])
"""
ARRAYS = "import pytest\n\n\n@pytest.fixture\ndef arrays():\n    return {!r}\n"


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return Course(tmp_path).assignment("ps1")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def python(*arguments: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def of_notebook(assignment: Assignment, source: str) -> set[str]:
    write(
        assignment.source_folder / "p1.ipynb",
        nbformat.writes(v4.new_notebook(cells=[v4.new_code_cell(source)])),
    )
    return libraries_of([assignment])


@pytest.mark.parametrize(
    ("source", "libraries"),
    [
        ("import numpy as np", set()),
        ("# torch would be faster\nimport numpy as np", set()),
        ("import math\nimport torch.nn.functional as F", {"torch"}),
        ("if True:\n    from torch import nn", {"torch"}),
        ("%matplotlib inline\nimport seaborn as sns", {"matplotlib", "seaborn"}),
        ("import numpy as np, pandas as pd", {"pandas"}),
    ],
)
def test_a_notebook_needs_the_libraries_that_it_imports(assignment, source, libraries):
    assert of_notebook(assignment, source) == libraries


def test_a_file_beside_the_notebook_and_a_check_count(assignment):
    write(assignment.release_folder / "parts" / "earlier.py", "import pandas\n")
    write(assignment.checks / "test_a.py", "import matplotlib.pyplot as plt\n")
    write(assignment.checks.with_name("conftest.py"), ARRAYS.format("numpy"))
    assert of_notebook(assignment, "1 + 1") == {"pandas", "matplotlib"}


@pytest.mark.parametrize(("kind", "needed"), [("numpy", set()), ("torch", {"torch"})])
def test_checks_need_torch_unless_they_work_with_numpy(assignment, kind, needed):
    write(assignment.checks / "test_a.py", "def test_a(student):\n    pass\n")
    assert libraries_of([assignment]) == {"torch"}
    write(assignment.checks.with_name("conftest.py"), ARRAYS.format(kind))
    assert libraries_of([assignment]) == needed


def test_the_server_of_kernels_imports_these_and_what_every_kernel_needs():
    everything = modules_for(["torch", "matplotlib", "pandas", "seaborn"])
    assert {"torch", "safetensors.torch", "seaborn", "pandas", "ipykernel.kernelapp"} <= set(everything)
    without = modules_for([])
    assert "ipykernel.kernelapp" in without
    assert not {"torch", "safetensors.torch", "matplotlib.pyplot", "seaborn", "pandas"} & set(without)


@pytest.mark.thorough
def test_neither_grader_nor_kernel_of_an_assignment_without_them_imports_them(tmp_path):
    course = PlainCourse(tmp_path).write()
    python("-m", "nbgrader", "generate_assignment", course.assignment, cwd=tmp_path)
    course.hand_in("ann", 2)
    (path,) = course.folder("submitted", "ann").glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = TWICE_WITHOUT_LIBRARIES
    nbformat.write(notebook, path)
    assert python("-c", GRADE, cwd=tmp_path).splitlines()[-1] == "[]"
    assert course.scores() == {"ann": 2}
