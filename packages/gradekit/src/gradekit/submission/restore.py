"""Restores a submitted notebook, so that it has every released cell with a grade_id exactly once, and unharmed.

Changes are noted for student and TA. The work is linear in the length of the notebook, since it is done in the
grader's process.

The order is from what is certain to what is a guess: cells that still have their marks, so that no guess can take one of
them, and those that lost them, by the surest sign first. Then the instructor's text is put back; what it replaces is
remembered, since it may contain answers. Once the notebook is complete, answers are gathered from other cells, written
ones last, as they may be in any text cell that is left. What isn't surely an answer becomes a doubt. Attachments return
at the end to the cells whose text shows them, wherever that text is by now.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Set
from copy import deepcopy
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import dropwhile, takewhile, zip_longest
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Raw
from nbformat import NotebookNode, v4

from gradekit.course.cells import (
    ADDRESS,
    PLACEHOLDER,
    Attachments,
    Doubt,
    decided_by_a_person,
    grade_id,
    is_demo,
    is_graded_cell,
    is_locked_cell,
    is_test_cell,
    made_up_id,
    own_id,
    runs_before_checks,
    tests_about,
)
from gradekit.course.printing import listed, printable
from gradekit.submission.elsewhere import Candidates, OtherPlaces, WrittenAnswers
from gradekit.submission.gather import ChangedCell, Gathering, Restoration, label_of, needed_additions
from gradekit.submission.names import squeezed
from gradekit.submission.statements import code_in, is_code
from gradekit.submission.texts import Sibling

_REFERENCE = re.compile(re.escape(ADDRESS) + r"([^)\s\"'<>]+)")
#: a text that occurs more often doesn't identify a place
_OFTEN = 10


@dataclass(frozen=True)
class Restored:
    """A restored notebook, notes of the changes, and doubts about graded cells that lose points because of them."""

    notebook: NotebookNode
    notes: list[str]
    doubts: list[Doubt]


def restored(
    submitted: NotebookNode,
    released: NotebookNode,
    *,
    beside: Mapping[str, Path] | None = None,
    added_later: Set[str] = frozenset(),
    drafts: Mapping[str, NotebookNode | None] | None = None,
    replaced: Mapping[str, str] | None = None,
    siblings: Mapping[str, Sibling] | None = None,
    doubt: str = "",
    saved: Iterable[Raw] = (),
    removed: Set[str] = frozenset(),
    removed_texts: Set[str] = frozenset(),
    tests_run: bool = False,
) -> Restored:
    """The submitted notebook with all cells of the released one that are marked with a grade_id.

    Of duplicate answer cells, the last one with an answer counts; the earlier ones stay as ordinary cells. The student's
    own cells are kept, and so is code that answers need and that was added to cells that are restored or not run.

    Args:
        beside, replaced, siblings: see `OtherPlaces`.
        added_later: cells that the assignment did not have at first.
        drafts: notebooks that nothing grades, by the names of their files, which may have answers.
        doubt: why the notebook may not be what the student saved.
        saved: the outputs of each cell, as JSON.
        removed: grade_ids of cells that the assignment had once.
        removed_texts: texts of such cells, also without a grade_id, which are not the student's.
        tests_run: whether test cells run, since the notebook has ordinary ones.
    """
    work = _Repair(submitted, released, removed_texts)
    work.tests_run = tests_run
    places = OtherPlaces.of(work, beside or {}, drafts or {}, replaced or {}, siblings or {})
    attachments = KeptAttachments(work.cells)  # with the cells, so that no id becomes that of another one
    outputs = dict(zip(map(id, work.cells), saved, strict=False))
    work.find_marked()
    work.find_stripped()
    work.restore()
    _put_back_deleted(work, added_later)
    places.copy_marked(work)
    written = WrittenAnswers(work, places, outputs)
    written.keep()
    gathering = Gathering(work)
    gathering.keep_additions()
    gathering.gather_answers()
    gathering.note_additions()
    gathering.keep_given()
    written.gather()
    Candidates(work, places).doubt()
    work.doubt_foreign(submitted, removed)
    work.doubts |= dict.fromkeys(work.expected if doubt else (), doubt)
    attachments.put_back(work.cells, work.handed_out)
    attachments.show_those_of_code(work)
    _make_ids_unique(work.cells)
    notebook = v4.new_notebook(metadata=deepcopy(released.metadata))
    notebook.cells = work.cells
    return Restored(notebook, work.notes, _of_graded_cells(work))


def _of_graded_cells(work: Restoration) -> list[Doubt]:
    """The doubts about answers as doubts about the cells whose points depend on them.

    A written answer that isn't empty is read by a person in any case.
    """
    doubts = []
    for name, what in work.doubts.items():
        graded = [name] if work.is_blank(name) else []
        if not is_graded_cell(work.known[name]):
            graded = tests_about(work.released, name)
        doubts += [Doubt(cell, decided_by_a_person(what)) for cell in graded]
    return doubts


class _Repair(Restoration):
    """Fills `present` until it has every cell in `known`."""

    def __init__(self, submitted: NotebookNode, released: NotebookNode, removed_texts: Set[str]) -> None:
        super().__init__(submitted, released, removed_texts)
        self._removed_copies: dict[str, list[str]] = defaultdict(list)
        self._has_answers = True

    def find_marked(self) -> None:
        """Find the cells with a known grade_id. Of several with the same one, one keeps it."""
        marked: dict[str, list[NotebookNode]] = defaultdict(list)
        for cell in self.cells:
            if (known := grade_id(cell)) is not None and known in self.known:
                marked[known].append(cell)
            else:
                cell.metadata.pop("nbgrader", None)
        extra: set[int] = set()
        for name, same_mark in marked.items():
            twice = f"The cell `{name}` is in the notebook more than once"
            chosen = self.present[name] = self._chosen(name, same_mark)
            others = [cell for cell in same_mark if cell is not chosen]
            for cell in others:
                cell.metadata.pop("nbgrader")
            copies = [cell for cell in others if name not in self.expected or self.is_blank(name, cell)]
            extra |= {id(cell) for cell in copies}
            if name not in self.expected:
                kind = self.known[name].cell_type
                self._removed_copies[name] += [cell.source for cell in copies if cell.cell_type == kind]
            if len(others) > len(copies):
                self.doubts[name] = f"{twice}, with different answers"
                which = "last one" if chosen is same_mark[-1] else "last one that answers it"
                tested = self._tested_above(others, chosen)
                earlier = ", and test cells above it ran with an earlier one" if tested else ""
                self.notes.append(f"{twice}: the {which} counts{earlier}.")
            elif copies:
                removed = "one copy was removed" if len(copies) == 1 else "its copies were removed"
                self.notes.append(f"{twice}: {removed}.")
        self.remove(extra)

    def find_stripped(self) -> None:
        """Find cells that lost their mark: by id, text, names, or place."""
        stripped: dict[str, NotebookNode] = {}
        for find in (self._by_id, self._by_text, self._by_names, self._by_place):
            missing = [name for name in self.known if name not in self.present]
            if not missing:
                break
            taken = {id(cell) for cell in self.present.values()}
            free = [cell for cell in self.cells if id(cell) not in taken]
            for name, cell in find(missing, free):
                if name not in self.present and id(cell) not in taken:
                    self.present[name] = stripped[name] = cell
                    taken.add(id(cell))
        if stripped:
            names = listed(name for name in self.known if name in stripped)
            self.notes.append(f"Marks that nbgrader needs were missing and were restored: {names}.")
        self._has_answers = not self.expected.keys().isdisjoint(self.present)
        sources = (self.known[name].source for name in self.expected)
        blank = {squeezed(source) for source in sources if PLACEHOLDER.search(source)}
        mine = {id(cell) for cell in self.present.values()}
        self.remove({id(c) for c in self.cells if id(c) not in mine and squeezed(c.source) in blank})

    def restore(self) -> None:
        """Restore the mark and type of the cells, and the text if it is the instructor's."""
        for name, cell in self.present.items():
            original = self.known[name]
            locked = is_locked_cell(original)
            kind, source = cell.cell_type, cell.source
            of_run = {name: cell[name] for name in ("execution_count", "outputs") if name in cell}
            cell.clear()
            cell.update(deepcopy(original))
            if kind == original.cell_type:
                cell.update(of_run)
            if locked:
                copies = self._removed_copies[name]
                if original.cell_type == "code":
                    self.edits += _changed(cell, [*copies, *([source] if kind == "code" else [])], original)
                self.rewritten += _changed(cell, [*copies, source], original)
                if source != original.source:
                    what = "test cell" if is_test_cell(original) else "given cell"
                    self.notes.append(f"The {what} `{name}` was edited, so it was restored.")
            else:
                cell.source = source if kind == cell.cell_type else self._converted(name, kind, source)
        self._restore_ordinary()

    def doubt_foreign(self, submitted: NotebookNode, removed: Set[str]) -> None:
        """Doubt every answer of a notebook most of whose marked cells were not handed out with this assignment.

        The same if it has something else, and not one answer cell.
        """
        theirs, ours = ({squeezed(cell.source) for cell in book.cells} for book in (submitted, self.released))
        if not self._has_answers and any(theirs - ours):
            what = "None of the answer cells is in the notebook, but other cells are"
            for name in self.expected:
                self.doubts.setdefault(name, what)
        marks = {mark for cell in submitted.cells if (mark := grade_id(cell)) is not None}
        others = sorted(marks - self.known.keys() - removed)
        if len(others) <= len(marks) - len(others):
            return
        some = f"`{printable(others[0])}`" + (f" and {len(others) - 1} more" if len(others) > 1 else "")
        what = f"Cells of the notebook ({some}) were not handed out with this assignment: it may be another assignment's"
        self.notes.insert(0, f"{what}.")
        self.doubts |= dict.fromkeys(self.expected, what)

    def _chosen(self, name: str, cells: list[NotebookNode]) -> NotebookNode:
        answered = [cell for cell in cells if not self.is_blank(name, cell)] or cells
        wanted = self.expected.get(name)
        defining = [c for c in answered if wanted and wanted <= self.definitions.of(c.source)]
        return (defining or answered)[-1]

    def _tested_above(self, earlier: list[NotebookNode], chosen: NotebookNode) -> bool:
        """Whether there is a test cell between a copy of an answer and the chosen one."""
        copies = {id(cell) for cell in earlier}
        above = list(takewhile(lambda cell: cell is not chosen, self.cells))
        below_first = dropwhile(lambda cell: id(cell) not in copies, above)
        marks = (self.known.get(grade_id(cell) or "") for cell in below_first)
        return any(mark is not None and is_test_cell(mark) for mark in marks)

    def _converted(self, name: str, kind: str, source: str) -> str:
        """The text of an answer whose cell type was changed, converted to the original type."""
        own = self.known[name].cell_type
        was = f"The answer cell `{name}` was handed in as a {kind} cell"
        if squeezed(source) not in ("", squeezed(self.known[name].source)):
            self.doubts[name] = was
        if own != "code":
            self.notes.append(f"{was}; it was turned back into a {own} cell.")
            return source
        code, wanted = code_in(source), self.expected[name]
        if not source.strip() or (is_code(code) and wanted <= self.definitions.of(code)):
            self.notes.append(f"{was}; it was turned back into a code cell.")
            return code
        what = f"{was}, and its text isn't code that defines {listed(sorted(wanted)) or 'anything'}"
        self.doubts[name] = what
        self.notes.append(f"{what}, so it can't be run. Turn it into a code cell.")
        return "\n".join(f"# {line}" for line in source.split("\n"))

    def _restore_ordinary(self) -> None:
        """Restore the tags of cells that were released without a mark: demo cells are not graded."""
        ordinary = [cell for cell in self.released.cells if not grade_id(cell)]
        by_id = {own_id(cell): cell for cell in ordinary if own_id(cell)}
        by_source = {cell.source.strip(): cell for cell in ordinary}
        for cell in self.cells:
            if not grade_id(cell):
                original = by_id.get(own_id(cell)) or by_source.get(cell.source.strip())
                cell.metadata = deepcopy(original.metadata) if original is not None else NotebookNode()
                if original is not None:
                    self.handed_out[id(cell)] = original
                    if is_demo(cell) and cell.cell_type == original.cell_type == "code":
                        self.edits += _changed(cell, [cell.source], original)
                elif squeezed(cell.source) in self.removed_texts:
                    self.handed_out[id(cell)] = deepcopy(cell)

    def _by_id(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        by_id = {name: cell for cell in free if (name := own_id(cell))}
        return [(n, by_id[i]) for n in missing if (i := own_id(self.known[n])) in by_id]

    def _by_text(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        by_text = {cell.source.strip(): cell for cell in free}
        return [(n, by_text[text]) for n in missing if (text := self.known[n].source.strip()) in by_text]

    def _by_names(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        defining: dict[str, list[NotebookNode]] = defaultdict(list)
        for cell in free:
            code = cell.source if cell.cell_type == "code" else code_in(cell.source)
            if cell.cell_type == "code" or "def " in code or "class " in code:
                for name in self.definitions.of(code):
                    defining[name].append(cell)
        for name in missing:
            if wanted := self.expected.get(name):
                first, *others = (defining[one] for one in wanted)
                among = [{id(cell) for cell in cells} for cells in others]
                same = [cell for cell in first if all(id(cell) in cells for cells in among)]
                yield from [(name, cell) for cell in reversed(same)]

    def _by_place(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        """Answer cells between the same unchanged neighbors, in a gap of equal size."""
        ours = [cell.source.strip() for cell in self.released.cells]
        theirs = [cell.source.strip() for cell in self.cells]
        often = {text for text, count in Counter(theirs).items() if count > _OFTEN}
        keys: list[Hashable] = [(index, text) if text in often else text for index, text in enumerate(theirs)]
        for tag, a, a_end, b, b_end in SequenceMatcher(None, ours, keys, autojunk=False).get_opcodes():
            if tag == "replace" and a_end - a == b_end - b:
                for original, cell in zip(self.released.cells[a:a_end], self.cells[b:b_end], strict=True):
                    if cell.cell_type == original.cell_type and (name := grade_id(original)) in self.expected:
                        yield name, cell


def _put_back_deleted(work: Restoration, added_later: Set[str]) -> None:
    """Insert the marked cells that are missing: below the released cell above them, and an answer above its tests.

    The student may never have seen those that were `added_later`.
    """
    gone, place, is_below = [], 0, True
    places = _places_of_released(work)
    added: dict[int, list[NotebookNode]] = defaultdict(list)
    cells, lost = work.released.cells, _still_needed(work)
    for original, following in zip_longest(cells, cells[1:]):
        name = grade_id(original)
        if id(original) in places:
            place, is_below = places[id(original)] + 1, True
        elif name is None:  # perhaps a heading or a question, which the student deleted or rewrote
            is_below = False
            if source := lost.get(id(original)):
                copy = work.new_cell(source)
                work.copied.add(id(copy))
                added[place].append(copy)
                names = listed(sorted(work.definitions.of(source)))
                work.notes.append(
                    f"A given cell was deleted. Other cells use {names} from it, so this part of it was put back."
                )
        else:
            if not is_below and following is not None:
                place = places.get(id(following), place)
            tests = (places.get(id(work.known[test]), place) for test in tests_about(work.released, name))
            place, is_below = min([place, *tests]), True
            work.present[name] = deepcopy(original)
            added[place].append(work.present[name])
            gone.append(name)
    if added:
        old = [*work.cells, None]
        work.cells[:] = [c for index, cell in enumerate(old) for c in (*added[index], cell) if c is not None]
    if deleted := [name for name in gone if name not in added_later]:
        work.notes.append(f"Deleted cells were put back: {listed(deleted)}.")
    if new := [name for name in gone if name in added_later]:
        work.notes.append(f"Cells that were added to the assignment later were put in: {listed(new)}.")
    for name in new:
        work.doubts[name] = (
            f"The cell `{name}` was added to the assignment later, and the notebook may have been handed in before"
        )


def _still_needed(work: Restoration) -> dict[int, str]:
    """What other cells need of given code cells without a mark that were deleted, by the ids of the released cell objects."""
    there = {id(cell) for cell in work.handed_out.values()}
    given = (cell for cell in work.released.cells if runs_before_checks(cell) and not grade_id(cell))
    lost = [cell for cell in given if id(cell) not in there]
    if not lost:
        return {}
    cells = [*work.cells, *(cell for name, cell in work.known.items() if name not in work.present)]
    sources = [cell.source for cell in cells if cell.cell_type == "code" and not is_demo(cell)]
    bound = frozenset(name for source in sources for name in work.definitions.of(source))
    if "*" in bound:  # an import of all names of a module
        return {}
    edits = [(ChangedCell(cell, cell.source, ""), False) for cell in lost]
    found = needed_additions(edits, sources, frozenset(), bound)
    return {id(cell): source for cell, source in zip(lost, found, strict=True) if source}


def _places_of_released(work: Restoration) -> dict[int, int]:
    """Where released cells are, by the ids of the released cell objects; not of texts that occur more than once."""
    counts = Counter(cell.source.strip() for cell in (*work.cells, *work.released.cells))
    found = {}
    for index, cell in enumerate(work.cells):
        original = work.known.get(grade_id(cell) or "")
        if original is None:
            original = work.handed_out.get(id(cell))
            if original is None or counts[original.source.strip()] > 2:
                continue
        found[id(original)] = index
    return found


def _changed(cell: NotebookNode, handed_in: Iterable[str], original: NotebookNode) -> list[ChangedCell]:
    return [ChangedCell(cell, source, original.source) for source in handed_in if source != original.source]


def _make_ids_unique(cells: list[NotebookNode]) -> None:
    seen: set[str] = set()
    for place, cell in sorted(enumerate(cells, 1), key=lambda found: grade_id(found[1]) is None):
        name = cell.get("id")
        while not name or name in seen:
            name = made_up_id(place, f"{name}\n{cell.source}")
        cell["id"] = name
        seen.add(name)


class KeptAttachments:
    """The attachments of a notebook's cells before its cells are restored, which may clear a cell or move its text."""

    def __init__(self, cells: list[NotebookNode]) -> None:
        self._cells = list(cells)  # so that their ids stay theirs
        self._own: dict[int, Attachments] = {id(cell): cell.get("attachments") or {} for cell in cells}
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, cell in enumerate(cells):
            for name in self._own[id(cell)]:
                self._places[name].append(place)

    def put_back(self, cells: list[NotebookNode], handed_out: Mapping[int, NotebookNode]) -> None:
        """Give each text cell its attachments, and those of a near cell that its text refers to.

        The instructor's cells have their own; for `handed_out`, see `Restoration`.
        """
        for place, cell in enumerate(cells):
            original = handed_out.get(id(cell))
            if cell.cell_type == "code":
                found: Attachments = {}
            elif original is not None and original.source.strip() == cell.source.strip():
                found = dict(original.get("attachments") or {})
            else:
                found = dict(cell.get("attachments") or {})  # of the released cell, if it was restored
                found |= {} if is_locked_cell(cell) else self._own.get(id(cell), {})
                found |= self._missing(cell.source, found, place)
            cell.pop("attachments", None)
            if found:
                cell["attachments"] = found

    def show_those_of_code(self, work: Restoration) -> None:
        """Put what is attached to code cells, where nbformat doesn't allow it, into text cells below them."""
        for cell in [cell for cell in work.cells if cell.cell_type == "code" and self._own.get(id(cell))]:
            index = work.place_of(cell) + 1
            shown = "\n\n".join(f"![{name}]({ADDRESS}{quote(name)})" for name in self._own[id(cell)])
            below = work.new_cell(shown, "markdown", attachments=dict(self._own[id(cell)]))
            work.cells.insert(index, below)
            where = label_of(cell, index)
            work.notes.append(f"What is attached to the {where} was put into a new cell below it.")

    def _missing(self, text: str, found: Attachments, place: int) -> Attachments:
        """What the text shows of other cells' attachments: those of the last one up to `place`, or else of the first."""
        references = _REFERENCE.findall(text) if ADDRESS in text else []
        wanted = {*references, *map(unquote, references)} & self._places.keys() - found.keys()
        missing: Attachments = {}
        for name in wanted:
            places = self._places[name]
            near = self._cells[places[max(bisect_right(places, place) - 1, 0)]]
            missing[name] = self._own[id(near)][name]
        return missing
