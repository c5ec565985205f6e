"""One submission's notebook as a task that can travel, and what a worker makes of it."""

import atexit
import hashlib
import shutil
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat

from coursekit.attempt import Outcome, attempt
from coursekit.course import Assignment, Course
from coursekit.kept import Key
from coursekit.student.limits import Limits


@dataclass(frozen=True)
class Files:
    """What a worker needs of an assignment: its notebooks and checks, as files of a course folder."""

    assignment: str
    content: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, assignment: Assignment) -> "Files":
        course = assignment.course
        paths = [
            path
            for folder in (course.source, course.release, course.tests)
            for path in sorted((course.root / folder / assignment.name).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        ]
        content = ((str(path.relative_to(course.root)), path.read_bytes()) for path in paths)
        return cls(assignment.name, tuple(content))

    @property
    def digest(self) -> str:
        found = hashlib.sha256()
        for path, data in self.content:
            found.update(path.encode() + b"\0" + hashlib.sha256(data).digest())
        return found.hexdigest()

    def unpack(self) -> Assignment:
        """The assignment in a folder of this machine, the same one for the same files."""
        return _unpacked(self.digest, self)


@dataclass(frozen=True)
class Task:
    """A repaired notebook to be graded; `exercises` are those whose results are not kept.

    `wary` is for a second try (see `coursekit.attempt`).
    """

    student: str
    notebook_name: str
    notebook: str
    key: Key
    exercises: tuple[str, ...]
    limits: Limits
    kernel_name: str
    wary: bool = False


_one_at_a_time = threading.Lock()


def carry_out(assignment: Assignment | Files, task: Task) -> Outcome:
    """Grade one notebook, in a worker. Threads of one process take turns: pytest has one state for all."""
    with _one_at_a_time:
        return _carry_out(assignment, task)


def _carry_out(assignment: Assignment | Files, task: Task) -> Outcome:
    if isinstance(assignment, Files):
        assignment = assignment.unpack()
    try:
        notebook = nbformat.reads(task.notebook, as_version=4)
    except Exception as error:
        return Outcome.failed(error)
    rest = task.key, task.exercises, task.limits, task.kernel_name, task.wary
    return attempt(assignment, notebook, task.notebook_name, *rest)


@cache
def _unpacked(digest: str, files: Files) -> Assignment:
    root = Path(tempfile.mkdtemp(prefix="coursekit-course-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for path, data in files.content:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return Course(root).assignment(files.assignment)
