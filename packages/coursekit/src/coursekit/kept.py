"""Results that are kept, by the hash of the submission, its checks, and the versions of what graded it.

Grading the same again takes them from here; after a check has changed, only its exercise is graded again.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from coursekit.arrays import has_torch, to_bytes
from coursekit.checks.reference import Store
from coursekit.checks.results import (
    GRADED,
    KERNEL_DIED,
    PARTLY_GRADED,
    TIMED_OUT,
    ExerciseResult,
    SubmissionResult,
)
from coursekit.checks.run import Graded, check_files
from coursekit.checks.variants import mistakes_of
from coursekit.course import Assignment, grade_id
from coursekit.student.runner import Limits

FOLDER = ".coursekit"
_VERSIONS_OF = ("torch", "numpy", "ipykernel", "pytest")


@dataclass(frozen=True)
class Key:
    """What a result depends on: `submission` for all of it, `exercises` for each exercise on its own."""

    submission: str
    exercises: dict[str, str]


@dataclass
class Kept:
    """Results of one notebook, and what its cells put out, by index."""

    result: SubmissionResult = field(default_factory=lambda: SubmissionResult(""))
    outputs: dict[int, list[dict]] = field(default_factory=dict)

    @property
    def stopped(self) -> bool:
        """True if some code was stopped, or ended its process: what one may want to try again."""
        outcomes = {check.outcome for exercise in self.result.exercises for check in exercise.checks}
        return self.result.status in (TIMED_OUT, KERNEL_DIED) or bool(outcomes & {"timed out", "kernel died"})

    def missing(self, key: Key) -> list[str]:
        """The exercises that must be graded, since their checks are not those of `key`."""
        keys = {exercise.grade_id: exercise.key for exercise in self.result.exercises}
        return [name for name, digest in key.exercises.items() if keys.get(name) != digest]

    def with_newer(self, newer: "Kept", key: Key) -> "Kept":
        """These results with those in `newer` in their place, in the order of `key`."""
        mine = {exercise.grade_id: exercise for exercise in newer.result.exercises}
        carried = [exercise for exercise in self.result.exercises if exercise.grade_id not in mine]
        exercises = mine | {exercise.grade_id: exercise for exercise in carried}
        found = [exercises[name] for name in key.exercises if name in exercises]
        status = _status(newer.result.status, self.result.status, carried)
        result = replace(newer.result, exercises=found, status=status)
        return Kept(result, newer.outputs)

    def put_into(self, notebook: NotebookNode) -> None:
        """Give the cells of `notebook` the outputs of the run."""
        for index, outputs in self.outputs.items():
            notebook.cells[index].outputs = [NotebookNode(output) for output in outputs]


def kept_of(graded: Graded, notebook: NotebookNode, key: Key) -> Kept:
    """What to keep of a notebook that has just been graded."""
    exercises = [replace(e, key=key.exercises[e.grade_id]) for e in graded.result.exercises]
    outputs = {
        index: list(cell.outputs)
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.outputs
    }
    return Kept(replace(graded.result, exercises=exercises, key=key.submission), outputs)


class Results:
    """The kept results of a course, one file for each graded notebook, in `.coursekit/results`."""

    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER / "results"

    def find(self, assignment: str, key: Key) -> Kept:
        """What is kept for `key`; without results if there is nothing, or nothing that can be read."""
        try:
            found = json.loads(self._path(assignment, key).read_text(encoding="utf-8"))
            return Kept(
                SubmissionResult.from_dict(found["result"]),
                {int(index): outputs for index, outputs in found["outputs"].items()},
            )
        except (OSError, ValueError, KeyError, TypeError):
            return Kept()

    def keep(self, assignment: str, key: Key, kept: Kept) -> None:
        """Write the file at once or not at all, so that an end in mid-writing leaves no half of it."""
        path = self._path(assignment, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {"result": kept.result.as_dict(), "outputs": kept.outputs}
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            json.dump(values, file)
        os.replace(file.name, path)

    def _path(self, assignment: str, key: Key) -> Path:
        return self._folder / assignment / f"{key.submission}.json"


def key_of(
    assignment: Assignment,
    notebook: NotebookNode,
    name: str,
    released: NotebookNode,
    limits: Limits,
    kernel_name: str,
) -> Key:
    """The key of a repaired notebook.

    Raises:
        CourseError: a test cell has no check file, or mistakes.py can't be read.
    """
    beside = [(path.name, _digest_of_files(path)) for path in assignment.handed_out()]
    parts = [name, _cells(notebook), _cells(released), beside, asdict(limits), kernel_name, versions()]
    folder = assignment.checks
    shared = [path for path in folder.glob("*.py") if not path.name.startswith("test_")]
    common = [(path.name, _digest_of_files(path)) for path in sorted(shared) if path.stem not in _VARIANTS]
    return Key(
        _digest(parts),
        {
            file.stem: _digest([_digest_of_files(file), common, _recorded(assignment, file.stem)])
            for file in check_files(assignment, notebook)
        },
    )


_VARIANTS = ("mistakes", "alternatives")


def _cells(notebook: NotebookNode) -> list:
    return [
        [cell.cell_type, grade_id(cell), cell.metadata.get("tags", []), cell.source]
        for cell in notebook.cells
    ]


def _recorded(assignment: Assignment, exercise: str) -> str:
    """A digest of an exercise's recorded tensors and known mistakes."""
    files = tuple((path, _stamp(path)) for path in sorted(assignment.checks.iterdir()) if path.is_file())
    return _recorded_by_exercise(assignment, files).get(exercise, "")


