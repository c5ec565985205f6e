"""The answers in a submitted notebook: which are blank, and which cells define the names they use."""

import hashlib
import re
from collections.abc import Iterable, Sequence, Set
from functools import cached_property

from nbformat import NotebookNode

from gradekit.course.cells import (
    PLACEHOLDER,
    answer_of,
    find_cell,
    grade_id,
    ids_of_test_cells,
    is_demo,
    is_locked_cell,
    is_test_cell,
    nbgrader_metadata,
    runs_before_checks,
)
from gradekit.submission import names
from gradekit.submission.statements import deleted_names, expected_names, reached_code


class Submission:
    """A restored notebook (see `gradekit.submission.restore`), and the released one."""

    def __init__(self, notebook: NotebookNode, released: NotebookNode | None = None) -> None:
        self.notebook = notebook
        self.released = released or NotebookNode(cells=[])
        self._answer_to: dict[str, str] = {}
        self._used_code: dict[tuple[str, bool], list[str]] = {}

    @property
    def seed(self) -> int:
        """A seed for checks that draw their inputs. It follows from the code cells that grading runs, not from text cells."""
        code = (cell.source for cell in self.notebook.cells if runs_before_checks(cell))
        digest = hashlib.sha256("\x00".join(code).encode())
        return int.from_bytes(digest.digest()[:6], "big")

    def source(self, name: str) -> str:
        """The source of the cell with grade_id `name`; empty if there is none."""
        cell = find_cell(self.notebook, name)
        return cell.source if cell is not None else ""

    def is_blank(self, name: str) -> bool:
        """True if the answer cell `name` is as it was released, missing, or empty."""
        source, cell = names.squeezed(self.source(name)), self._released_cells.get(name)
        return not source or (cell is not None and names.squeezed(cell.source) == source)

    def is_untouched(self, name: str) -> bool:
        """True if the answer cell `name` is blank, and no other student cell defines the names that it should define."""
        return self.is_blank(name) and not any(source.strip() for source in self.answer_code(name))

    def not_answered(self, name: str) -> str:
        """A sentence about the answer cell `name`, which is blank."""
        state = "as it was handed out" if self.source(name).strip() else "empty"
        return f"Not answered: the cell `{name}` is {state}."

    def has_placeholder(self, name: str) -> bool:
        return bool(PLACEHOLDER.search(self.source(name)))

    def defining_cell(self, name: str) -> int | None:
        """Index of the last cell that binds `name` at top level."""
        return next((index for index, bound in reversed(self._definitions.items()) if name in bound), None)

    def first_definition(self, name: str) -> int | None:
        """Index of the first cell that binds `name` at top level."""
        return next((index for index, bound in self._definitions.items() if name in bound), None)

    def deleting_cell(self, name: str) -> int | None:
        """Index of the last cell with `del name`."""
        cells, places = self.notebook.cells, reversed(self._definitions)
        return next((place for place in places if name in deleted_names(cells[place].source)), None)

    def is_student_s(self, index: int) -> bool:
        """True for a cell that the student wrote or changed."""
        return index in self._own_cells

    def released_names(self, test: str) -> tuple[frozenset[str], frozenset[str]]:
        """The names that the released notebook binds up to the answer of the test cell `test`, and below it."""
        answer, cells = self._released_cells.get(self.answer_to(test)), self.released.cells
        end = next((place for place, cell in enumerate(cells, 1) if cell is answer), len(cells))
        return _defined_in(cells[:end]), _defined_in(cells[end:])

    def parameters_of(self, name: str, called: bool = False) -> tuple[str, ...]:
        """The names of a function's positional parameters, or a class's (if `called`, its `forward`'s); empty if unknown."""
        index = self.defining_cell(name)
        source = "" if index is None else self.notebook.cells[index].source
        return names.parameters_of(source, name, called)

    def place_of(self, name: str) -> int | None:
        """Index of the cell with grade_id `name`."""
        return next((i for i, cell in enumerate(self.notebook.cells) if grade_id(cell) == name), None)

    def label(self, index: int) -> str:
        """How messages refer to a cell: by its grade_id or its number."""
        return grade_id(self.notebook.cells[index]) or f"number {index + 1}"

    def cell_with_line(self, line: int, text: str, likely: Iterable[int | None] = ()) -> int | None:
        """Index of a cell with `text` at `line` (counted from 1); cells in `likely` come first."""
        for index in (*(place for place in likely if place is not None), *reversed(self._definitions)):
            lines = self.notebook.cells[index].source.split("\n")
            if 0 < line <= len(lines) and lines[line - 1].strip() == text:
                return index
        return None

    def answer_code(self, name: str) -> list[str]:
        """Sources of the answer cell `name` and of the student's other cells that it depends on."""
        reached = self._own_cells_behind(self._wanted_names(name), [self.place_of(name)])
        return [self.notebook.cells[index].source for index in reached]

    def answer_to(self, test: str) -> str:
        """The grade_id of the answer cell that the test cell `test` is about."""
        if test not in self._answer_to:
            self._answer_to[test] = answer_of(self.notebook, test)
        return self._answer_to[test]

    def asked_names(self, test: str) -> frozenset[str]:
        """The names that the answer of a test cell has to define."""
        return self._wanted_names(self.answer_to(test))

    def used_code(self, name: str, of_others: bool = True) -> list[str]:
        """The statements that the exercise `name` depends on, from all cells that the student wrote or changed.

        `name` is the grade_id of an answer cell, or of a test cell that is about it. With `of_others`, also what other
        exercises earn their points for.
        """
        if (name, of_others) not in self._used_code:
            answer = self.answer_to(name) if name in self._tests else name
            wanted = self._wanted_names(answer)
            sources = [self.notebook.cells[index].source for index in sorted(self._own_cells)]
            others = (names for other, names in self._earning_names.items() if other != answer)
            graded = frozenset[str]() if of_others else frozenset[str]().union(*others) - wanted
            code = reached_code(sources, wanted, graded) if wanted else self.answer_code(answer)
            self._used_code[name, of_others] = code
        return self._used_code[name, of_others]

    def answers_behind(self, name: str) -> list[str]:
        """The other answers with points whose functions, classes or variables the exercise `name` uses, by their grade_ids."""
        answer = self.answer_to(name) if name in self._tests else name
        words = set(re.findall(r"\w+", "\n".join(self.used_code(name))))
        return [other for other, names in self._earning_names.items() if other != answer and names & words]

    @cached_property
    def _earning_names(self) -> dict[str, frozenset[str]]:
        """The names that each answer with points has to define, by the answer's grade_id."""
        tests = [cell for cell in self._released_cells.values() if is_test_cell(cell)]
        worth = [grade_id(test) for test in tests if nbgrader_metadata(test).get("points")]
        answers = {self.answer_to(name) for name in worth if name}
        return {name: expected_names(cell) for name in answers if (cell := self._released_cells.get(name))}

    @cached_property
    def _tests(self) -> frozenset[str]:
        return frozenset(ids_of_test_cells(self.notebook.cells))

    @cached_property
    def own_code(self) -> dict[str, str]:
        """Sources of all cells that the student wrote or changed, by label."""
        return {self.label(index): self.notebook.cells[index].source for index in sorted(self._own_cells)}

    def remembers_nothing(self, function: str) -> bool:
        """Whether the notebook shows that each call of `function` is as if it were the first."""
        from gradekit.submission.statefulness import remembers_nothing  # only for tests that students write

        own, cells = self._own_cells, enumerate(self.notebook.cells)
        given = [cell.source for index, cell in cells if cell.cell_type == "code" and index not in own]
        return remembers_nothing(function, tuple(given), tuple(self.own_code.values()))

    def cells_behind(self, wanted: set[str]) -> set[str]:
        """grade_ids of the student's cells that define the names `wanted`, or that these cells depend on."""
        found = (grade_id(self.notebook.cells[index]) for index in self._own_cells_behind(wanted))
        return set(filter(None, found))

    @cached_property
    def _released_cells(self) -> dict[str, NotebookNode]:
        """By grade_id; the first one counts."""
        return {name: cell for cell in reversed(self.released.cells) if (name := grade_id(cell))}

    def _wanted_names(self, name: str) -> frozenset[str]:
        cell = self._released_cells.get(name)
        return names.defined_names(cell.source) if cell is not None else frozenset()

    def _own_cells_behind(self, wanted: Set[str], also: Sequence[int | None] = ()) -> list[int]:
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
        given = {names.squeezed(cell.source) for cell in self.released.cells if cell.cell_type == "code"}
        code = {index: self.notebook.cells[index] for index in self._definitions}
        own = {index: cell for index, cell in code.items() if not is_locked_cell(cell) and not is_demo(cell)}
        return {index for index, cell in own.items() if names.squeezed(cell.source) not in given}

    @cached_property
    def _definitions(self) -> dict[int, frozenset[str]]:
        code = [(place, cell) for place, cell in enumerate(self.notebook.cells) if cell.cell_type == "code"]
        return {place: names.defined_names(cell.source) for place, cell in code}


def _defined_in(cells: Iterable[NotebookNode]) -> frozenset[str]:
    defined = (names.defined_names(cell.source) for cell in cells if cell.cell_type == "code")
    return frozenset[str]().union(*defined)
