"""Reading what a student handed in, whatever it is."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4
from nbformat.v4.nbbase import random_cell_id

from coursekit.course import grade_id

MAX_FILE_BYTES = 200 * 2**20
MAX_SOURCE_CHARACTERS = 2_000_000
MAX_CELLS = 2_000
#: as nbformat's schema has it
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass
class Handed:
    """A notebook as handed in. `problem` says why there is none; `notes` what was noticed about it."""

    notebook: NotebookNode | None
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    missing: bool = False


def read(path: Path) -> Handed:
    """Read a submitted notebook: sources, grade_ids and cell ids, without outputs or any other metadata.

    Nothing is raised for a file that is no notebook: `problem` has the sentence.
    """
    if path.is_symlink() or path.parent.is_symlink():
        return Handed(None, f"{path.name} is a link to something else. Hand in the notebook itself.")
    if not path.exists():
        return _read_another_name(path)
    if not path.is_file():
        return Handed(None, f"{path.name} is no file. Hand in the notebook itself.")
    try:
        size = path.stat().st_size
        if size == 0:
            return Handed(None, f"{path.name} is an empty file. Save the notebook and hand it in again.")
        if size > MAX_FILE_BYTES:
            return Handed(
                None,
                f"{path.name} is {size // 2**20} MB large. Clear all outputs, save it and hand it in again.",
            )
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
        if not isinstance(content, dict):
            raise ValueError("it holds no notebook")
        if content.get("nbformat") != 4:
            content = nbformat.convert(nbformat.from_dict(content), 4)
        cells = content["cells"]
        if not isinstance(cells, list):
            raise ValueError("its cells are not a list")
        if len(cells) > MAX_CELLS:
            return Handed(
                None,
                f"{path.name} has {len(cells):,} cells, more than {MAX_CELLS:,}. Delete those that are not "
                "needed, save it and hand it in again.",
            )
        notebook = v4.new_notebook()
        notebook.cells = [cell for cell in map(_plain_cell, cells) if cell is not None]
    except (OSError, RecursionError, MemoryError, Exception) as error:
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        return Handed(
            None,
            f"{path.name} can't be read as a notebook ({type(error).__name__}: {reason}). "
            "Save or export it anew, see that Jupyter opens it, and hand it in again.",
        )
    return Handed(notebook, notes=_notes(content))


def _read_another_name(path: Path) -> Handed:
    """The expected file is not there: take the only notebook beside it if it answers this assignment."""
    beside = sorted(other for other in path.parent.glob("*.ipynb"))
    if len(beside) == 1:
        handed = read(beside[0])
        if handed.notebook is not None and any(grade_id(cell) for cell in handed.notebook.cells):
            handed.notes.insert(0, f"Handed in as {beside[0].name}; it was graded as {path.name}.")
            return handed
    found = ", ".join(other.name for other in beside) or "no notebook"
    return Handed(None, f"{path.name} was not handed in (found: {found}).", missing=True)


def _plain_cell(cell: object) -> NotebookNode | None:
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(str(line) for line in source)
    # half of a pair of surrogates could be written into no file
    source = str(source)[:MAX_SOURCE_CHARACTERS].encode(errors="replace").decode()
    kind = cell.get("cell_type")
    # v4.new_code_cell and its like would also hold each cell against the schema, which takes longer than all else
    plain = NotebookNode(
        id=random_cell_id(),
        cell_type=kind if kind in ("code", "markdown") else "raw",
        metadata=NotebookNode(),
        source=source,
    )
    if kind == "code":
        plain |= {"execution_count": None, "outputs": []}
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if isinstance(mark, dict) and isinstance(mark.get("grade_id"), str):
        plain.metadata["nbgrader"] = {"grade_id": mark["grade_id"]}
    if isinstance(cell.get("id"), str) and _ID.fullmatch(cell["id"]):
        plain["id"] = cell["id"]
    return plain


def _notes(content: dict) -> list[str]:
    metadata = content.get("metadata")
    spec = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = spec.get("language") or spec.get("name") if isinstance(spec, dict) else None
    if isinstance(language, str) and "python" not in language.lower():
        return [f"The notebook was saved with another kernel ({language[:40]}); it was graded with Python."]
    return []
