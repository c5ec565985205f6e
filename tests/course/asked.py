"""Where an exercise's text asks for what a hidden check looks at.

asked/NAME.toml has a table for each file of checks, with the words of the released notebook that ask for each check. A
student has read them before the answer is graded: they stand at or above the test cell, in a text, a docstring or a
comment.

`python tests/course/asked.py NAME` prints what is missing, with the sentence of each check.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat

from gradekit.course.cells import grade_id

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "asked"


def plain(text: str) -> str:
    """The text with every run of white space, and of the signs that begin a comment, as one space."""
    return " ".join(part for part in text.split() if part != "#")


def checks_of(name: str) -> Iterator[tuple[str, str, str]]:
    """The file, the name and the sentence of each check with points of an assignment."""
    for path in sorted((ROOT / "tests" / name).glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            marks = getattr(node, "decorator_list", [])
            if isinstance(node, ast.FunctionDef) and any("points" in ast.unparse(mark) for mark in marks):
                yield path.stem, node.name, ast.get_docstring(node) or ""


def listed(name: str) -> dict[str, dict[str, str]]:
    """The words that ask for each check, by file and check."""
    path = FOLDER / f"{name}.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


def read_before(name: str) -> dict[str, str]:
    """What a student has read when a test cell comes, by its grade_id."""
    found, text = {}, ""
    for path in sorted((ROOT / "release" / name).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            text += f"\n{cell.source}"
            if own := grade_id(cell):
                found[own] = plain(text)
    return found


def missing(name: str) -> list[str]:
    """A line for each check that nothing asks for, and for each entry whose words the notebook doesn't have there."""
    entries, texts, lines = listed(name), read_before(name), []
    for file, check, sentence in checks_of(name):
        words = entries.get(file, {}).pop(check, "")
        if not words:
            lines.append(f"{file}::{check}: nothing asks for it: {sentence}")
        elif plain(words) not in texts[file]:
            lines.append(f"{file}::{check}: not at or above `{file}`: {words}")
    return lines + [f"{file}::{check}: no such check" for file in entries for check in entries[file]]


if __name__ == "__main__":
    for line in missing(sys.argv[1]):
        print(line)
