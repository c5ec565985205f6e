"""The text of the instructor's cells as the gradebook has it: with the hidden tests that students don't get."""

from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.api import Assignment as AssignmentEntry
from nbgrader.api import Gradebook, Notebook, SourceCell

from gradekit.course.cells import grade_id


@dataclass(frozen=True)
class InstructorsText:
    """The text and type of a locked cell."""

    cell_type: str
    source: str


def instructors_texts(gradebook: Gradebook, assignment: str) -> dict[str, dict[str, InstructorsText]]:
    """The locked cells of an assignment by notebook and grade_id, in one query.

    `nbgrader generate_assignment` stores them before it removes hidden tests.
    """
    found = (
        gradebook.db.query(Notebook.name, SourceCell.name, SourceCell.cell_type, SourceCell.source)
        .select_from(SourceCell)
        .join(Notebook, Notebook.id == SourceCell.notebook_id)
        .join(AssignmentEntry, AssignmentEntry.id == Notebook.assignment_id)
        .filter(AssignmentEntry.name == assignment, SourceCell.locked)
    )
    texts: dict[str, dict[str, InstructorsText]] = {}
    for notebook, name, cell_type, source in found:
        texts.setdefault(notebook, {})[name] = InstructorsText(cell_type, source)
    return texts


def put_instructors_text(notebook: NotebookNode, texts: dict[str, InstructorsText]) -> None:
    """Put the text into the locked cells of a restored notebook, as nbgrader's `OverwriteCells` does."""
    for cell in notebook.cells:
        text = texts.get(grade_id(cell) or "")
        if text is not None and text.cell_type == cell.cell_type:
            cell.source = text.source
