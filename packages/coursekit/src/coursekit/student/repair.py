"""Putting a submitted notebook right: every cell that nbgrader knows is in it once, marked and unharmed.

The notebook that was released is the measure. What was put right is noted for student and TA. The work grows with
the length of the notebook and no faster, since it is done in the grader's own process.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from difflib import SequenceMatcher

from nbformat import NotebookNode, v4

from coursekit.course import PLACEHOLDER, grade_id, is_answer_cell, is_demo, is_locked_cell, is_test_cell
from coursekit.student.definitions import Definitions, code_in, expected_names, is_code
from coursekit.student.gather import Gathering, listed, squeezed

#: a text that occurs more often says nothing about places
_OFTEN = 10


def repair(submitted: NotebookNode, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The submitted notebook with the marked cells of the released one, in order, and notes of what changed.

    Of an answer cell that is there twice the last answered one counts; the earlier ones stay as ordinary cells. A
    cell whose mark was stripped is found again by its id, its text, the names it defines, or its place. An answer
    that was written into another cell is copied to its own. Cells of the student's own are kept, and so is what answers
    need of the code that was added to cells that are put back or not run.
    """
    work = _Repair(submitted, released)
    work.find_marked()
    work.find_stripped()
    work.restore()
    work.insert_missing()
    gathering = Gathering(work)
    gathering.keep_additions()
    gathering.gather_answers()
    gathering.note_additions()
    gathering.gather_texts()
    _make_ids_unique(work.cells)
    notebook = v4.new_notebook(metadata=deepcopy(released.metadata))
    notebook.cells = work.cells
    return notebook, work.notes


