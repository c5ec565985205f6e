"""A course like many others: several notebooks, automatic grade_ids, files beside them, graded as a whole class."""

import csv
import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat import NotebookNode, v4
from nbgrader.api import Grade, Gradebook

from gradekit.cli import autograding, main
from gradekit.course import Course
from gradekit.course.cells import Doubt
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import Row, class_table
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, ExerciseResult

from .forked import run_forked

AUTOMATIC = "cell-3f07c1d2a4b59e68"
RIGHT, WRONG = "def double(x):\n    return 2 * x", "def double(x):\n    return x"


def marked(cell: NotebookNode, name: str, **values: object) -> NotebookNode:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    cell.metadata["nbgrader"] = {**base, "grade_id": name, **values}
    return cell


def notebook(answer: str, value: str = "assert double(2) == 4") -> NotebookNode:
    test = {"grade": True, "locked": True, "points": 2}
    return v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        cells=[
            v4.new_markdown_cell("# Numbers\n\n## Doubling"),
            marked(v4.new_code_cell(answer), "double", solution=True),
            marked(v4.new_code_cell("assert double(1) == 2"), AUTOMATIC, **test),
            marked(v4.new_code_cell(value), "value", **test),
        ],
    )


def theory(answer: str) -> NotebookNode:
    found = notebook(answer)
    task = {"locked": True, "task": True, "points": 3}
    found.cells.append(marked(v4.new_markdown_cell("Sketch it."), "sketch", **task))
    return found


def write(path: Path, content: NotebookNode) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(content, path)


def gradekit(root: Path, *command: str) -> int:
    return main(["--course-dir", str(root), *command])


