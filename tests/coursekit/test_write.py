"""Writing what came of a class, where grading itself went wrong."""

import nbformat

from coursekit.grading.autograde import Notebook, Submission
from coursekit.grading.folders import RunningCourse
from coursekit.grading.task import carry_out
from coursekit.grading.write import Writer
from coursekit.kept import Kept, Key
from coursekit.report.table import class_table


def test_a_failure_of_the_grader_gets_a_row_without_points_and_a_sentence(generated):
    generated.hand_in("ann", generated.answer("def double(x): return 2 * x"))
    notebook = Notebook(
        "double", nbformat.v4.new_notebook(), Key("", {}), Kept(), failure="OSError: disk full"
    )
    problems = Writer(RunningCourse.open(generated.root)).write(Submission("ann", [notebook]), "01_double")
    assert problems == []
    (row,) = class_table(generated.assignment).rows
    assert (row.status, row.total) == ("kernel died", None)
    assert "disk full" in generated.autograded("ann").metadata["coursekit"]["notes"][0]


def test_an_exception_in_the_grader_is_told_and_not_raised(tiny_course):
    class BadTask:
        notebook = "no notebook at all"

    outcome = carry_out(tiny_course.assignment, BadTask())
    assert outcome.kept is None
    assert "NotJSONError" in outcome.failure
