"""Puts released cells that the student deleted back where they belong."""

from collections import Counter, defaultdict
from collections.abc import Set
from copy import deepcopy
from itertools import zip_longest

from nbformat import NotebookNode

from gradekit.course.cells import grade_id, tests_about
from gradekit.course.printing import listed
from gradekit.submission.gather import Restoration


def put_back_deleted(work: Restoration, added_later: Set[str] = frozenset()) -> None:
    """Insert the marked cells that are missing: below the released cell above them, and an answer above its tests.

    Args:
        added_later: cells that the assignment did not have at first; the student may never have seen them.
    """
    gone, place, is_below = [], 0, True
    places = _places_of_released(work)
    added: dict[int, list[NotebookNode]] = defaultdict(list)
    cells = work.released.cells
    for original, following in zip_longest(cells, cells[1:]):
        name = grade_id(original)
        if id(original) in places:
            place, is_below = places[id(original)] + 1, True
        elif name is None:  # perhaps a heading or a question, which the student deleted or rewrote
            is_below = False
        else:
            if not is_below and following is not None:
                place = places.get(id(following), place)
            tests = (places.get(id(work.known[test]), place) for test in tests_about(work.released, name))
            place, is_below = min([place, *tests]), True
            work.present[name] = deepcopy(original)
            added[place].append(work.present[name])
            gone.append(name)
    if gone:
        old = [*work.cells, None]
        work.cells[:] = [c for index, cell in enumerate(old) for c in (*added[index], cell) if c is not None]
        deleted = [name for name in gone if name not in added_later]
        if deleted:
            work.notes.append(f"Deleted cells were put back: {listed(deleted)}.")
        new = [name for name in gone if name in added_later]
        if new:
            work.notes.append(f"Cells that were added to the assignment later were put in: {listed(new)}.")
        for name in new:
            work.doubts[name] = (
                f"The cell `{name}` was added to the assignment later, and the notebook may have been handed in before"
            )


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
