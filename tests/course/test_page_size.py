"""The size of feedback pages, without students' own pictures and outputs: at most 150 kB."""

import logging
from contextlib import chdir
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import v4

from gradekit.course import Course
from gradekit.course.cells import find_cell, grade_id, is_test_cell
from gradekit.nbgrader_plugin.feedback import FeedbackExporter
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.page.page_parts import CODE_LEFT_OUT
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult
from gradekit_authoring.samples import only_notebook, solved

COURSE = Course(Path(__file__).parents[2])
#: bytes
LIMIT = 150_000
#: about as much as the page of somebody with a mistake in every exercise has
CHECKS = 4
SENTENCE = "A sentence of a check, with `code`, which is not a short one. "
LINES = "print('a line')\n" * 60


def wrong(exercise: str) -> ExerciseResult:
    says = {"message": SENTENCE, "diagnosis": SENTENCE * 2, "try_it": LINES}
    checks = [CheckResult(f"test_{number}", SENTENCE, 1, "failed", **says) for number in range(CHECKS)]
    return ExerciseResult(exercise, checks)


def page_of(assignment, notebook, result: SubmissionResult) -> str:
    name = assignment.released_names()[0]
    names = {"student": "ada", "assignment": assignment.name, "notebook": name, "score": 0, "max_score": 90}
    notebook.metadata[RESULT] = result.as_dict()
    with chdir(COURSE.root):
        exporter = FeedbackExporter(log=logging.getLogger(__name__))
        resources = ResourcesDict(nbgrader=names, metadata=ResourcesDict(name=name))
        return exporter.from_notebook_node(notebook, resources)[0]


@pytest.mark.slow
@pytest.mark.parametrize("assignment", COURSE.assignments(), ids=lambda assignment: assignment.name)
def test_a_page_with_mistakes_in_every_exercise_is_at_most_150_kB(assignment):
    name, _, _ = only_notebook(assignment)
    notebook = solved(assignment, name)
    tests = [grade_id(cell) for cell in notebook.cells if is_test_cell(cell)]
    page = page_of(assignment, notebook, SubmissionResult("graded", exercises=[*map(wrong, tests)]))
    assert len(page.encode()) <= LIMIT
    assert page.count("<summary>Try it yourself</summary>") == len(tests)
    assert page.count(">the lines above</a>") == len(tests) * (CHECKS - 1)


@pytest.mark.slow
def test_only_where_a_page_would_be_larger_it_leaves_out_provided_code_and_says_so():
    assignment = COURSE.assignment("08_modern")
    name, _, main = only_notebook(assignment)
    few = COURSE.assignment("02_attention")
    small = page_of(few, solved(few, only_notebook(few)[0]), SubmissionResult("graded"))
    assert CODE_LEFT_OUT not in small and "plt.subplots(" in small
    notebook = solved(assignment, name)
    picture = v4.new_output("display_data", {"text/html": "<b>mine</b>"})
    notebook.cells[1:1] = [v4.new_code_cell("mine = 1", outputs=[picture])]
    page = page_of(assignment, notebook, SubmissionResult("graded"))
    assert page.count(CODE_LEFT_OUT) > 0
    shown = BeautifulSoup(page, "html.parser").get_text()
    assert "mine = 1" in shown and find_cell(notebook, main).source in shown
    tests = [cell.source for cell in notebook.cells if is_test_cell(cell)]
    assert sum(source in shown for source in tests) > len(tests) / 2
