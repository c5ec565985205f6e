"""Moves answers, and the code they need, that a student wrote in the wrong cells to the right ones."""

import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

from nbformat import NotebookNode, v4

from gradekit.course.cells import (
    PLACEHOLDER,
    exercise_name,
    grade_id,
    is_answer_cell,
    is_demo,
    is_locked_cell,
    is_test_cell,
    runs_before_checks,
    tests_about,
)
from gradekit.course.printing import listed
from gradekit.submission.names import squeezed, used_names
from gradekit.submission.statements import (
    MAX_PARSED_CHARACTERS,
    Definitions,
    ParsingBudget,
    Piece,
    definitions_in,
    expected_names,
    is_code,
    needed_names,
    pieces_of,
    without_definitions,
)
from gradekit.submission.texts import is_blank

#: characters of a student's code that is searched for what it needs
_BUDGET = 400_000
#: an answer cell that was not released with values contains one of these
_STUBS = ("def ", "class ", "NotImplementedError", "None", "...")
_BUILTIN = frozenset(dir(builtins))
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class ChangedCell:
    """A cell that does not run as the student wrote it, with its submitted and its released source."""

    cell: NotebookNode
    submitted: str
    released: str


class Restoration:
    """A submitted notebook while its `cells` are restored.

    By grade_id: `known` has the released cells, `present` those found so far, `expected` the names that answers have
    to define. `handed_out` has the released versions of other cells, by the id of the cell object. `edits` are
    the changed code cells that are restored or not run, `rewritten` all cells that got the instructor's text back.
    `pictured` are cells to which the student attached a picture, by their ids. `copied` are new cells with the instructor's
    code, by their ids. `removed_texts` were handed out once. `doubts` say what is uncertain about an answer, by its grade_id.
    With `tests_run`, test cells run as well, in their places.
    """

    def __init__(
        self, submitted: NotebookNode, released: NotebookNode, removed_texts: Set[str] = frozenset()
    ) -> None:
        self.cells: list[NotebookNode] = deepcopy(submitted.cells)
        self.released, self.removed_texts, self.tests_run = released, removed_texts, False
        self.known = {name: cell for cell in released.cells if (name := grade_id(cell))}
        self.present: dict[str, NotebookNode] = {}
        answers = {name: cell for name, cell in self.known.items() if is_answer_cell(cell)}
        self.expected = {name: expected_names(cell) for name, cell in answers.items()}
        self.edits: list[ChangedCell] = []
        self.rewritten: list[ChangedCell] = []
        given = {name for cell in released.cells for name in cell.get("attachments") or ()}
        self.pictured = {id(cell) for cell in self.cells if set(cell.get("attachments") or ()) - given}
        self.doubts: dict[str, str] = {}
        self.handed_out: dict[int, NotebookNode] = {}
        self.copied: set[int] = set()
        self.notes: list[str] = []
        self.definitions = Definitions()

    def is_blank(self, name: str, cell: NotebookNode | None = None) -> bool:
        """Whether the cell, or the one that was found for this name, is empty or as it was released."""
        return is_blank(cell or self.present[name], self.known[name])

    def runs(self, cell: NotebookNode) -> bool:
        return runs_before_checks(cell) or (
            self.tests_run and cell.cell_type == "code" and is_test_cell(cell)
        )

    def place_of(self, cell: NotebookNode) -> int:
        return next(place for place, one in enumerate(self.cells) if one is cell)

    def bound_by(self, cells: Iterable[NotebookNode]) -> frozenset[str]:
        return frozenset(name for cell in cells for name in self.definitions.of(cell.source))

    def note_copied(self, name: str, place: str) -> None:
        what = f"The answer to `{name}` was found in the {place}"
        self.notes.append(f"{what} and copied to its own cell.")
        self.doubts[name] = f"{what}, where it may depend on other code"

    @staticmethod
    def new_cell(source: str, kind: str = "code", **parts: Any) -> NotebookNode:
        """A cell without the random id of nbformat, so that a notebook is restored in the same way each time."""
        cell: NotebookNode = (v4.new_code_cell if kind == "code" else v4.new_markdown_cell)(source, **parts)
        del cell["id"]
        return cell

    def remove(self, unwanted: set[int]) -> None:
        self.cells[:] = [cell for cell in self.cells if id(cell) not in unwanted]


