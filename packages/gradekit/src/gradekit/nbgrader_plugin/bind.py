"""In generate_assignment, and again before a class is graded: make sure that bound test cells and check files match.

Also how the cells of a notebook differ from those that nbgrader's gradebook has recorded.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Notebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from gradekit.course import NOT_CHECKS, Assignment, CourseError, read_notebook, stamp_of
from gradekit.course.cells import grade_id, is_graded_cell, nbgrader_metadata
from gradekit.course.files import Stamp
from gradekit.course.kernels import is_installed, other_language
from gradekit.course.printing import listed, quoted
from gradekit.nbgrader_plugin.course_folders import source_converted, stop
from gradekit.page.headings import heading_named, headings
from gradekit.submission.names import defined_names, parse
from gradekit.verdict.results import points_in_words

if TYPE_CHECKING:
    import pytest


#: the files of an assignment when its checks were last compared with its cells; a server lives for weeks
_checked: dict[tuple[Path, str], Stamp] = {}
#: only check files contain this
_HAS_POINTS = re.compile(r"^@(?:[\w.]+\.)?points\(", re.MULTILINE)


class RequireUniqueNames(NbGraderPreprocessor):
    """Stops the command if two cells have the same grade_id, or a graded one has no points: nbgrader prints a traceback."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        places = defaultdict(list)
        for number, cell in enumerate(nb.cells, 1):
            marks = nbgrader_metadata(cell)
            if any(marks.get(kind) for kind in ("grade", "solution", "locked")):
                places[grade_id(cell)].append(str(number))
        _, source = source_converted(self.config, resources)
        problems = [
            f"{source}: the cells {', '.join(numbers)} have the same grade_id `{name}`. Give each its own."
            for name, numbers in places.items()
            if len(numbers) > 1
        ]
        problems += [
            f"{source}: the cell `{grade_id(cell)}` is graded, but has no points. Set them in its nbgrader toolbar."
            for cell in nb.cells
            if is_graded_cell(cell) and "points" not in nbgrader_metadata(cell)
        ]
        if problems:
            stop(self.log, "\n".join(problems))
        return nb, resources


class BindChecks(NbGraderPreprocessor):
    """Stops the command if a test cell and its checks differ in points, or if checks belong to no cell."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        assignment, path = source_converted(self.config, resources)
        try:
            problems = binding_problems(assignment, nb, path)
        except CourseError as error:
            problems = [str(error)]
        if problems:
            stop(self.log, "\n".join(problems))
        return nb, resources


def require_bound(assignment: Assignment) -> None:
    """Raise CourseError unless the released test cells match their check files, and the kernels are installed."""
    course = assignment.course
    kernels, problems = list[str](), list[str]()
    for name in assignment.released_names():
        notebook, path = assignment.released(name), Path(course.release, assignment.name, f"{name}.ipynb")
        if (kernel := other_language(notebook.metadata)) and not is_installed(kernel):
            kernels.append(
                f"{path} has the kernel `{kernel}`, which is not installed here: install it. `jupyter kernelspec list` "
                "shows those that are."
            )
        problems += binding_problems(assignment, notebook, path)
    if problems := kernels + problems:
        raise CourseError("\n".join(problems))


def require_bound_once(assignment: Assignment) -> None:
    """The same, unless this process has done so since a file of the assignment changed."""
    key, stamp = (assignment.course.root.resolve(), assignment.name), stamp_of(assignment)
    if _checked.get(key) != stamp:
        require_bound(assignment)
        _checked[key] = stamp_of(assignment)


def binding_problems(assignment: Assignment, notebook: NotebookNode, path: Path) -> list[str]:
    """Compare the test cells of a notebook with the check files; returns a sentence for each problem."""
    # the configuration imports this module in every command
    from gradekit.verdict.grade import collect_marks, points_of

    cell_points = points_of(notebook)
    root = assignment.course.root
    bound = assignment.bound_cells(path.stem, notebook.cells)
    files = {name: file.relative_to(root) for name, file in bound.items()}
    kernel = other_language(notebook.metadata)
    if kernel and files:
        return [
            f"{file}: {path} has the kernel `{kernel}`, but hidden checks are for notebooks in Python. Remove the "
            f"file; then the test cell `{name}` is run in its notebook."
            for name, file in files.items()
        ]
    remedy = "Change the points of the cell or of the checks."
    if not path.is_relative_to(assignment.course.source):
        remedy += f" If the source is right, run `{_to_release(assignment, notebook, path.stem)}`."
    problems = []
    known_headings = headings(notebook)
    for name, found in collect_marks(assignment, path.stem, notebook).items():
        if without := [check for check, mark in found.items() if not _has_points(mark)]:
            problems.append(
                f"{files[name]}: {', '.join(without)} has no points. Write @points(n) above it, n a number."
            )
            continue
        marks = [mark for mark in found.values() if mark]
        total = sum(mark.args[0] for mark in marks)
        if total != cell_points[name]:
            problems.append(
                f"{path}: the test cell `{name}` is worth {points_in_words(cell_points[name])}, but the checks in "
                f"{files[name]} add up to {total:g}. {remedy}"
            )
        problems += [
            f"{files[name]}: a check says see={see!r}, but {path} has no such heading. "
            "Copy the heading's text from the notebook."
            for see in dict.fromkeys(mark.kwargs.get("see", "") for mark in marks)
            if see and not heading_named(known_headings, see)
        ]
    source = assignment.source_folder / path.name  # it has the solutions
    notebooks = [notebook, read_notebook(source)] if source.exists() else [notebook]
    code = [cell.source for book in notebooks for cell in book.cells if cell.cell_type == "code"]
    for file in files.values():
        problems += _taken_names(root / file, file, code)
    return [*problems, *_unbound_files(assignment)]


def _taken_names(check_file: Path, shown: Path, sources: Iterable[str]) -> list[str]:
    """A sentence for each call of one of the notebook's functions that would reach a method of `student` instead.

    A method is meant where its first argument is the text that it takes, such as a cell's name.

    Args:
        shown: how messages name the file.
        sources: of the notebook's code cells, with the solutions.
    """
    from gradekit.session.proxy import TAKEN_NAMES  # the configuration imports this module in every command

    tree = parse(check_file.read_text(encoding="utf-8", errors="replace"))
    defined = TAKEN_NAMES & {name for source in sources for name in defined_names(source)}
    if tree is None or not defined:
        return []
    names = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[ast.Constant(value=str()), *_]):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="student"), attr=name)) if name in defined:
                names[name] = node.lineno
    return [
        f"{shown}, line {line}: `student.{name}` is a method of `student`, not the notebook's function. Write "
        f'`student.call("{name}", ...).value`.'
        for name, line in names.items()
    ]


def _to_release(assignment: Assignment, released: NotebookNode, name: str) -> str:
    """The command that releases the source; with other cells than before, nbgrader's fails if there are submissions."""
    source = assignment.source_folder / f"{name}.ipynb"
    if source.exists() and cells_in(read_notebook(source)) != cells_in(released):
        return f"gradekit revise {quoted(assignment.name)}"
    return f"nbgrader generate_assignment {quoted(assignment.name)} --force"


