"""The result cache: results stored by a hash of the submission, its checks, and the versions that graded it.

Grading the same submission again takes its results from here, but for exercises whose checks have changed.
"""

import base64
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode

import gradekit
import sandbox_kernel
from gradekit.checks.snippets import snippets_of
from gradekit.checks.variants import mistakes_of
from gradekit.course import CATALOGUES, NOT_CHECKS, Assignment, digests_of_records
from gradekit.course.cells import grade_id, is_locked_cell, nbgrader_metadata
from gradekit.course.files import STATE_FOLDER, FileStamp, file_stamp, files_in, folders_in, write_atomically
from gradekit.course.kernels import other_language
from gradekit.session.files_written import WrittenFiles
from gradekit.session.values import CheckOutcome
from gradekit.verdict.opened import GradingJob
from gradekit.verdict.results import NO_OUTPUT, SEVERITY, ExerciseResult, Status, SubmissionResult

if TYPE_CHECKING:  # it imports pytest, and a command may need nothing but cached results
    from gradekit.verdict.grade import Graded

_VERSIONS_OF = ("torch", "numpy", "pandas", "matplotlib", "ipykernel", "pytest")
_MAX_COUNT = 10**6
#: what nbgrader's metadata says about a cell
_MARKS = ("grade", "locked", "solution", "task")


@dataclass(frozen=True)
class CacheKey:
    """Hashes of what a result depends on: `submission` for the whole notebook, `exercises` for each exercise.

    `parts` are the hashes that `submission` combines, by name, so that a message can say which of them has changed.
    `notebook` is that of the notebook alone (see `digest_of_notebook`).
    """

    submission: str
    exercises: dict[str, str]
    parts: dict[str, str] = field(default_factory=dict)
    notebook: str = ""


