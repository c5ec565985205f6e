"""Classifies the cells of an instructor's notebook, and reports those that gradekit can't grade. Nothing is run."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooNewError, SchemaTooOldError, ValidationError

from gradekit.authoring.adopt.imports import notes_on_code
from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.cells import CellKind, grade_id, is_demo, is_graded_cell, nbgrader_metadata
from gradekit.course.kernels import is_installed
from gradekit.course.printing import counted, quoted, shortened

PYTHON = "python"


@dataclass(frozen=True)
class CellReport:
    """One cell that nbgrader knows.

    Args:
        position: the number of the cell in the notebook, from 1.
        why: the reason if it is unsupported.
    """

    position: int
    grade_id: str
    kind: CellKind
    points: float | None = None
    why: str = ""


@dataclass
class NotebookReport:
    """One notebook of an assignment.

    Args:
        problems: sentences about what has to be fixed before it can be graded.
        changes: sentences about what will be different.
    """

    name: str
    path: Path
    kernel: str = ""
    language: str = PYTHON
    cells: list[CellReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)


def report_notebook(assignment: Assignment, path: Path, beside: set[str]) -> NotebookReport:
    """Classify the cells of one notebook.

    Args:
        beside: the names of modules that are handed out with it.
    """
    found = NotebookReport(path.stem, path)
    try:
        notebook = read_notebook(path)
    except CourseError as error:
        found.problems.append(str(error))
        return found
    found.kernel, found.language = _kernel(notebook)
    found.problems += _wrong_kernel(found)
    found.changes += _other_python(found)
    found.cells = list(_cells(assignment, found, notebook))
    found.problems += [
        f"{path}, cell {cell.position}{_named(cell.grade_id)}: {cell.why}" for cell in found.cells if cell.why
    ]
    found.problems += _wrong_schema(path, notebook)
    found.problems += _wrong_format(path)
    demos = [str(number) for number, cell in enumerate(notebook.cells, 1) if is_demo(cell)]
    if demos:
        found.changes.append(
            f"{path}: {_cells_in_words(demos)} the tag `demo`, so gradekit doesn't run {_it(demos)} when grading. "
            "Remove the tag if a test needs the cell."
        )
    if found.language == PYTHON:
        found.changes += [f"{path}: {note}" for note in notes_on_code(notebook, beside)]
    return found


def _cells(assignment: Assignment, report: NotebookReport, notebook: NotebookNode) -> Iterator[CellReport]:
    names = Counter(grade_id(cell) for cell in notebook.cells if _is_marked(cell))
    for position, cell in enumerate(notebook.cells, 1):
        if not _is_marked(cell):
            continue
        name = str(grade_id(cell) or "")
        try:
            kind = assignment.kind_of(report.name, cell)
        except CourseError:  # another notebook of the assignment is damaged, and is reported itself
            kind = CellKind.BOUND
        why = _metadata_problem(cell)
        if not why and names[name] > 1:
            why = f"{names[name]} cells of this notebook have the grade_id `{name}`. Give each its own."
        if not why and kind is CellKind.BOUND and report.language != PYTHON:
            why = f"its hidden checks need a Python notebook, but this one is in {report.language}."
        if kind is None and not why:
            why = "nbgrader has marked it, but it has no grade_id. Mark it again in Jupyter."
        yield CellReport(
            position, name, CellKind.UNSUPPORTED if why or not kind else kind, _points(cell), why
        )


def _is_marked(cell: NotebookNode) -> bool:
    """True for a cell that nbgrader knows: it is graded, answered or locked."""
    found = nbgrader_metadata(cell)
    return any(found.get(key) for key in ("grade", "solution", "locked", "task"))


def _points(cell: NotebookNode) -> float | None:
    """The points of a graded cell; metadata of 2015 have them as text, too."""
    if not is_graded_cell(cell):
        return None
    try:
        return float(nbgrader_metadata(cell).get("points", ""))
    except (TypeError, ValueError):
        return None


def _metadata_problem(cell: NotebookNode) -> str:
    """Why nbgrader itself would reject the cell; empty if it accepts it. `_wrong_schema` reports old metadata."""
    if cell.cell_type == "raw":
        return "it is a raw cell, which nbgrader's gradebook can't store. Make it a Markdown or a code cell."
    try:
        MetadataValidator().validate_cell(cell)
    except (SchemaTooOldError, SchemaTooNewError):
        return ""
    except ValidationError as error:
        if list(error.path) == ["grade_id"] and error.validator == "pattern":
            return "nbgrader rejects its grade_id. Change it in Jupyter: it may have only letters, digits, `_` and `-`."
        what = shortened(error.message.split("\n")[0], 120)
        return f"nbgrader rejects its metadata ({what}). Mark the cell again in Jupyter."
    except Exception as error:  # metadata of any form
        return f"nbgrader can't read its metadata ({type(error).__name__}). Mark the cell again in Jupyter."
    return ""


def _wrong_schema(path: Path, notebook: NotebookNode) -> Iterator[str]:
    old, new = [], []
    for cell in notebook.cells:
        version = cell.metadata.get("nbgrader", {"schema_version": MetadataValidator.schema_version})
        version = version.get("schema_version", 0) if isinstance(version, dict) else 0
        if isinstance(version, int) and version < MetadataValidator.schema_version:
            old.append(version)
        elif version != MetadataValidator.schema_version:
            new.append(version)
    if old:
        yield (
            f"{path}: {counted(len(old), 'cell')} with nbgrader metadata of version {min(old)}; nbgrader reads "
            f"version {MetadataValidator.schema_version}. Run `nbgrader update {quoted(path.parent)}`."
        )
    if new:
        yield f"{path}: nbgrader metadata of version {new[0]}, made by a newer nbgrader. Update nbgrader."


def _wrong_format(path: Path) -> Iterator[str]:
    version = nbformat.read(path, as_version=nbformat.NO_CONVERT).get("nbformat")
    if version != 4:
        yield (
            f"{path}: a notebook of format {version}, from before 2015. Open it in Jupyter and save it, "
            "which converts it."
        )


def _kernel(notebook: NotebookNode) -> tuple[str, str]:
    """The name of a notebook's kernel, and its language."""
    spec, info = (_dict(notebook.metadata.get(key)) for key in ("kernelspec", "language_info"))
    name = str(spec.get("name") or "")
    language = spec.get("language") or info.get("name")
    if not language and name and name != PYTHON:
        try:
            language = KernelSpecManager().get_kernel_spec(name).language
        except NoSuchKernel:
            language = "" if name.startswith(PYTHON) else name
    language = str(language or PYTHON)
    return name, PYTHON if language.lower() in (PYTHON, "ipython") else language


def _wrong_kernel(report: NotebookReport) -> Iterator[str]:
    """gradekit runs every Python notebook with its own Python, so only other languages need their kernelspec."""
    if report.language != PYTHON and not is_installed(report.kernel):
        yield (
            f"{report.path}: its kernel `{report.kernel}` ({report.language}) isn't installed here. Install it, so "
            "that `jupyter kernelspec list` shows it."
        )


def _other_python(report: NotebookReport) -> Iterator[str]:
    """A Python notebook that was saved with a kernel that isn't installed: nbgrader can't run it, gradekit can."""
    if report.language == PYTHON and report.kernel and not is_installed(report.kernel):
        yield (
            f"{report.path}: its kernel `{report.kernel}` isn't installed here, so plain nbgrader can't run it. "
            "gradekit runs Python notebooks with its own Python, of version "
            f"{sys.version_info.major}.{sys.version_info.minor}."
        )


def _dict(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _named(name: str) -> str:
    return f" (`{name}`)" if name else ""


def _cells_in_words(numbers: list[str]) -> str:
    return f"cell {numbers[0]} has" if len(numbers) == 1 else f"cells {', '.join(numbers)} have"


def _it(numbers: list[str]) -> str:
    return "it" if len(numbers) == 1 else "them"
