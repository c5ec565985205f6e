"""`nbgrader autograde --no-execute`: what was handed in is scored by the outputs that are saved in it."""

import json

import nbformat
import pytest
from nbformat import v4

from gradekit.course import CourseError
from gradekit.course.cells import grade_id
from gradekit.grading.autograde import ClassGrading, GradingOptions
from gradekit.grading.running_course import RunningCourse
from gradekit.session.saved_outputs import put_saved_outputs
from gradekit.submission.notebook_file import parse_submitted
from gradekit.submission.submission import Submission
from gradekit.verdict.opened import ScoreRule
from gradekit.verdict.ordinary import result_of_outputs

from .forked import run_forked
from .plain_course import PlainCourse, mark, plain_notebook
from .restored import restore_notebook


def output(kind, **values):
    return v4.new_output(kind, **values)


ERROR = output("error", ename="AssertionError", evalue="no", traceback=["AssertionError: no"])
HALF = output("execute_result", data={"text/plain": "1"}, execution_count=2)
WARNED = output("stream", name="stderr", text="a warning\n")


def handed_in(outputs, count=2):
    """A notebook with one test cell as a student saved it, restored, with its outputs."""
    notebook = plain_notebook("def times(x): return 2 * x")
    notebook.cells[1].outputs = list(outputs)
    notebook.cells[1].execution_count = count
    submitted = parse_submitted(json.dumps(notebook).encode(), "p1.ipynb")
    put_saved_outputs(submitted)
    restored, _ = restore_notebook(submitted.notebook, plain_notebook(""))
    return restored


@pytest.mark.parametrize(
    ("outputs", "points"),
    [([], 2), ([HALF], 1), ([ERROR], 0), ([WARNED], 0)],
    ids=["passed", "1", "error", "stderr"],
)
def test_an_ordinary_cell_is_scored_by_nbgrader_s_rule(outputs, points):
    result = result_of_outputs(Submission(handed_in(outputs)), ["test_times"], ScoreRule())
    assert (result.status, result.earned) == ("graded", points)
    assert "was not run" in result.notes[0]


def test_a_cell_that_never_ran_has_full_marks_and_a_doubt():
    result = result_of_outputs(Submission(handed_in([], None)), ["test_times"], ScoreRule())
    assert (result.status, result.earned) == ("graded", 2)
    assert "without having been run" in result.doubts[0].why


def test_what_hidden_checks_would_grade_is_left_to_a_person():
    result = result_of_outputs(Submission(handed_in([])), [], ScoreRule())
    assert (result.status, result.exercises) == ("partly graded", [])
    assert "A person has to grade" in result.notes[1] and "`test_times`" in result.notes[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd",
    [
        "x",
        [1],
        [{"output_type": "stream", "name": 3}],
        [{"output_type": "display_data", "data": {"text/html": "<script>"}}],
        [{"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}}] * 5_000,
        [{"output_type": "stream", "name": "stdout", "text": ["a" * 1_000]}] * 5_000,
        [{"output_type": "error", "ename": ["x"], "evalue": 4, "traceback": "no"}] * 50,
    ],
    ids=["text", "number", "stream", "script", "many", "long", "errors"],
)
def test_odd_outputs_are_valid_and_bounded(odd):
    notebook = handed_in([])
    content = json.loads(json.dumps(notebook))
    content["cells"][1]["outputs"] = odd
    submitted = parse_submitted(json.dumps(content).encode(), "p1.ipynb")
    put_saved_outputs(submitted)
    nbformat.validate(submitted.notebook)
    assert len(json.dumps(submitted.notebook)) < 1_000_000


def test_nobody_s_outputs_are_read_otherwise():
    notebook = plain_notebook("pass")
    notebook.cells[1].outputs = [ERROR]
    cells = parse_submitted(json.dumps(notebook).encode(), "p1.ipynb").notebook.cells
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * 2


@pytest.mark.slow
def test_gradekit_s_own_command_says_which_one_scores_without_running(tmp_path):
    course = PlainCourse(tmp_path / "course").write("c.Execute.enabled = False").pretend_generated("ada")
    opened = RunningCourse.open(course.root)
    with pytest.raises(CourseError, match="nbgrader autograde ps1 --no-execute"):
        ClassGrading(opened, opened.assignment("ps1"), GradingOptions(1))


@pytest.mark.thorough
def test_the_command_keeps_the_folder_and_scores_like_nbgrader_itself(tmp_path):
    found = {}
    for name in ("plain", "configured"):
        course = PlainCourse(tmp_path / name).write()
        source = course.folder("source") / "p1.ipynb"
        notebook = nbformat.read(source, as_version=4)
        more = [mark(f"test_{n}", grade=True, locked=True, points=n) for n in (3, 5, 7, 9)]
        notebook.cells += [v4.new_code_cell("assert times(2) == 4", metadata=cell) for cell in more]
        nbformat.write(notebook, source)
        (course.root / "tests" / "ps1" / "test_times.py").unlink()  # all cells are ordinary
        if name == "plain":
            config = course.root / "nbgrader_config.py"
            config.write_text(config.read_text().replace("\nconfigure(c)", ""))
        course.nbgrader("generate_assignment")
        course.hand_in("ada", 2)
        path = course.folder("submitted", "ada") / "p1.ipynb"
        notebook = nbformat.read(path, as_version=4)
        saved = {"test_times": [HALF], "test_3": [], "test_5": [ERROR], "test_7": [WARNED]}
        for count, cell in enumerate(notebook.cells, 1):
            cell.outputs = saved.get(grade_id(cell), [])
            cell.execution_count = None if grade_id(cell) == "test_9" else count
        nbformat.write(notebook, path)
        done = run_forked(["nbgrader", "autograde", "ps1", "--no-execute"], course.root)
        assert done.returncode == 0, done.stderr
        graded = nbformat.read(course.folder("autograded", "ada") / "p1.ipynb", as_version=4)
        outputs = [[o for o in c.outputs if "text/html" not in o.get("data", {})] for c in graded.cells]
        with course.gradebook() as gradebook:
            grades = {
                grade.name: grade for grade in gradebook.find_submission("ps1", "ada").notebooks[0].grades
            }
            manual = [test for test, grade in grades.items() if grade.needs_manual_grade]
        assert manual == ([] if name == "plain" else ["test_9"])
        found[name] = course.scores(), outputs, [cell.execution_count for cell in graded.cells]
    assert found["configured"] == found["plain"]
    assert found["plain"][0] == {"ada": 13}