@dataclass
class CachedResult:
    """The result of one notebook, outputs and execution counts of its cells by index, and the files that they wrote."""

    result: SubmissionResult = field(default_factory=lambda: SubmissionResult(Status.UNGRADED))
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    written: WrittenFiles = field(default_factory=WrittenFiles)
    counts: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, graded: "Graded", notebook: NotebookNode, key: CacheKey) -> "CachedResult":
        """The entry to store for a notebook that has just been graded."""
        exercises = [replace(e, key=key.exercises[e.grade_id]) for e in graded.result.exercises]
        code = [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        outputs = {index: list(cell.outputs) for index, cell in code if cell.outputs}
        result = replace(graded.result, exercises=exercises, key=key.submission, depends_on=key.parts)
        found = {index: cell.get("execution_count") for index, cell in code}
        # it may be forged
        counts = {i: n for i, n in found.items() if isinstance(n, int) and 0 < n < _MAX_COUNT}
        return cls(result, outputs, graded.written, counts)

    @property
    def stopped(self) -> bool:
        """True if some code was stopped or ended its process, so that grading it again may help."""
        outcomes = {check.outcome for exercise in self.result.exercises for check in exercise.checks}
        status = self.result.status
        return status in (Status.TIMED_OUT, Status.KERNEL_DIED) or not outcomes.isdisjoint(NO_OUTPUT)

    def missing(self, key: CacheKey) -> list[str]:
        """The exercises to grade: those that aren't here or whose checks have changed."""
        keys = {exercise.grade_id: exercise.key for exercise in self.result.exercises}
        return [name for name, digest in key.exercises.items() if keys.get(name) != digest]

    def updated(self, newer: "CachedResult", key: CacheKey) -> "CachedResult":
        """Replace the exercises that `newer` has; the order is that of `key`."""
        new = {exercise.grade_id: exercise for exercise in newer.result.exercises}
        carried = [exercise for exercise in self.result.exercises if exercise.grade_id not in new]
        exercises = new | {exercise.grade_id: exercise for exercise in carried}
        in_order = [exercises[name] for name in key.exercises if name in exercises]
        status = _status(newer.result.status, self.result.status, carried)
        doubts = [doubt for doubt in self.result.doubts if doubt.grade_id not in new] + newer.result.doubts
        result = replace(newer.result, exercises=in_order, status=status, doubts=doubts)
        return CachedResult(result, newer.outputs, newer.written, newer.counts)

    def put_outputs_into(self, notebook: NotebookNode) -> None:
        for index, outputs in self.outputs.items():
            notebook.cells[index].outputs = [NotebookNode(output) for output in outputs]
        for index, count in self.counts.items():
            notebook.cells[index].execution_count = count


class ResultCache:
    """The cached results of a course: one file per graded notebook, in `.gradekit/results`."""

    def __init__(self, root: Path) -> None:
        self._folder = root / STATE_FOLDER / "results"

    def find(self, assignment: str, key: CacheKey) -> CachedResult:
        """The stored result; an ungraded one if there is none, or it is damaged or of another schema version."""
        try:
            stored = json.loads(self._path(assignment, key).read_text(encoding="utf-8"))
            record = stored["record"]
            if stored["digest"] != _digest(record):
                return CachedResult()
            contents = {name: base64.b64decode(text) for name, text in record["written"].items()}
            result = SubmissionResult.from_dict(record["result"])
            outputs, counts = dict(record["outputs"]), dict(record["counts"])
            return CachedResult(result, outputs, WrittenFiles(contents), counts)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return CachedResult()

    def store(self, assignment: str, key: CacheKey, cached: CachedResult) -> None:
        """Write the file atomically, so that a killed command leaves no partial file."""
        # in pairs, since JSON has no numbers as keys
        outputs, counts = list(cached.outputs.items()), list(cached.counts.items())
        written = {name: base64.b64encode(data).decode() for name, data in cached.written.contents.items()}
        record = {"result": cached.result.as_dict(), "outputs": outputs, "written": written, "counts": counts}
        text = json.dumps({"digest": _digest(record), "record": record})
        write_atomically(self._path(assignment, key), text)

    def _path(self, assignment: str, key: CacheKey) -> Path:
        return self._folder / assignment / f"{key.submission}.json"


def key_of(job: GradingJob) -> CacheKey:
    """The hashes of what the result of a job will depend on.

    Raises:
        CourseError: the known mistakes can't be read.
    """
    assignment = job.assignment
    bound = assignment.bound_cells(job.name, job.notebook.cells)
    rule = job.how.rule
    ordinary = assignment.ordinary_cells(job.name, job.notebook.cells) if rule else []
    cells = _cells(job.notebook.cells), _cells(job.released.cells)
    of_student = _cells(cell for cell in job.notebook.cells if not is_locked_cell(cell))
    of_instructor = _cells(filter(is_locked_cell, job.notebook.cells))
    handed_out = _digests(assignment.handed_out(), assignment.course.ignore)
    own = _digests(job.own_files, assignment.course.ignore)
    parts = {
        "submission": _digest(of_student),
        "assignment": _digest([of_instructor, cells[1]]),
        # a copy of what was handed out makes no difference, since the instructor's file replaces it
        "own files": _digest(
            {path: own[path] for path in own if path not in handed_out or assignment.is_replaceable(path)}
        ),
        "handed out": _digest(handed_out),
        # whether torch is imported early follows from the files of the assignment
        "limits": _digest({name: value for name, value in asdict(job.how.limits).items() if name != "torch"}),
        "kernel": _digest([job.how.kernel_name, other_language(job.notebook.metadata)]),
        **versions(),
    }
    common = list(_helpers(assignment, job.name, bound))
    records = _records(assignment) if bound else {}
    checked = {
        name: _digest([_digest_of_file(file), common, _recorded(records, assignment.name_in_records(file))])
        for name, file in bound.items()
    }
    scored = {
        name: _digest(["ordinary", asdict(rule), nbgrader_metadata(cell).get("points")])
        for cell in job.notebook.cells
        if rule and (name := grade_id(cell)) and name in ordinary
    }
    keys = checked | scored
    return CacheKey(
        _digest([job.name, *cells, ordinary, parts]),
        {name: keys[name] for cell in job.notebook.cells if (name := grade_id(cell)) in keys},
        parts,
        digest_of_notebook(job.notebook),
    )


def digest_of_notebook(notebook: NotebookNode) -> str:
    """A hash of what counts of a notebook when it is graded; equal ones have equal keys for the same files and settings."""
    marks = [
        [float(found.get("points") or 0), *(bool(found.get(mark)) for mark in _MARKS)]
        for found in map(nbgrader_metadata, notebook.cells)
    ]
    return _digest([_cells(notebook.cells), marks, other_language(notebook.metadata)])


@cache
def versions() -> dict[str, str]:
    """What grades depend on: the versions of Python and some packages, and hashes of our own sources and of all codecs."""
    installed = {name: installed_version(name) for name in _VERSIONS_OF}
    own = {Path(package.__path__[0]) for package in (gradekit, sandbox_kernel)} | _folders_of_codecs()
    return {
        "Python": platform.python_version(),
        **{name: version for name, version in installed.items() if version},
        **{folder.name: _sources(folder) for folder in sorted(own)},
    }


def _folders_of_codecs() -> set[Path]:
    """The packages whose codecs compare values, found without importing them."""
    points = importlib.metadata.entry_points(group="gradekit.codecs")
    found = map(importlib.util.find_spec, {point.module.partition(".")[0] for point in points})
    return {Path(place) for spec in found if spec for place in spec.submodule_search_locations or ()}


def installed_version(package: str) -> str:
    """The installed version of a package; empty if there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _sources(folder: Path) -> str:
    files = sorted([str(path.relative_to(folder)), _digest_of_file(path)] for path in folder.rglob("*.py"))
    return _digest(files)


def _cells(cells: Iterable[NotebookNode]) -> list[list[Any]]:
    return [[cell.cell_type, grade_id(cell), cell.metadata.get("tags", []), cell.source] for cell in cells]


def _helpers(assignment: Assignment, notebook: str, bound: Container[str]) -> Iterator[tuple[str, str]]:
    """What the checks of a notebook may use, modules, also those in packages, and data files: paths and digests."""
    for path in assignment.data_of_checks():
        yield str(path.relative_to(assignment.checks)), _digest_of_file(path)
    for path in assignment.conftests:
        if path.is_file():
            yield os.path.relpath(path, assignment.checks), _digest_of_file(path)
    others = {*CATALOGUES, *(path.stem for path in assignment.source_notebooks())}
    for folder in (assignment.checks, assignment.checks / notebook):
        for path in sorted(folder.rglob("*.py")):
            inside = path.relative_to(folder)
            package = inside.parts[0] if len(inside.parts) > 1 else ""
            if package not in others if package else _is_helper(path, bound):
                yield str(inside), _digest_of_file(path)


def _is_helper(path: Path, bound: Container[str]) -> bool:
    """True for a module in a checks folder that other check files may use."""
    if path.stem in NOT_CHECKS:
        return path.stem not in (*CATALOGUES, "try_it", "viva")
    return not path.name.startswith("test_") and path.stem not in bound


def _records(assignment: Assignment) -> dict[str, str]:
    """Digests of the recorded values, known mistakes and snippets, by exercise."""
    paths = (*(path for path in assignment.checks.iterdir() if path.is_file()), *assignment.catalogued())
    return _recorded_by_exercise(assignment, tuple((path, file_stamp(path)) for path in sorted(paths)))


def _recorded(records: Mapping[str, str], exercise: str) -> list[str]:
    """The digests of an exercise; known mistakes and snippets don't name a notebook."""
    return [records.get(name, "") for name in dict.fromkeys((exercise, exercise.rpartition(":")[2]))]


@lru_cache(64)
def _recorded_by_exercise(assignment: Assignment, files: tuple[object, ...]) -> dict[str, str]:
    parts: dict[str, list[Any]] = {}
    for key, array in sorted(digests_of_records(assignment.checks)):
        parts.setdefault(key.split("::")[0].split("/")[0], []).append([key, *array])
    for mistake in mistakes_of(assignment):
        told = [mistake.name, mistake.sentence, mistake.uses, mistake.lacks]
        parts.setdefault(mistake.exercise, []).append(told)
    for snippet in snippets_of(assignment):
        parts.setdefault(snippet.exercise, []).append([snippet.checks, snippet.text])
    return {exercise: _digest(found) for exercise, found in parts.items()}


def _digests(paths: Sequence[Path], left_out: Sequence[str]) -> dict[str, str]:
    """What code can see of each file and folder, in folders too, by its path as the notebook sees it."""
    files = [(path, file) for path in paths for file in files_in(path, left_out)]
    folders = [(path, folder) for path in paths for folder in folders_in(path, left_out)]
    return {str(found.relative_to(path.parent)): "folder" for path, found in folders} | {
        str(file.relative_to(path.parent)): _digest_of_file(file)
        + (" executable" if file.stat().st_mode & 0o111 else "")
        for path, file in files
    }


def _digest_of_file(path: Path) -> str:
    return _digest_of_content(path, file_stamp(path))


@lru_cache(4096)
def _digest_of_content(path: Path, stamp: FileStamp | None) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _status(newest: Status, older: Status, carried: list[ExerciseResult]) -> Status:
    """The more severe status; the older one counts only if a carried exercise shows what caused it."""
    outcomes = {check.outcome for exercise in carried for check in exercise.checks}
    shown = older in SEVERITY and outcomes & {CheckOutcome.BLOCKED, *NO_OUTPUT}
    return max(newest, older if shown else newest, key=SEVERITY.index)
