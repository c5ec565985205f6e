"""Regrading after a check has changed: what moves, why, and what stays."""

import pytest

from gradekit.grading.workers import Workers
from gradekit.grading.write import Writer
from gradekit.report.table import class_table
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, ExerciseResult, Status, SubmissionResult
from gradekit.verdict.tries import Try
from gradekit_authoring.regrade import _moves

STUDENTS = ("exception", "floor", "right")
OLD, NEW = "torch.tensor([2.0, 8.0])), torch.tensor([1.0, 4.0])", "torch.tensor([3.0])), torch.tensor([1.5])"


@pytest.fixture
def changed(graded_class):
    """A graded class, and a check that now also tries an odd number, which `floor` gets wrong."""
    with graded_class.gradebook() as book:
        book.find_grade("test_half", "double", "01_double", "right").manual_score = 4
        book.find_grade("why", "double", "01_double", "floor").manual_score = 3
        book.db.commit()
    checks = graded_class.checks.with_name("test_half.py")
    assert OLD in checks.read_text()
    checks.write_text(checks.read_text().replace(OLD, NEW))
    (graded_class.root / "submitted" / "exits").rename(graded_class.root / "gone")
    (graded_class.root / "submitted" / "loop").rename(graded_class.root / "gone-too")
    return graded_class


def state(course):
    files = {path: path.stat().st_mtime_ns for path in course.root.glob("autograded/*/*/*.ipynb")}
    return course.grades(), files


def regrade(course, *options):
    return course.gradekit("regrade", "01_double", "--workers", "2", *options)


@pytest.mark.slow
def test_only_the_exercise_of_the_changed_check_is_graded_again(changed):
    assert regrade(changed) == 0
    graded = changed.gradings()
    assert set(graded) == {"test_half"}
    assert graded["test_half"] <= len(changed.cached())


@pytest.mark.slow
def test_a_dry_run_reports_whose_scores_would_change_and_why_and_writes_nothing(changed, capsys):
    before = state(changed)
    assert regrade(changed, "--dry-run") == 0
    out = capsys.readouterr().out
    assert "floor  test_half: 5 -> 2 points\n    its checks were changed\n" in out
    assert "    test_half_of_even (3 points): passed before, failed now. " in out
    assert "the scores of 1 of 7 students would change." in out
    assert "right  " not in out
    assert state(changed) == before


@pytest.mark.slow
def test_regrade_writes_what_the_dry_run_reported_and_grades_nothing_again(changed, capsys):
    regrade(changed, "--dry-run")
    changed.gradings()
    output = capsys.readouterr().out.replace("would change", "changed")
    assert regrade(changed) == 0
    report, _, letters = capsys.readouterr().out.partition("  1 letter: ")
    assert report == output and letters
    assert not changed.gradings()
    points = {row.student: row.points for row in class_table(changed.running, changed.assignment).rows}
    assert points["floor"] == {"test_double": 10, "test_half": 2, "why": 3}
    assert points["exception"]["test_half"] == 5
    grades = changed.grades()
    assert grades["floor"]["test_half"] == (2, None, False)
    assert grades["right"]["test_half"] == (5, 4, True)
    assert regrade(changed, "--dry-run") == 0
    assert "the scores of 0 of 7 students would change." in capsys.readouterr().out


@pytest.mark.thorough
def test_one_student_s_work_is_graded_again_and_a_quiet_run_says_only_what_changes(changed, capsys):
    assert regrade(changed, "--dry-run", "--quiet", "--student", "blank") == 0
    assert capsys.readouterr().out == ""
    assert regrade(changed, "--dry-run", "--quiet", "--student", "floor,blank") == 0
    assert "the scores of 1 of 2 students would change." in capsys.readouterr().out


