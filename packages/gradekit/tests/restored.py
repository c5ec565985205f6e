"""Finding cells in a notebook, for the tests of restoring."""

from nbformat import NotebookNode

from gradekit.course.cells import grade_id

ANSWER = "def double(x):\n    return x + x"


def place(notebook: NotebookNode, name: str) -> int:
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def blank(notebook: NotebookNode, released: NotebookNode, name: str) -> None:
    notebook.cells[place(notebook, name)].source = released.cells[place(released, name)].source
