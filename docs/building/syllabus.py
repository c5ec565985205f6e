"""The syllabus, from the notebooks themselves: minutes, points, what builds on what, and plans for terms of several lengths."""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

import nbformat

from gradekit.course import Assignment, Course
from gradekit.submission.names import defined_names

ROOT = Path(__file__).resolve().parents[2]
#: for reading, running the cells and thinking
_WORDS_PER_MINUTE = 100
_EXERCISE = re.compile(r"^\| *(\w*) *\| (.+?) \| (\d+) \| [●○]+ \| (\d+) \|$", re.MULTILINE)
#: measures of the concept map, in the units of its viewBox
_WIDTH, _ROW, _BOX, _LEFT = 440, 62, 48, 96


@dataclass(frozen=True)
class Part:
    """One notebook of the course."""

    name: str
    notebook: str
    number: int
    title: str
    #: of the exercises, as the notebook says
    minutes: int
    #: for the rest: the text has to be read, and the cells have to be run
    reading: int
    points: int
    exercises: tuple[str, ...]
    builds_on: tuple[int, ...]
    idea: str
    ends: str

    @property
    def hours(self) -> float:
        return (self.minutes + self.reading) / 60

    @property
    def link(self) -> str:
        return f"[{self.number} · {self.title}](generated/notebooks/{self.name}/{self.notebook}.ipynb)"


def parts_of(course: Course) -> list[Part]:
    """The notebooks of the course, in order."""
    words = tomllib.loads((ROOT / "docs" / "syllabus.toml").read_text(encoding="utf-8"))
    assignments = course.assignments()
    return [_part(assignment, assignments, words.get(assignment.name, {})) for assignment in assignments]


def _part(assignment: Assignment, all_of_them: list[Assignment], words: dict[str, str]) -> Part:
    (path,) = assignment.source_notebooks()
    cells = _cells(path)
    number, title = re.findall(r"^# (\d+) · (.+)$", cells[0].source, re.MULTILINE)[0]
    rows = _EXERCISE.findall(cells[0].source)
    if not rows:
        raise ValueError(f"{path}: no table of exercises with points and minutes in the first cell")
    exercises = tuple(text for _, text, _, _ in rows)
    text = " ".join(
        cell.source
        for cell in cells
        if cell.cell_type == "markdown" and not cell.metadata.get("nbgrader", {}).get("solution")
    )
    return Part(
        assignment.name,
        path.stem,
        int(number),
        title,
        sum(int(minutes) for *_, minutes in rows),
        round(len(text.split()) / _WORDS_PER_MINUTE),
        sum(int(points) for _, _, points, _ in rows),
        exercises,
        tuple(sorted(_builds_on(assignment, all_of_them))),
        words.get("idea", ""),
        words.get("ends", exercises[-2] if len(exercises) > 1 else exercises[-1]),
    )


@cache
def _cells(path: Path) -> list[nbformat.NotebookNode]:
    cells: list[nbformat.NotebookNode] = nbformat.read(path, as_version=4).cells
    return cells


def _builds_on(assignment: Assignment, all_of_them: list[Assignment]) -> set[int]:
    """The numbers of the assignments whose names the notebook imports from earlier.py."""
    before = [other for other in all_of_them if other.name < assignment.name]
    found = set()
    for name in _imported(assignment):
        for other in reversed(before):
            code = [cell.source for cell in _cells(other.source_notebooks()[0]) if cell.cell_type == "code"]
            if name not in _imported(other) and any(name in defined_names(source) for source in code):
                found.add(int(other.name.split("_")[0]))
                break
    return found


def _imported(assignment: Assignment) -> set[str]:
    """What the notebook imports from earlier.py."""
    found: set[str] = set()
    for cell in _cells(assignment.source_notebooks()[0]):
        if cell.cell_type == "code" and "from earlier import" in cell.source:
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.ImportFrom) and node.module == "earlier":
                    found |= {alias.name for alias in node.names}
    return found


