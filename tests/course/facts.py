"""What a notebook states as a fact, and how a reader can know that it is so.

For each notebook, facts/NAME.toml lists its text cells. Each has the digest of the text that was read, and the
statements of fact in it, in the notebook's words. A statement has one of three marks: `run` (a cell of the notebook,
a test or a figure of `make demos` shows it), `source` (a paper, a documentation page, a model card says it) or `follows` (from what stands
before it: how). What is a definition, an instruction or an opinion that says so is no statement of fact.

`python tests/course/facts.py NAME` prints the cells whose text changed since they were read.
`python tests/course/facts.py NAME CELL ...` notes that they were read again ("all": every cell).
"""

import hashlib
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "facts"
MARKS = ("run", "source", "follows")
#: a sentence with one of these states something that can be looked up or counted
COUNTED = re.compile(r"\b(?:19|20)\d\d\b|\d\s?%|\b\d[\d,.]* (?:times|billion|million)\b")


@dataclass(frozen=True)
class Fact:
    says: str  # words of the cell
    mark: str
    by: str  # `cell ID`, `test FILE::NAME`, `figure NAME`, a source, or what it follows from


@dataclass(frozen=True)
class ReadCell:
    id: str
    text: str  # digest of the text that was read
    facts: tuple[Fact, ...]


def notebook_of(name: str) -> NotebookNode:
    (path,) = (ROOT / "source" / name).glob("*.ipynb")
    return nbformat.read(path, as_version=4)


def plain(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def digest(text: str) -> str:
    return hashlib.sha256(plain(text).encode()).hexdigest()[:8]


def read_cells(name: str) -> dict[str, ReadCell]:
    """The cells that facts/NAME.toml lists, by id."""
    listed = tomllib.loads((FOLDER / f"{name}.toml").read_text())["cell"]
    return {
        cell["id"]: ReadCell(cell["id"], cell["text"], tuple(Fact(**fact) for fact in cell.get("fact", [])))
        for cell in listed
    }


def counted_sentences(text: str) -> list[str]:
    """Sentences outside code, formulas and tables that give a year, a share or a large number."""
    prose = re.sub(r"```.*?```|\$\$.*?\$\$|^\|.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    return [plain(part) for part in re.split(r"(?<=[.!?:;])\s+|\n\s*\n", prose) if COUNTED.search(part)]


def note(name: str, ids: list[str]) -> None:
    """Write down that these cells were read as they stand now."""
    path = FOLDER / f"{name}.toml"
    text = path.read_text() if path.exists() else ""
    for cell in notebook_of(name).cells:
        if cell.cell_type != "markdown" or not {cell.id, "all"} & set(ids):
            continue
        line = f'id = "{cell.id}"\ntext = "{digest(cell.source)}"'
        text, known = re.subn(rf'id = "{re.escape(cell.id)}"\ntext = "\w*"', line, text)
        if not known:
            text += f"\n[[cell]]\n{line}\n"
    path.write_text(text.lstrip("\n"))


def changed(name: str) -> list[str]:
    """Ids of text cells that nobody read since they changed."""
    listed = read_cells(name) if (FOLDER / f"{name}.toml").exists() else {}
    return [
        cell.id
        for cell in notebook_of(name).cells
        if cell.cell_type == "markdown"
        and (cell.id not in listed or listed[cell.id].text != digest(cell.source))
    ]


if __name__ == "__main__":
    if sys.argv[2:]:
        note(sys.argv[1], sys.argv[2:])
    print("\n".join(changed(sys.argv[1])))
