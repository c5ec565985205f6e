"""The course of `gradekit demo`: one small assignment about NumPy, and five submissions that show what can happen."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode, v4

from gradekit.authoring.new import write_assignment, write_course
from gradekit.authoring.recording import record
from gradekit.authoring.samples import ODD_CLASS, Sample, ordinary_class, write_class
from gradekit.course import Assignment, CourseError
from gradekit.course.cells import grade_id
from gradekit.grading.generate import generate
from gradekit.grading.running_course import RunningCourse

ASSIGNMENT = "01_standardized"
_CELL_SECONDS = 3  # so that nobody waits for the endless loop
_ELSEWHERE = """\
def z_scores(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)"""


@dataclass(frozen=True)
class DemoStudent:
    """One student of the demo, and what the submission is."""

    sample: Sample
    what: str


def write_demo(root: Path) -> tuple[Assignment, list[DemoStudent]]:
    """Write and release the assignment, and hand in for the students.

    Raises:
        CourseError: there is something in the folder.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise CourseError(f"{root} isn't an empty folder: `gradekit demo FOLDER` takes another one")
    write_course(root, "demo", _CELL_SECONDS)
    course = RunningCourse.open(root)
    assignment = write_assignment(course.layout, ASSIGNMENT, "numpy")
    record(assignment, workers=1)
    generate(course, assignment)
    students = list(_students(assignment))
    write_class(assignment, root / "submitted", [student.sample for student in students])
    return assignment, students


def _students(assignment: Assignment) -> Iterator[DemoStudent]:
    ordinary = {sample.student: sample for sample in ordinary_class(assignment)}
    odd = {sample.student: sample for sample in ODD_CLASS}
    yield DemoStudent(ordinary["right"], "a right answer")
    yield DemoStudent(ordinary["mistake"], "a typical mistake: the variance divided by n - 1")
    yield DemoStudent(odd["syntax-error"], "a right answer, and a syntax error below it")
    loop = replace(odd["endless-loop-in-a-cell"], student="endless-loop")
    yield DemoStudent(loop, "an endless loop")
    undecided = Sample("undecided", answered=False, change=_answer_elsewhere)
    yield DemoStudent(undecided, "an empty answer cell, and a function with another name below it")


def _answer_elsewhere(notebook: NotebookNode, main: str) -> None:
    place = next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == main)
    notebook.cells.insert(place + 1, v4.new_code_cell(_ELSEWHERE))
