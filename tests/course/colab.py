"""Run the notebooks of standalone/ as on Colab: in an empty folder, by another Python with its own torch, solved.

`make test-colab COLAB=/path/to/python [FLAGS=08_modern]`, where that Python has torch, NumPy, matplotlib, seaborn and
ipykernel, and nothing of this project. What a notebook's first cell installs is installed there, by pip.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from gradekit.course import Assignment, Course
from gradekit.course.cells import is_demo
from gradekit_authoring.samples import solved

ROOT = Path(__file__).parents[2]
#: seconds for one cell, which may install packages
TIMEOUT = 900
VERSIONS = "import sys, torch, numpy; print(f'Python {sys.version.split()[0]}, torch {torch.__version__}, NumPy {numpy.__version__}')"


class OtherPython(AsyncKernelManager):
    """A kernel manager that starts the kernel with the Python in `COLAB`."""

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        started = super().format_kernel_cmd(extra_arguments)
        return [os.environ["COLAB"], *started[1:]]


def solved_standalone(assignment: Assignment) -> NotebookNode:
    """The standalone notebook with the solutions in it, without demo cells but for the one that sets everything up."""
    name = assignment.source_notebooks()[0].stem
    notebook = nbformat.read(ROOT / "standalone" / assignment.name / f"{name}.ipynb", as_version=4)
    answers = {cell.id: cell.source for cell in solved(assignment, name).cells}
    setup = next(cell for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells = [cell for cell in notebook.cells if cell is setup or not is_demo(cell)]
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    return notebook


def runs(assignment: Assignment) -> bool:
    """Run one notebook in an empty folder, and print whether every cell ran."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            solved_standalone(assignment), timeout=TIMEOUT, kernel_manager_class=OtherPython
        )
        try:
            client.execute(cwd=folder)
        except CellExecutionError as error:
            print(f"{assignment.name}: failed\n{error}")
            return False
    print(f"{assignment.name}: every cell ran, {time.perf_counter() - started:.0f} s", flush=True)
    return True


def main(names: Sequence[str]) -> int:
    print(
        subprocess.run(
            [os.environ["COLAB"], "-c", VERSIONS], check=True, capture_output=True, text=True
        ).stdout
    )
    assignments = Course(ROOT).assignments()
    failed = [a.name for a in assignments if (not names or a.name in names) and not runs(a)]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