@pytest.mark.slow
def test_a_late_penalty_that_changes_is_named(changed, capsys):
    with changed.gradebook() as book:
        book.find_submission_notebook("double", "01_double", "right").late_submission_penalty = 1
        book.db.commit()
    regrade(changed, "--dry-run")
    assert "Late penalties are computed again as well" in capsys.readouterr().out
    regrade(changed)
    assert "right: late penalty 1 -> 0, by today's rules, deadlines and scores" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_score_that_was_not_written_is_not_counted_as_changed(changed, monkeypatch, capsys):
    monkeypatch.setattr(Writer, "write", lambda self, found, assignment: [f"{found.student}: not written: x"])
    assert regrade(changed) == 1
    out = capsys.readouterr().out
    assert "floor: not written: x" in out
    assert "the scores of 0 of 7 students changed." in out
    assert "letter" not in out


def test_a_submission_on_which_the_grader_fails_keeps_its_points_and_is_named(changed, monkeypatch, capsys):
    before = changed.grades()
    lost = Try(None, failure="its process ended each time")
    monkeypatch.setattr(Workers, "run", lambda self, tasks: ((task, lost) for task in tasks))
    assert regrade(changed) == 1
    assert (
        "right: the grader failed on it: its process ended each time. Its score is unchanged."
        in capsys.readouterr().out
    )
    assert changed.grades() == before


def graded(
    of_checks: str, outcome: CheckOutcome, ordinary: bool = False, **values: object
) -> SubmissionResult:
    """A result of the test cell `test_half`; `of_checks` is the hash of its checks."""
    exercise = ExerciseResult("test_half", [CheckResult("test", "", 5, outcome)], of_checks, ordinary)
    result = SubmissionResult(Status.GRADED, exercises=[exercise])
    for name, value in values.items():
        setattr(result, name, value)
    return result


def reasons(old: SubmissionResult, new: SubmissionResult) -> list[str]:
    (move,) = _moves("ada", "double", old, new, {})
    return move.reasons[:-1]


PASSED, FAILED = CheckOutcome.PASSED, CheckOutcome.FAILED
PARTS = {"submission": "a", "limits": "b", "numpy": "2.0.1", "gradekit": "c"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"submission": "x"}, "the submission was changed"),
        ({"limits": "x"}, "the limits were changed"),
        ({"numpy": "2.1.0"}, "numpy 2.0.1 was replaced by 2.1.0"),
        ({"pandas": "2.2"}, "pandas (none) was replaced by 2.2"),
        ({"gradekit": "x"}, "gradekit was updated"),
        ({"gradekit_data": "x"}, "gradekit-data was updated"),
    ],
)
def test_the_reason_names_the_part_that_has_changed(change, sentence):
    old = graded("k", PASSED, key="1", depends_on=PARTS)
    new = graded("k", FAILED, key="2", depends_on=PARTS | change)
    assert reasons(old, new) == [sentence]


def test_the_reason_is_the_check_file_if_a_cell_got_or_lost_one():
    ordinary, bound = graded("k", PASSED, ordinary=True), graded("l", FAILED)
    assert reasons(ordinary, bound) == ["it has a check file now"]
    ordinary = graded("k", FAILED, ordinary=True)
    assert reasons(graded("l", PASSED), ordinary) == [
        "it has no check file any more, so the tests in its cell count"
    ]


def test_the_reason_is_another_cell_s_check_file_if_that_alone_is_new():
    old, new = graded("k", PASSED, ordinary=True, key="1"), graded("k", FAILED, ordinary=True, key="2")
    old.exercises.append(ExerciseResult("other", ordinary=True))
    new.exercises.append(ExerciseResult("other"))
    assert reasons(old, new) == ["`other` has a check file now"]


@pytest.mark.thorough
def test_a_check_file_added_to_a_graded_course_is_the_reason_of_the_move(graded_class, capsys):
    checks = graded_class.checks.with_name("test_half.py")
    text = checks.read_text()
    checks.unlink()
    assert regrade(graded_class) == 0
    capsys.readouterr()
    checks.write_text(text.replace("3)", "5)").replace("@points(2)", "@points(0)").replace(OLD, NEW))
    regrade(graded_class, "--dry-run")
    out = capsys.readouterr().out
    assert "floor  test_half: 5 -> 0 points\n    it has a check file now\n" in out
