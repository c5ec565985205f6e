"""Code that may be the answer to an exercise whose answer cell was left empty: a person decides what it is."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePath

from nbformat import NotebookNode

from gradekit.course.cells import grade_id, is_demo
from gradekit.course.files import handed_in_text
from gradekit.course.printing import printable
from gradekit.submission.gather import Restoration, label_of
from gradekit.submission.names import squeezed
from gradekit.submission.statements import code_in
from gradekit.submission.syntax import parse

#: how similar two names are if one may be a misspelling of the other
_SIMILAR = 0.6
#: names that are compared with those that are missing, and characters of a cell that is parsed
_MAX_NAMES, _MAX_CODE = 1_000, 20_000
#: modules that are looked at
_MAX_MODULES = 50


class Candidates:
    """Finds code that may be an answer in a restored notebook, after `Gathering` has moved what is sure.

    Args:
        beside: the student's own files next to the notebook, by name.
    """

    def __init__(self, work: Restoration, beside: Mapping[str, Path]) -> None:
        self._work = work
        self._beside = beside
        self._released = {squeezed(cell.source) for cell in work.released.cells}

    def doubt(self) -> None:
        """Add a doubt about each empty answer that may be somewhere else."""
        for name, cell in self._work.present.items():
            wanted = self._work.expected.get(name)
            if wanted is None or cell.cell_type != "code" or not self._work.is_blank(name, cell):
                continue
            place = next(self._places(cell, wanted), "")
            if place:
                self._work.doubts.setdefault(
                    name, f"The answer cell `{name}` is empty, but {place} may be its answer"
                )

    def _places(self, own: NotebookNode, wanted: frozenset[str]) -> Iterator[str]:
        cells = self._work.cells
        at = next(index for index, cell in enumerate(cells) if cell is own)
        for step in (1, -1):
            index = at + step
            while 0 <= index < len(cells) and self._is_own(cells[index]):
                if cells[index].cell_type == "code" and self._may_answer(cells[index].source):
                    yield f"the {label_of(cells[index], index + 1)} next to it"
                index += step
        for missing in sorted(wanted):
            for alike in get_close_matches(missing.casefold(), self._names, 1, _SIMILAR):
                index = self._names[alike]
                yield f"the {label_of(cells[index], index + 1)}"
        for missing in sorted(wanted):
            for alike in get_close_matches(missing.casefold(), self._names_in_modules, 1, _SIMILAR):
                yield f"the file {printable(self._names_in_modules[alike])}"

    def _is_own(self, cell: NotebookNode) -> bool:
        return (
            not grade_id(cell)
            and not is_demo(cell)
            and id(cell) not in self._work.handed_out
            and squeezed(cell.source) not in self._released
        )

    def _may_answer(self, source: str) -> bool:
        """True for code that defines something, or that can't be parsed."""
        names = self._work.definitions.of(source)
        return bool(names) or (0 < len(source.strip()) <= _MAX_CODE and parse(source) is None)

    @cached_property
    def _names(self) -> dict[str, int]:
        """The names that the student's own cells define, with the index of the cell."""
        found: dict[str, int] = {}
        for index, cell in enumerate(self._work.cells):
            if self._is_own(cell) and len(found) < _MAX_NAMES:
                code = cell.source if cell.cell_type == "code" else code_in(cell.source)
                found |= {name.casefold(): index for name in self._work.definitions.of(code)}
        return found

    @cached_property
    def _names_in_modules(self) -> dict[str, str]:
        """The names that the student's modules next to the notebook define, with the file."""
        found: dict[str, str] = {}
        modules = [name for name in self._beside if PurePath(name).suffix == ".py"]
        for module in modules[:_MAX_MODULES]:
            names = self._work.definitions.of(handed_in_text(self._beside[module]))
            if len(found) < _MAX_NAMES:
                found |= {name.casefold(): module for name in names}
        return found