class _Repair:
    """One notebook under repair: `cells` change, and `present` grows until it has every cell in `known`."""

    def __init__(self, submitted: NotebookNode, released: NotebookNode) -> None:
        self.cells: list[NotebookNode] = deepcopy(submitted.cells)
        self.released = released
        self.known = {name: cell for cell in released.cells if (name := grade_id(cell))}
        self.expected = {
            name: expected_names(cell) for name, cell in self.known.items() if is_answer_cell(cell)
        }
        self.present: dict[str, NotebookNode] = {}
        self.notes: list[str] = []
        self.definitions = Definitions()
        #: cells that are not what the student runs: each with what was handed in there, and what was handed out
        self.edited: list[tuple[NotebookNode, str, str]] = []
        self._removed_copies: dict[str, list[str]] = defaultdict(list)
        #: what unmarked cells were when they were handed out, by the id of the object
        self.handed_out: dict[int, NotebookNode] = {}
        self.as_released = {squeezed(cell.source) for cell in released.cells if cell.cell_type == "code"}

    def find_marked(self) -> None:
        """The cells that carry a known grade_id. Of several with the same one, one is kept as such."""
        marked: dict[str, list[NotebookNode]] = defaultdict(list)
        for cell in self.cells:
            if grade_id(cell) in self.known:
                marked[grade_id(cell)].append(cell)
            else:
                cell.metadata.pop("nbgrader", None)
        superfluous: set[int] = set()
        for name, found in marked.items():
            chosen = self._chosen(name, found)
            self.present[name] = chosen
            others = [cell for cell in found if cell is not chosen]
            for cell in others:
                cell.metadata.pop("nbgrader")
            copies = [cell for cell in others if name not in self.expected or self.is_blank(name, cell)]
            superfluous |= {id(cell) for cell in copies}
            if name not in self.expected:
                self._removed_copies[name] += [cell.source for cell in copies if cell.cell_type == "code"]
            if len(others) > len(copies):
                which = "last one" if chosen is found[-1] else "last one that answers it"
                self.notes.append(f"The cell `{name}` is in the notebook more than once: the {which} counts.")
            elif copies:
                self.notes.append(
                    f"The cell `{name}` is in the notebook more than once: "
                    + ("one copy was removed." if len(copies) == 1 else "its copies were removed.")
                )
        self.remove(superfluous)

    def find_stripped(self) -> None:
        """Unmarked cells that are marked ones of the release: by id, text, names, or place."""
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
            self.notes.append(f"Marks that nbgrader needs were missing and were put back: {names}.")
        blank = {
            squeezed(self.known[name].source)
            for name in self.expected
            if PLACEHOLDER.search(self.known[name].source)
        }
        mine = {id(cell) for cell in self.present.values()}
        self.remove({id(c) for c in self.cells if id(c) not in mine and squeezed(c.source) in blank})

    def restore(self) -> None:
        """Give the cells that were found the mark, the type and, where it is the instructor's, the text."""
        for name, cell in self.present.items():
            original = self.known[name]
            locked = is_locked_cell(original)
            kind, source = cell.cell_type, cell.source
            cell.clear()
            cell.update(deepcopy(original))
            if locked:
                handed_in = [*self._removed_copies[name], *([source] if kind == "code" else [])]
                self._note_edits(cell, handed_in, original)
                if source != original.source:
                    what = "test cell" if is_test_cell(original) else "given cell"
                    self.notes.append(
                        f"The {what} `{name}` was edited; it was put back as it was handed out."
                    )
            else:
                cell.source = source if kind == cell.cell_type else self._turned_back(name, kind, source)
        self._restore_ordinary()

    def insert_missing(self) -> None:
        """Put back the marked cells that are gone, each behind the marked cell that it followed."""
        gone, place = [], 0
        places = {id(cell): index for index, cell in enumerate(self.cells)}
        added: dict[int, list[NotebookNode]] = defaultdict(list)
        for name, original in self.known.items():
            if name in self.present:
                place = places[id(self.present[name])] + 1
            else:
                self.present[name] = deepcopy(original)
                added[place].append(self.present[name])
                gone.append(name)
        cells = [*self.cells, None]
        self.cells = [c for index, cell in enumerate(cells) for c in (*added[index], cell) if c is not None]
        if gone:
            self.notes.append(
                f"Cells that were missing were put back as they were handed out: {listed(gone)}."
            )

    def _chosen(self, name: str, found: list[NotebookNode]) -> NotebookNode:
        answered = [cell for cell in found if not self.is_blank(name, cell)] or found
        wanted = self.expected.get(name)
        defining = [c for c in answered if wanted and wanted <= self.definitions.of(c.source)]
        return (defining or answered)[-1]

    def is_blank(self, name: str, cell: NotebookNode) -> bool:
        source = squeezed(cell.source)
        return not source or source == squeezed(self.known[name].source)

    def _note_edits(self, cell: NotebookNode, handed_in: list[str], original: NotebookNode) -> None:
        self.edited += [(cell, source, original.source) for source in handed_in if source != original.source]

    def _turned_back(self, name: str, kind: str, source: str) -> str:
        """The text of an answer whose cell has become one of another type, as its own type needs it."""
        own = self.known[name].cell_type
        was = f"The answer cell `{name}` was handed in as a {kind} cell"
        if own != "code":
            self.notes.append(f"{was}; it was turned back into a {own} cell.")
            return source
        code, wanted = code_in(source), self.expected[name]
        if not source.strip() or (is_code(code) and wanted <= self.definitions.of(code)):
            self.notes.append(f"{was}; it was turned back into a code cell.")
            return code
        self.notes.append(
            f"{was}, and its text isn't code that defines {listed(sorted(wanted)) or 'anything'}, so it "
            "can't be run. Turn it into a code cell."
        )
        return "\n".join(f"# {line}" for line in source.split("\n"))

    def _restore_ordinary(self) -> None:
        """Give cells that were handed out without a mark their tags back: `demo` cells are not graded."""
        ordinary = [cell for cell in self.released.cells if not grade_id(cell)]
        by_id = {cell.get("id"): cell for cell in ordinary}
        by_source = {cell.source.strip(): cell for cell in ordinary}
        for cell in self.cells:
            if not grade_id(cell):
                original = by_id.get(cell.get("id")) or by_source.get(cell.source.strip())
                cell.metadata = deepcopy(original.metadata) if original is not None else NotebookNode()
                if original is not None:
                    self.handed_out[id(cell)] = original
                    if is_demo(cell) and cell.cell_type == "code":
                        self._note_edits(cell, [cell.source], original)

    def remove(self, unwanted: set[int]) -> None:
        self.cells[:] = [cell for cell in self.cells if id(cell) not in unwanted]

    def _by_id(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        found = {cell.get("id"): cell for cell in free}
        return [(n, found[i]) for n in missing if (i := self.known[n].get("id")) in found]

    def _by_text(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        found = {cell.source.strip(): cell for cell in free}
        return [(n, found[text]) for n in missing if (text := self.known[n].source.strip()) in found]

    def _by_names(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        defining: dict[str, list[NotebookNode]] = defaultdict(list)
        for cell in free:
            code = cell.source if cell.cell_type == "code" else code_in(cell.source)
            if cell.cell_type == "code" or "def " in code or "class " in code:
                for name in self.definitions.of(code):
                    defining[name].append(cell)
        for name in missing:
            wanted = self.expected.get(name)
            if wanted:
                first, *others = (defining[one] for one in wanted)
                among = [{id(cell) for cell in cells} for cells in others]
                same = [cell for cell in first if all(id(cell) in cells for cells in among)]
                yield from [(name, cell) for cell in reversed(same)]

    def _by_place(self, missing: list[str], free: list[NotebookNode]) -> Iterable[tuple[str, NotebookNode]]:
        """Answer cells that are between the same unchanged neighbours, in a gap of equal size."""
        ours = [cell.source.strip() for cell in self.released.cells]
        theirs = [cell.source.strip() for cell in self.cells]
        often = {text for text, count in Counter(theirs).items() if count > _OFTEN}
        keys = [(index, text) if text in often else text for index, text in enumerate(theirs)]
        for tag, a, a_end, b, b_end in SequenceMatcher(None, ours, keys, autojunk=False).get_opcodes():
            if tag == "replace" and a_end - a == b_end - b:
                for original, cell in zip(self.released.cells[a:a_end], self.cells[b:b_end], strict=True):
                    if is_answer_cell(original) and cell.cell_type == original.cell_type:
                        yield grade_id(original), cell


def _make_ids_unique(cells: list[NotebookNode]) -> None:
    seen: set[str] = set()
    for cell in sorted(cells, key=lambda cell: grade_id(cell) is None):
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = v4.new_raw_cell()["id"]
        seen.add(cell["id"])
