"""Code that calls an answer with small inputs: what the course declares, its snippets, or the visible tests."""

from collections.abc import Iterator

from nbformat import NotebookNode

from gradekit.checks.snippets import snippets_of
from gradekit.course import Assignment
from gradekit.course.cells import answer_of, find_cell, grade_id, is_test_cell

#: the file beside the checks where a course declares inputs, in the form of `try_it.py`
_FILE_NAME = "viva.py"
_AT_MOST = 8


def drivers_for(assignment: Assignment, released: NotebookNode, answer: str) -> list[str]:
    """Lines that call functions of the answer cell `answer` of a released notebook, the best first.

    Raises:
        CourseError: a file of the course can't be read.
    """
    tests = tests_of(released, answer)
    return list(dict.fromkeys(_sources(assignment, released, tests)))[:_AT_MOST]


def tests_of(released: NotebookNode, answer: str) -> list[str]:
    """The grade_ids of the test cells that are about the answer cell `answer`."""
    return [
        name
        for cell in released.cells
        if is_test_cell(cell) and (name := grade_id(cell)) and answer_of(released, name) == answer
    ]


def _sources(assignment: Assignment, released: NotebookNode, tests: list[str]) -> Iterator[str]:
    for snippet in (*snippets_of(assignment, _FILE_NAME), *snippets_of(assignment)):
        if snippet.exercise in tests:
            yield snippet.text
    for test in tests:
        cell = find_cell(released, test)
        if cell is not None:
            yield cell.source
