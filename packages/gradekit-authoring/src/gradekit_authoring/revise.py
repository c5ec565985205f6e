"""Changes the cells of an assignment in the gradebook, although there are submissions, and keeps their grades.

nbgrader refuses, and its only way out is to remove the assignment with all grades. Here, rows are added and removed for
every submission, and a cell that was moved to another notebook, renamed or changed to another type keeps its grades and
comments.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SolutionCell,
    SourceCell,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy.exc import SQLAlchemyError

from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.cells import find_cell, nbgrader_metadata
from gradekit.course.files import STATE_FOLDER
from gradekit.grading.generate import generate
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.bind import CellChanges, CellKinds, RowKind, cells_in, recorded_cells
from gradekit.nbgrader_plugin.converters import reason_of

#: a notebook and the grade_id of a cell in it
CellPlace = tuple[str, str]
#: the rows that grades and comments belong to
_KINDS: dict[type, RowKind] = {
    GradeCell: RowKind.GRADE,
    SolutionCell: RowKind.SOLUTION,
    TaskCell: RowKind.TASK,
}


@dataclass(frozen=True)
class LostGrade:
    """A grade or comment by a person that would be removed with its cell."""

    student: str
    place: CellPlace
    score: float | None = None
    extra_credit: float | None = None
    comment: str = ""

    def line(self) -> str:
        parts = [f"score {self.score:g}"] if self.score is not None else []
        parts += [f"extra credit {self.extra_credit:g}"] if self.extra_credit else []
        parts += [f"comment {self.comment!r}"] if self.comment else []
        return f"{self.student}, {'/'.join(self.place)}: {', '.join(parts)}"


@dataclass
class Revision:
    """What a revision changes: sentences about the cells, where cells went, and what is lost."""

    changes: list[str] = field(default_factory=list)
    moved: dict[CellPlace, CellPlace] = field(default_factory=dict)
    losses: list[LostGrade] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        yield from self.changes
        for old, new in self.moved.items():
            yield f"{'/'.join(old)} is now {'/'.join(new)}, so it isn't removed: it keeps its grades and comments"


def revised(
    course: RunningCourse, assignment: Assignment, renamed: Mapping[str, str], commit: bool = False
) -> Revision:
    """What bringing the cells of the source into the gradebook changes; with `commit`, it is done.

    Raises:
        CourseError: the source can't be released, or the gradebook not be written.
    """
    notebooks = _as_released(course, assignment)
    with course.gradebook() as gradebook:
        try:
            found = revise(gradebook, assignment.name, notebooks, renamed)
            if commit:
                gradebook.db.commit()
        except SQLAlchemyError as error:
            raise CourseError(f"the gradebook was not changed: {reason_of(error)}") from error
        finally:
            gradebook.db.rollback()  # undoes what was not committed
    return found


def back_up(course: RunningCourse) -> Path | None:
    """Copy the gradebook, even while others use it; None if it isn't a file of SQLite."""
    path = course.gradebook_file
    if path is None:
        return None
    folder = course.root / STATE_FOLDER / "gradebooks"
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / f"{path.stem}-{datetime.now(UTC):%Y-%m-%d-%H%M%S}{path.suffix}"
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
    return copy


def _as_released(course: RunningCourse, assignment: Assignment) -> dict[str, NotebookNode]:
    """The notebooks as they would be released, by name."""
    step = f"{course.folders.release_directory}.revised"
    folder = Path(course.folders.format_path(step, ".", assignment.name))
    try:
        generate(course, assignment, step)
        return {path.stem: read_notebook(path) for path in sorted(folder.glob("*.ipynb"))}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.removedirs(folder.parent)


