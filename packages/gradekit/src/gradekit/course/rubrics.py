"""The items of a rubric.

nbgrader's gradebook has no place for items, so what formgrader saves of a ticked one is its line in the comment.
"""

import re
from dataclasses import dataclass

#: where the rubric begins in a model answer
RUBRIC = "**Rubric"
#: a row of a table, or an entry of a list, which may go on in the next lines: `| 2 | idea |`, `- 2: idea`
_ITEM = re.compile(r"^(?:\| *|- *)(\d+(?:\.\d+)?) *[|:](.*(?:\n +\S.*)*)\n?", re.MULTILINE)
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