@lru_cache(64)
def _recorded_by_exercise(assignment: Assignment, files: tuple) -> dict[str, str]:
    parts: dict[str, list] = {}
    for key, tensor in sorted(Store.load(assignment.checks).tensors.items()):
        content = hashlib.sha256(to_bytes(tensor)).hexdigest()
        kind = [key, str(tensor.dtype), list(tensor.shape), content]
        parts.setdefault(key.split("::")[0], []).append(kind)
    for mistake in mistakes_of(assignment):
        parts.setdefault(mistake.exercise, []).append([mistake.name, mistake.sentence])
    return {exercise: _digest(found) for exercise, found in parts.items()}


def _digest_of_files(path: Path) -> str:
    if path.is_dir():
        inside = sorted(other for other in path.rglob("*") if other.is_file())
        return _digest([[str(other.relative_to(path)), _digest_of_files(other)] for other in inside])
    return _digest_of_file(path, _stamp(path))


@lru_cache(4096)
def _digest_of_file(path: Path, stamp: tuple) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _stamp(path: Path) -> tuple:
    """Tells whether a file has changed since it was last read."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


@cache
def versions() -> list[str]:
    """What grades here: Python, packages, and coursekit itself by the hash of its sources."""
    own = Path(__file__).parent
    return [
        f"Python {platform.python_version()}",
        *(
            f"{name} {importlib.metadata.version(name)}"
            for name in _VERSIONS_OF
            if name != "torch" or has_torch()
        ),
        "coursekit "
        + _digest(sorted([str(path.relative_to(own)), _digest_of_files(path)] for path in own.rglob("*.py"))),
    ]


def _digest(parts: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def _status(newest: str, older: str, carried: list[ExerciseResult]) -> str:
    """The status of all exercises together. That of the older run counts if it shows in a result carried over."""
    outcomes = {check.outcome for exercise in carried for check in exercise.checks}
    concerned = older in _SEVERITY and outcomes & {"blocked", "timed out", "kernel died"}
    return max(newest, older if concerned else newest, key=_SEVERITY.index)


_SEVERITY = (GRADED, PARTLY_GRADED, TIMED_OUT, KERNEL_DIED)
