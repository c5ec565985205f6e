"""Putting a submitted notebook right: every cell that nbgrader knows stands in it once, marked and unharmed.

The notebook that was released is the measure. What was put right is noted for student and TA.
"""

from collections.abc import Iterable
from copy import deepcopy
from difflib import SequenceMatcher

from nbformat import NotebookNode, v4

from coursekit.course import grade_id, is_answer_cell, is_locked_cell, is_test_cell
from coursekit.student.names import defined_names


def repair(submitted: NotebookNode, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The submitted notebook with the marked cells of the released one, in order, and notes of what changed.

    Of an answer cell that stands twice the last one counts; the earlier ones stay as ordinary cells. A cell
    whose mark was stripped is found again by its text, its place, or the names it defines. Cells of the
    student's own are kept.
    """
    notes: list[str] = []
    cells = deepcopy(submitted.cells)
    known = {name: cell for cell in released.cells if (name := grade_id(cell))}
    present = _find_marked(cells, known, notes)
    stripped = _find_stripped(cells, released, present)
    if stripped:
        notes.append(f"Marks that nbgrader needs were missing and were put back: {_listed(stripped)}.")
    present |= stripped
    for name, cell in present.items():
        notes += _restore(cell, known[name])
    _restore_ordinary(cells, released)
    _insert_missing(cells, known, present, notes)
    _make_ids_unique(cells)
    notebook = v4.new_notebook(metadata=deepcopy(released.metadata))
    notebook.cells = cells
    return notebook, notes


def _find_marked(
    cells: list[NotebookNode], known: dict[str, NotebookNode], notes: list[str]
) -> dict[str, NotebookNode]:
    """The cells that carry a known grade_id. Of several with the same one the last is kept as such."""
    present: dict[str, NotebookNode] = {}
    for cell in reversed(list(cells)):
        name = grade_id(cell)
        if name not in known:
            cell.metadata.pop("nbgrader", None)
        elif name not in present:
            present[name] = cell
        elif is_answer_cell(known[name]):
            cell.metadata.pop("nbgrader")
            notes.append(f"The cell `{name}` stood in the notebook more than once: the last one counts.")
        else:
            cells[:] = [other for other in cells if other is not cell]
            notes.append(f"The cell `{name}` stood in the notebook more than once: one copy was removed.")
    return present


def _find_stripped(
    cells: list[NotebookNode], released: NotebookNode, present: dict[str, NotebookNode]
) -> dict[str, NotebookNode]:
    """Unmarked cells of the submission that are marked ones of the release: by id, text, names, or place."""
    missing = {name: cell for cell in released.cells if (name := grade_id(cell)) and name not in present}
    by_place = _by_place(cells, released)
    tests = [
        lambda name, original, cell: cell.get("id") == original.get("id"),
        lambda name, original, cell: cell.source.strip() == original.source.strip(),
        lambda name, original, cell: _defines_the_same(cell, original),
        lambda name, original, cell: by_place.get(name) is cell,
    ]
    matched: dict[str, NotebookNode] = {}
    for test in tests:
        for name, original in missing.items():
            free = [cell for cell in cells if not grade_id(cell) and not _is_among(cell, matched.values())]
            same = [cell for cell in free if name not in matched and test(name, original, cell)]
            if same:
                matched[name] = same[-1]
    return matched


def _defines_the_same(cell: NotebookNode, original: NotebookNode) -> bool:
    if not is_answer_cell(original) or original.cell_type != "code" or cell.cell_type != "code":
        return False
    wanted = defined_names(original.source)
    return bool(wanted) and wanted <= defined_names(cell.source)


def _by_place(cells: list[NotebookNode], released: NotebookNode) -> dict[str, NotebookNode]:
    """Answer cells that stand between the same unchanged neighbours, in a gap of equal size."""
    ours = [cell.source.strip() for cell in released.cells]
    theirs = [cell.source.strip() for cell in cells]
    matches: dict[str, NotebookNode] = {}
    for tag, a, a_end, b, b_end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "replace" and a_end - a == b_end - b:
            for offset in range(a_end - a):
                cell = released.cells[a + offset]
                if is_answer_cell(cell) and cells[b + offset].cell_type == cell.cell_type:
                    matches[grade_id(cell)] = cells[b + offset]
    return matches


def _restore(cell: NotebookNode, original: NotebookNode) -> list[str]:
    """Give `cell` the mark, the type and, where it is the instructor's, the text of `original`."""
    locked = is_locked_cell(original)
    changed = locked and cell.source != original.source
    source = original.source if locked else cell.source
    cell.clear()
    cell.update(deepcopy(original))
    cell.source = source
    if not changed:
        return []
    kind = "test cell" if is_test_cell(original) else "given cell"
    return [f"The {kind} `{grade_id(original)}` was edited; it was put back as it was handed out."]


def _restore_ordinary(cells: list[NotebookNode], released: NotebookNode) -> None:
    """Give cells that were handed out without a mark their tags back: `demo` cells are not graded."""
    ordinary = [cell for cell in released.cells if not grade_id(cell)]
    by_id = {cell.get("id"): cell for cell in ordinary}
    by_source = {cell.source.strip(): cell for cell in ordinary}
    for cell in cells:
        if not grade_id(cell):
            original = by_id.get(cell.get("id")) or by_source.get(cell.source.strip())
            cell.metadata = deepcopy(original.metadata) if original is not None else type(cell.metadata)()


def _insert_missing(
    cells: list[NotebookNode],
    known: dict[str, NotebookNode],
    present: dict[str, NotebookNode],
    notes: list[str],
) -> None:
    """Put back the marked cells that are gone, each behind the marked cell that it followed."""
    gone = []
    place = 0
    for name, original in known.items():
        if name not in present:
            present[name] = deepcopy(original)
            cells.insert(place, present[name])
            gone.append(name)
        place = next(index for index, cell in enumerate(cells) if cell is present[name]) + 1
    if gone:
        notes.append(f"Cells that were missing were put back as they were handed out: {_listed(gone)}.")


def _make_ids_unique(cells: list[NotebookNode]) -> None:
    seen: set[str] = set()
    for cell in sorted(cells, key=lambda cell: grade_id(cell) is None):
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = v4.new_raw_cell()["id"]
        seen.add(cell["id"])


def _is_among(cell: NotebookNode, others: Iterable[NotebookNode]) -> bool:
    return any(cell is other for other in others)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
