"""Known wrong answers and other right answers: small edits of the instructor's solution cells.

Also lists the mutants (see `gradekit_authoring.mutants`) that are right answers, or that no check can or should catch.
"""

import contextlib
import importlib
import os
import runpy
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Self, TypeVar

from nbformat import NotebookNode

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import TEST_PREFIX, exercise_name, find_cell
from gradekit.submission.names import mentions


@contextlib.contextmanager
def importable(
    folders: Iterable[Path], others: Iterable[Path] = (), kept: dict[str, ModuleType] | None = None
) -> Iterator[None]:
    """Let code import the modules in these folders, and forget the modules afterwards.

    The folders are searched last, so a check file called `random.py` or `numpy.py` hides no other module. The files may change before they are next imported, and those of another course may have the same names.

    Args:
        others: files, and folders that are not searched, whose modules are also forgotten.
        kept: receives the forgotten modules, by name; pass it again to avoid reading them again.
    """
    added = [os.path.abspath(folder) for folder in folders]  # as in a module's __file__
    before = set(sys.modules)
    if kept:
        sys.modules.update(kept)
    else:
        importlib.invalidate_caches()
    sys.path.extend(added)
    try:
        yield
    finally:
        for folder in added:
            sys.path.remove(folder)
        found = _forget([*added, *map(os.path.abspath, others)], set(sys.modules) - before)
        if kept is not None:
            kept.update(found)


def _forget(places: Iterable[str], names: Iterable[str]) -> dict[str, ModuleType]:
    """Remove the imported modules that are in `places` (folders, at any depth, and files); returns them."""
    inside = tuple(place if place.endswith(".py") else f"{place}{os.sep}" for place in places)
    found = [
        name for name in names if (getattr(sys.modules.get(name), "__file__", None) or "").startswith(inside)
    ]
    return {name: sys.modules.pop(name) for name in found}


VariantT = TypeVar("VariantT", bound="Variant")


