"""`otter run` for comparison: the visible tests of the released notebook, on some of the submissions.

Otter can't grade a folder of notebooks without containers, so each submission is one command.
"""

import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bench.folders import ASSIGNMENT, assignment, class_of
from bench.meter import Usage, measure
from bench.table import HEAD, row
from gradekit.course.cells import grade_id, is_demo, is_test_cell, nbgrader_metadata
from gradekit_authoring.samples import write_class

_TEST = """\
from otter.test_files import test_case

OK_FORMAT = False
name = {name!r}
points = {points!r}


@test_case()
def test_visible(env):
    exec(compile({source!r}, {name!r}, "exec"), env)
"""


def beside(scratch: Path, count: int) -> None:
    """Print two rows, or that Otter is not installed."""
    program = shutil.which("otter")
    if program is None or not count:
        reason = "not asked for" if program else "otter-grader is not installed"
        print(f"\notter run: not measured ({reason})", flush=True)
        return
    root = scratch / "otter"
    archive = _autograder(program, root)
    submissions = class_of(count)
    write_class(assignment(), root / "submitted", submissions)
    print(f"\nOtter, the first {count} submissions, with visible tests only\n{HEAD}")
    for title, demos in (("otter run", True), ("otter run, without demo cells", False)):
        usages = []
        for sample in submissions:
            (path,) = (root / "submitted" / sample.student / ASSIGNMENT).glob("*.ipynb")
            handed_in = _without_tests(nbformat.read(path, as_version=4), demos)
            folder = root / title.replace(" ", "-") / sample.student
            folder.mkdir(parents=True)
            nbformat.write(handed_in, folder / path.name)
            command = [program, "run", path.name, "-a", str(archive), "--no-logo"]
            usages.append(measure(command, folder, root / "log.txt"))
            if not (folder / "results.json").exists():
                raise RuntimeError(f"otter wrote no result; see {root / 'log.txt'}")
        print(row(title, _together(usages), count), flush=True)


def _autograder(program: str, root: Path) -> Path:
    """Make Otter's archive, with a test for each test cell of the released notebook."""
    tests = root / "tests"
    tests.mkdir(parents=True)
    (name,) = assignment().released_names()
    for cell in assignment().released(name).cells:
        if is_test_cell(cell):
            points = float(nbgrader_metadata(cell)["points"])
            text = _TEST.format(name=grade_id(cell), points=points, source=cell.source)
            (tests / f"{grade_id(cell)}.py").write_text(text)
    archive = root / "autograder.zip"
    none = ["--no-config", "--no-requirements", "--no-environment"]
    measure([program, "generate", "-t", "tests", "-o", str(archive), *none], root, root / "log.txt")
    return archive


def _without_tests(notebook: NotebookNode, demos: bool) -> NotebookNode:
    """Remove the test cells, since Otter runs the tests of its archive."""
    notebook.cells = [
        cell for cell in notebook.cells if not is_test_cell(cell) and (demos or not is_demo(cell))
    ]
    return notebook


def _together(usages: list[Usage]) -> Usage:
    """The total of runs one after another."""
    seconds, cpu = sum(usage.seconds for usage in usages), sum(usage.cpu for usage in usages)
    return Usage(0, seconds, cpu, max(usage.peak for usage in usages))
