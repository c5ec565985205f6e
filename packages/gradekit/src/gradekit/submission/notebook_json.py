"""Turns the content of a submitted file into a plain notebook, within limits on size and depth."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct
from nbformat import NotebookNode, v4

from gradekit.course.cells import grade_id, made_up_id
from gradekit.course.printing import printable
from gradekit.submission.attachments import read_attachments, without_data

#: in the whole file, since each may become a Python object
MAX_BRACKETS = 200_000
MAX_CELLS = 2_000
#: in one cell; parsing code takes a hundred times its length in memory
MAX_CODE_CHARACTERS = 200_000
MAX_TEXT_CHARACTERS = 1_000_000
#: in all cells together
MAX_NOTEBOOK_CHARACTERS = 4_000_000
#: for files that only Python's own parser reads, which takes more memory
MAX_LENIENT_BYTES = 20 * 2**20
MAX_LENIENT_ITEMS = 400_000
#: the most bytes of a field of the wrong type that are decoded
_MAX_ODD_BYTES = 2**16
#: as in nbformat's schema
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOTHING = Raw(b"null")
_PADDING = b"\0 \t\r\n"
_BOM = b"\xef\xbb\xbf"
HAND_IN_AGAIN = "Save it and hand it in again."
_Found = TypeVar("_Found")


@dataclass
class SubmittedNotebook:
    """A notebook as submitted, or None and the `problem`; `notes` are remarks for the student and the TA.

    Args:
        versions: sentences about other versions of it in the same folder.
        language: the language of the kernel that it was saved with, or the kernel's name; empty if the file doesn't say.
        saved: each cell's execution count and outputs as JSON, which nobody has read (see `saved_outputs`).
    """

    notebook: NotebookNode | None
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    missing: bool = False
    language: str = ""
    saved: list[tuple[Raw, Raw]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)


class _Cell(Struct):
    """The fields of a cell that are read. They are decoded one by one, since each may have the wrong type."""

    cell_type: Raw = _NOTHING
    source: Raw = _NOTHING
    input: Raw = _NOTHING  # code before version 4
    level: Raw = _NOTHING  # headings before version 4
    metadata: Raw = _NOTHING
    attachments: Raw = _NOTHING
    id: Raw = _NOTHING
    outputs: Raw = _NOTHING
    execution_count: Raw = _NOTHING


class _Notebook(Struct):
    nbformat: Raw = _NOTHING
    cells: Raw = _NOTHING
    worksheets: Raw = _NOTHING  # before version 4
    metadata: Raw = _NOTHING


class _Sheet(Struct):
    cells: list[_Cell] = []


class _Mark(Struct):
    grade_id: str


class _Marked(Struct):
    nbgrader: _Mark


class _Kernel(Struct):
    language: str = ""
    name: str = ""


class _Described(Struct):
    kernelspec: _Kernel


class Refused(Exception):
    """The notebook can't be read. The message continues the name of the file, and says what to do."""


_NOTEBOOK = msgspec.json.Decoder(_Notebook)
_CELLS = msgspec.json.Decoder(list[_Cell])
_SHEETS = msgspec.json.Decoder(list[_Sheet])
_TEXT = msgspec.json.Decoder(str | list[str])
_MARKED = msgspec.json.Decoder(_Marked)
_DESCRIBED = msgspec.json.Decoder(_Described)


def parse_submitted(data: bytes, name: str) -> SubmittedNotebook:
    """Read the content of a notebook; `name` is the file's name for messages."""
    try:
        return _parse(data)
    except Refused as refused:
        return SubmittedNotebook(None, f"{name} {refused}")
    except Exception as error:  # a hostile file can cause anything
        reason = printable(str(error).split("\n")[0], 200) or type(error).__name__
        if isinstance(error, RecursionError):
            reason = "it is nested too deeply"
        return SubmittedNotebook(
            None,
            f"{name} can't be read as a notebook ({reason}). Save or export it again, check that Jupyter "
            "opens it, and hand it in again.",
        )


