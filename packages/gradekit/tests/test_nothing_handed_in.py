"""A notebook that is missing or can't be read: nothing says what was answered, and a person decides."""

import pytest
from nbformat import v4
from nbgrader.api import Comment

from .tiny_course import TinyCourse


@pytest.fixture
def course(generated) -> TinyCourse:
    generated.hand_in("ada", v4.new_notebook(cells=[v4.new_markdown_cell("notes")]), "notes.ipynb")
    generated.hand_in("ben", "<<<<<<< HEAD")
    generated.hand_in("cyd", generated.assignment.released("double"))
    assert generated.gradekit("autograde", "01_double", "--workers", "1") in (0, 1)
    return generated


def comments(course: TinyCourse) -> dict[str, set[str | None]]:
    with course.gradebook() as gradebook:
        found: dict[str, set[str | None]] = {}
        for comment in gradebook.db.query(Comment):
            found.setdefault(comment.notebook.student.id, set()).add(comment.comment)
    return found


@pytest.mark.slow
def test_only_answers_that_were_handed_in_unchanged_have_the_comment_that_says_so(course):
    """Plain nbgrader writes it for a missing notebook as well."""
    found = comments(course)
    assert found["ada"] == found["ben"] == {None}
    assert "No response." in found["cyd"]


@pytest.mark.slow
def test_a_ta_closes_such_a_submission_by_giving_points_to_all_its_cells(course):
    """As docs/ta.md says: formgrader's buttons No credit and Full credit set the same two values."""
    with course.gradebook() as gradebook:
        for grade in gradebook.find_submission("01_double", "ada").notebooks[0].grades:
            grade.manual_score, grade.needs_manual_grade = 0, False
        gradebook.db.commit()
    assert course.gradekit("autograde", "01_double", "--workers", "1", "--force") in (0, 1)
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission("01_double", "ada")
        assert submission.score == 0
        assert {grade.manual_score for grade in submission.notebooks[0].grades} == {0}