@dataclass(frozen=True)
class Variant:
    """An answer made from the solution cell `cell` by `edits` (old, new), or by replacing its `source`.

    In a folder with a file for each exercise, `cell` is by default the name of the file; in a single file, it is that of the
    only exercise with checks. `test` is the grade_id of the test cell, by default `test_<cell>`. If several notebooks have
    the cell, `notebook` is the name of the right one; by default it is the first.
    """

    name: str
    cell: str = ""
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
            if (times := cell.source.count(old)) != 1:
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

    `cost` says why the mistake may cost a larger or smaller share of its exercise than others do, and `unnamed` why it
    may get no diagnosis.

    Example:
        SQUARE = Mistake(
            "square",
            cell="double",
            edits=[("2 * x", "x * x")],
            about=["test_value"],
            sentence="You multiplied the number by itself.",
        )
    """

    about: Sequence[str] = field(kw_only=True)
    sentence: str = field(kw_only=True)
    uses: tuple[str, ...] = field(default=(), kw_only=True)
    lacks: tuple[str, ...] = field(default=(), kw_only=True)
    cost: str = field(default="", kw_only=True)
    unnamed: str = field(default="", kw_only=True)

    def checks(self) -> set[str]:
        """The checks that should catch it, as `<file>::<check>`."""
        return {name if "::" in name else f"{self.exercise}::{name}" for name in self.about}

    def exercises(self) -> set[str]:
        return {self.exercise, *(check.split("::")[0] for check in self.checks())}

    def confirmed_by(self, code: Sequence[str]) -> bool:
        """True if the code of an answer does not contradict it."""
        uses, lacks = (any(mentions(source, names) for source in code) for names in (self.uses, self.lacks))
        return (uses or not self.uses) and not lacks


@dataclass(frozen=True)
class Alternative(Variant):
    """Another right answer, which must earn full marks.

    Example:
        ALTERNATIVES = [Alternative("sum", cell="double", edits=[("2 * x", "x + x")])]
    """


#: what is written in the catalog that is being read
_WRITTEN: ContextVar[list["Answers[Any] | Equivalents"]] = ContextVar("_WRITTEN")


class Answers(Generic[VariantT]):
    """Answers to one exercise, written one after another in a file of a catalog.

    A call with the name of an answer begins the next one; `edit` or `source` says how it differs from the solution.
    """

    def __init__(self, prefix: str = "", *, cell: str = "", test: str = "", notebook: str = "") -> None:
        """`prefix` is put before each name; the others are those of `Variant`, for all of them."""
        self.prefix = prefix
        self.cell, self.test, self.notebook = cell, test, notebook
        self._entries: list[VariantT] = []
        _WRITTEN.get([]).append(self)

    def __call__(self, name: str, old: str = "", new: str = "") -> Self:
        """Begin the next answer, and replace `old` in the solution cell, if there is an `old`, as `edit` does."""
        begun = self._begun(self.prefix + name)
        self._entries.append(replace(begun, cell=self.cell, test=self.test, notebook=self.notebook))
        return self.edit(old, new) if old else self

    def edit(self, old: str, new: str = "") -> Self:
        """Replace a text that occurs in the solution cell exactly once. Without `new`, leave it out, or see `to`."""
        return self._change(edits=[*self._last().edits, (old, new)])

    def to(self, new: str) -> Self:
        """Say what the last edit puts in place of its text, where both are too long for one line.

        Raises:
            CourseError: there is no edit, or it says so itself.
        """
        *before, (old, nothing) = [*self._last().edits] or [("", "")]
        if not old or nothing:
            raise CourseError(
                f"`{self._last().name}`: `to({new!r})` needs an edit before it that only says what to replace"
            )
        return self._change(edits=[*before, (old, new)])

    def source(self, source: str) -> Self:
        """Replace the whole solution cell."""
        return self._change(source=source)

    def listed(self) -> list[VariantT]:
        """The answers that have been written.

        Raises:
            CourseError: one of them is incomplete.
        """
        for entry in self._entries:
            if not entry.edits and not entry.source:
                raise CourseError(f"`{entry.name}` has neither an edit nor a source")
        return list(self._entries)

    def _begun(self, name: str) -> VariantT:
        raise NotImplementedError

    def _last(self) -> VariantT:
        if not self._entries:
            raise CourseError("begin an answer with its name first")
        return self._entries[-1]

    def _change(self, **fields: Any) -> Self:
        self._entries[-1] = replace(self._last(), **fields)
        return self


class Mistakes(Answers[Mistake]):
    """The mistakes of one exercise: `about` begins those that certain checks should catch, and `says` ends each.

    Example:
        wrong = Mistakes()

        wrong.about("test_eps")
        wrong("no_eps", "variance + eps", "variance")
        wrong.says("You left out `eps`, so equal entries give 0 divided by 0.")
    """

    _about: tuple[str, ...] = ()

    def about(self, *checks: str) -> None:
        """The checks that should catch each of the following mistakes."""
        self._about = checks

    def says(self, sentence: str, uses: tuple[str, ...] = (), lacks: tuple[str, ...] = ()) -> None:
        """What the student reads; `uses` and `lacks` are those of `Mistake`. Another call adds a sentence."""
        last = self._last()
        self._change(
            sentence=f"{last.sentence} {sentence}".lstrip(), uses=uses or last.uses, lacks=lacks or last.lacks
        )

    def costs(self, reason: str, *names: str) -> None:
        """Why the last mistake, or those with the given names, may cost more or less of the exercise than others.

        Raises:
            CourseError: there is no mistake with this name.
        """
        self._explain(names, cost=reason)

    def unnamed(self, reason: str, *names: str) -> None:
        """Why the last mistake, or those with the given names, may get no diagnosis when a student hands them in.

        Raises:
            CourseError: there is no mistake with this name.
        """
        self._explain(names, unnamed=reason)

    def _explain(self, names: tuple[str, ...], **reason: Any) -> None:
        wanted = {self.prefix + name for name in names} or {self._last().name}
        if unknown := wanted - {entry.name for entry in self._entries}:
            raise CourseError(
                f"a reason is given for mistakes that don't exist: {', '.join(sorted(unknown))}"
            )
        self._entries = [replace(each, **reason) if each.name in wanted else each for each in self._entries]

    def listed(self) -> list[Mistake]:
        for entry in self._entries:
            if not entry.about or not entry.sentence:
                raise CourseError(
                    f"`{entry.name}` needs a check before it (`about`), and a sentence (`says`)"
                )
        return super().listed()

    def _begun(self, name: str) -> Mistake:
        return Mistake(name, about=self._about, sentence="")


class Alternatives(Answers[Alternative]):
    """The alternative right answers to one exercise.

    Example:
        right = Alternatives()

        right("var", "(x - mean).square().mean(dim=-1, keepdim=True)")
        right.to("x.var(dim=-1, correction=0, keepdim=True)")
    """

    def _begun(self, name: str) -> Alternative:
        return Alternative(name)


@dataclass(frozen=True)
class Equivalent:
    """A mutant of the cell `cell` that may survive, by the lines that it changes, and the reason.

    Indentation and comments at the end of a line don't matter. A line that is only added has an empty `before`, one
    that is only removed an empty `after`.

    Example:
        EQUIVALENT = [Equivalent("double", "return 2 * x", "return x * 2", "Both products are equal.")]
    """

    cell: str
    before: str
    after: str
    reason: str


class Equivalents:
    """The mutants of one cell that may survive: `because` begins those that have a reason in common.

    Example:
        same = Equivalents("normalized")

        same.because("`variance` is not used afterwards.")
        same("return (x - mean) / torch.sqrt(variance + eps)")
        same.to("return (x - mean) / torch.sqrt(variance.add_(eps))")
    """

    def __init__(self, cell: str) -> None:
        self.cell, self._reason = cell, ""
        self._entries: list[Equivalent] = []
        _WRITTEN.get([]).append(self)

    def because(self, reason: str) -> None:
        """Why the following mutants may survive."""
        self._reason = reason

    def __call__(self, before: str, after: str = "") -> None:
        """The lines `before` may become `after`. Without `after`, they may be left out, or see `to`."""
        self._entries.append(Equivalent(self.cell, before, after, self._reason))

    def to(self, after: str) -> None:
        """What the last lines may become, where both are too long for one line.

        Raises:
            CourseError: there are no such lines, or the call about them says it itself.
        """
        if not self._entries or self._entries[-1].after:
            raise CourseError(f"`to({after!r})` needs lines before it that may become something else")
        self._entries[-1] = replace(self._entries[-1], after=after)

    def edit(self, before: str, old: str, new: str) -> None:
        """In the lines `before`, `old` may become `new`.

        Raises:
            CourseError: `old` does not occur exactly once.
        """
        if before.count(old) != 1:
            raise CourseError(f"{old!r} must occur exactly once in {before!r}")
        self(before, before.replace(old, new))

    def listed(self) -> list[Equivalent]:
        """The mutants that have been written.

        Raises:
            CourseError: one of them has no reason.
        """
        for entry in self._entries:
            if not entry.reason:
                raise CourseError(f"`{entry.before}` needs a reason before it (`because`)")
        return list(self._entries)


def mistakes_of(assignment: Assignment) -> list[Mistake]:
    return _load(assignment, "mistakes")


def alternatives_of(assignment: Assignment) -> list[Alternative]:
    return _load(assignment, "alternatives")


def equivalents_of(assignment: Assignment) -> list[Equivalent]:
    path = assignment.checks / "equivalent.py"
    with importable([path.parent]):
        return _entries(path, "EQUIVALENT") or [] if path.exists() else []


def _load(assignment: Assignment, catalogue: str) -> list[Any]:
    """The entries of `<catalogue>.py`, or of all modules in the folder; modules may import files in either place."""
    found: list[tuple[Path, Variant]] = []
    with importable([assignment.checks, assignment.checks / catalogue]):
        for path in assignment.catalogue(catalogue):
            entries = _entries(path, catalogue.upper())
            if entries is None and path.parent != assignment.checks:
                raise CourseError(
                    f"{path} has no {catalogue}: write some, or begin the file's name with `_` if other files import it"
                )
            found += [
                (path, entry if entry.cell else _with_cell(assignment, path, entry))
                for entry in entries or []
            ]
    times = Counter(variant.name for _, variant in found)
    if doubled := sorted(name for name in times if times[name] > 1):
        paths = dict.fromkeys(str(path) for path, variant in found if variant.name in doubled)
        raise CourseError(
            f"{' and '.join(paths)}: more than one of the {catalogue} is called {', '.join(doubled)}: names have to be unique in an "
            "assignment"
        )
    return [variant for _, variant in found]


def _entries(path: Path, name: str) -> list[Any] | None:
    """What a module has in the list `name`, and what it writes; None if it does neither."""
    written: list[Answers[Any] | Equivalents] = []
    token = _WRITTEN.set(written)
    try:
        with reading(path):
            read = runpy.run_path(str(path))
    finally:
        _WRITTEN.reset(token)
    if name not in read and not written:
        return None
    entries = list(read.get(name, []))
    if odd := [entry for entry in entries if not isinstance(entry, Variant | Equivalent)]:
        raise CourseError(
            f"{path}: an entry of {name} is a {type(odd[0]).__name__}. Write `*` before a list inside it."
        )
    try:
        return [*entries, *(entry for each in written for entry in each.listed())]
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None


def _with_cell(assignment: Assignment, path: Path, variant: Variant) -> Variant:
    """The variant, of the cell that its file is about."""
    if path.parent != assignment.checks:
        return replace(variant, cell=path.stem)
    exercises = sorted({file.stem for file in assignment.checks.rglob(f"{TEST_PREFIX}*.py")})
    if len(exercises) != 1:
        raise CourseError(
            f'{path}: `{variant.name}` needs the grade_id of its answer cell, as in cell="attention". It may be left '
            f"out only if there is a single check file {TEST_PREFIX}<cell>.py, or a file for each exercise"
        )
    return replace(variant, cell=exercise_name(exercises[0]))


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise CourseError, which names the file, for whatever its code raises."""
    try:
        yield
    except Exception as error:
        kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
        raise CourseError(f"{path} can't be read: {kind}{error}") from error