def revise(
    gradebook: Gradebook, assignment: str, notebooks: Mapping[str, NotebookNode], renamed: Mapping[str, str]
) -> Revision:
    """Make the rows of the gradebook those of the notebooks, in one transaction that the caller commits or rolls back.

    Args:
        notebooks: as nbgrader would release them.
        renamed: the old name of a cell, with or without `<notebook>/`, and its new one.

    Raises:
        CourseError: a renamed cell isn't one that was removed, or its new name isn't one that was added.
    """
    entry = gradebook.find_assignment(assignment)
    before = {notebook.name: recorded_cells(notebook) for notebook in entry.notebooks}
    now = {name: cells_in(notebook) for name, notebook in notebooks.items()}
    gone, new = set(_places(before)) - set(_places(now)), set(_places(now)) - set(_places(before))
    found = Revision(list(_changes(before, now)), _moves(gone, new, renamed))
    rows = _Rows(gradebook, entry.notebooks, notebooks, now, found)
    rows.add_notebooks(entry)
    rows.add_cells()
    rows.carry_over()
    rows.remove()
    found.losses.sort(key=lambda loss: (loss.student, loss.place))
    return found


def _places(cells: Mapping[str, CellKinds]) -> Iterator[CellPlace]:
    return ((notebook, cell) for notebook, kinds in cells.items() for cell in kinds)


def _changes(before: Mapping[str, CellKinds], now: Mapping[str, CellKinds]) -> Iterator[str]:
    for name in sorted({*before, *now}):
        changes = CellChanges(before.get(name, {}), now.get(name, {}))
        if name not in now or name not in before:
            yield f"{name}: this notebook was {'added' if name in now else 'removed'}"
        elif changes:
            yield f"{name}: {changes}"


def _moves(
    gone: set[CellPlace], new: set[CellPlace], renamed: Mapping[str, str]
) -> dict[CellPlace, CellPlace]:
    """Where removed cells went: as the caller says, or to the only other notebook that has a new one of this name."""
    found: dict[CellPlace, CellPlace] = {}
    for old, name in renamed.items():
        found[_one(gone, old, "removed")] = _one(new, name, "added")
    for place in sorted(gone - found.keys()):
        same = [other for other in new - set(found.values()) if other[1] == place[1]]
        if len(same) == 1 and sum(other[1] == place[1] for other in gone) == 1:
            found[place] = same[0]
    return found


def _one(places: Iterable[CellPlace], name: str, what: str) -> CellPlace:
    matching = [place for place in places if name in (place[1], "/".join(place))]
    if len(matching) != 1:
        named = ", ".join(sorted("/".join(place) for place in places)) or "none"
        raise CourseError(f"--rename: `{name}` isn't one cell that was {what} ({what}: {named})")
    return matching[0]


