"""Known wrong answers and other right answers: small edits of the instructor's solution cells.

Also the mutants (see `coursekit.mutants`) that are right answers, or that no check can or should catch.
"""

import runpy
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from coursekit.cells import TEST_PREFIX, find_cell
from coursekit.course import Assignment, CourseError


@dataclass(frozen=True)
class Variant:
    """An answer made from the solution cell `cell` by `edits` (old, new), or by replacing its `source`.

    `test` is the grade_id of the test cell, by default `test_<cell>`.
    """

    name: str
    cell: str
    edits: Sequence[tuple[str, str]] = ()
    source: str = ""
    test: str = ""

    @property
    def exercise(self) -> str:
        return self.test or TEST_PREFIX + self.cell

    def exercises(self) -> set[str]:
        """grade_ids of the test cells that are about this answer."""
        return {self.exercise}

    def apply(self, notebook: NotebookNode) -> NotebookNode:
        """A copy of the source notebook with this answer in it.

        Raises:
            CourseError: the cell is missing, or the text of an edit does not occur in it exactly once.
        """
        copy = deepcopy(notebook)
        cell = find_cell(copy, self.cell)
        if cell is None:
            raise CourseError(f"`{self.name}`: the notebook has no cell `{self.cell}`")
        if self.source:
            cell.source = self.source.strip("\n")
        for old, new in self.edits:
            if cell.source.count(old) != 1:
                times = cell.source.count(old)
                raise CourseError(
                    f"`{self.name}`: {old!r} must stand once in `{self.cell}`, but stands there {times} times"
                )
            cell.source = cell.source.replace(old, new)
        return copy


@dataclass(frozen=True)
class Mistake(Variant):
    """A known wrong answer, the checks that should catch it, and the sentence that the student reads."""

    about: Sequence[str] = field(kw_only=True)
    sentence: str = field(kw_only=True)

    def checks(self) -> set[str]:
        """The checks that should catch it, as `<file>::<check>`."""
        return {name if "::" in name else f"{self.exercise}::{name}" for name in self.about}

    def exercises(self) -> set[str]:
        return {self.exercise, *(check.split("::")[0] for check in self.checks())}


@dataclass(frozen=True)
class Alternative(Variant):
    """Another right answer, which must earn full marks."""


@dataclass(frozen=True)
class Equivalent:
    """A mutant of the cell `cell` that may survive, by the lines that it changes, and the reason.

    Indentation and comments at the end of a line don't matter. A line that is only added has an empty `before`, one
    that is only removed an empty `after`.
    """

    cell: str
    before: str
    after: str
    reason: str


def mistakes_of(assignment: Assignment) -> list[Mistake]:
    return _load(assignment.checks / "mistakes.py", "MISTAKES")


def alternatives_of(assignment: Assignment) -> list[Alternative]:
    return _load(assignment.checks / "alternatives.py", "ALTERNATIVES")


def equivalents_of(assignment: Assignment) -> list[Equivalent]:
    return _read(assignment.checks / "equivalent.py", "EQUIVALENT")


def _read(path: Path, name: str) -> list[Any]:
    if not path.exists():
        return []
    try:
        return list(runpy.run_path(str(path)).get(name, []))
    except Exception as error:
        raise CourseError(f"{path} can't be read: {type(error).__name__}: {error}") from error


def _load(path: Path, name: str) -> list[Any]:
    found = _read(path, name)
    names = [variant.name for variant in found]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise CourseError(f"{path}: more than one is called {', '.join(doubled)}")
    return found