def grades(root: Path, assignment: str) -> dict[tuple[str, str, str], float]:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        return {
            (submission.student_id, found.name, grade.cell.name): grade.score
            for submission in gradebook.assignment_submissions(assignment)
            for found in submission.notebooks
            for grade in found.grades
        }


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`week 1` has two notebooks with equal grade_ids, `week 2` one, whose test cells have values."""
    root = tmp_path_factory.mktemp("any") / "Physik 1"
    solution = f"### BEGIN SOLUTION\n{RIGHT}\n### END SOLUTION"
    write(root / "source" / "week 1" / "theory.ipynb", theory(solution))
    write(root / "source" / "week 1" / "lab.ipynb", notebook(solution))
    write(root / "source" / "week 2" / "values.ipynb", notebook(solution, "'all passed'"))
    (root / "nbgrader_config.py").write_text(
        "from gradekit.nbgrader_plugin import configure\nconfigure(get_config())\n"
    )
    handed_in = {
        "ada": {"week 1/theory": RIGHT, "week 1/lab": RIGHT, "week 2/values": RIGHT},
        "ben": {"week 1/lab": WRONG, "week 2/values": RIGHT},
    }
    for student, answers in handed_in.items():
        for place, answer in answers.items():
            value = "'all passed'" if place == "week 2/values" else "assert double(2) == 4"
            content = theory(answer) if place == "week 1/theory" else notebook(answer, value)
            write(root / "submitted" / student / f"{place}.ipynb", content)
    for name in ("week 1", "week 2"):
        done = run_forked(["nbgrader", "generate_assignment", name, "--force"], root)
        assert done.returncode == 0, done.stderr
        done = run_forked(["gradekit", "autograde", name, "--workers", "1"], root)
        (root / f"{name}.txt").write_text(f"{done.returncode}\n{done.stdout}")
    return root


@pytest.mark.slow
def test_who_handed_in_one_of_two_notebooks_is_partly_handed_in(course):
    code, counts, ben = (course / "week 1.txt").read_text().splitlines()[:3]
    assert (code, counts) == ("0", "week 1: 1 graded, 1 partly handed in")
    assert ben == "  ben: partly handed in (lab graded, theory missing)"


@pytest.mark.slow
def test_the_table_says_which_notebook_is_missing(course, capsys):
    assert gradekit(course, "table", "week 1") == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = [line for line in lines if line.startswith("ben  ")]
    assert row.split() == ["ben", "partly", "handed", "in", "0", "0", "-", "-", "-", "0"]
    assert "ben: lab graded, theory missing" in lines


@pytest.mark.slow
def test_only_cells_of_notebooks_that_were_graded_wait_for_a_person(course):
    rows = {
        row.student: row
        for row in class_table(RunningCourse.open(course), Course(course).assignment("week 1")).rows
    }
    assert (rows["ada"].waiting, rows["ben"].waiting) == (["sketch"], [])


@pytest.mark.slow
def test_the_csv_file_has_a_column_for_the_status_of_each_notebook(course, capsys):
    assert gradekit(course, "table", "week 1", "--csv", str(course / "table.csv")) == 0
    with (course / "table.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert rows["ben"]["status"] == "partly handed in"
    assert (rows["ben"]["status of lab"], rows["ben"]["status of theory"]) == ("graded", "missing")
    assert rows["ada"]["status of theory"] == "graded"
    assert f"lab/{AUTOMATIC}" in rows["ben"]


@pytest.mark.slow
def test_a_value_that_is_not_a_score_is_reported_and_is_no_error(course):
    code, *lines = (course / "week 2.txt").read_text().splitlines()
    assert code == "0"
    assert lines == [
        "week 2: 2 graded",
        "  value: its test cell's value is not a score, for all 2 who have full marks, such as `'all passed'`. If the cell "
        "should have no value, end its last line with a semicolon",
    ]


@pytest.mark.slow
def test_students_are_named_if_only_their_value_is_not_a_score():
    passed = CheckResult("value", "", 1, CheckOutcome.PASSED)
    exercises = [("value", ExerciseResult("value", [passed]))]
    odd = [("value", Doubt("value", "It is -1.", stands_by=True))]
    rows = [Row("ada", "graded", exercises=exercises), Row("ben", "graded", exercises=exercises, doubts=odd)]
    (line,) = autograding._doubts(SimpleNamespace(rows=rows, titles={}))
    assert line == "value has full marks because its value is not a score: look at ben"


@pytest.mark.slow
def test_a_cell_without_a_name_is_called_as_the_heading_above_it(course, capsys):
    assert gradekit(course, "table", "week 2") == 0
    head = capsys.readouterr().out.splitlines()[1]
    assert head.split() == ["student", "status", "Doubling", "value", "total"]


@pytest.mark.slow
def test_cells_of_two_notebooks_under_the_same_heading_have_the_notebook_in_front(course):
    titles = class_table(RunningCourse.open(course), Course(course).assignment("week 1")).titles
    assert titles[f"lab/{AUTOMATIC}"] == "lab/Doubling"
    assert titles[f"theory/{AUTOMATIC}"] == "theory/Doubling"


@pytest.mark.slow
def test_the_page_calls_the_cell_by_its_heading(course):
    done = run_forked(["nbgrader", "generate_feedback", "week 1", "--force"], course)
    assert done.returncode == 0, done.stderr
    page = (course / "feedback" / "ben" / "week 1" / "lab.html").read_text()
    assert f'<a href="#{AUTOMATIC}">Doubling</a>' in page
    assert f">{AUTOMATIC}" not in page


@pytest.mark.slow
def test_a_task_that_is_handed_in_again_is_listed_again_and_keeps_its_score(course, tmp_path):
    """nbgrader lists a written answer again, but not a task, of which nobody would see the new version."""
    again = shutil.copytree(course, tmp_path / "again")
    handed_in = again / "submitted" / "ada" / "week 1" / "theory.ipynb"

    def sketch(gradebook: Gradebook) -> Grade:
        return gradebook.find_grade("sketch", "theory", "week 1", "ada")

    with Gradebook(f"sqlite:///{again / 'gradebook.db'}") as gradebook:
        sketch(gradebook).manual_score, sketch(gradebook).needs_manual_grade = 1.0, False
        gradebook.db.commit()
    content = theory(RIGHT)
    content.cells.append(v4.new_markdown_cell("My second sketch."))
    write(handed_in, content)
    assert gradekit(again, "autograde", "week 1", "--workers", "1") == 0
    with Gradebook(f"sqlite:///{again / 'gradebook.db'}") as gradebook:
        found = sketch(gradebook)
        assert (found.auto_score, found.manual_score, found.needs_manual_grade) == (None, 1.0, True)


@pytest.mark.slow
def test_extra_credit_counts_as_in_nbgrader_and_survives_grading_again(course, capsys):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.find_grade("value", "values", "week 2", "ada").extra_credit = 1.5
        gradebook.db.commit()
    for force in ([], ["--force"]):
        assert gradekit(course, "autograde", "week 2", "--workers", "1", *force) == 0
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            assert gradebook.find_submission("week 2", "ada").score == 5.5
        row = next(
            row
            for row in class_table(RunningCourse.open(course), Course(course).assignment("week 2")).rows
            if row.student == "ada"
        )
        assert (row.points["value"], row.total) == (3.5, 5.5)


CHECK = '''
from gradekit.checks import points
from shared import INPUTS


@points(2)
def test_value(student):
    """The double of some numbers."""
    assert [student.double(x) for x in INPUTS] == [2 * x for x in INPUTS], "A double is wrong."
'''


@pytest.mark.slow
def test_regrade_names_the_notebook_where_two_share_a_grade_id(course, capsys):
    checks = course / "tests" / "week 1" / "lab"
    checks.mkdir(parents=True)
    (checks / "value.py").write_text(CHECK)
    (checks / "shared.py").write_text("INPUTS = [0]\n")
    assert gradekit(course, "regrade", "week 1", "--dry-run", "--workers", "1") == 0
    out = capsys.readouterr().out
    assert "ben  lab/value: 0 -> 2 points\n    it has a check file now\n" in out
    assert "theory/" not in out


@pytest.mark.slow
def test_a_notebook_id_in_the_configuration_leaves_the_other_notebooks_alone(course, tmp_path):
    before = grades(course, "week 1")
    config = course / "nbgrader_config.py"
    text = config.read_text()
    write(course / "submitted" / "eve" / "week 1" / "lab.ipynb", notebook(RIGHT))
    write(course / "submitted" / "eve" / "week 1" / "theory.ipynb", notebook(RIGHT))
    config.write_text(text + "get_config().CourseDirectory.notebook_id = 'theory'\n")
    try:
        gradekit(course, "autograde", "week 1", "--workers", "1")
    finally:
        config.write_text(text)
    written = {path.stem for path in (course / "autograded" / "eve" / "week 1").glob("*.ipynb")}
    assert written == {"theory"}
    assert {key: value for key, value in grades(course, "week 1").items() if key[0] != "eve"} == before


@pytest.mark.slow
def test_other_points_for_a_test_cell_reach_everybody_who_passes_it(course, tmp_path, capsys):
    root = tmp_path / "edited"
    shutil.copytree(course, root)
    path = root / "source" / "week 2" / "values.ipynb"
    source = nbformat.read(path, as_version=4)
    for cell in source.cells:
        if "points" in cell.metadata.get("nbgrader", {}):
            cell.metadata.nbgrader.points = 3
    write(path, source)
    done = run_forked(["nbgrader", "generate_assignment", "week 2", "--force"], root)
    assert done.returncode == 0, done.stderr
    assert gradekit(root, "regrade", "week 2", "--workers", "1") == 0
    out = capsys.readouterr().out
    for name in (AUTOMATIC, "value"):
        assert f"ben  {name}: 2 -> 3 points\n    its points were changed\n" in out
    assert {score for (student, *_), score in grades(root, "week 2").items() if student == "ben"} == {3}
