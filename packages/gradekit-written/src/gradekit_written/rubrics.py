"""The rubric of an answer with numbered items, and which of them a grader's comment gives."""

import re
from collections.abc import Sequence

import nbformat

from gradekit.course import Assignment
from gradekit.course.cells import find_cell
from gradekit.course.rubrics import RUBRIC, RubricItem, rubric_items

#: a line in a comment that says that an item was given
_GIVEN = re.compile(r"\* \+\d+(?:\.\d+)?: ")


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
