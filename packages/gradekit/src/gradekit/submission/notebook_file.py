"""Reads the notebook file that a student submitted, which may be anything, within limits on size and depth."""

import filecmp
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct
from nbformat import NotebookNode, v4

from gradekit.course import Assignment
from gradekit.course.cells import grade_id, made_up_id, read_attachments, without_data
from gradekit.course.files import beside_notebooks, files_in, notebooks_in
from gradekit.course.operating_system import open_safely
from gradekit.course.printing import first_of, printable
from gradekit.submission.extra_files import expected_in, recognize
from gradekit.submission.texts import Sibling

MAX_FILE_BYTES = 100 * 2**20
_NAMED_AT_MOST = 5
#: notebooks in a folder that are read to find one of another name
_READ_AT_MOST = 10
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
#: the folder in which Jupyter keeps an earlier version of each notebook
CHECKPOINTS = ".ipynb_checkpoints"
HAND_IN_AGAIN = "Save it and hand it in again."
_TWICE = "The file has its cells, or the text of a cell, twice, and only the last ones were read"
_Found = TypeVar("_Found")


@dataclass
class SubmittedNotebook:
    """A notebook as submitted, or None and the `problem`; `notes` are remarks for the student and the TA.

    Args:
        versions: sentences about other versions of it in the same folder.
        others: by their paths below the folder, the first notebooks that nothing grades, and what Jupyter kept of an
            earlier version; None for one that can't be read.
        siblings: the assignment's other notebooks.
        doubt: why it may not be what the student saved.
        language: the language of the kernel that it was saved with, or the kernel's name; empty if the file doesn't say.
        saved: each cell's execution count and outputs as JSON, of which only sentences are read (see `saved_outputs`).
    """

    notebook: NotebookNode | None
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    missing: bool = False
    language: str = ""
    saved: list[tuple[Raw, Raw]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    others: dict[str, NotebookNode | None] = field(default_factory=dict)
    siblings: dict[str, Sibling] = field(default_factory=dict)
    doubt: str = ""


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


def read_submitted(path: Path, assignment: Assignment | None = None) -> SubmittedNotebook:
    """Read a submitted notebook: sources, grade_ids, cell ids and, as JSON, outputs; no other metadata.

    If there is no such file, this looks for the notebook under another name. Given the assignment, it tells its
    notebooks apart. Nothing is raised for a file that can't be read: the result has a `problem` instead of a notebook.
    """
    name = printable(path.name)
    try:
        if path.parent.is_symlink():
            raise Refused(
                "is in a folder that is a link to another one, and links are not followed. A person decides about it."
            )
        if path.is_symlink():
            raise Refused("is a link to something else. Hand in the notebook itself.")
        if not path.exists():
            return _read_another_name(path, assignment)
        data = _content(path)
    except Refused as refused:
        return SubmittedNotebook(None, f"{name} {refused}")
    except OSError as error:
        problem = f"{name} can't be read ({error.strerror}). Hand it in again as an ordinary file."
        return SubmittedNotebook(None, problem)
    return _noting_others(parse_submitted(data, name), path, path, assignment)


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise Refused("isn't a file. Hand in the notebook itself.")
    with open_safely(path) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Refused("isn't a file. Hand in the notebook itself.")
        if found.st_size > MAX_FILE_BYTES:
            raise Refused(
                f"is {found.st_size // 2**20:,} MiB large, more than {MAX_FILE_BYTES // 2**20}. "
                f"Clear all outputs. {HAND_IN_AGAIN}"
            )
        return file.read(MAX_FILE_BYTES)


def grade_ids_in(path: Path) -> frozenset[str]:
    """The grade_ids in a submitted notebook; none if it can't be read."""
    return _grade_ids(read_submitted(path).notebook)


def _grade_ids(notebook: NotebookNode | None) -> frozenset[str]:
    return frozenset(filter(None, map(grade_id, notebook.cells))) if notebook is not None else frozenset()


def _noting_others(
    submitted: SubmittedNotebook, path: Path, graded: Path, assignment: Assignment | None
) -> SubmittedNotebook:
    """Add notes about notebooks in the same folder that nothing grades, some of which may be other versions."""
    if not assignment:
        return submitted
    folder = path.parent
    names = {f"{name}.ipynb" for name in assignment.released_names()} | {graded.name}
    others = [other for other in notebooks_in(folder) if other.name not in names]
    others += _deeper_notebooks(folder, assignment)
    rest = [printable(str(other.relative_to(folder))) for other in others]
    if submitted.notebook is None:
        if rest:
            submitted.problem += f" Handed in beside it, and not graded: {first_of(rest, _NAMED_AT_MOST)}."
        return submitted
    own, expected = _grade_ids(submitted.notebook), expected_in(assignment)
    every = frozenset[str]().union(*expected.values())
    submitted.siblings = _siblings(path, graded, assignment)
    for other, name in zip(others[:_READ_AT_MOST], rest.copy(), strict=False):
        notebook = submitted.others[str(other.relative_to(folder))] = read_submitted(other).notebook
        ids = _grade_ids(notebook)
        if not ids & every or len(ids & own) < len(ids - every):  # some names are in several assignments
            continue
        rest.remove(name)
        same = other.is_file() and graded.is_file() and filecmp.cmp(other, graded, shallow=False)
        if ids & own and not same:
            submitted.versions.append(f"{name} is another version of {path.name}, and was not graded.")
            again = f"If it is the one that counts, rename it to {path.name} and hand it in again."
            submitted.notes.append(f"{submitted.versions[-1]} {again}")
    if rest:
        submitted.notes.append(f"These notebooks were not graded: {first_of(rest, _NAMED_AT_MOST)}.")
    for kept in notebooks_in(folder / CHECKPOINTS)[:_READ_AT_MOST]:
        if kept.name.replace("-checkpoint", "") not in names - {graded.name}:
            submitted.others[str(kept.relative_to(folder))] = read_submitted(kept).notebook
    return submitted


def _siblings(path: Path, graded: Path, assignment: Assignment) -> dict[str, Sibling]:
    """The assignment's other notebooks in the folder, by the names of their files."""
    found = {}
    for name in assignment.released_names():
        other = path.with_name(f"{name}.ipynb")
        if name != path.stem and other != graded and other.is_file():
            notebook = read_submitted(other).notebook
            if notebook is not None:
                found[other.name] = Sibling(notebook, assignment.released(name))
    return found


def _deeper_notebooks(folder: Path, assignment: Assignment) -> list[Path]:
    """The notebooks in the student's own folders beside the notebook, as after a zip was unpacked there."""
    left_out, handed_out = assignment.course.ignore, {path.name for path in assignment.handed_out()}
    folders = (path for path in beside_notebooks(folder, left_out) if path.is_dir() and not path.is_symlink())
    deeper = (path for own in folders if own.name not in handed_out for path in files_in(own, left_out))
    return [path for path in deeper if path.suffix == ".ipynb" and path.name[0] != "."]


def name_handed_in(path: Path, assignment: Assignment) -> Path:
    """The file that is graded as the notebook `path`: itself, or the one of another name that is recognized as it."""
    found = [] if path.exists() else _of_other_names(path, notebooks_in(path.parent), assignment)
    return found[0] if len(found) == 1 else path


def _of_other_names(path: Path, others: Sequence[Path], assignment: Assignment | None) -> list[Path]:
    """The files among `others` that may be the missing notebook `path`."""
    if len(others) > _READ_AT_MOST:
        return []
    ids = {other: grade_ids_in(other) for other in others}
    any_ids = {path.stem: frozenset[str]().union(*ids.values())}
    expected = expected_in(assignment) if assignment else any_ids
    known = recognize({other: other.name for other in others}, expected, ids.__getitem__)
    return known.notebooks.get(path.stem) or known.unclear.get(path.stem, [])


def _read_another_name(path: Path, assignment: Assignment | None) -> SubmittedNotebook:
    """Read the notebook in the folder whose grade_ids, or whose similar name, show that it is the missing one."""
    others = notebooks_in(path.parent)
    found = _of_other_names(path, others, assignment)
    if len(found) == 1 and (submitted := read_submitted(found[0])).notebook is not None:
        note = f"Handed in as {printable(found[0].name)}; it was graded as {path.name}."
        submitted.notes.insert(0, note)
        return _noting_others(submitted, path, found[0], assignment)
    if not found and assignment and (moved := _in_siblings(path, assignment)):
        return moved
    names = [printable(other.name) for other in found or others]
    what = f" (found: {first_of(names, _NAMED_AT_MOST) or 'no notebook'})."
    if len(found) > 1:
        what = f": rename the right one of {', '.join(names)} to {path.name}."
    return SubmittedNotebook(None, f"{path.name} was not handed in{what}", missing=True)


def _in_siblings(path: Path, assignment: Assignment) -> SubmittedNotebook | None:
    """A missing notebook some of whose cells are in others, as after a notebook was divided; None if none are."""
    siblings = _siblings(path, path, assignment)
    wanted = _grade_ids(assignment.released(path.stem))
    for name, (notebook, released) in siblings.items():
        if wanted & (_grade_ids(notebook) - _grade_ids(released)):
            what = f"{path.name} was not handed in, but {printable(name)} has some of its cells"
            return SubmittedNotebook(v4.new_notebook(), notes=[f"{what}."], siblings=siblings, doubt=what)
    return None


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
        what = "Save or export it again, check that Jupyter opens it, and hand it in again."
        return SubmittedNotebook(None, f"{name} can't be read as a notebook ({reason}). {what}")


def _parse(data: bytes) -> SubmittedNotebook:
    if data and not data.strip(b"\0"):
        raise Refused(
            "holds nothing but NUL characters: it was damaged while it was saved. Save the notebook again, "
            "check that Jupyter opens it, and hand it in again."
        )
    data = _as_utf8(data)
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
    doubt = _TWICE if _is_twofold(data, len(cells)) else ""
    found = _typed(_DESCRIBED, content.metadata)
    language = (found.kernelspec.language or found.kernelspec.name) if found else ""
    return SubmittedNotebook(notebook, notes=notes, language=language, saved=saved, doubt=doubt)


def _is_twofold(data: bytes, cells: int) -> bool:
    """True if the notebook, or one of its cells, has different cells or sources under the same key."""
    surely_once = data.count(b'"cells"') <= 1 and data.count(b'"source"') <= cells
    if surely_once or len(data) > MAX_LENIENT_BYTES:  # reading it all would take long
        return False
    twofold = False

    def look(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal twofold
        read = dict(pairs)
        if len(read) < len(pairs):
            differing = {key for key, value in pairs if read[key] != value}
            twofold = twofold or not differing.isdisjoint(("cells", "source"))
        return read

    try:
        json.loads(data, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False
    return twofold


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
            what = "contained NUL characters, which Python can't read; they were removed"
            notes.append(f"The cell {label} {what}.")
        if cell.attachments is not _NOTHING:
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
    kind, made_up = kind if kind in ("code", "markdown") else "raw", made_up_id(number, source)
    # v4.new_code_cell would validate each cell, which takes longer than everything else
    plain = NotebookNode(id=made_up, cell_type=kind, metadata=NotebookNode(), source=source)
    if kind == "code":
        plain |= {"execution_count": None, "outputs": []}
    if mark := _typed(_MARKED, cell.metadata):
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
