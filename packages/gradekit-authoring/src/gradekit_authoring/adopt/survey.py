"""Surveys the folder of an nbgrader course: assignments, notebooks, settings, and cells that gradekit can't grade.

No notebook is run. Code that won't work in the sandbox is found in the text: packages, the network, files outside
of the assignment's folder.
"""

import glob
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooNewError, SchemaTooOldError, ValidationError

from gradekit.course import Assignment, CourseError, read_notebook, refuse_pattern
from gradekit.course.cells import CellKind, grade_id, is_demo, is_graded_cell, nbgrader_metadata
from gradekit.course.kernels import is_installed
from gradekit.course.printing import counted, did_you_mean, listed, quoted, shortened
from gradekit.grading.running_course import RunningCourse
from gradekit.submission.extra_files import MAX_OPENED_BYTES, OPENS_NOTEBOOKS
from gradekit_authoring.adopt.config_file import (
    NAME,
    ConfigFile,
    json_config,
    replaces_kernels,
    settings_changes,
    settings_problems,
    version_problems,
)

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
    """A cell that nbgrader knows: its `position` in the notebook, from 1, and `why` if it is unsupported."""

    position: int
    grade_id: str
    kind: CellKind
    points: float | None = None
    why: str = ""


@dataclass
class NotebookReport:
    """A notebook, with sentences about what has to be fixed before grading, and about what will be different."""

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
        elif found.kernel and found.kernel != "python" and not kernel_replaced:  # Jupyter's name for its own
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

    Only the text is searched, so a comment may cause a sentence, and a computed name doesn't. `beside` are the names of
    modules that are handed out with the notebook.
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


class EmptyCourse(CourseError):
    """The folder has no assignment with a notebook."""


@dataclass
class AssignmentReport:
    """One assignment.

    Args:
        folder: where its notebooks were read; release/ if there is no source/.
        submissions: the number of students with a submission folder.
    """

    name: str
    folder: Path
    submissions: int
    notebooks: list[NotebookReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[CellReport]:
        return [cell for notebook in self.notebooks for cell in notebook.cells]


@dataclass
class CourseReport:
    """A whole course, as `gradekit adopt` prints it."""

    root: Path
    adopted: bool
    assignments: list[AssignmentReport]
    settings_problems: list[str]
    settings_changes: list[str]

    @property
    def notebooks(self) -> list[NotebookReport]:
        return [notebook for each in self.assignments for notebook in each.notebooks]

    @property
    def problems(self) -> list[str]:
        """Everything that must be fixed before gradekit can grade all of it."""
        parts: list[AssignmentReport | NotebookReport] = [*self.assignments, *self.notebooks]
        return [*self.settings_problems, *(sentence for part in parts for sentence in part.problems)]

    @property
    def changes(self) -> list[str]:
        return [*self.settings_changes, *(text for each in self.notebooks for text in each.changes)]

    def as_dict(self) -> dict[str, Any]:
        shown = asdict(self) | {"problems": self.problems, "changes": self.changes}
        return {key: shown[key] for key in ("root", "adopted", "assignments", "problems", "changes")}


def survey(root: Path, names: Sequence[str] = ()) -> CourseReport:
    """Look at the course in `root`, or at some of its assignments. Only its configuration is run, as nbgrader does.

    Raises:
        CourseError: there is no course, an assignment doesn't exist, or the configuration is damaged.
    """
    refuse_pattern(root)
    file = ConfigFile.read(root / NAME)
    file.tree  # noqa: B018  (a syntax error is reported with its line)
    course = RunningCourse.open(root)
    known = _assignments(course)
    if not known:
        place = course.assignment("x").source_folder.parent
        raise EmptyCourse(
            f"{place} has no assignment with a notebook: run this in the folder of an nbgrader course, or use "
            "--course-dir"
        )
    if unknown := [name for name in names if name not in known]:
        nearest = did_you_mean(unknown[0], known)
        raise CourseError(
            f"{root} has no assignment {', '.join(unknown)}; it has {', '.join(known)}{nearest}"
        )
    problems = [*version_problems(), *settings_problems(course.config, file)]
    if path := json_config(root):
        problems.append(
            f"{path} can't call `configure(c)`, and its settings override {NAME}. Move them into {NAME}."
        )
    assignments = [_report(course, name) for name in names or known]
    return CourseReport(
        root, file.adopted, assignments, problems, list(settings_changes(course.config, file))
    )


def may_become_course(root: Path) -> bool:
    """True for a folder without an assignment that someone is about to fill: nothing is in it, or only parts of a course."""
    found = {path.name for path in root.iterdir() if not path.name.startswith(".")} if root.is_dir() else None
    return found is not None and (not found or bool(found & {NAME, "source", "gradebook.db"}))


def _report(course: RunningCourse, name: str) -> AssignmentReport:
    assignment = course.assignment(name)
    paths = assignment.source_notebooks()
    report = AssignmentReport(name, assignment.source_folder, len(course.handed_in(name)))
    if not paths:
        report.folder = assignment.release_folder
        if paths := sorted(assignment.release_folder.glob("*.ipynb")):
            report.problems.append(
                f"{assignment.source_folder} has no notebook, so {report.folder} was read. Hidden tests are then only in "
                "the gradebook; to change the assignment, put the notebooks with solutions back into the source folder."
            )
    if not paths:
        remedy = "add one, or remove the folder"
        if any(assignment.source_folder.iterdir()):
            remedy = (
                "add one. If notebooks read its files as `../`, move them into the folder of each assignment that needs "
                "them, and change the paths: only what is in that folder is handed out and there during grading"
            )
        report.problems.append(f"{assignment.source_folder} has no notebook: {remedy}.")
    if "+" in name:
        report.problems.append(
            f"{report.folder}: nbgrader refuses a `+` in the name of an assignment. Rename it."
        )
    if not set("*?[]").isdisjoint(name):
        report.problems.append(
            f"{report.folder}: nbgrader reads `*`, `?`, `[` and `]` in the name of an assignment as a pattern. Rename it."
        )
    beside = modules_in(report.folder) | modules_in(assignment.release_folder)
    replaced = replaces_kernels(course.config)
    report.notebooks = [report_notebook(assignment, path, beside, replaced) for path in paths]
    report.problems += _hidden_flat_files(assignment.checks, report)
    return report


def _assignments(course: RunningCourse) -> list[str]:
    """The names of all assignments: folders in source/, or in release/. None at all if none has a notebook."""
    example = course.assignment("x")
    folders = [path.parent for path in (example.source_folder, example.release_folder)]
    found: list[Path] = []
    for folder in folders:
        pattern = f"{glob.escape(str(folder))}/*/"
        found += [Path(path) for path in glob.glob(pattern) if not Path(path).name.startswith("_")]
    if not any(any(path.glob("*.ipynb")) for path in found):
        return []
    return sorted({path.name for path in found})


def _hidden_flat_files(folder: Path, report: AssignmentReport) -> list[str]:
    """Check files that bind no cell because test cells of several notebooks share the grade_id."""
    names = Counter(cell.grade_id for cell in report.cells if cell.kind is CellKind.ORDINARY)
    return [
        f"{folder / name}.py: {count} notebooks have a test cell `{name}`, so this file binds none. Put it into a "
        f"folder with the name of its notebook, {folder / '<notebook>' / name}.py."
        for name, count in names.items()
        if count > 1 and (folder / f"{name}.py").is_file()
    ]
