"""The items of a rubric, and which of them a grader's comment gives.

nbgrader's gradebook has no place for items, so what formgrader saves of a ticked one is its line in the comment.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import nbformat

from gradekit.course import Assignment
from gradekit.course.cells import find_cell

#: where the rubric begins in a model answer
RUBRIC = "**Rubric"
#: a row of a table, or an entry of a list, which may go on in the next lines: `| 2 | idea |`, `- 2: idea`
_ITEM = re.compile(r"^(?:\| *|- *)(\d+(?:\.\d+)?) *[|:](.*(?:\n +\S.*)*)\n?", re.MULTILINE)
#: a line in a comment that says that an item was given
_GIVEN = re.compile(r"\* \+\d+(?:\.\d+)?: ")
_ROW = re.compile(r"^\|.*\n?", re.MULTILINE)


@dataclass(frozen=True)
class RubricItem:
    """An idea and the points that it earns; `text` is one line of markdown."""

    points: float
    text: str

    @property
    def line(self) -> str:
        """The line in a comment that says that the item was given."""
        return f"* +{self.points:g}: {self.text}"


def rubric_items(rubric: str) -> tuple[list[RubricItem], str]:
    """Split a rubric into its items and the rest of its text, without the head of a table of items."""
    texts = ((found[1], " ".join(found[2].split())) for found in _ITEM.finditer(rubric))
    items = [RubricItem(float(points), text.removesuffix("|").rstrip()) for points, text in texts]
    return items, _ROW.sub("", _ITEM.sub("", rubric)).strip() if items else rubric.strip()


def numbered_items(items: Sequence[RubricItem]) -> str:
    """The items as a numbered list, in markdown: second readers type these numbers."""
    return "\n".join(f"{number}. ({item.points:g}) {item.text}" for number, item in enumerate(items, 1))


def with_numbers(model_answer: str) -> str:
    """A model answer whose rubric ends with its items as a numbered list."""
    answer, mark, rest = model_answer.partition(RUBRIC)
    items, text = rubric_items(mark + rest)
    return f"{answer}{text}\n\n{numbered_items(items)}" if items else model_answer


def rubric_of(assignment: Assignment, notebook: str, cell: str) -> str:
    """The rubric of an answer in the source notebook; empty if it has none."""
    path = assignment.source_folder / f"{notebook}.ipynb"
    model = find_cell(nbformat.read(path, as_version=4), cell) if path.is_file() else None
    _, mark, rest = str(model.source).partition(RUBRIC) if model is not None else ("", "", "")
    return mark + rest


def items_in(comment: str, items: Sequence[RubricItem]) -> set[RubricItem]:
    """The items whose lines are in a comment, also if a person went on writing behind them.

    The script of formgrader's page, in formgrade_with_rubric.html.j2, reads comments by the same rule.
    """
    begun = ([item for item in items if line.startswith(item.line)] for line in comment.split("\n"))
    return {max(found, key=lambda item: len(item.line)) for found in begun if found}


def without_unknown_items(comment: str, items: Sequence[RubricItem]) -> str:
    """A comment without the lines of items that the rubric doesn't have, or doesn't have any more."""
    known = tuple(item.line for item in items)
    lines = (line for line in comment.split("\n") if line.startswith(known) or not _GIVEN.match(line))
    return "\n".join(lines).strip()
