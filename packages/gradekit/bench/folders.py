"""Course folders for the measurements, and a class whose submissions all differ."""

import shutil
import sys
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bench.meter import ROOT, Usage, measure
from gradekit.checks.variants import alternatives_of, mistakes_of
from gradekit.course import Assignment, Course
from gradekit.course.cells import find_cell
from gradekit_authoring.samples import Change, Sample, write_class

ASSIGNMENT = "02_attention"
NBGRADER = (sys.executable, "-m", "nbgrader")
GRADEKIT = (sys.executable, "-m", "gradekit")
_WRITTEN = ("autograded", ".gradekit", "gradebook.db", "gradebook.db-wal", "gradebook.db-shm")


def assignment(name: str = ASSIGNMENT) -> Assignment:
    return Course(ROOT).assignment(name)


def class_of(count: int, variety: int = 0, name: str = ASSIGNMENT) -> list[Sample]:
    """Solutions, known mistakes and alternatives in turn, a third each.

    There are `variety` different mistakes and alternatives, by default as many as possible, picked evenly from all
    that are known. A comment makes each submission unique, so that none takes its result from the cache.
    """
    variety = variety or count // 3
    known = assignment(name)
    mistakes, alternatives = (_spread(of(known), variety) for of in (mistakes_of, alternatives_of))
    kinds = cycle(["right", "mistake", "alternative"])
    samples = []
    for number, kind in enumerate(islice(kinds, count)):
        pool = {"mistake": mistakes, "alternative": alternatives}.get(kind)
        variants = (pool[number // 3 % len(pool)],) if pool else ()
        student = f"{number:04}-{variants[0].name.replace('_', '-') if variants else 'right'}"
        samples.append(Sample(student, full=kind != "mistake", change=own_comment(number), variants=variants))
    return samples


def _spread(found: list, count: int) -> list:
    count = max(1, min(count, len(found)))
    return [found[index * len(found) // count] for index in range(count)]


def own_comment(number: int) -> Change:
    """Make a submission unique with a comment."""

    def change(notebook: NotebookNode, main: str) -> None:
        cell = find_cell(notebook, main)
        cell.source = f"# by student {number}\n{cell.source}"

    return change


@dataclass(frozen=True)
class CourseFolder:
    """A course with one assignment."""

    root: Path
    name: str = ASSIGNMENT

    @property
    def log(self) -> Path:
        return self.root / "log.txt"

    @property
    def assignment(self) -> Assignment:
        return Course(self.root).assignment(self.name)

    @classmethod
    def plain(cls, root: Path, settings: str = "") -> "CourseFolder":
        """A course with sources only, and nbgrader's defaults except for `settings`."""
        _copy("source", root, ASSIGNMENT)
        (root / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")
        return cls(root)

    @classmethod
    def with_checks(cls, root: Path, name: str = ASSIGNMENT) -> "CourseFolder":
        """A course with sources and hidden checks, and the settings of this course."""
        for folder in ("source", "release", "tests"):
            _copy(folder, root, name)
        shutil.copy(ROOT / "nbgrader_config.py", root)
        return cls(root, name)

    def hand_in(self, samples: list[Sample]) -> None:
        write_class(assignment(self.name), self.root / "submitted", samples)

    def start_over(self) -> None:
        """Remove all results, and generate the assignment with an empty gradebook."""
        for name in _WRITTEN:
            path = self.root / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        self.generate()

    def generate(self) -> None:
        """Make the release of the assignment."""
        measure([*NBGRADER, "generate_assignment", self.name, "--force"], self.root, self.log)

    def autograded(self) -> list[NotebookNode]:
        found = (self.root / "autograded").glob(f"*/{self.name}/*.ipynb")
        return [nbformat.read(path, as_version=4) for path in sorted(found)]

    def run(self, *command: str) -> Usage:
        """Grade the class with one command.

        Raises:
            RuntimeError: some submissions are not graded.
        """
        self.start_over()
        usage = measure([*command, self.name], self.root, self.log)
        self.require_graded()
        return usage

    def require_graded(self) -> None:
        """Raise RuntimeError if some submissions are not graded."""
        handed_in, graded = len(list((self.root / "submitted").iterdir())), len(self.autograded())
        if handed_in != graded:
            raise RuntimeError(f"{graded} of {handed_in} are graded; see {self.log}")


def _copy(folder: str, root: Path, name: str) -> None:
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    shutil.copytree(ROOT / folder / name, root / folder / name, ignore=ignored)