def weeks(hours: Sequence[float], count: int) -> list[list[tuple[int, float]]]:
    """Distribute notebooks over weeks: for each week, the notebooks by index, with the hours for each.

    Notebooks keep their order. With fewer weeks than notebooks, neighbors share a week, so that the longest week is as
    short as possible; with more, the notebooks with the most hours for each week get another one.
    """
    if count < len(hours):
        return [[(index, hours[index]) for index in group] for group in _groups(hours, count)]
    share = [1] * len(hours)
    while sum(share) < count:
        longest = max(range(len(hours)), key=lambda index: hours[index] / share[index])
        share[longest] += 1
    return [[(index, hours[index] / part)] for index, part in enumerate(share) for _ in range(part)]


def _groups(hours: Sequence[float], count: int) -> list[list[int]]:
    """Split indices into `count` runs whose longest sum is the smallest."""

    @cache
    def best(start: int, left: int) -> tuple[float, tuple[int, ...]]:
        if left == 1:
            return sum(hours[start:]), ()
        found = []
        for end in range(start + 1, len(hours) - left + 2):
            longest, ends = best(end, left - 1)
            found.append((max(sum(hours[start:end]), longest), (end, *ends)))
        return min(found)

    _, ends = best(0, count)
    bounds = [0, *ends, len(hours)]
    return [list(range(start, end)) for start, end in pairwise(bounds)]


def table(parts: list[Part]) -> str:
    """What the course consists of, as a table in Markdown."""
    lines = ["| notebook | exercises | hours | builds on | at its end you have |", "|---|---|---|---|---|"]
    for part in parts:
        before = ", ".join(map(str, part.builds_on)) or "–"
        lines.append(f"| {part.link} | {len(part.exercises)} | {part.hours:.1f} | {before} | {part.ends} |")
    total = sum(part.hours for part in parts)
    lines.append(f"| **together** | **{sum(len(part.exercises) for part in parts)}** | **{total:.0f}** | | |")
    return "\n".join(lines)


def plan(parts: list[Part], count: int) -> str:
    """A term of `count` weeks, as a table in Markdown."""
    hours = [part.hours for part in parts]
    lines = ["| week | notebook | hours |", "|---|---|---|"]
    before: list[int] = []
    for week, group in enumerate(weeks(hours, count), 1):
        names = []
        for index, _ in group:
            again = ", continued" if index in before else ""
            names.append(f"{parts[index].number} · {parts[index].title}{again}")
        before += [index for index, _ in group]
        lines.append(f"| {week} | {'<br>'.join(names)} | {sum(time for _, time in group):.1f} |")
    return "\n".join(lines)


def concept_map(parts: list[Part]) -> str:
    """What builds on what, as a drawing in the colors of the page: a row for each notebook, and curves between them."""
    height = _ROW * len(parts) + 8
    rows = {part.number: index for index, part in enumerate(parts)}
    sentences = [
        f"{part.number} builds on {', '.join(map(str, part.builds_on))}" for part in parts if part.builds_on
    ]
    drawn = [
        f'<svg class="concept-map" role="img" aria-labelledby="map-title map-text" viewBox="0 0 {_WIDTH} {height}">',
        '<title id="map-title">Which notebook builds on which</title>',
        f'<desc id="map-text">{escape(". ".join(sentences))}.</desc>',
    ]
    for part in parts:
        for number in part.builds_on:
            if number in rows:
                drawn.append(_curve(rows[number], rows[part.number]))
    for index, part in enumerate(parts):
        drawn += _box(index, part)
    return "\n".join([*drawn, "</svg>"])


def _curve(start: int, end: int) -> str:
    top, bottom = (row * _ROW + 4 + _BOX / 2 + shift for row, shift in ((start, 6), (end, -6)))
    bend = _LEFT - 8 - 84 * min(1.0, (end - start) / 8 + 0.1)
    return (
        f'<path d="M {_LEFT} {top:.0f} C {bend:.0f} {top:.0f} {bend:.0f} {bottom:.0f} {_LEFT - 7} {bottom:.0f}"/>'
        f'<path class="head" d="M {_LEFT} {bottom:.0f} l -8 -4 v 8 z"/>'
    )


def _box(index: int, part: Part) -> Iterator[str]:
    top = index * _ROW + 4
    yield f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH - _LEFT - 4}" height="{_BOX}" rx="6"/>'
    yield f'<text class="title" x="{_LEFT + 12}" y="{top + 20}">{part.number} · {escape(part.title)}</text>'
    yield f'<text x="{_LEFT + 12}" y="{top + 38}">{escape(part.idea)}</text>'
