"""A check whose own code fails for some answers: it must not stop the grading of others, and nobody gets 0 for it."""

import pytest

from .tiny_course import HALF_CHECKS

RIGHT = "def double(x):\n    return 2 * x"
HALF = "def half(x):\n    return x / 2"
TRIPLE = "def double(x):\n    return 3 * x"
WRONG = "def half(x):\n    return x / 4"
SOUND = 'test_half_of_even(student):\n    """Half of an even number."""\n'
#: a message with a wrong name, which only wrong answers reach
AT_FAULT = HALF_CHECKS.replace(
    SOUND, f"{SOUND}    half = student.half(2.0)\n    assert half == 1, secret_of(half)\n"
)
REASON = "test_half.py::test_half_of_even, line 10: NameError: name 'secret_of' is not defined"
SENTENCE = (
    "`test_half` could not be graded automatically, because of an error in one of its checks. "
    "A person will decide how many points this gets."
)
PENDING = (None, None, True)
"""Automatic score, manual score, and whether a person has to grade."""


@pytest.fixture
def faulty(empty_class):
    """Ada's and Bob's answers reach the fault; Cyd's and Dan's don't."""
    empty_class.checks.with_name("test_half.py").write_text(AT_FAULT)
    for student, half in {"ada": WRONG, "bob": WRONG, "cyd": HALF, "dan": ""}.items():
        empty_class.hand_in(student, empty_class.answer(RIGHT, half))
    return empty_class


def scores(course):
    return {student: grades["test_half"][:3] for student, grades in course.grades().items()}


def correct(course):
    course.checks.with_name("test_half.py").write_text(HALF_CHECKS)


@pytest.mark.slow
def test_the_others_are_graded_and_the_command_names_the_fault(faulty, capsys):
    assert faulty.gradekit("autograde", "01_double") == 1
    printed = capsys.readouterr().out
    assert f"{REASON}. Correct it, then run `gradekit regrade 01_double`" in printed
    assert printed.count(REASON) == 1
    assert "a person has to grade this exercise for ada, bob\n" in printed
    assert scores(faulty) == {
        "ada": PENDING,
        "bob": PENDING,
        "cyd": (5, None, False),
        "dan": (0, None, False),
    }
    assert {grades["test_double"] for grades in faulty.grades().values()} == {(10, None, False)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "student.half(torch.zeros(3))",
            "no_such_name",
            ", line 15: NameError: name 'no_such_name' is not defined",
        ),
        (
            "def test_half_of_zero(student)",
            "def test_half_of_zero(studnet)",
            ": there is no fixture `studnet`",
        ),
    ],
)
def test_a_check_that_fails_for_everybody_is_named_once(empty_class, old, new, reason):
    checks = empty_class.checks.with_name("test_half.py")
    checks.write_text(HALF_CHECKS.replace(old, new).replace(old.replace("torch", "np"), new))
    for student in ("ada", "bob"):
        empty_class.hand_in(student, empty_class.answer(RIGHT, HALF))
    done = empty_class.run("gradekit", "autograde", "01_double", "--workers", "2")
    assert done.returncode == 1
    assert done.stdout.count("A check is at fault, not the submission. ") == 1
    assert f"test_half.py::test_half_of_zero{reason}. Correct it" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert set(scores(empty_class).values()) == {PENDING}


@pytest.mark.thorough
def test_the_page_says_so_without_the_reason(faulty):
    assert faulty.gradekit("autograde", "01_double") == 1
    assert faulty.run("nbgrader", "generate_feedback", "01_double").returncode == 0
    pages = {
        student: " ".join((faulty.root / f"feedback/{student}/01_double/double.html").read_text().split())
        for student in ("ada", "cyd")
    }
    sentence = SENTENCE.replace("`test_half`", "<code>test_half</code>")
    assert sentence in pages["ada"]
    assert sentence not in pages["cyd"]
    assert not [page for page in pages.values() if "secret_of" in page or "NameError" in page]


@pytest.mark.thorough
def test_until_it_is_corrected_it_is_tried_and_named_each_time(faulty, capsys):
    assert faulty.gradekit("autograde", "01_double") == 1
    faulty.gradings()
    capsys.readouterr()
    assert faulty.gradekit("autograde", "01_double") == 1
    assert REASON in capsys.readouterr().out
    assert faulty.gradings() == {"test_half": 2}
    correct(faulty)
    assert faulty.gradekit("autograde", "01_double") == 0
    assert faulty.gradings() == {"test_half": 2}
    assert scores(faulty)["ada"] == scores(faulty)["bob"] == (2, None, False)


@pytest.mark.thorough
def test_regrade_with_the_corrected_check_grades_them_and_writes_to_nobody_else(faulty, capsys):
    assert faulty.gradekit("autograde", "01_double") == 1
    capsys.readouterr()
    correct(faulty)
    assert faulty.gradekit("regrade", "01_double") == 0
    printed = capsys.readouterr().out
    assert "ada  test_half: - -> 2 points\n" in printed
    assert "the scores of 2 of 4 students changed" in printed
    assert "2 letters" in printed
    assert scores(faulty)["ada"] == (2, None, False)


@pytest.mark.thorough
def test_regrade_with_a_check_at_fault_keeps_the_scores_and_names_whose(faulty, capsys):
    correct(faulty)
    assert faulty.gradekit("autograde", "01_double") == 0
    before = scores(faulty)
    faulty.checks.with_name("test_half.py").write_text(AT_FAULT)
    capsys.readouterr()
    assert faulty.gradekit("regrade", "01_double") == 1
    printed = capsys.readouterr().out
    assert f"{REASON}. Correct it, then run `gradekit regrade 01_double`" in printed
    assert "until then, the scores of ada, bob stay as they are\n" in printed
    assert scores(faulty) == before


@pytest.mark.slow
def test_nbgrader_autograde_grades_the_others_and_names_the_fault(faulty):
    done = faulty.run("nbgrader", "autograde", "01_double")
    assert done.stderr.count(REASON) == 2
    for student in ("ada", "bob"):
        assert f"a person has to grade this exercise for {student}" in done.stderr
    assert "Traceback" not in done.stderr
    assert scores(faulty)["ada"] == PENDING
    assert scores(faulty)["dan"] == (0, None, False)
