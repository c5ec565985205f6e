"""The pictures in the text of a submission: the attachments of its cells, and data in the text itself."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec
from msgspec import Raw

from gradekit.course.cells import is_locked_cell

if TYPE_CHECKING:
    from nbformat import NotebookNode

#: a picture in the text itself, as Colab writes a pasted one
DATA = re.compile(r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]+")
#: an address of an attachment; it may be percent-encoded
ADDRESS = "attachment:"
SVG = "image/svg+xml"
#: the types of pictures that a page shows, the best one first
PICTURE_KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp", SVG)
_REFERENCE = re.compile(re.escape(ADDRESS) + r"([^)\s\"'<>]+)")
_BUNDLES = msgspec.json.Decoder(dict[str, dict[str, str | list[str]]])

#: by name, the data of an attachment by type
Attachments = dict[str, dict[str, str]]


def read_attachments(raw: Raw) -> Attachments | None:
    """The attachments of a cell, whatever they contain; None if they don't have the form of attachments."""
    try:
        found = _BUNDLES.decode(raw)
    except msgspec.ValidationError:
        return None
    return {
        name: {kind: data if isinstance(data, str) else "".join(data) for kind, data in bundle.items()}
        for name, bundle in found.items()
    }


def picture_in(bundle: Mapping[str, object]) -> str:
    """The type of the picture among the data of an output or an attachment; empty if there is none."""
    return next((kind for kind in PICTURE_KINDS if kind in bundle), "")


def without_data(text: str) -> str:
    """The text without the pictures in it, which don't count as text."""
    return DATA.sub("", text)


class KeptAttachments:
    """The attachments of a notebook's cells before its cells are restored, which may clear a cell or move its text."""

    def __init__(self, cells: "list[NotebookNode]") -> None:
        self._cells = list(cells)  # so that their ids stay theirs
        self._own: dict[int, Attachments] = {id(cell): cell.get("attachments") or {} for cell in cells}
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, cell in enumerate(cells):
            for name in self._own[id(cell)]:
                self._places[name].append(place)

    def put_back(self, cells: "list[NotebookNode]", handed_out: "Mapping[int, NotebookNode]") -> None:
        """Give each text cell its attachments, and those of a near cell that its text refers to.

        The instructor's cells have their own.

        Args:
            handed_out: the released versions of cells without a grade_id, by the id of the cell object.
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

    def _missing(self, text: str, found: Attachments, place: int) -> Attachments:
        wanted = {name for name in _names_in(text) if name not in found and name in self._places}
        return {name: self._own[id(self._near(place, self._places[name]))][name] for name in wanted}

    def _near(self, place: int, places: list[int]) -> "NotebookNode":
        """The last cell at one of the sorted `places` up to `place`, or else the first one."""
        return self._cells[places[max(bisect_right(places, place) - 1, 0)]]


def _names_in(text: str) -> Iterator[str]:
    """The names of the attachments that a text shows, in both forms if they are encoded."""
    references = _REFERENCE.findall(text) if ADDRESS in text else []
    return chain.from_iterable((name, unquote(name)) for name in references)
