"""An ordinary nbgrader assignment, with hidden tests in its notebook and no check files, through both graders."""

import os
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from bench.compare import Way, side_by_side, take_turns
from bench.folders import GRADEKIT, NBGRADER, CourseFolder
from gradekit.course.cells import find_cell

_NAME = "numbers"
_SETTINGS = "c = get_config()\n"
_PLUGGED_IN = "from gradekit.nbgrader_plugin import configure\n\nc = get_config()\nconfigure(c)\n"
#: exercise: the arguments of its function, the right answer, a wrong one, a visible test and a hidden one
_EXERCISES = {
    "center": (
        "x",
        "x - x.mean(axis=0)",
        "x - x.mean()",
        "assert np.allclose(center(np.array([[1.0], [3.0]])), [[-1.0], [1.0]])",
        "assert np.allclose(center(np.array([[1.0, 8.0], [3.0, 2.0]])), [[-1.0, 3.0], [1.0, -3.0]])",
    ),
    "normalize": (
        "x",
        "x / np.linalg.norm(x, axis=1, keepdims=True)",
        "x / np.linalg.norm(x)",
        "assert np.allclose(normalize(np.array([[3.0, 4.0]])), [[0.6, 0.8]])",
        "assert np.allclose(np.linalg.norm(normalize(np.arange(1.0, 7.0).reshape(3, 2)), axis=1), 1)",
    ),
    "moving_average": (
        "x, n",
        'np.convolve(x, np.ones(n) / n, mode="valid")',
        'np.convolve(x, np.ones(n) / n, mode="same")',
        "assert np.allclose(moving_average(np.array([1.0, 3.0]), 1), [1.0, 3.0])",
        "assert np.allclose(moving_average(np.array([1.0, 3.0, 5.0]), 2), [2.0, 4.0])",
    ),
    "nearest": (
        "points, target",
        "int(np.argmin(((points - target) ** 2).sum(axis=1)))",
        "int(np.argmin((points - target).sum(axis=1)))",
        "assert nearest(np.array([[0.0, 0.0], [5.0, 5.0]]), np.array([1.0, 1.0])) == 0",
        "assert nearest(np.array([[-9.0, 0.0], [1.0, 1.0]]), np.array([2.0, 2.0])) == 1",
    ),
}


def ordinary(scratch: Path, count: int, turns: int) -> None:
    """Print what as many nbgrader processes as cores take for the class, one process, and gradekit."""
    cores = min(os.cpu_count() or 1, count)
    ours, one = _course(scratch / "ours", _PLUGGED_IN), _course(scratch / "one", _SETTINGS)
    split = [_course(scratch / f"split-{number}", _SETTINGS) for number in range(cores)]
    submissions = list(islice(_submissions(), count))
    for number, submission in enumerate(submissions):
        for folder in (ours, one, split[number % cores]):
            path = folder.root / "submitted" / f"{number:04}" / _NAME / f"{_NAME}.ipynb"
            path.parent.mkdir(parents=True)
            nbformat.write(submission, path)
    print(f"\n{count} submissions of an ordinary NumPy assignment")
    ways = [
        Way("gradekit autograde", count, lambda: ours.run(*GRADEKIT, "autograde", "--fresh")),
        Way(f"{cores} x nbgrader autograde", count, lambda: side_by_side(split, *NBGRADER, "autograde")),
        Way("nbgrader autograde", count, lambda: one.run(*NBGRADER, "autograde")),
    ]
    take_turns(ways[:2] if cores == 1 else ways, turns)


def _course(root: Path, settings: str) -> CourseFolder:
    (root / "source" / _NAME).mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(settings)
    nbformat.write(_source(), root / "source" / _NAME / f"{_NAME}.ipynb")
    folder = CourseFolder(root, _NAME)
    folder.start_over()
    return folder


def _source() -> NotebookNode:
    cells = [v4.new_code_cell("import numpy as np")]
    for name, (arguments, right, _, visible, hidden) in _EXERCISES.items():
        solution = f"    ### BEGIN SOLUTION\n    return {right}\n    ### END SOLUTION"
        tests = f"{visible}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
        cells += [
            _cell(name, f"def {name}({arguments}):\n{solution}", solution=True),
            _cell(f"test_{name}", tests, points=5, grade=True, locked=True),
        ]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return v4.new_notebook(cells=cells, metadata=python)


def _cell(name: str, source: str, points: int = 0, **kind: bool) -> NotebookNode:
    flags = {"solution": False, "grade": False, "locked": False, "task": False} | kind
    marks = {"grade_id": name, "schema_version": 3} | flags | ({"points": points} if points else {})
    return v4.new_code_cell(source, metadata={"nbgrader": marks})


def _submissions() -> Iterator[NotebookNode]:
    """Right answers, and answers with one wrong exercise, in turn; a comment makes each unique."""
    for number, wrong in enumerate(cycle([None, *_EXERCISES])):
        notebook = _source()
        for name, (arguments, right, mistaken, visible, _) in _EXERCISES.items():
            answer = mistaken if name == wrong else right
            find_cell(notebook, name).source = f"# {number}\ndef {name}({arguments}):\n    return {answer}"
            find_cell(notebook, f"test_{name}").source = visible
        yield notebook
