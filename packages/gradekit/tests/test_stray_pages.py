"""feedback/ has the pages and what nbgrader needs to release them, and nothing that a student's code wrote."""

from pathlib import Path

import pytest
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.converters import FeedbackOne, copy_nothing

SECRET, TIMESTAMP = "submission_secret.txt", "timestamp.txt"
#: what code may write beside `double.ipynb`
STRAY = ("double.html/x.txt", "evil.html", "evil.svg", "half.html", ".hidden.html", "out/timestamp.txt")


def write_stray(autograded: Path) -> None:
    for name in STRAY:
        (autograded / name).parent.mkdir(parents=True, exist_ok=True)
        (autograded / name).write_text("<script>alert(1)</script>")
    (autograded / SECRET).write_text("secret")


def require_one_page(feedback: Path) -> None:
    assert {path.name for path in feedback.iterdir()} == {"double.html", SECRET, TIMESTAMP}
    assert (feedback / SECRET).read_text() == "secret"
    assert "alert(1)" not in (feedback / "double.html").read_text()


@pytest.mark.slow
def test_the_command_copies_nothing_that_code_wrote(graded_class):
    write_stray(graded_class.root / "autograded/right/01_double")
    for again in ([], ["--force"], ["--notebook=double", "--force"]):
        done = graded_class.run("nbgrader", "generate_feedback", "01_double", "--student=right", *again)
        assert done.returncode == 0, done.stderr
        require_one_page(graded_class.root / "feedback/right/01_double")


def test_nor_does_what_writes_the_page_of_one_hand_in(graded_class):
    autograded = graded_class.root / "autograded/right/01_double"
    write_stray(autograded)
    running = RunningCourse.open(graded_class.root)
    running.folders.assignment_id, running.folders.student_id = "01_double", "right"
    FeedbackOne(autograded, coursedir=running.folders, config=running.config).start()
    require_one_page(graded_class.root / "feedback/right/01_double")


@pytest.mark.parametrize("student", ["ada", "[ab]"])
def test_nothing_is_copied_whatever_the_student_is_called(tmp_path, student):
    write_stray(tmp_path / "autograded" / student / "hw")
    folders = CourseDirectory(root=str(tmp_path), assignment_id="hw")
    converter = GenerateFeedback(coursedir=folders)
    converter.assignments = {str(tmp_path / "autograded" / student / "hw"): []}
    before = list(folders.ignore)
    copy_nothing(converter)
    converter.init_assignment("hw", student)
    assert not (tmp_path / "feedback").exists()
    assert folders.ignore == before  # formgrader goes on with them
