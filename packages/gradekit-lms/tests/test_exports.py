"""Exports of scores for Canvas, Moodle and Gradescope, and as a plain table, by `nbgrader export`."""

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from traitlets import import_item

from gradekit.verdict.results import STATUSES
from gradekit_lms.collector import Collector
from gradekit_lms.exports import Export

SAMPLES = Path(__file__).parent / "samples"
CANVAS_COLUMNS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]

TEXT_FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}
FIELDS = {
    "score": (int, float),
    "execution_time": (int, float),
    "output": str,
    "output_format": TEXT_FORMATS,
    "test_output_format": TEXT_FORMATS,
    "test_name_format": TEXT_FORMATS,
    "visibility": VISIBILITIES,
    "stdout_visibility": VISIBILITIES,
    "extra_data": dict,
    "tests": list,
    "leaderboard": list,
}
TEST_FIELDS = {
    "score": (int, float),
    "max_score": (int, float),
    "status": {"passed", "failed"},
    "name": str,
    "name_format": TEXT_FORMATS,
    "number": str,
    "output": str,
    "output_format": TEXT_FORMATS,
    "tags": list,
    "visibility": VISIBILITIES,
    "extra_data": dict,
}


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def wrong_fields(values: dict, fields: dict) -> list[str]:
    """The names that the format doesn't define, or whose values it doesn't allow."""

    def allowed(name: str) -> bool:
        rule = fields.get(name, ())
        return values[name] in rule if isinstance(rule, set) else isinstance(values[name], rule)

    return [name for name in values if not allowed(name)]


def wrong_results(results: dict) -> list[str]:
    """The fields of a results.json that violate Gradescope's specification."""
    wrong = wrong_fields(results, FIELDS)
    if "score" not in results and not all("score" in test for test in results.get("tests", [{}])):
        wrong.append("score")
    return wrong + [name for test in results.get("tests", []) for name in wrong_fields(test, TEST_FIELDS)]


@pytest.fixture
def course(graded_class):
    """The class, with names for three students, a late penalty, and some written answers graded."""
    with graded_class.gradebook() as gradebook:
        for student, number, first, last in [
            ("right", "12345", "Jane", "Doe"),
            ("mistake", "12346", "Jörg", "Müller"),
            ("missing", "12347", "Han", "Lee"),
        ]:
            gradebook.update_or_create_student(
                student, lms_user_id=number, first_name=first, last_name=last, email=f"{student}@example.edu"
            )
        for student, points in [("right", 4), ("mistake", 2)]:
            gradebook.find_grade("why", "double", "01_double", student).manual_score = points
            gradebook.find_grade("why", "double", "01_double", student).needs_manual_grade = False
        for student in ("floor", "loop"):  # awaiting manual grading
            gradebook.find_grade("why", "double", "01_double", student).auto_score = None
        gradebook.find_submission_notebook("double", "01_double", "right").late_submission_penalty = 3
        gradebook.db.commit()
    return graded_class


@pytest.fixture
def export(course) -> Callable[..., subprocess.CompletedProcess]:
    def run(kind: str, *options: str) -> subprocess.CompletedProcess:
        done = course.run("nbgrader", "export", f"--exporter=gradekit_lms.{kind}Export", *options)
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.mark.slow
def test_the_table_has_a_status_for_everybody_and_a_score_only_where_something_was_graded(course, export):
    done = export("Table", "--to", "all.csv", "--assignment", "01_double")
    rows = {row["student_id"]: row for row in read(course.root / "all.csv")}
    assert rows["right"] == {
        "assignment": "01_double",
        "student_id": "right",
        "last_name": "Doe",
        "first_name": "Jane",
        "email": "right@example.edu",
        "status": "graded",
        "ungraded": "",
        "raw_score": "19.0",
        "late_submission_penalty": "3.0",
        "score": "16.0",
        "max_score": "20.0",
    }
    for student, status in [("missing", "missing"), ("broken", "unreadable")]:
        assert rows[student]["status"] == status
        assert (rows[student]["raw_score"], rows[student]["score"]) == ("", "")
    assert {row["status"] for row in rows.values()} <= STATUSES.keys()
    assert rows["floor"]["ungraded"] == "why"
    assert "01_double: no score for 1 unreadable, 1 missing" in done.stderr
    assert "01_double: scores without the answers awaiting manual grading: 2" in done.stderr


