"""Reading what a student handed in, whatever it is."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Raw, Struct
from nbformat import NotebookNode, v4
from nbformat.v4.nbbase import random_cell_id

from coursekit.course import grade_id
from coursekit.printing import printable
from coursekit.student.decoding import as_utf8, lenient
from coursekit.student.limits import (
    MAX_BRACKETS,
    MAX_CELLS,
    MAX_CHARACTERS,
    MAX_CODE_CHARACTERS,
    MAX_FILE_BYTES,
    MAX_TEXT_CHARACTERS,
)

#: as nbformat's schema has it
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOTHING = Raw(b"null")
_NAMED_AT_MOST = 5
#: of a field of the wrong type
_MAX_ODD_BYTES = 2**16
#: opening does not follow a link, and does not wait at a pipe
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass
class Handed:
    """A notebook as handed in. `problem` says why there is none; `notes` what was noticed about it."""

    notebook: NotebookNode | None
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    missing: bool = False


class _Cell(Struct):
    """What is taken from a cell. Fields are decoded one by one, since each may have the wrong type."""

    cell_type: Raw = _NOTHING
    source: Raw = _NOTHING
    input: Raw = _NOTHING  # of code before version 4
    level: Raw = _NOTHING  # of headings before version 4
    metadata: Raw = _NOTHING
    id: Raw = _NOTHING


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


class _Refused(Exception):
    """The notebook can't be read; the message follows the name of the file, and says what to do."""


_NOTEBOOK = msgspec.json.Decoder(_Notebook)
_CELLS = msgspec.json.Decoder(list[_Cell])
_SHEETS = msgspec.json.Decoder(list[_Sheet])
_TEXT = msgspec.json.Decoder(str | list[str])
_MARKED = msgspec.json.Decoder(_Marked)
_DESCRIBED = msgspec.json.Decoder(_Described)
_AGAIN = "Save it and hand it in again."


def read(path: Path) -> Handed:
    """Read a submitted notebook: sources, grade_ids and cell ids, without outputs or any other metadata.

    Nothing is raised for a file that can't be read as a notebook: `problem` has the sentence.
    """
    name = printable(path.name)
    try:
        if path.is_symlink() or path.parent.is_symlink():
            return Handed(None, f"{name} is a link to something else. Hand in the notebook itself.")
        if not path.exists():
            return _read_another_name(path)
        data = _content(path)
    except _Refused as refused:
        return Handed(None, f"{name} {refused}")
    except OSError as error:
        return Handed(None, f"{name} can't be read ({error.strerror}). Hand it in again as an ordinary file.")
    return parse(data, name)


