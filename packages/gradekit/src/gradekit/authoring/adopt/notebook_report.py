"""Classifies the cells of an instructor's notebook, and reports those that gradekit can't grade. Nothing is run.

Also finds code that won't work in the sandbox: packages, the network, files outside of the assignment's folder.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooNewError, SchemaTooOldError, ValidationError

from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.cells import CellKind, grade_id, is_demo, is_graded_cell, nbgrader_metadata
from gradekit.course.kernels import is_installed
from gradekit.course.printing import counted, listed, quoted, shortened
from gradekit.submission.extra_files import MAX_OPENED_BYTES, OPENS_NOTEBOOKS

PYTHON = "python"
_IMPORT = re.compile(r"^[^\S\n]*(?:from[^\S\n]+(\w+)[\w.]*[^\S\n]+import\b|import[^\S\n]+([\w., \t]+))", re.M)
#: modules whose purpose is the network
_NETWORK = {"aiohttp", "boto3", "ftplib", "httpx", "kaggle", "requests", "smtplib", "yfinance"}
_ADDRESS = re.compile(r"""["'](?:https?|ftp|s3)://|\burlopen\b|\burlretrieve\b""")
_COMMAND = re.compile(r"^[^\S\n]*[!%][^\S\n]*(?:pip|conda|mamba|apt|apt-get|wget|curl|git)\b", re.M)
_OUTSIDE = re.compile(
    r"""["']((?:/(?:data|home|media|mnt|nfs|opt|root|scratch|shared|srv|Users)/|~/|\.\./)[^"'\n]*)["']"""
)


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


def report_notebook(
    assignment: Assignment, path: Path, beside: set[str], kernel_replaced: bool
) -> NotebookReport:
    """Classify the cells of one notebook.

    Args:
        beside: the names of modules that are handed out with it.
        kernel_replaced: whether nbgrader's settings name another kernel than the notebook does.
    """
    found = NotebookReport(path.stem, path)
    try:
        notebook = read_notebook(path)
    except CourseError as error:
        found.problems.append(str(error))
        return found
    found.kernel, found.language = _kernel(notebook)
    if not is_installed(found.kernel):
        if found.language != PYTHON:
            found.problems.append(
                f"{path}: its kernel `{found.kernel}` ({found.language}) isn't installed here. Install it, so that "
                "`jupyter kernelspec list` shows it."
            )
        elif found.kernel and not kernel_replaced:
            found.changes.append(
                f"{path}: its kernel `{found.kernel}` isn't installed here, so plain nbgrader can't run it. gradekit "
                f"runs Python notebooks with its own Python, of version {sys.version_info.major}."
                f"{sys.version_info.minor}."
            )
    found.cells = list(_cells(assignment, found, notebook))
    for cell in found.cells:
        if cell.why:
            name = f" (`{cell.grade_id}`)" if cell.grade_id else ""
            found.problems.append(f"{path}, cell {cell.position}{name}: {cell.why}")
    found.problems += _wrong_schema(path, notebook)
    found.problems += _wrong_format(path)
    demos = [str(number) for number, cell in enumerate(notebook.cells, 1) if is_demo(cell)]
    if demos:
        have, them = ("has", "it") if len(demos) == 1 else ("have", "them")
        found.changes.append(
            f"{path}: {'cell' if len(demos) == 1 else 'cells'} {', '.join(demos)} {have} the tag `demo`, so gradekit "
            f"doesn't run {them} when grading. Remove the tag if a test needs the cell."
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
    found = (notebook.metadata.get(key) for key in ("kernelspec", "language_info"))
    spec, info = (each if isinstance(each, dict) else {} for each in found)
    name = str(spec.get("name") or "")
    language = spec.get("language") or info.get("name")
    if not language and name and name != PYTHON:
        try:
            language = KernelSpecManager().get_kernel_spec(name).language
        except NoSuchKernel:
            language = "" if name.startswith(PYTHON) else name
    language = str(language or PYTHON)
    return name, PYTHON if language.lower() in (PYTHON, "ipython") else language


def notes_on_code(notebook: NotebookNode, beside: set[str]) -> Iterator[str]:
    """A sentence for each thing that the code of a Python notebook needs and the sandbox doesn't have.

    Only the text is searched, so a comment may cause a sentence, and a computed name doesn't.

    Args:
        beside: the names of modules that are handed out with the notebook.
    """
    missing: dict[str, list[int]] = {}
    network: list[int] = []
    opening: list[int] = []
    outside: dict[str, list[int]] = {}
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code":
            continue
        modules = set(_imported(cell.source))
        for name in sorted(modules - beside):
            if not can_import(name):
                missing.setdefault(name, []).append(number)
        if modules & _NETWORK or _ADDRESS.search(cell.source) or _COMMAND.search(cell.source):
            network.append(number)
        if OPENS_NOTEBOOKS.search(cell.source):
            opening.append(number)
        for path in _OUTSIDE.findall(cell.source):
            outside.setdefault(path, []).append(number)
    for name, numbers in missing.items():
        yield (
            f"{_each(numbers)} imports `{name}`, which isn't installed in gradekit's environment. Install it there, "
            "since submissions run with the same Python."
        )
    if network:
        yield (
            f"{_each(network)} seems to use the network, which the sandbox doesn't have. Put files that are "
            "needed beside the notebook, and install packages before grading."
        )
    if opening:
        yield (
            f"{_each(opening)} mentions notebooks. A submission finds those that were handed in with it, up to "
            f"{MAX_OPENED_BYTES // 2**20} MiB each."
        )
    if outside:
        numbers = sorted({number for found in outside.values() for number in found})
        yield (
            f"{_each(numbers)} names {listed(outside)}. In the sandbox there is only the assignment's own folder: "
            "put the files beside the notebook."
        )


def modules_in(folder: Path) -> set[str]:
    """The names of the modules in an assignment's folder."""
    if not folder.is_dir():
        return set()
    return {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}


@cache
def can_import(module: str) -> bool:
    """True if Python would find the module, outside of the working folder. The module isn't imported."""
    if module in sys.stdlib_module_names or module in sys.builtin_module_names:
        return True
    folders = [path for path in sys.path if path and Path(path) != Path.cwd()]
    return PathFinder.find_spec(module, folders) is not None


def _imported(source: str) -> Iterator[str]:
    for package, names in _IMPORT.findall(source):
        for name in [package] if package else names.split(","):
            if first := name.split(" as ")[0].strip().split(".")[0]:
                yield first


def _each(numbers: list[int]) -> str:
    """The cells as the subject of a sentence in the singular."""
    return f"cell {numbers[0]}" if len(numbers) == 1 else f"each of cells {', '.join(map(str, numbers))}"