def _parse(data: bytes) -> SubmittedNotebook:
    only_nul = bool(data) and not data.strip(b"\0")
    data = _as_utf8(data)
    if only_nul:
        raise Refused(
            "holds nothing but NUL characters: it was damaged while it was saved. Save the notebook again, "
            "check that Jupyter opens it, and hand it in again."
        )
    if not data:
        raise Refused("is an empty file. Save the notebook and hand it in again.")
    brackets = data.count(b"[") + data.count(b"{")
    if brackets > MAX_BRACKETS:
        raise Refused(
            f"has {brackets:,} brackets, more than {MAX_BRACKETS:,}. Clear all outputs. {HAND_IN_AGAIN}"
        )
    try:
        return _read_json(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_json(_lenient(data))


def _read_json(data: bytes) -> SubmittedNotebook:
    try:
        content = _NOTEBOOK.decode(data)
    except msgspec.ValidationError:
        raise ValueError("it contains no notebook") from None
    if bytes(content.nbformat)[:1] not in b"n0123456789":  # a number or nothing
        raise ValueError("its version isn't a number")
    cells = _cells_of(content)
    if len(cells) > MAX_CELLS:
        raise Refused(
            f"has {len(cells):,} cells, more than {MAX_CELLS:,}. Delete those that are not needed. {HAND_IN_AGAIN}"
        )
    notebook, notes = v4.new_notebook(), list[str]()
    notebook.cells = list(_plain_cells(cells, notes))
    saved = [(cell.execution_count, cell.outputs) for cell in cells]
    return SubmittedNotebook(notebook, notes=notes, language=_language(content), saved=saved)


def _as_utf8(data: bytes) -> bytes:
    """The same JSON in UTF-8, without a byte-order mark or the NUL padding of a damaged file.

    Raises:
        UnicodeDecodeError: the bytes are not in the declared encoding.
    """
    encoding = json.detect_encoding(data[:4])
    if encoding not in ("utf-8", "utf-8-sig"):
        data = data.decode(encoding).encode(errors="replace")
    return data.removeprefix(_BOM).strip(_PADDING)


def _lenient(data: bytes) -> bytes:
    """Strict JSON for JSON that only Python's parser accepts.

    It may contain NaN, control characters in strings or half a surrogate pair, and be in Latin-1 instead of UTF-8.

    Raises:
        ValueError: it isn't JSON, or it is too large to be read this way.
        RecursionError: it is nested too deeply.
    """
    if len(data) > MAX_LENIENT_BYTES or data.count(b",") + data.count(b'"') > MAX_LENIENT_ITEMS:
        raise ValueError("it breaks the rules of JSON, and is too large to be repaired")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    content = json.loads(text, strict=False, parse_constant=lambda _: None)
    return json.dumps(content, ensure_ascii=False).encode(errors="replace")


def _cells_of(content: _Notebook) -> list[_Cell]:
    if content.cells is _NOTHING and content.worksheets is not _NOTHING:
        return [cell for sheet in _SHEETS.decode(content.worksheets) for cell in sheet.cells]
    if content.cells is _NOTHING:
        raise ValueError("it has no cells")
    if bytes(memoryview(content.cells)[:1]) != b"[":
        raise ValueError("its cells are not a list")
    try:
        return _CELLS.decode(content.cells)
    except msgspec.ValidationError:  # some of the items are not cells
        items = msgspec.json.decode(_lenient(bytes(content.cells)), type=list[Raw])
        return [msgspec.json.decode(item, type=_Cell) for item in items if bytes(item)[:1] == b"{"]


def _plain_cells(cells: Iterable[_Cell], notes: list[str]) -> Iterator[NotebookNode]:
    total = 0
    for number, cell in enumerate(cells, 1):
        plain = _plain_cell(cell, number)
        name = grade_id(plain)
        label = f"`{printable(name)}`" if name else f"number {number}"
        if "\0" in plain.source:
            plain.source = plain.source.replace("\0", "")
            notes.append(
                f"The cell {label} contained NUL characters, which Python can't read; they were removed."
            )
        if plain.cell_type != "code" and cell.attachments is not _NOTHING:
            attachments = read_attachments(cell.attachments)
            if attachments:
                plain["attachments"] = attachments
            elif attachments is None:
                notes.append(f"The pictures attached to the cell {label} are damaged; they were left out.")
        length, limit = len(plain.source), MAX_CODE_CHARACTERS
        if plain.cell_type == "markdown":
            length, limit = len(without_data(plain.source)), MAX_TEXT_CHARACTERS
        if length > limit:
            raise Refused(
                f"has {length:,} characters in the cell {label}, more than {limit:,}. Shorten it. {HAND_IN_AGAIN}"
            )
        total += length
        if total > MAX_NOTEBOOK_CHARACTERS:
            raise Refused(
                f"has more than {MAX_NOTEBOOK_CHARACTERS:,} characters in its cells. Delete those that are not "
                f"needed. {HAND_IN_AGAIN}"
            )
        yield plain


def _plain_cell(cell: _Cell, number: int) -> NotebookNode:
    kind, source = _value(cell.cell_type), _text(cell.source if cell.input is _NOTHING else cell.input)
    if kind == "heading":
        level = _value(cell.level)
        marks = "#" * (level if isinstance(level, int) and level in range(1, 7) else 1)
        kind, source = "markdown", f"{marks} {source}"
    # v4.new_code_cell would validate each cell, which takes longer than everything else
    plain = NotebookNode(
        id=made_up_id(number, source),
        cell_type=kind if kind in ("code", "markdown") else "raw",
        metadata=NotebookNode(),
        source=source,
    )
    if kind == "code":
        plain |= {"execution_count": None, "outputs": []}
    mark = _typed(_MARKED, cell.metadata)
    if mark is not None:
        plain.metadata["nbgrader"] = {"grade_id": mark.nbgrader.grade_id}
    name = _value(cell.id)
    if isinstance(name, str) and _ID.fullmatch(name):
        plain["id"] = name
    return plain


def _text(raw: Raw) -> str:
    """A source as text, with Unix line ends."""
    try:
        found = _TEXT.decode(raw)
    except msgspec.ValidationError:
        found = _value(raw) or ""
    lines = found if isinstance(found, list) else [found]
    return "".join(line if isinstance(line, str) else str(line) for line in lines).replace("\r\n", "\n")


def _value(raw: Raw) -> object:
    """A value of any type; None if it is large."""
    try:
        return None if memoryview(raw).nbytes > _MAX_ODD_BYTES else msgspec.json.decode(raw)
    except ValueError:  # a number of more digits than Python takes
        return None


def _typed(decoder: msgspec.json.Decoder[_Found], raw: Raw) -> _Found | None:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        return None


def _language(content: _Notebook) -> str:
    found = _typed(_DESCRIBED, content.metadata)
    return (found.kernelspec.language or found.kernelspec.name) if found else ""
