"""The headings of a notebook, which a feedback page links to as explanations.

During grading, headings are the only student text that is rendered; their number and length are limited.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

from nbformat import NotebookNode

from gradekit.course.cells import (
    exercise_name,
    grade_id,
    is_answer_cell,
    is_automatic,
    is_graded_cell,
    is_test_cell,
    nbgrader_metadata,
)
from gradekit.course.language import N_, _
from gradekit.course.printing import shortened
from gradekit.page.markdown import plain_text, remembering, render_markdown

HEADING = re.compile(r'<h([1-6])(?: id="([^"]*)")?>(.*?)</h\1>', re.DOTALL)
#: headings per notebook and characters per heading; others get no links
MAX_HEADINGS, MAX_HEADING = 200, 200
#: characters of a heading that names a cell
_MAX_TITLE = 40
#: the same, on a page
_MAX_PAGE_TITLE = 80
_TASK = N_("Task")
_LINE = re.compile(r" {0,3}#{1,6}(?!#)[ \t]*(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NUMBER = re.compile(r"^\d+[a-z]?[.:]? ")


@dataclass(frozen=True)
class Heading:
    """A heading's text, its id on the page, and the index of its cell."""

    text: str
    anchor: str
    cell: int


def headings(notebook: NotebookNode) -> list[Heading]:
    """The headings of the markdown cells, in order."""
    found: list[Heading] = []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "markdown":
            continue
        for line in _heading_lines(cell.source):
            if len(found) == MAX_HEADINGS:
                return found
            text, anchor = _text_and_anchor(line)
            if anchor:
                found.append(Heading(text, anchor, index))
    return found


@remembering(512)
def _heading_lines(source: str) -> list[str]:
    """The markdown of each heading, without those in code blocks."""
    found: list[str] = []
    fence, above = "", ""
    for line in source.splitlines():
        before, above = above, ""
        if fence:
            if line.strip().startswith(fence) and not line.strip(" \t" + fence[0]):
                fence = ""
        elif begun := _FENCE.match(line):
            fence = begun[1]
        elif len(line) > MAX_HEADING:
            continue
        elif heading := _LINE.fullmatch(line):
            found.append(heading[1])
        elif before and _UNDERLINE.fullmatch(line):
            found.append(before)
        else:
            above = line.strip()
    return found


@lru_cache(maxsize=4096)
def _text_and_anchor(line: str) -> tuple[str, str]:
    found = HEADING.search(render_markdown(f"# {line}"))
    return (plain_text(found[3]), unescape(found[2] or "")) if found else ("", "")


def heading_named(found: Sequence[Heading], name: str) -> Heading | None:
    """The first heading with this text; `name` may leave out the number in front."""
    return next((heading for heading in found if name in (heading.text, _NUMBER.sub("", heading.text))), None)


def explaining(notebook: NotebookNode, found: Sequence[Heading], test: str, see: str = "") -> Heading | None:
    """The heading that explains a check of the test cell `test`, or None if the student removed it.

    Args:
        found: the headings of the notebook.
        see: the heading that the check names; by default the nearest one above the answer cell.
    """
    if see:
        return heading_named(found, see)
    wanted = (exercise_name(test), test)
    cell = next((index for index, cell in enumerate(notebook.cells) if grade_id(cell) in wanted), 0)
    return next((heading for heading in reversed(found) if heading.cell < cell), None)


def page_titles(notebook: NotebookNode, found: Sequence[Heading] | None = None) -> dict[str, str]:
    """The title of each graded cell on a page: the nearest heading above its answer that no student wrote.

    If several cells have the same heading, their names are added; without a heading, the title is the name alone.
    """
    found = headings(notebook) if found is None else found
    given = [heading for heading in found if not is_answer_cell(notebook.cells[heading.cell])]
    names = exercise_titles(notebook, found)
    places = {name: index for index, cell in enumerate(notebook.cells) if (name := grade_id(cell))}
    titles: dict[str, str] = {}
    for test in names:
        place = places.get(exercise_name(test), places[test])
        above = [heading for heading in given if heading.cell <= place]
        if above and not is_automatic(test):
            titles[test] = shortened(above[-1].text, _MAX_PAGE_TITLE)
    shared = Counter(titles.values())
    clashing = {test: f"{title} ({names[test]})" for test, title in titles.items() if shared[title] > 1}
    return names | titles | clashing


def exercise_titles(notebook: NotebookNode, found: Sequence[Heading] | None = None) -> dict[str, str]:
    """The title of each graded cell: from its grade_id or, if nbgrader made that up, the heading above it."""
    graded = [
        (index, name, _kind(cell))
        for index, cell in enumerate(notebook.cells)
        if (name := grade_id(cell)) and is_graded_cell(cell)
    ]
    titles = {name: exercise_name(name) for _, name, _ in graded}
    if not any(map(is_automatic, titles)):
        return titles
    found = headings(notebook) if found is None else found
    numbers: Counter[str] = Counter()
    for index, name, kind in graded:
        numbers[kind] += 1
        if not is_automatic(name):
            continue
        inside = [heading for heading in found if heading.cell == index and kind == _TASK]
        above = [heading for heading in found if heading.cell < index]
        nearest = [*above[-1:], *inside[:1]]
        titles[name] = shortened(nearest[-1].text, _MAX_TITLE) if nearest else f"{_(kind)} {numbers[kind]}"
    return _numbered(titles)


def _numbered(titles: dict[str, str]) -> dict[str, str]:
    shared = Counter(titles.values())
    seen: Counter[str] = Counter()
    numbered = {}
    for name, title in titles.items():
        seen[title] += 1
        numbered[name] = f"{title} ({seen[title]})" if shared[title] > 1 and is_automatic(name) else title
    return numbered


def _kind(cell: NotebookNode) -> str:
    if is_test_cell(cell):
        return N_("Test cell")
    return _TASK if nbgrader_metadata(cell).get("task") else N_("Answer")
