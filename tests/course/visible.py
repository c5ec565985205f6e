"""Do a notebook's visible tests accept every known right answer? `python tests/course/visible.py NAME`

The notebook runs once, without its demo cells. At the answer cell of each alternative the process forks, and the child goes on
with that answer, through the visible tests of this exercise and of all that build on it. Prints a line for each that is refused.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode

from gradekit.checks.variants import Alternative, alternatives_of
from gradekit.course import Assignment, Course, read_notebook
from gradekit.course.cells import grade_id, is_demo

ROOT = Path(__file__).parents[2]


def run(cells: Sequence[NotebookNode]) -> str:
    """Run the cells in this process; returns what the first one that failed said, or nothing."""
    shell = InteractiveShell.instance()
    for cell in cells:
        done = shell.run_cell(cell.source, silent=True)
        if not done.success:
            return f"{grade_id(cell) or cell.id}: {done.error_in_exec or done.error_before_exec!r}"
    return ""


def in_child(cells: Sequence[NotebookNode]) -> str:
    """Run the cells in a copy of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        said = run(cells)
        os.write(writing, said.encode()[:2_000])
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8", errors="replace") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return said or (f"the process ended with {status}" if status else "")


def refused(assignment: Assignment) -> dict[str, str]:
    """What the first visible test to fail said about each right answer that is refused, by the name of the answer."""
    (path,) = assignment.source_notebooks()
    source, alternatives = read_notebook(path), alternatives_of(assignment)
    found = {}
    cells = code_of(source)
    for place, cell in enumerate(cells):
        for alternative in alternatives:
            if alternative.cell == grade_id(cell) and (said := with_answer(alternative, source, place)):
                found[alternative.name] = said
        if said := run([cell]):
            return {**found, "solution": said}
    return found


def with_answer(alternative: Alternative, source: NotebookNode, place: int) -> str:
    return in_child(code_of(alternative.apply(source))[place:])


def code_of(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and not is_demo(cell)]


def main(name: str) -> int:
    assignment = Course(ROOT).assignment(name)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        for file in assignment.handed_out():
            (shutil.copytree if file.is_dir() else shutil.copy)(file, Path(folder) / file.name)
        os.chdir(folder)
        sys.path.insert(0, folder)
        printed, sys.stdout = sys.stdout, nowhere
        found = refused(assignment)
        sys.stdout = printed
        os.chdir(before)
    for answer, said in found.items():
        print(f"{answer}: {said}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
