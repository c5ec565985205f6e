"""Restoring a notebook and finding cells in it, for the tests of restoring."""

from nbformat import NotebookNode

from gradekit.course.cells import grade_id
from gradekit.submission.restore import restored

ANSWER = "def double(x):\n    return x + x"


def restore_notebook(submitted: NotebookNode, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The restored notebook, and the notes of what was changed."""
    whole = restored(submitted, released)
    return whole.notebook, whole.notes


def place(notebook: NotebookNode, name: str) -> int:
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def blank(notebook: NotebookNode, released: NotebookNode, name: str) -> None:
    notebook.cells[place(notebook, name)].source = released.cells[place(released, name)].source
