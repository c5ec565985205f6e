"""Putting together what a student wrote in other cells than the answer cells: answers, their helpers, texts."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol

from nbformat import NotebookNode, v4

from coursekit.course import (
    PLACEHOLDER,
    exercise_name,
    grade_id,
    is_answer_cell,
    is_demo,
    is_locked_cell,
    is_test_cell,
)
from coursekit.student.additions import needed_additions, text_added_to
from coursekit.student.definitions import Definitions, definitions_in, is_code, without_definitions


class Restored(Protocol):
    """A notebook whose marked cells are all there.

    `present` and `known` are these cells and those that were handed out, by grade_id; `expected` has the names that
    answers define; `handed_out` has the originals of unmarked cells by the id of the cell object; `edited` holds
    cells that don't run as the student wrote them, each with what was handed in and what was handed out.
    """

    cells: list[NotebookNode]
    known: dict[str, NotebookNode]
    expected: dict[str, frozenset[str]]
    present: dict[str, NotebookNode]
    notes: list[str]
    definitions: Definitions
    as_released: set[str]
    edited: list[tuple[NotebookNode, str, str]]
    handed_out: dict[int, NotebookNode]

    def is_blank(self, name: str, cell: NotebookNode) -> bool: ...

    def remove(self, unwanted: set[int]) -> None: ...


class Gathering:
    """Changes the cells of a restored notebook, and adds to its notes."""

    def __init__(self, work: Restored) -> None:
        self._work = work
        #: by the id of a cell that holds kept additions: that cell, the one they come from, the names that were copied
        self._additions: dict[int, tuple[NotebookNode, NotebookNode, list[frozenset[str]]]] = {}

    def keep_additions(self) -> None:
        """Put what answers need of the code that was added to given, test and demo cells into cells above these."""
        if not self._work.edited:
            return
        running = [
            cell
            for cell in self._work.cells
            if cell.cell_type == "code"
            and not (is_test_cell(cell) or is_demo(cell))
            and not self._is_unanswered(grade_id(cell))
        ]
        kept = needed_additions(
            [(was, released, self._is_of_variables(cell)) for cell, was, released in self._work.edited],
            [cell.source for cell in running if self._is_students_code(cell)],
            frozenset(name for names in self._work.expected.values() for name in names),
            frozenset(name for cell in running for name in self._work.definitions.of(cell.source)),
        )
        above: dict[int, list[NotebookNode]] = defaultdict(list)
        for (cell, _, _), source in zip(self._work.edited, kept, strict=True):
            if source:
                added = v4.new_code_cell(source)
                above[id(cell)].append(added)
                self._additions[id(added)] = added, cell, []
        self._work.cells[:] = [one for cell in self._work.cells for one in (*above[id(cell)], cell)]

    def gather_answers(self) -> None:
        """Copy answers that were written into other cells to the cells where they belong.

        What defines the expected names says which is which. The cell that nobody answered would otherwise define
        them again, without an answer.
        """
        unanswered = [n for n, wanted in self._work.expected.items() if wanted and self._is_unanswered(n)]
        if not unanswered:
            return
        hosts = {
            one: cell
            for cell in self._work.cells
            if self._is_students_code(cell) and not is_demo(cell)
            for one in self._work.definitions.of(cell.source)
            if not (grade_id(cell) in unanswered and one in self._work.expected[grade_id(cell)])
        }
        for name in unanswered:
            wanted, own = self._work.expected[name], self._work.present[name]
            if not wanted <= hosts.keys():
                continue
            places = {id(cell): index for index, cell in enumerate(self._work.cells)}
            found = sorted({places[id(hosts[one])] for one in wanted})
            pieces = [definitions_in(self._work.cells[place].source, wanted) for place in found]
            if not all(pieces):
                continue
            rest = "" if self._work.is_blank(name, own) else without_definitions(own.source, wanted)
            own.source = "\n\n\n".join([rest, *pieces] if rest and not PLACEHOLDER.search(rest) else pieces)
            host = self._work.cells[found[-1]]
            for place in found:
                if id(self._work.cells[place]) in self._additions:
                    self._additions[id(self._work.cells[place])][2].append(wanted)
            if places[id(own)] < found[-1]:  # it may need what that cell defines above the answer
                self._work.cells.insert(found[-1] + 1, own)
                del self._work.cells[places[id(own)]]
            label = self._label(host, found[-1] + 1)
            self._work.notes.append(
                f"The answer to `{name}` was found in the {label} and copied to its own cell."
            )

    def note_additions(self) -> None:
        """Leave of the kept additions what no answer cell holds by now, and say so."""
        for added, _, copied in self._additions.values():
            added.source = without_definitions(added.source, *copied) if copied else added.source
        self._work.remove({id(added) for added, _, _ in self._additions.values() if not added.source})
        for place, cell in enumerate(self._work.cells):
            if id(cell) in self._additions:
                names = listed(sorted(self._work.definitions.of(cell.source)))
                where = self._label(cell, place + 2)
                self._work.notes.append(
                    f"What you added to the {where}, {names}, was kept in a cell of its own above it."
                )

    def gather_texts(self) -> None:
        """Copy text that was written beside an empty written answer into it, so that a person reads it."""
        for name, original in self._work.known.items():
            own = self._work.present[name]
            if not is_answer_cell(original) or own.cell_type == "code" or not self._work.is_blank(name, own):
                continue
            texts = self._texts_beside(own)
            if texts:
                own.source = "\n\n".join(texts)
                self._work.notes.append(f"The text beside the answer cell `{name}` was copied into it.")

    def _texts_beside(self, own: NotebookNode) -> list[str]:
        """Texts of the student's between the neighbours that were handed out, and at the end of the upper one."""
        place = next(index for index, cell in enumerate(self._work.cells) if cell is own)
        first = last = place
        while first > 0 and self._is_students_own(self._work.cells[first - 1]):
            first -= 1
        while last + 1 < len(self._work.cells) and self._is_students_own(self._work.cells[last + 1]):
            last += 1
        texts = [cell.source for cell in self._work.cells[first : last + 1] if cell.cell_type != "code"]
        above = self._work.cells[first - 1] if first else own
        if above.cell_type != "code" and id(above) in self._work.handed_out:
            texts.insert(0, text_added_to(above.source, self._work.handed_out[id(above)].source))
        blank = squeezed(own.source)
        return [text for text in texts if text.strip() and squeezed(text) != blank]

    def _is_students_own(self, cell: NotebookNode) -> bool:
        return not grade_id(cell) and id(cell) not in self._work.handed_out

    def _label(self, cell: NotebookNode, number: int) -> str:
        """How a note names a cell; additions by the cell that they come from."""
        if id(cell) in self._additions:
            cell = self._additions[id(cell)][1]
        what = "test cell" if is_test_cell(cell) else "demo cell" if is_demo(cell) else "cell"
        return f"{what} `{grade_id(cell)}`" if grade_id(cell) else f"{what} number {number}"

    def _is_of_variables(self, cell: NotebookNode) -> bool:
        """True for the test cell of an unanswered exercise that asks for variables; their names are not known."""
        name = exercise_name(grade_id(cell) or "")
        source = self._work.known[name].source if name in self._work.expected else ""
        defines = any(text in source for text in ("def ", "class "))
        return is_test_cell(cell) and self._is_unanswered(name) and not defines

    def _is_unanswered(self, name: str | None) -> bool:
        """True for an answer cell that is as it was handed out, still has its placeholder, or holds comments only."""
        if name not in self._work.expected:
            return False
        source, wanted = self._work.present[name].source, self._work.expected[name]
        return (
            self._work.is_blank(name, self._work.present[name])
            or all(not line.strip() or line.lstrip().startswith("#") for line in source.split("\n"))
            or bool(PLACEHOLDER.search(source) and is_code(source) and not definitions_in(source, wanted))
        )

    def _is_students_code(self, cell: NotebookNode) -> bool:
        return (
            cell.cell_type == "code"
            and not is_locked_cell(cell)
            and squeezed(cell.source) not in self._work.as_released
        )


def squeezed(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines() if line.strip())


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
