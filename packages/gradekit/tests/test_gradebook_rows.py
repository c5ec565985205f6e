"""What is graded is what the gradebook says, not what lies in autograded/: rows may be removed, new, or from a backup."""

import shutil

import pytest
from nbgrader.api import Grade

from .needs import mostly_slow


def remove_student(course):
    with course.gradebook() as gradebook:
        gradebook.remove_student("right")
        gradebook.add_student("right")


def remove_submission(course):
    with course.gradebook() as gradebook:
        gradebook.remove_submission("01_double", "right")


def empty_rows(course):
    with course.gradebook() as gradebook:
        gradebook.remove_submission("01_double", "right")
        gradebook.add_submission("01_double", "right")


def older_scores(course):
    with course.gradebook() as gradebook:
        gradebook.find_grade("test_double", "double", "01_double", "right").auto_score = 3
        gradebook.db.commit()


def remove_folder(course):
    shutil.rmtree(course.root / "autograded" / "right")


@pytest.mark.parametrize(
    "lose", mostly_slow([remove_student, remove_folder, remove_submission, empty_rows, older_scores])
)
def test_a_submission_whose_scores_are_not_in_the_gradebook_is_written_again(graded_class, capsys, lose):
    lose(graded_class)
    assert graded_class.gradekit("table", "01_double") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("right ")]
    assert line.split()[1:3] == ["not", "autograded"]
    graded_class.gradekit("autograde", "01_double", "--workers", "1")
    assert graded_class.grades()["right"]["test_double"][0] == 10
    assert graded_class.gradings() == {}, "the result cache has them"
    assert graded_class.gradekit("table", "01_double") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("right ")]
    assert line.split()[1:4] == ["graded", "10", "5"]


def test_a_score_that_a_person_decides_is_not_written_again(graded_class, capsys):
    with graded_class.gradebook() as gradebook:
        grade = gradebook.find_grade("test_double", "double", "01_double", "right")
        grade.auto_score, grade.needs_manual_grade, grade.manual_score = None, True, 7
        gradebook.db.commit()
    graded_class.gradekit("autograde", "01_double", "--workers", "1")
    assert graded_class.grades()["right"]["test_double"] == (None, 7, True)


@pytest.mark.slow
def test_a_new_gradebook_is_filled_from_what_was_graded(graded_class):
    (graded_class.root / "gradebook.db").unlink()
    assert graded_class.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 0
    graded_class.gradekit("autograde", "01_double", "--workers", "1")
    assert graded_class.grades()["right"]["test_double"][0] == 10
    with graded_class.gradebook() as gradebook:
        assert gradebook.db.query(Grade).filter(Grade.auto_score.isnot(None)).count() > 0


@pytest.mark.slow
def test_pages_of_all_others_are_written_when_one_has_no_scores(graded_class):
    remove_submission(graded_class)
    done = graded_class.run("nbgrader", "generate_feedback", "01_double")
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert "right: the gradebook has no grades, so there is no page" in done.stderr
    pages = {path.parts[-3] for path in graded_class.root.glob("feedback/*/01_double/double.html")}
    assert {"floor", "mistake", "blank"} <= pages and "right" not in pages