def label_of(cell: NotebookNode, number: int) -> str:
    """How a note refers to a cell: by its grade_id, or its number in the restored notebook."""
    what = "test cell" if is_test_cell(cell) else "demo cell" if is_demo(cell) else "cell"
    return f"{what} `{grade_id(cell)}`" if grade_id(cell) else f"{what} number {number}"


@dataclass
class _AddedCell:
    """A new cell with additions from the cell `origin`; `copied` are the names that answer cells took from it."""

    cell: NotebookNode
    origin: NotebookNode
    is_below: bool = False
    copied: list[frozenset[str]] = field(default_factory=list)


class Gathering:
    """Changes the cells of a restored notebook, and adds to its notes."""

    def __init__(self, work: Restoration) -> None:
        self._work = work
        self._added: dict[int, _AddedCell] = {}  # by the id of the new cell
        code = (cell.source for cell in work.released.cells if cell.cell_type == "code")
        self._as_released = set(map(squeezed, code))

    def keep_additions(self) -> None:
        """Put code that was added to given, test or demo cells, and that answers need, into new cells above them."""
        if not self._work.edits:
            return
        work = self._work
        running = [cell for cell in work.cells if work.runs(cell)]
        running = [cell for cell in running if not self._is_unanswered(grade_id(cell))]
        bound = work.bound_by(running)
        edits = [(edit, self._asks_for_variables(edit.cell)) for edit in work.edits]
        own = [cell.source for cell in running if self._is_students_code(cell)]
        sources = needed_additions(edits, own, self._asked_for(), bound)
        self._doubt_unread(bound)
        above: dict[int, list[NotebookNode]] = defaultdict(list)
        below: dict[int, list[NotebookNode]] = defaultdict(list)
        for edit, source in zip(work.edits, sources, strict=True):
            if source:
                cell = work.new_cell(source)
                is_below = self._belongs_below(source, edit)
                (below if is_below else above)[id(edit.cell)].append(cell)
                self._added[id(cell)] = _AddedCell(cell, edit.cell, is_below)
        work.cells[:] = [one for cell in work.cells for one in (*above[id(cell)], cell, *below[id(cell)])]

    def _belongs_below(self, source: str, edit: ChangedCell) -> bool:
        """True for code that uses what a given cell defines, such as its imports, unless that uses the code in turn.

        The same for code at the end of a test cell that runs.
        """
        if not self._work.runs(edit.cell):
            return False
        defined = self._work.definitions.of
        last = edit.released.strip().rpartition("\n")[2]
        end = edit.submitted.rpartition(last)[2] if last and last in edit.submitted else ""
        at_end = is_test_cell(edit.cell) and all(line in end for line in source.split("\n"))
        uses = needed_names(source) & defined(edit.released)
        return (at_end or bool(uses)) and not needed_names(edit.released) & defined(source)

    def _asked_for(self) -> frozenset[str]:
        """The names that exercises ask for; those of variables are in the test cells, if the answer cell names none."""
        names = {name for wanted in self._work.expected.values() for name in wanted}
        for name in self._work.expected:
            if not self._defines(name):
                for test in tests_about(self._work.released, name):
                    names |= needed_names(self._work.known[test].source)
        return frozenset(names - _BUILTIN)

    def _doubt_unread(self, bound: Set[str]) -> None:
        """Note restored cells that are too long to be read, or not Python; what answers lack may have been in them."""
        for edit in self._work.edits:
            if not edit.submitted.strip() or pieces_of(edit.submitted):
                continue
            where = f"the {label_of(edit.cell, self._work.place_of(edit.cell) + 1)} as it was handed in"
            state = "too long" if len(edit.submitted) > MAX_PARSED_CHARACTERS else "no Python code"
            self._work.notes.append(f"Nothing was kept of {where}, since it is {state}.")
            for name in self._work.expected:
                lacks = needed_names(self._work.present[name].source) - bound - _BUILTIN
                if self._is_unanswered(name):
                    why = f"The answer cell `{name}` is empty, but {where}, which is {state}, may have its answer"
                elif found := sorted(lacks & set(_NAME.findall(edit.submitted))):
                    why = f"The answer `{name}` uses `{found[0]}`, which may be defined in {where}, which is {state}"
                else:
                    continue
                self._work.doubts.setdefault(name, why)

    def keep_given(self) -> None:
        """Copy what the student's code needs from demo and test cells, which may not be run, into new cells above them.

        In the student's kernel these cells were run.
        """
        cells = self._work.cells
        running = [cell for cell in cells if self._work.runs(cell)]
        skipped = [cell for cell in cells if cell.cell_type == "code" and not self._work.runs(cell)]
        own = [cell.source for cell in running if self._is_students_code(cell)]
        if sum(map(len, own)) > _BUDGET:
            return
        given, bound = self._work.bound_by(skipped), self._work.bound_by(running)
        used = frozenset().union(*map(used_names, own)) - bound
        lacks_more = any(needed_names(source) - bound - _BUILTIN - given for source in own)
        star = given & {"*"} if lacks_more else frozenset[str]()  # an import of all names of a module
        if not given & used and not star:
            return  # without a closer look, which takes time
        edits = [(ChangedCell(cell, cell.source, ""), False) for cell in skipped]
        sources = needed_additions(edits, own, star, bound)
        new: dict[int, NotebookNode] = {}
        for cell, source in zip(skipped, sources, strict=True):
            if source:
                number = self._work.place_of(cell) + 1
                names = listed(sorted(self._work.definitions.of(source)))
                self._work.notes.append(
                    f"Your code uses {names} from the {label_of(cell, number)}, which may not be run when this is graded, so "
                    "a new cell above it has the same."
                )
                # above the first new cell with additions to this one, which may need the same
                added = (a.cell for a in self._added.values() if a.origin is cell and not a.is_below)
                copy = new[id(next(added, cell))] = self._work.new_cell(source)
                self._work.copied.add(id(copy))
        self._work.cells[:] = [one for cell in cells for one in (new.get(id(cell)), cell) if one is not None]

    def gather_answers(self) -> None:
        """Copy answers that were written into other cells to their answer cells.

        They are recognized by the names that they define, which an unanswered cell would otherwise define again.
        """
        unanswered = [n for n, wanted in self._work.expected.items() if wanted and self._is_unanswered(n)]
        if not unanswered:
            return
        hosts = {
            one: cell
            for cell in self._work.cells
            if self._is_students_code(cell) and not is_demo(cell)
            for one in self._work.definitions.of(cell.source)
            if not ((name := grade_id(cell)) in unanswered and one in self._work.expected[name or ""])
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
                if added := self._added.get(id(self._work.cells[place])):
                    added.copied.append(wanted)
            if places[id(own)] < found[-1] < self._first_test(name, places):
                # the answer may need what that cell defines above it
                self._work.cells.insert(found[-1] + 1, own)
                del self._work.cells[places[id(own)]]
            elif places[id(own)] < found[-1]:
                own.source = "\n\n\n".join([*self._needed_by(own, places[id(own)], found[-1]), own.source])
            added = self._added.get(id(host))  # a new cell has the name of the code's origin
            self._work.note_copied(name, label_of(added.origin if added else host, found[-1] + 1))

    def _first_test(self, name: str, places: Mapping[int, int]) -> int:
        """The place of the first test of an answer, which must stay above that test and below its heading."""
        tests = (places[id(self._work.present[test])] for test in tests_about(self._work.released, name))
        return min(tests, default=len(places))

    def _needed_by(self, own: NotebookNode, above: int, last: int) -> list[str]:
        """The statements between an answer cell and the cell where its answer was found that the answer needs."""
        bound = self._work.bound_by(filter(self._work.runs, self._work.cells[:above]))
        binds = self._work.definitions.of(own.source)
        cells = [cell for cell in self._work.cells[above + 1 : last + 1] if self._is_students_code(cell)]
        if sum(len(cell.source) for cell in cells) > _BUDGET:
            return []
        pieces = [piece for cell in cells for piece in pieces_of(cell.source) if not piece.binds & binds]
        bound = bound | binds | _BUILTIN
        return _with_seeds(pieces, _needed(pieces, set(needed_names(own.source) - bound), bound))

    def note_additions(self) -> None:
        """Remove code from the new cells that answer cells now contain, and add notes about the rest."""
        for added in self._added.values():
            if added.copied:
                added.cell.source = without_definitions(added.cell.source, *added.copied)
        self._work.remove({id(added.cell) for added in self._added.values() if not added.cell.source})
        for place, cell in enumerate(self._work.cells):
            if new := self._added.get(id(cell)):
                names = listed(sorted(self._work.definitions.of(cell.source)))
                where = label_of(new.origin, place if new.is_below else place + 2)
                side = "below" if new.is_below else "above"
                note = f"Your additions to the {where}, {names}, were kept in a new cell {side} it."
                self._work.notes.append(note)

    def _asks_for_variables(self, cell: NotebookNode) -> bool:
        """True for the test cell of an unanswered exercise that asks for variables whose names are unknown."""
        name = exercise_name(grade_id(cell) or "")
        return is_test_cell(cell) and self._is_unanswered(name) and not self._defines(name)

    def _defines(self, name: str) -> bool:
        """True for an answer cell that was handed out with a function or class to fill in."""
        source = self._work.known[name].source if name in self._work.expected else ""
        return any(text in source for text in ("def ", "class "))

    def _is_unanswered(self, name: str | None) -> bool:
        """True for an answer cell that is as released (but without values), has its placeholder, or only comments."""
        if name is None or name not in self._work.expected:
            return False
        source, wanted = self._work.present[name].source, self._work.expected[name]
        stub = not wanted or any(part in source for part in _STUBS)
        return (
            (self._work.is_blank(name) and (stub or not source.strip()))
            or all(not line.strip() or line.lstrip().startswith("#") for line in source.split("\n"))
            or bool(PLACEHOLDER.search(source) and is_code(source) and not definitions_in(source, wanted))
        )

    def _is_students_code(self, cell: NotebookNode) -> bool:
        given = is_locked_cell(cell) or squeezed(cell.source) in self._as_released
        return cell.cell_type == "code" and not given


def needed_additions(
    edits: Iterable[tuple[ChangedCell, bool]], sources: Iterable[str], wanted: Set[str], bound: Set[str]
) -> list[str]:
    """For each edit, the statements that were added and that the student's code needs to run.

    Args:
        edits: changed cells, and whether the exercise asks for all that is bound in the cell.
        sources: the student's code that runs.
        wanted: names that the exercises ask for.
        bound: names that are bound without the edited cells.
    """
    budget, asked = ParsingBudget(), set(wanted)
    found: list[list[Piece]] = []
    for edit, is_answer in edits:
        found.append(_additions(edit) if budget.takes(edit.submitted) else [])
        asked |= {name for one in found[-1] for name in one.binds if is_answer}
    if not any(found):
        return ["" for _ in found]
    missing = asked - bound
    for source in sources:
        if budget.takes(source):
            missing |= needed_names(source) - bound - _BUILTIN
    needed = _needed(list(chain.from_iterable(found)), missing, bound | _BUILTIN)
    return ["\n".join(_with_seeds(additions, needed)) for additions in found]


def _additions(edit: ChangedCell) -> list[Piece]:
    """The top-level statements of a cell that the released cell does not have."""
    theirs, ours = pieces_of(edit.submitted), pieces_of(edit.released)
    if not ours:
        return theirs
    matcher = SequenceMatcher(None, [p.shape for p in theirs], [p.shape for p in ours], autojunk=False)
    changes = (theirs[first:last] for tag, first, last, *_ in matcher.get_opcodes() if tag != "equal")
    return list(chain.from_iterable(changes))


def _needed(additions: list[Piece], missing: set[str], bound: Set[str]) -> set[int]:
    needed: set[int] = set()
    while found := [one for one in additions if id(one) not in needed and one.binds & missing]:
        needed.update(map(id, found))
        missing = missing.union(*(one.needs - bound for one in found))
    return needed


def _with_seeds(additions: list[Piece], needed: set[int]) -> list[str]:
    """The needed statements, and the seeds above the last one, which decide about random numbers."""
    last = max((place for place, one in enumerate(additions) if id(one) in needed), default=-1)
    return [one.text for one in additions[: last + 1] if id(one) in needed or one.is_seed]
