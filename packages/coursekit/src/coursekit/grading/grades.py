"""The grades of an assignment in the gradebook."""

from collections.abc import Iterable

from nbgrader.api import Assignment, Grade, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.orm import joinedload


def grades_of(gradebook: Gradebook, assignment: str) -> Iterable[tuple[str, str, str, Grade]]:
    """The grade of each cell with its student, the submitted notebook's id and the notebook's name, in one query."""
    found: Iterable[tuple[str, str, str, Grade]] = (
        gradebook.db.query(SubmittedAssignment.student_id, SubmittedNotebook.id, Notebook.name, Grade)
        .select_from(Grade)
        .options(joinedload(Grade.cell))
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
    )
    return found
