"""Student ids that look alike: accents stored in two ways, another case, spaces around them."""

import re
import subprocess
import unicodedata

import pytest

from .needs import mostly_thorough

COMPOSED = "Zoë"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
ADVICE = "`((?:mkdir|mv|nbgrader db) .*?)`"
RIGHT = "def double(x):\n    return 2 * x"


@pytest.fixture
def enrol(generated):
    def add(*students: str) -> None:
        with generated.gradebook() as gradebook:
            for student in students:
                gradebook.add_student(student)

    return add


def graded(course, command: str = "gradekit") -> str:
    """Autograde everything; returns what was printed."""
    options = ["--workers", "1"] if command == "gradekit" else []
    done = course.run(command, "autograde", "01_double", *options)
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(COMPOSED, id="composed"),
        pytest.param(DECOMPOSED, id="decomposed", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("command", ["gradekit", "nbgrader"])
@pytest.mark.slow
def test_a_student_whose_accent_is_stored_in_another_way_is_one_student(known, command, enrol, generated):
    (other,) = {COMPOSED, DECOMPOSED} - {known}
    enrol(known)
    generated.hand_in(other, generated.answer(RIGHT))
    table = generated.run("gradekit", "table", "01_double").stdout
    assert (
        "'Zo\\xeb' and 'Zoe\\u0308' look alike" in table or "'Zoe\\u0308' and 'Zo\\xeb' look alike" in table
    )
    assert "its accents are stored in another way" in graded(generated, command)
    assert generated.grades().keys() == {known}
    table = generated.run("gradekit", "table", "01_double").stdout
    assert "look alike" not in table
    generated.run("nbgrader", "generate_feedback", "01_double")
    assert [path.name for path in (generated.root / "feedback").iterdir()] == [known]


@pytest.mark.slow
def test_earlier_hand_ins_of_the_same_student_stay(enrol, generated):
    enrol(COMPOSED)
    earlier = generated.root / "submitted" / COMPOSED / "00_before" / "a.ipynb"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("{}")
    generated.hand_in(DECOMPOSED, generated.answer(RIGHT))
    graded(generated)
    assert generated.grades().keys() == {COMPOSED}
    assert earlier.exists()


@pytest.mark.slow
def test_two_folders_of_one_student_are_named_with_a_command_that_puts_one_aside(enrol, generated):
    enrol(COMPOSED)
    for student in (COMPOSED, DECOMPOSED):
        generated.hand_in(student, generated.answer(RIGHT))
    printed = graded(generated)
    (advice,) = re.findall("to put the other aside: `(.*)`", printed)
    subprocess.run(["bash", "-c", advice], check=True, cwd=generated.root)
    assert "look alike" in printed or advice
    assert (generated.root / "submitted" / DECOMPOSED / "01_double-aside").is_dir()
    assert "second folder" not in graded(generated)


@pytest.mark.thorough
def test_two_students_in_the_gradebook_are_named_with_a_command_that_removes_one(enrol, generated):
    enrol(COMPOSED, DECOMPOSED)
    generated.hand_in(COMPOSED, generated.answer(RIGHT))
    (advice,) = re.findall("`(nbgrader db student remove .*)`", graded(generated))
    subprocess.run(["bash", "-c", advice], check=True, cwd=generated.root)
    with generated.gradebook() as gradebook:
        assert [student.id for student in gradebook.students] == [COMPOSED]


@pytest.mark.slow
@pytest.mark.parametrize("folder", mostly_thorough(["Jane", "anne-E\u0301", "jane ", "ANNE-É"], examples=2))
def test_another_case_or_a_space_is_named_with_a_command_that_mends_it(folder, enrol, generated):
    enrol("jane", "anne-é")
    generated.hand_in(folder, generated.answer(RIGHT))
    (advice,) = re.findall("If they are the same, `(.*?)`", graded(generated))
    assert not generated.grades()
    subprocess.run(["bash", "-c", advice], check=True, cwd=generated.root)
    printed = graded(generated)
    assert "alike" not in printed
    assert "not in the gradebook" not in printed
    (student,) = generated.grades()
    assert student in {"jane", "anne-é"}


@pytest.fixture
def dora(generated):
    """A roster with `Dora`."""
    with generated.gradebook() as gradebook:
        gradebook.add_student("Dora", first_name="Dora", last_name="Dee", email="d@x", lms_user_id="77")
    return generated


def run(course, advice: str) -> None:
    subprocess.run(["bash", "-c", advice], check=True, cwd=course.root)


def roster(course) -> dict[str, str | None]:
    with course.gradebook() as gradebook:
        return {student.id: student.email for student in gradebook.students}


@pytest.mark.slow
@pytest.mark.parametrize("command", mostly_thorough(["gradekit", "nbgrader"]))
def test_who_follows_all_advice_has_one_student_with_the_data_of_the_roster_and_the_grades(command, dora):
    dora.hand_in("dora", dora.answer(RIGHT))
    commands = re.findall(ADVICE, graded(dora, command))
    assert roster(dora) == {"Dora": "d@x"}
    assert not dora.grades()
    run(dora, commands[0])
    assert not re.findall(ADVICE, graded(dora, command))
    assert roster(dora) == {"Dora": "d@x"}
    assert dora.grades().keys() == {"Dora"}


@pytest.mark.slow
@pytest.mark.parametrize("command", mostly_thorough(["gradekit", "nbgrader"]))
def test_another_student_whose_name_looks_alike_is_graded_after_being_added(command, dora):
    dora.hand_in("dora", dora.answer(RIGHT))
    (advice,) = re.findall("if not, `(nbgrader db student add .*?)`", graded(dora, command))
    run(dora, advice)
    graded(dora, command)
    assert dora.grades().keys() == {"dora"}
    assert roster(dora) == {"Dora": "d@x", "dora": None}


@pytest.mark.thorough
def test_only_the_one_without_data_and_folder_is_to_be_removed(dora, enrol):
    """As in a course whose second entry an earlier version added."""
    enrol("dora")
    dora.hand_in("dora", dora.answer(RIGHT))
    printed = graded(dora)
    assert "student remove" not in printed
    assert "'Dora' has a name, an email address, an LMS id; 'dora' has a folder in submitted/" in printed
    (dora.root / "submitted/dora").rename(dora.root / "submitted/Dora")
    (advice,) = re.findall("`(nbgrader db student remove .*?)`", graded(dora))
    run(dora, advice)
    assert "alike" not in graded(dora)
    assert roster(dora) == {"Dora": "d@x"}
    assert dora.grades().keys() == {"Dora"}


@pytest.mark.slow
@pytest.mark.parametrize("what", mostly_thorough(["score", "comment"]))
def test_what_a_person_graded_is_never_to_be_removed(what, dora, enrol):
    enrol("dora")
    dora.hand_in("dora", dora.answer(RIGHT))
    graded(dora)
    with dora.gradebook() as gradebook:
        (book,) = gradebook.find_submission("01_double", "dora").notebooks
        if what == "score":
            book.grades[0].manual_score = 1
        else:
            book.comments[0].manual_comment = "Well done."
        gradebook.db.commit()
    (dora.root / "submitted/dora").rename(dora.root / "submitted/Dora")
    printed = graded(dora)
    assert "student remove" not in printed
    assert "'dora' has grades or comments of a person" in printed
