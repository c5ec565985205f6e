"""Finding cells in a notebook, for the tests of restoring."""

from gradekit.course.cells import find_cell, grade_id

ANSWER = "def double(x):\n    return x + x"


def place(notebook, name):
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def blank(notebook, released, name):
    find_cell(notebook, name).source = find_cell(released, name).source