def _unbound_files(assignment: Assignment) -> list[str]:
    """A sentence for each check file that binds no test cell."""
    problems = []
    files = {*assignment.checks.glob("*.py"), *assignment.checks.glob("*/*.py")}
    for file in sorted(files - assignment.catalogued()):
        notebooks = assignment.notebooks_with_test(file.stem)
        own = file.parent != assignment.checks
        if file.stem in NOT_CHECKS or (file.parent.name in notebooks if own else len(notebooks) == 1):
            continue
        shown = file.relative_to(assignment.course.root)
        if notebooks and not own:
            problems.append(
                f"{shown}: the notebooks {listed(notebooks)} all have a test cell `{file.stem}`. Move the file to "
                f"{shown.parent / notebooks[0]}/ if it is for the cell in `{notebooks[0]}`."
            )
        elif file.name.startswith("test_") or _HAS_POINTS.search(
            file.read_text(encoding="utf-8", errors="replace")
        ):
            where = f"the notebook `{file.parent.name}`" if own else assignment.name
            problems.append(f"{shown} belongs to no cell: {where} has no test cell `{file.stem}`.")
    return problems


def _has_points(mark: "pytest.Mark | None") -> bool:
    return mark is not None and len(mark.args) == 1 and type(mark.args[0]) in (int, float)


class RowKind(StrEnum):
    """The kinds of rows that the gradebook has for a cell, as in `Notebook.grade_cells`."""

    GRADE = "grade"
    SOLUTION = "solution"
    TASK = "task"
    SOURCE = "source"


#: by the grade_id of the cell
CellKinds = dict[str, frozenset[RowKind]]


def cells_in(notebook: NotebookNode) -> CellKinds:
    """The cells that nbgrader would record."""
    found = {}
    is_of = {RowKind.GRADE: is_grade, RowKind.SOLUTION: is_solution, RowKind.TASK: is_task}
    for cell in notebook.cells:
        kinds = {kind for kind, is_kind in is_of.items() if is_kind(cell)}
        if kinds or is_locked(cell):
            found[grade_id(cell) or ""] = frozenset({*kinds, RowKind.SOURCE})
    return found


def recorded_cells(notebook: Notebook) -> CellKinds:
    """The cells that the gradebook has."""
    found: CellKinds = {}
    for kind in RowKind:
        for row in getattr(notebook, f"{kind}_cells"):
            found[row.name] = found.get(row.name, frozenset()) | {kind}
    return found


@dataclass(frozen=True)
class CellChanges:
    """What is different between the cells that the gradebook has and those of the source; false if nothing is."""

    before: CellKinds
    now: CellKinds

    def __bool__(self) -> bool:
        return self.before != self.now

    def __str__(self) -> str:
        named = {
            "added": [name for name in self.now if name not in self.before],
            "removed": [name for name in self.before if name not in self.now],
            "changed to another type": [n for n, k in self.now.items() if self.before.get(n, k) != k],
        }
        return "; ".join(f"{listed(names)} {what}" for what, names in named.items() if names)
