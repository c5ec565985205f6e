"""The headings of a notebook: the places that explain something, to which a page can link."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

from nbformat import NotebookNode

from coursekit.course import exercise_name, grade_id
from coursekit.nbgrader_plugin.markdown import harmless_markdown, plain_text

HEADING = re.compile(r'<h([1-6])(?: id="([^"]*)")?>(.*?)</h\1>', re.DOTALL)
_NUMBER = re.compile(r"^\d+[a-z]?[.:]? ")


@dataclass(frozen=True)
class Heading:
    """A heading, the id that it has on a page, and the index of its cell."""

    text: str
    anchor: str
    cell: int


def headings(notebook: NotebookNode) -> list[Heading]:
    """All headings of the markdown cells, in order. Of several with the same text, a link finds the first."""
    return [
        Heading(plain_text(found[3]), unescape(found[2]), index)
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown" and "#" in cell.source
        for found in HEADING.finditer(harmless_markdown(cell.source))
        if found[2]
    ]


def heading_named(found: Sequence[Heading], name: str) -> Heading | None:
    """The heading with this text; its number in front may be left out."""
    return next((heading for heading in found if name in (heading.text, _NUMBER.sub("", heading.text))), None)


def explaining(notebook: NotebookNode, found: Sequence[Heading], test: str, see: str = "") -> Heading | None:
    """Where a check of the test cell `test` is explained.

    Args:
        found: the headings of the notebook.
        see: the heading that the check names; by default it is the nearest one above the answer cell.

    Returns:
        None if the student's notebook has no such heading any more.
    """
    if see:
        return heading_named(found, see)
    wanted = (exercise_name(test), test)
    cell = next((index for index, cell in enumerate(notebook.cells) if grade_id(cell) in wanted), 0)
    return next((heading for heading in reversed(found) if heading.cell < cell), None)