def test_canvas_gets_its_own_columns_and_an_empty_field_without_a_grade(course, export):
    done = export("Canvas", "--CanvasExport.columns", "01_double=Doubling (4711)")
    lost = done.stderr.split("no lms_user_id, so they are only found if their ids are the logins there")[1]
    assert {"blank", "floor", "loop"} <= set(re.findall(r"\w+", lost)) and "right" not in lost
    sample = read(SAMPLES / "canvas_gradebook.csv")
    rows = read(course.root / "canvas.csv")
    assert list(rows[0]) == [*CANVAS_COLUMNS, "Doubling (4711)"] == list(sample[0])[:6]
    assert rows[0]["Student"] == sample[0]["Student"]
    assert rows[0]["Doubling (4711)"] == "20"
    found = {row["ID"]: row for row in rows[1:] if row["ID"]}
    assert {number: row["Doubling (4711)"] for number, row in found.items()} == {
        "12345": "16",
        "12346": "10",
        "12347": "",
    }
    for row in sample[1:]:
        assert found[row["ID"]]["Student"] == row["Student"]
        assert found[row["ID"]]["SIS Login ID"] == row["SIS Login ID"]


def test_moodle_gets_a_dash_without_a_grade_and_the_status_as_feedback(course, export):
    export("Moodle", "--to=m.csv", "--MoodleExport.columns", "01_double=Assignment: Doubling")
    sample = {row["ID number"]: row for row in read(SAMPLES / "moodle_grades.csv")}
    rows = {row["ID number"]: row for row in read(course.root / "m.csv")}
    assert set(rows["right"]) <= set(sample["right"])
    grade, feedback = "Assignment: Doubling (Real)", "Assignment: Doubling (Feedback)"
    assert (rows["right"][grade], rows["right"][feedback]) == ("16", "3 points off for being late")
    assert (rows["missing"][grade], rows["missing"][feedback]) == (sample["missing"][grade], "missing")
    assert rows["broken"][grade] == "-"
    assert rows["loop"][feedback] == "timed out; not graded yet: why"
    assert rows["mistake"]["Surname"] == sample["mistake"]["Surname"]


def test_gradescope_gets_a_file_for_each_submission_that_has_a_score(course, export):
    assert wrong_results(json.loads((SAMPLES / "gradescope_results.json").read_text())) == []
    export("Gradescope", "--to", "out")
    results = {
        path.parts[-2]: json.loads(path.read_text()) for path in (course.root / "out").glob("*/*/*.json")
    }
    assert {student: wrong_results(each) for student, each in results.items()} == {
        student: [] for student in results
    }
    assert "missing" not in results and "broken" not in results
    right, mistake = results["right"], results["mistake"]
    assert right["score"] == 16
    assert sum(test["score"] for test in right["tests"]) == 15
    assert "3 points off for being late" in right["output"]
    first = mistake["tests"][0]
    assert first["name"] == "double: The output is twice the input."
    assert (first["status"], first["score"], first["max_score"]) == ("failed", 0, 4)
    assert "You took three times the input." in first["output"]


def test_only_the_students_and_assignments_that_were_named_are_written(course, export):
    export("Table", "--student", "right", "--to", "one.csv")
    assert [row["student_id"] for row in read(course.root / "one.csv")] == ["right"]
    done = export("Table", "--assignment", "09_nothing")
    assert done.returncode == 1
    assert "the gradebook has no 09_nothing; it has 01_double" in done.stderr


def test_students_and_scores_are_from_the_gradebook_that_is_named(course, export):
    copy = shutil.copy(course.root / "gradebook.db", course.root / "copy.db")
    with Gradebook(f"sqlite:///{copy}") as gradebook:
        gradebook.find_grade("why", "double", "01_double", "right").manual_score = 0
        gradebook.db.commit()
    export("Table", "--student", "right", "--to", "usual.csv")
    export("Table", "--student", "right", "--to", "copy.csv", f"--db=sqlite:///{copy}")
    (usual,), (copied,) = read(course.root / "usual.csv"), read(course.root / "copy.csv")
    assert float(usual["score"]) - float(copied["score"]) == 4


def test_the_page_about_other_products_names_existing_plugins():
    page = (SAMPLES.parents[3] / "docs" / "exchange-with-lms.md").read_text(encoding="utf-8")
    names = set(re.findall(r"gradekit_lms\.[\w.]+", page))
    plugins = {each: import_item(each) for each in names}
    assert {each.__name__ for each in plugins.values() if issubclass(each, Collector)} == {
        "CanvasCollector",
        "MoodleCollector",
        "GradescopeCollector",
    }
    assert {each.__name__ for each in plugins.values() if issubclass(each, Export)} == {
        "CanvasExport",
        "MoodleExport",
        "GradescopeExport",
        "TableExport",
    }
