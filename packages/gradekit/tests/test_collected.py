"""pytest collects the checks of a notebook once, and runs them on one submission after another."""

import shutil
from pathlib import Path

import pytest

from gradekit.course import CourseError
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob

from .tiny_course import RIGHT, TinyCourse

NOTES = """
from pathlib import Path

def note(line):
    with Path({path!r}).open("a") as file:
        file.write(line + "\\n")
"""

CHECKS = '''
import pytest
from gradekit.checks import points
from notes import note

note("imported")


@pytest.fixture(scope="session")
def whole_run():
    note("set up")
    yield
    note("torn down")


@points(6)
def test_value(student, whole_run):
    """Two is doubled."""
    note("value")
    assert student.double(2) == 4


@points(4)
def test_zero(student, whole_run):
    """Zero stays zero."""
    note("zero")
    assert student.double(0) == 0
'''


@pytest.fixture
def course(tiny_course: TinyCourse, tmp_path: Path) -> TinyCourse:
    """Its checks note what happens, in notes.txt."""
    return noting(tiny_course, tmp_path / "notes.txt")


def noting(course: TinyCourse, path: Path) -> TinyCourse:
    (course.checks.parent / "notes.py").write_text(NOTES.format(path=str(path)))
    course.checks.write_text(CHECKS)
    path.touch()
    return course


def points_of(course: TinyCourse, answer: str = RIGHT, **options: object) -> float:
    released = course.assignment.released("double")
    job = GradingJob(course.assignment, "double", course.answer(answer), released)
    return grade(job, **options).result.earned


def noted(path: Path) -> list[str]:
    lines = path.read_text().split("\n")[:-1]
    path.write_text("")
    return lines


def test_a_check_file_is_imported_once_and_its_fixtures_are_set_up_for_each_submission(course, tmp_path):
    a_run = ["set up", "value", "zero", "torn down"]
    assert points_of(course) == 10
    assert noted(tmp_path / "notes.txt") == ["imported", *a_run]
    assert points_of(course, "def double(x):\n    return x + 2") == 6
    assert points_of(course) == 10
    assert noted(tmp_path / "notes.txt") == [*a_run, *a_run]


def test_a_check_file_that_has_changed_is_imported_again(course, tmp_path):
    points_of(course)
    course.checks.write_text(CHECKS.replace("student.double(0) == 0", "student.double(0) == 1"))
    assert points_of(course) == 6
    assert noted(tmp_path / "notes.txt").count("imported") == 2


def test_a_module_beside_the_checks_that_has_changed_is_imported_again(course, tmp_path):
    points_of(course)
    noting(course, tmp_path / "other notes.txt").checks.touch()
    assert points_of(course) == 10
    assert noted(tmp_path / "other notes.txt")[0] == "imported"


def test_a_check_file_is_imported_again_when_a_data_file_beside_it_has_changed(course, tmp_path):
    data = course.checks.with_name("right.csv")
    data.write_text("1")
    points_of(course)
    data.write_text("1, 2")
    points_of(course)
    assert noted(tmp_path / "notes.txt").count("imported") == 2


def test_a_new_conftest_is_read(course, tmp_path):
    points_of(course)
    (course.checks.parent / "conftest.py").write_text("from notes import note\nnote('conftest')\n")
    assert points_of(course) == 10
    assert "conftest" in noted(tmp_path / "notes.txt")


def test_two_courses_may_have_modules_of_the_same_name(course, tmp_path):
    other = TinyCourse(Path(shutil.copytree(course.root, tmp_path / "other")))
    noting(other, tmp_path / "other notes.txt")
    for _ in range(2):
        assert (points_of(course), points_of(other)) == (10, 10)
    assert noted(tmp_path / "notes.txt") == noted(tmp_path / "other notes.txt") != []


def test_only_the_wanted_exercises_are_checked(course, tmp_path):
    assert points_of(course, exercises=["another exercise"]) == 0
    assert "value" not in noted(tmp_path / "notes.txt")
    assert points_of(course, exercises=["test_double"]) == 10


def test_the_first_failure_ends_a_run_and_not_the_next_one(course, tmp_path):
    points_of(course, "def double(x):\n    return 0", first_failure=True)
    assert noted(tmp_path / "notes.txt") == ["imported", "set up", "value", "torn down"]
    assert points_of(course) == 10


def test_the_working_directory_stays_what_it_was(course, tmp_path, monkeypatch):
    course.checks.write_text(CHECKS.replace('note("value")', "import os; os.chdir('/')"))
    points_of(course)
    monkeypatch.chdir(tmp_path)
    points_of(course)
    assert Path.cwd() == tmp_path
    course.checks.write_text(CHECKS)  # what was collected before is closed
    points_of(course)
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize("end", ["pytest.exit('enough')", "raise KeyboardInterrupt"])
def test_a_check_that_ends_pytest_is_at_fault_and_the_next_run_starts_anew(course, tmp_path, end):
    course.checks.write_text(CHECKS.replace('note("zero")', f"if student.double(1) == 3: {end}"))
    with pytest.raises(CourseError, match="The checks of 01_double can't run"):
        points_of(course, "def double(x):\n    return x + 2")
    assert points_of(course) == 10


def test_a_file_without_checks_is_named(course):
    course.checks.write_text("import pytest\n")
    with pytest.raises(CourseError, match=r"can't run. test_double.py: no check found"):
        points_of(course)
