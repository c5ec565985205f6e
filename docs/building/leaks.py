"""No page of the site may show a line of a solution: every build looks, and fails if one does."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path

import nbformat

from gradekit.course import Assignment
from gradekit.course.cells import MARKERS, is_answer_cell

#: shorter lines, such as `return mask`, prove nothing
_LONG = 25
_TEXTS = {".html", ".js", ".json", ".txt", ".md", ".py", ".svg"}


def secret_lines(assignments: Iterable[Assignment], public: Iterable[str] = ()) -> set[str]:
    """The lines of all solutions, in code and in words, that students don't get in a notebook or a text in `public`."""
    secret: set[str] = set()
    shown = list(public)
    for assignment in assignments:
        for path in assignment.source_notebooks():
            cells = [cell for cell in nbformat.read(path, as_version=4).cells if is_answer_cell(cell)]
            secret |= {_squeezed(line) for cell in cells for line in cell.source.splitlines()}
            shown += [cell.source for cell in assignment.released(path.stem).cells]
    text = _squeezed("\n".join(shown))
    return {line for line in secret if len(line) > _LONG and line not in MARKERS and line not in text}


def leaks(folder: Path, secret: set[str]) -> list[str]:
    """The files below `folder` that have a secret line, each with the line."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [f"{path.relative_to(folder)}: {line}" for path in files for line in _leaks_of(path, secret)]


def _leaks_of(path: Path, secret: set[str]) -> list[str]:
    text = "\n".join(_texts(path))
    return sorted(line for line in secret if line in text)


def _texts(path: Path) -> Iterator[str]:
    """What somebody can read in a file, with single spaces."""
    if path.suffix == ".ipynb":
        yield from map(_squeezed, _strings(json.loads(path.read_text(encoding="utf-8"))))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from (_squeezed(archive.read(name).decode(errors="replace")) for name in archive.namelist())
    elif path.suffix in _TEXTS:
        text = path.read_text(encoding="utf-8", errors="replace")
        yield _squeezed(unescape(re.sub(r"<[^>]*>", "", text)) if path.suffix in {".html", ".svg"} else text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value)
        for item in value:
            yield from _strings(item)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