def parse(data: bytes, name: str) -> Handed:
    """Read the content of a notebook; `name` is for the sentence that says why it can't be read."""
    try:
        return _parse(data)
    except _Refused as refused:
        return Handed(None, f"{name} {refused}")
    except Exception as error:  # whatever else a hostile file may cause
        reason = printable(str(error).split("\n")[0], 200) or type(error).__name__
        if isinstance(error, RecursionError):
            reason = "it is nested too deeply"
        return Handed(
            None,
            f"{name} can't be read as a notebook ({reason}). Save or export it again, check that Jupyter "
            "opens it, and hand it in again.",
        )


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise _Refused("isn't a file. Hand in the notebook itself.")
    with open(os.open(path, _OPEN), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise _Refused("isn't a file. Hand in the notebook itself.")
        if found.st_size > MAX_FILE_BYTES:
            raise _Refused(
                f"is {found.st_size // 2**20:,} MiB large, more than {MAX_FILE_BYTES // 2**20}. "
                f"Clear all outputs. {_AGAIN}"
            )
        return file.read(MAX_FILE_BYTES)


def _parse(data: bytes) -> Handed:
    only_nul = bool(data) and not data.strip(b"\0")
    data = as_utf8(data)
    if only_nul:
        raise _Refused(
            "holds nothing but NUL characters, as a file does that was damaged while it was saved. Save the "
            "notebook again, check that Jupyter opens it, and hand it in again."
        )
    if not data:
        raise _Refused("is an empty file. Save the notebook and hand it in again.")
    brackets = data.count(b"[") + data.count(b"{")
    if brackets > MAX_BRACKETS:
        raise _Refused(f"has {brackets:,} brackets, more than {MAX_BRACKETS:,}. Clear all outputs. {_AGAIN}")
    try:
        return _read_json(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_json(lenient(data))


def _read_json(data: bytes) -> Handed:
    try:
        content = _NOTEBOOK.decode(data)
    except msgspec.ValidationError:
        raise ValueError("it holds no notebook") from None
    if bytes(content.nbformat)[:1] not in b"n0123456789":  # a number or nothing
        raise ValueError("its version isn't a number")
    cells = _cells_of(content)
    if len(cells) > MAX_CELLS:
        raise _Refused(
            f"has {len(cells):,} cells, more than {MAX_CELLS:,}. Delete those that are not needed. {_AGAIN}"
        )
    handed = Handed(v4.new_notebook(), notes=list(_notes(content)))
    handed.notebook.cells = list(_plain_cells(cells, handed.notes))
    return handed


def _cells_of(content: _Notebook) -> list[_Cell]:
    if content.cells is _NOTHING and content.worksheets is not _NOTHING:
        return [cell for sheet in _SHEETS.decode(content.worksheets) for cell in sheet.cells]
    if content.cells is _NOTHING:
        raise ValueError("it has no cells")
    if bytes(memoryview(content.cells)[:1]) != b"[":
        raise ValueError("its cells are not a list")
    try:
        return _CELLS.decode(content.cells)
    except msgspec.ValidationError:  # among the cells is something that isn't one
        items = msgspec.json.decode(lenient(bytes(content.cells)), type=list[Raw])
        return [msgspec.json.decode(item, type=_Cell) for item in items if bytes(item)[:1] == b"{"]


def _plain_cells(cells: Iterable[_Cell], notes: list[str]) -> Iterator[NotebookNode]:
    total = 0
    for number, cell in enumerate(cells, 1):
        plain = _plain_cell(cell)
        label = f"`{printable(grade_id(plain))}`" if grade_id(plain) else f"number {number}"
        if "\0" in plain.source:
            plain.source = plain.source.replace("\0", "")
            notes.append(f"The cell {label} held NUL characters, which Python can't read; they were removed.")
        length = len(plain.source)
        limit = MAX_TEXT_CHARACTERS if plain.cell_type == "markdown" else MAX_CODE_CHARACTERS
        if length > limit:
            raise _Refused(
                f"has {length:,} characters in the cell {label}, more than {limit:,}. Shorten it. {_AGAIN}"
            )
        total += length
        if total > MAX_CHARACTERS:
            raise _Refused(
                f"has more than {MAX_CHARACTERS:,} characters in its cells. Delete those that are not "
                f"needed. {_AGAIN}"
            )
        yield plain


def _plain_cell(cell: _Cell) -> NotebookNode:
    kind, source = _value(cell.cell_type), _text(cell.source if cell.input is _NOTHING else cell.input)
    if kind == "heading":
        level = _value(cell.level)
        kind, source = "markdown", "#" * (level if level in range(1, 7) else 1) + f" {source}"
    # v4.new_code_cell and its like would also hold each cell against the schema, which takes longer than all else
    plain = NotebookNode(
        id=random_cell_id(),
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
    """A source as text with the line ends of Python."""
    try:
        found = _TEXT.decode(raw)
    except msgspec.ValidationError:
        found = _value(raw) or ""
    lines = found if isinstance(found, list) else [found]
    return "".join(line if isinstance(line, str) else str(line) for line in lines).replace("\r\n", "\n")


def _value(raw: Raw) -> object:
    """A small value of any type; None if it is large."""
    try:
        return None if memoryview(raw).nbytes > _MAX_ODD_BYTES else msgspec.json.decode(raw)
    except ValueError:  # a number of more digits than Python takes
        return None


def _typed(decoder: msgspec.json.Decoder, raw: Raw) -> Struct | None:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        return None


def _notes(content: _Notebook) -> Iterator[str]:
    found = _typed(_DESCRIBED, content.metadata)
    language = (found.kernelspec.language or found.kernelspec.name) if found else ""
    if language and "python" not in language.lower():
        yield f"The notebook was saved with another kernel ({printable(language, 40)}); it was graded with Python."


def _read_another_name(path: Path) -> Handed:
    """The expected file is not there: take the only notebook beside it if it answers this assignment."""
    beside = sorted(path.parent.glob("*.ipynb"))
    if len(beside) == 1:
        handed = read(beside[0])
        if handed.notebook is not None and any(grade_id(cell) for cell in handed.notebook.cells):
            handed.notes.insert(0, f"Handed in as {printable(beside[0].name)}; it was graded as {path.name}.")
            return handed
    found = ", ".join(printable(other.name) for other in beside[:_NAMED_AT_MOST]) or "no notebook"
    more = f" and {len(beside) - _NAMED_AT_MOST:,} more" if len(beside) > _NAMED_AT_MOST else ""
    return Handed(None, f"{path.name} was not handed in (found: {found}{more}).", missing=True)
