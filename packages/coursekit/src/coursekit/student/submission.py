"""A submission as the grader sees it: its cells, which are answered, where a name comes from."""

import hashlib
from collections.abc import Iterable, Set
from functools import cached_property

from nbformat import NotebookNode

from coursekit.course import PLACEHOLDER, find_cell, grade_id, is_demo, is_locked_cell
from coursekit.student import names
from coursekit.student.definitions import deleted_names
from coursekit.student.reach import reached_code


class Submission:
    """A repaired notebook (see `coursekit.student.repair`) beside the notebook that was released."""

    def __init__(self, notebook: NotebookNode, released: NotebookNode | None = None) -> None:
        self.notebook = notebook
        self.released = released
        self._answer_code: dict[str, list[str]] = {}
        self._used_code: dict[str, list[str]] = {}

    @property
    def seed(self) -> int:
        """For the checks that draw their inputs: the same sources give the same inputs."""
        digest = hashlib.sha256("\x00".join(cell.source for cell in self.notebook.cells).encode())
        return int.from_bytes(digest.digest()[:6], "big")

    def source(self, name: str) -> str:
        """The source of the cell with grade_id `name`; empty if there is none."""
        cell = find_cell(self.notebook, name)
        return cell.source if cell is not None else ""

    def is_blank(self, name: str) -> bool:
        """True if the answer cell `name` is as it was released, missing, or empty."""
        source = self.source(name).strip()
        if not source:
            return True
        cell = find_cell(self.released, name) if self.released is not None else None
        return cell is not None and _squeezed(cell.source) == _squeezed(source)

    def has_placeholder(self, name: str) -> bool:
        return bool(PLACEHOLDER.search(self.source(name)))

    def defining_cell(self, name: str) -> int | None:
        """Index of the last cell that binds `name` at top level."""
        return next(
            (index for index in reversed(self._definitions) if name in self._definitions[index]), None
        )

    def deleting_cell(self, name: str) -> int | None:
        """Index of the last cell that says `del name`."""
        cells = self.notebook.cells
        return next(
            (index for index in reversed(self._definitions) if name in deleted_names(cells[index].source)),
            None,
        )

    def place_of(self, name: str) -> int | None:
        """Index of the cell with grade_id `name`."""
        return next((i for i, cell in enumerate(self.notebook.cells) if grade_id(cell) == name), None)

    def label(self, index: int) -> str:
        """How to name a cell to the student: by grade_id, or by its place."""
        return grade_id(self.notebook.cells[index]) or f"number {index + 1}"

    def cell_with_line(self, line: int, text: str, likely: Iterable[int | None] = ()) -> int | None:
        """Index of a cell that has `text` at `line` (counted from 1): of several, the first of the likely ones."""
        for index in (*(place for place in likely if place is not None), *reversed(self._definitions)):
            lines = self.notebook.cells[index].source.split("\n")
            if 0 < line <= len(lines) and lines[line - 1].strip() == text:
                return index
        return None

    def answer_code(self, name: str) -> list[str]:
        """Sources of the answer cell `name` and of the student's other cells that it builds on."""
        if name not in self._answer_code:
            cell = find_cell(self.released, name) if self.released is not None else None
            wanted = names.defined_names(cell.source) if cell is not None else frozenset()
            place = self.place_of(name)
            reached = self._own_cells_behind(wanted, () if place is None else (place,))
            self._answer_code[name] = [self.notebook.cells[index].source for index in reached]
        return self._answer_code[name]

    def used_code(self, name: str) -> list[str]:
        """The statements that the exercise `name` depends on, of all cells that the student wrote or changed."""
        if name not in self._used_code:
            cell = find_cell(self.released, name) if self.released is not None else None
            wanted = names.defined_names(cell.source) if cell is not None else frozenset()
            sources = [self.notebook.cells[index].source for index in sorted(self._own_cells)]
            self._used_code[name] = reached_code(sources, wanted) if wanted else self.answer_code(name)
        return self._used_code[name]

    def own_code(self) -> dict[str, str]:
        """Sources of all cells that the student wrote or changed, by what the cell is called."""
        return {self.label(index): self.notebook.cells[index].source for index in sorted(self._own_cells)}

    def cells_behind(self, wanted: set[str]) -> set[str]:
        """grade_ids of the student's cells that define the names `wanted`, and of those that these build on."""
        return {grade_id(self.notebook.cells[index]) for index in self._own_cells_behind(wanted)} - {None}

    def _own_cells_behind(self, wanted: Set[str], also: Iterable[int] = ()) -> list[int]:
        own = self._own_cells
        todo = [index for index in own if index in also or wanted & self._definitions[index]]
        reached: list[int] = []
        while todo:
            index = todo.pop()
            if index in reached:
                continue
            reached.append(index)
            needed = names.used_names(self.notebook.cells[index].source)
            todo += [other for other in own if self._definitions[other] & needed]
        return reached

    @cached_property
    def _own_cells(self) -> set[int]:
        return {
            index
            for index, cell in enumerate(self.notebook.cells)
            if cell.cell_type == "code"
            and not is_locked_cell(cell)
            and not is_demo(cell)
            and not self._is_given(cell)
        }

    def _is_given(self, cell: NotebookNode) -> bool:
        return _squeezed(cell.source) in self._given_sources

    @cached_property
    def _given_sources(self) -> set[str]:
        cells = self.released.cells if self.released is not None else []
        return {_squeezed(cell.source) for cell in cells if cell.cell_type == "code"}

    @cached_property
    def _definitions(self) -> dict[int, frozenset[str]]:
        return {
            index: names.defined_names(cell.source)
            for index, cell in enumerate(self.notebook.cells)
            if cell.cell_type == "code"
        }


def _squeezed(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines() if line.strip())
