"""One comment for everybody who failed a check."""

import shutil

import pytest
from nbgrader.api import MissingEntry

from .tiny_course import RIGHT, RIGHT_HALF

CHECK = "half::test_half_of_even"


@pytest.fixture(scope="module")
def floored_original(four_times_original, course_at, tmp_path_factory):
    """The class of `four_times`, in which `eve` and `finn` halve only even numbers, and `gil` has no answer."""
    course = course_at(shutil.copytree(four_times_original, tmp_path_factory.mktemp("floored") / "course"))
    checks = course.checks.with_name("test_half.py")
    checks.write_text(
        checks.read_text().replace("[2.0, 8.0]", "[3.0, 8.0]").replace("[1.0, 4.0]", "[1.5, 4.0]")
    )
    for student in ("eve", "finn"):
        course.hand_in(student, course.answer(RIGHT, "def half(x):\n    return x // 2"))
    course.hand_in("gil", course.answer(RIGHT))
    assert course.gradekit("autograde", "01_double", "--force", "--workers", "1") == 0
    return course.root


@pytest.fixture
def floored(floored_original, course_at, tmp_path):
    return course_at(shutil.copytree(floored_original, tmp_path / "course"))


def comments(course, cell="half"):
    found = {}
    with course.gradebook() as gradebook:
        for student in gradebook.students:
            try:
                comment = gradebook.find_comment(cell, "double", "01_double", student.id)
            except MissingEntry:
                continue
            if comment.manual_comment:
                found[student.id] = comment.manual_comment
    return found


@pytest.mark.slow
def test_everybody_whose_latest_submission_failed_the_check_gets_the_comment_once(floored, capsys):
    with floored.gradebook() as gradebook:
        gradebook.find_comment("half", "double", "01_double", "finn").manual_comment = "Nearly."
        gradebook.db.commit()
    text = "Odd numbers have halves, too.\n\nTry 3."
    assert floored.gradekit("comment", CHECK, text) == 0
    assert "01_double, half: 2 of 2 students got the comment." in capsys.readouterr().out
    expected = {"eve": text, "finn": f"Nearly.\n\n{text}"}
    assert comments(floored) == expected
    assert comments(floored, "double") == {}

    assert floored.gradekit("comment", CHECK, text) == 0
    out = capsys.readouterr().out
    assert "0 of 2 students got the comment." in out and "had it already: eve, finn" in out
    assert comments(floored) == expected


@pytest.mark.slow
def test_whoever_has_handed_in_again_since_is_left_out(floored, capsys):
    path = floored.hand_in("eve", floored.answer(RIGHT, RIGHT_HALF))
    path.with_name("timestamp.txt").write_text("2099-01-01 12:00:00 UTC")
    assert floored.gradekit("comment", "test_half::test_half_of_even", "Odd numbers.") == 0
    assert "left out, since their answer has changed: eve" in capsys.readouterr().out
    assert comments(floored) == {"finn": "Odd numbers."}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (
            "half::test_half_of_evn",
            "no graded assignment has a check half::test_half_of_evn; similar ones are `half::test_half_of_even`",
        ),
        ("double::test_half_of_even", "similar ones are `half::test_half_of_even`"),
        ("nothing::at_all", "`gradekit report ASSIGNMENT` lists the checks"),
        (
            "half::test_half_of_zero",
            "nobody failed half::test_half_of_zero in 01_double: 6 passed it, and the answers of 1 are empty or did not run",
        ),
    ],
)
def test_a_check_that_nobody_failed_or_that_does_not_exist_is_refused_in_a_sentence(
    floored, capsys, check, sentence
):
    assert floored.gradekit("comment", check, "Hello.") == 2
    err = capsys.readouterr().err
    assert sentence in err and len(err.splitlines()) == 1
    assert comments(floored) == {}


@pytest.mark.slow
def test_an_empty_comment_is_refused(floored, capsys):
    assert floored.gradekit("comment", CHECK, " ") == 2
    assert "the comment is empty" in capsys.readouterr().err


@pytest.mark.slow
def test_the_report_shows_the_name_to_type(floored):
    assert floored.gradekit("report", "01_double") == 0
    page = (floored.root / "reports/01_double/report.html").read_text()
    assert f'<code class="names">{CHECK}</code>' in page