class _Rows:
    """The rows of one assignment: those that there are, and those that there shall be."""

    def __init__(
        self,
        gradebook: Gradebook,
        entries: list[Notebook],
        notebooks: Mapping[str, NotebookNode],
        now: Mapping[str, CellKinds],
        revision: Revision,
    ) -> None:
        self._db, self._sources, self._now, self._revision = gradebook.db, notebooks, now, revision
        self._entries = {entry.name: entry for entry in entries}
        self._cells: dict[tuple[str, str, type], BaseCell] = {
            (entry.name, cell.name, type(cell)): cell for entry in entries for cell in entry._base_cells
        }
        self._old = dict(self._cells)

    def add_notebooks(self, entry: object) -> None:
        for name in self._now.keys() - self._entries.keys():
            self._entries[name] = added = Notebook(name=name, assignment=entry)
            self._db.add(added)
            for submission in entry.submissions:  # type: ignore[attr-defined] # nbgrader has no types
                self._db.add(SubmittedNotebook(notebook=added, assignment=submission))
        self._db.flush()

    def add_cells(self) -> None:
        for name, cells in self._now.items():
            entry, recorded = self._entries[name], {cell.name for cell in self._entries[name].source_cells}
            for cell, kinds in cells.items():
                found = find_cell(self._sources[name], cell)
                assert found is not None
                points = float(nbgrader_metadata(found).get("points", 0))
                graded = {"max_score": points, "cell_type": found.cell_type}
                for row, kind in _KINDS.items():
                    if kind in kinds and (name, cell, row) not in self._cells:
                        values = {} if row is SolutionCell else graded
                        self._cells[name, cell, row] = added = row(name=cell, notebook=entry, **values)
                        self._db.add(added)
                if cell not in recorded:
                    self._db.add(
                        SourceCell(name=cell, notebook=entry, cell_type=found.cell_type, source=found.source)
                    )
        self._db.flush()

    def carry_over(self) -> None:
        """Give each submission the grades and comments that its cells have now, from those that it had if possible."""
        origin = {new: old for old, new in self._revision.moved.items()}
        for name in self._now:
            for submitted in self._entries[name].submissions:
                for kind, types in ((Grade, (GradeCell, TaskCell)), (Comment, (SolutionCell, TaskCell))):
                    for cell in self._now[name]:
                        row = self._row((name, cell), types, self._cells)
                        if row is None or self._of(kind, row, submitted):
                            continue
                        old_place = origin.get((name, cell), (name, cell))
                        old = self._row(old_place, types, self._old)
                        before = self._submitted(old_place[0], submitted)
                        carried = old is not None and before is not None and self._of(kind, old, before)
                        if carried:
                            carried.cell_id, carried.notebook_id = row.id, submitted.id
                        else:
                            self._db.add(kind(cell_id=row.id, notebook_id=submitted.id))
        self._db.flush()

    def remove(self) -> None:
        """Remove the rows of cells and notebooks that are gone, and note what people wrote there."""
        for (name, cell, row), entry in self._old.items():
            kinds = self._now.get(name, {}).get(cell, frozenset())
            if _KINDS[row] in kinds:
                continue
            for grade in self._db.query(Grade).filter(Grade.cell_id == entry.id).all():
                if grade.manual_score is not None or grade.extra_credit:
                    who = grade.notebook.assignment.student_id
                    self._revision.losses.append(
                        LostGrade(who, (name, cell), grade.manual_score, grade.extra_credit)
                    )
                self._db.delete(grade)
            for comment in self._db.query(Comment).filter(Comment.cell_id == entry.id).all():
                if comment.manual_comment:
                    who = comment.notebook.assignment.student_id
                    self._revision.losses.append(LostGrade(who, (name, cell), comment=comment.manual_comment))
                self._db.delete(comment)
            self._db.flush()
            self._db.delete(entry)
        for name, found in self._entries.items():
            for source in found.source_cells:
                if source.name not in self._now.get(name, {}):
                    self._db.delete(source)
            if name not in self._now:
                for submitted in found.submissions:
                    self._db.delete(submitted)
                self._db.flush()
                self._db.expire(found)
                self._db.delete(found)
        self._db.flush()

    def _row(
        self, place: CellPlace, types: tuple[type, ...], among: Mapping[tuple[str, str, type], BaseCell]
    ) -> BaseCell | None:
        """The row of a cell that grades or comments belong to, now or before."""
        kinds = self._now.get(place[0], {}).get(place[1], frozenset()) if among is self._cells else None
        for row in types:
            if (kinds is None or _KINDS[row] in kinds) and (*place, row) in among:
                return among[(*place, row)]
        return None

    def _of(self, kind: type, row: BaseCell, submitted: SubmittedNotebook) -> "Grade | Comment | None":
        query = self._db.query(kind)
        return query.filter(kind.cell_id == row.id, kind.notebook_id == submitted.id).one_or_none()  # type: ignore[attr-defined]

    def _submitted(self, notebook: str, beside: SubmittedNotebook) -> SubmittedNotebook | None:
        """The same student's submitted notebook of that name."""
        entry = self._entries.get(notebook)
        if entry is None:
            return None
        query = self._db.query(SubmittedNotebook)
        return query.filter_by(notebook_id=entry.id, assignment_id=beside.assignment_id).one_or_none()
