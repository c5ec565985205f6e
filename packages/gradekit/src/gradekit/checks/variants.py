"""Known wrong answers and other right answers: small edits of the instructor's solution cells.

Also lists the mutants (see `gradekit.authoring.mutants`) that are right answers, or that no check can or should catch.
"""

import runpy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from gradekit.checks.beside import importable
from gradekit.course import Assignment, CourseError
from gradekit.course.cells import TEST_PREFIX, find_cell
from gradekit.submission.names import mentions


@dataclass(frozen=True)
class Variant:
    """An answer made from the solution cell `cell` by `edits` (old, new), or by replacing its `source`.

    `test` is the grade_id of the test cell, by default `test_<cell>`. If several notebooks have the cell, `notebook` is
    the name of the right one; by default it is the first.
    """

    name: str
    cell: str
    edits: Sequence[tuple[str, str]] = ()
    source: str = ""
    test: str = ""
    notebook: str = ""

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
                    f"the known mistake or alternative `{self.name}`: {old!r} must occur exactly once in the answer cell "
                    f"`{self.cell}`, but occurs {times} times. Copy it from the source notebook"
                )
            cell.source = cell.source.replace(old, new)
        return copy


@dataclass(frozen=True)
class Mistake(Variant):
    """A known wrong answer, the checks that should catch it, and the sentence that the student reads.

    `uses` and `lacks` are shell-style patterns of names: an answer has this mistake only if its code contains one of
    `uses` and none of `lacks`. Set them where the wrong values are few and simple, so that they prove little.

    `cost` says why the mistake may cost a larger or smaller share of its exercise than others do.
    """

    about: Sequence[str] = field(kw_only=True)
    sentence: str = field(kw_only=True)
    uses: tuple[str, ...] = field(default=(), kw_only=True)
    lacks: tuple[str, ...] = field(default=(), kw_only=True)
    cost: str = field(default="", kw_only=True)

    def checks(self) -> set[str]:
        """The checks that should catch it, as `<file>::<check>`."""
        return {name if "::" in name else f"{self.exercise}::{name}" for name in self.about}

    def exercises(self) -> set[str]:
        return {self.exercise, *(check.split("::")[0] for check in self.checks())}

    def confirmed_by(self, code: Sequence[str]) -> bool:
        """True if the code of an answer does not contradict it."""
        uses, lacks = (
            any(mentions(source, patterns) for source in code) for patterns in (self.uses, self.lacks)
        )
        return (uses or not self.uses) and not lacks


def mistakes_in(cell: str, prefix: str = "") -> Callable[..., Mistake]:
    """A function that makes the mistakes of one answer cell: `mistake(name, edits, about, sentence)`.

    It puts `prefix` before each name. A single edit and a single check need no list. Other arguments are those of
    `Mistake`, by name.
    """

    def mistake(
        name: str,
        edits: tuple[str, str] | Sequence[tuple[str, str]],
        about: str | Sequence[str],
        sentence: str,
        **more: Any,
    ) -> Mistake:
        found: Any = [edits] if isinstance(edits, tuple) and isinstance(edits[0], str) else edits
        checks = [about] if isinstance(about, str) else about
        return Mistake(prefix + name, cell, found, about=checks, sentence=sentence, **more)

    return mistake


def with_costs(mistakes: Sequence[Mistake], reasons: Mapping[str, Sequence[str]]) -> list[Mistake]:
    """The mistakes, with why they may cost more or less of their exercise than others: reason -> ids.

    Raises:
        CourseError: an id belongs to no mistake.
    """
    reason_of = {name: reason for reason, names in reasons.items() for name in names}
    if unknown := reason_of.keys() - {mistake.name for mistake in mistakes}:
        raise CourseError(f"a reason is given for mistakes that don't exist: {', '.join(sorted(unknown))}")
    return [replace(mistake, cost=reason_of.get(mistake.name, mistake.cost)) for mistake in mistakes]


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
    return _load(assignment, "mistakes")


def alternatives_of(assignment: Assignment) -> list[Alternative]:
    return _load(assignment, "alternatives")


def equivalents_of(assignment: Assignment) -> list[Equivalent]:
    path = assignment.checks / "equivalent.py"
    with importable([path.parent]):
        return list(_read(path).get("EQUIVALENT", [])) if path.exists() else []


def _load(assignment: Assignment, catalogue: str) -> list[Any]:
    """The list in `<catalogue>.py`, or the lists of all modules in the folder; modules may import files in either place."""
    name = catalogue.upper()
    found: list[tuple[Path, Variant]] = []
    with importable([assignment.checks, assignment.checks / catalogue]):
        for path in assignment.catalogue(catalogue):
            read = _read(path)
            if name not in read and path.parent != assignment.checks:
                raise CourseError(
                    f"{path} has no list {name}: add it, or begin the file's name with `_` if other files import it"
                )
            entries = list(read.get(name, []))
            if odd := [entry for entry in entries if not isinstance(entry, Variant)]:
                raise CourseError(
                    f"{path}: an entry of {name} is a {type(odd[0]).__name__}. Write `*` before a list inside it."
                )
            found += [(path, variant) for variant in entries]
    times = Counter(variant.name for _, variant in found)
    if doubled := sorted(name for name in times if times[name] > 1):
        paths = dict.fromkeys(str(path) for path, variant in found if variant.name in doubled)
        raise CourseError(f"{' and '.join(paths)}: more than one is called {', '.join(doubled)}")
    return [variant for _, variant in found]


def _read(path: Path) -> dict[str, Any]:
    """The names that a module defines."""
    try:
        return runpy.run_path(str(path))
    except Exception as error:
        raise CourseError(f"{path} can't be read: {type(error).__name__}: {error}") from error
