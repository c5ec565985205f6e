"""The cells of a notebook as nbgrader's gradebook records them, and how those of two versions differ."""

from dataclasses import dataclass
from enum import StrEnum

from nbformat import NotebookNode
from nbgrader.api import Notebook
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from gradekit.course.cells import grade_id


class RowKind(StrEnum):
    """The kinds of rows that the gradebook has for a cell."""

    GRADE = "grade"
    SOLUTION = "solution"
    TASK = "task"
    SOURCE = "source"


#: by the grade_id of the cell
CellKinds = dict[str, frozenset[RowKind]]


def cells_in(notebook: NotebookNode) -> CellKinds:
    """The cells that nbgrader would record."""
    found = {}
    for cell in notebook.cells:
        kinds = {
            kind
            for kind, is_one in (
                (RowKind.GRADE, is_grade),
                (RowKind.SOLUTION, is_solution),
                (RowKind.TASK, is_task),
            )
            if is_one(cell)
        }
        if kinds or is_locked(cell):
            found[grade_id(cell) or ""] = frozenset({*kinds, RowKind.SOURCE})
    return found


def recorded_cells(notebook: Notebook) -> CellKinds:
    """The cells that the gradebook has."""
    found: dict[str, set[RowKind]] = {}
    for kind, rows in (
        (RowKind.GRADE, notebook.grade_cells),
        (RowKind.SOLUTION, notebook.solution_cells),
        (RowKind.TASK, notebook.task_cells),
        (RowKind.SOURCE, notebook.source_cells),
    ):
        for row in rows:
            found.setdefault(row.name, set()).add(kind)
    return {name: frozenset(kinds) for name, kinds in found.items()}


@dataclass(frozen=True)
class CellChanges:
    """What is different between the cells that the gradebook has and those of the source; false if nothing is."""

    before: CellKinds
    now: CellKinds

    @property
    def added(self) -> list[str]:
        return [name for name in self.now if name not in self.before]

    @property
    def removed(self) -> list[str]:
        return [name for name in self.before if name not in self.now]

    @property
    def retyped(self) -> list[str]:
        return [name for name, kinds in self.now.items() if self.before.get(name, kinds) != kinds]

    def __bool__(self) -> bool:
        return self.before != self.now

    def __str__(self) -> str:
        named = (
            (self.added, "added"),
            (self.removed, "removed"),
            (self.retyped, "changed to another type"),
        )
        return "; ".join(
            f"{', '.join(f'`{name}`' for name in names)} {what}" for names, what in named if names
        )
