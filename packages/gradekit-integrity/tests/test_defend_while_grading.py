"""Answers that are marked while a submission is graded, or by a command that is stopped midway: no point is lost or kept wrongly."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gradekit_integrity.defend import deductions
from gradekit_integrity.defend.records import Key, read_key, store_key

from ...gradekit.tests.tiny_course import RIGHT_HALF, TinyCourse
from .test_defend import (
    answers_for,
    asked,
    asked_original,
    defend,
    hand_in_answers,
    scores,
    sheet_of,
)

__all__ = ["asked", "asked_original"]  # fixtures

#: in the configuration: the scores are read, and are only written once the test says so
WAITING = """
import time
from pathlib import Path
from gradekit.nbgrader_plugin.steps import SaveScores

here, add = Path(__file__).parent, SaveScores._add_score

def wait(self, cell, resources):
    add(self, cell, resources)
    (here / "read").touch()
    while not (here / "go on").exists():
        time.sleep(0.02)

SaveScores._add_score = wait
"""


@pytest.fixture
def wrong(asked: TinyCourse) -> TinyCourse:
    """Bob's answers are all wrong, and he has handed in code that earns nothing since; it isn't graded yet."""
    hand_in_answers(asked, "bob", answers_for(sheet_of(asked, "bob"), wrong=3))
    assert defend(asked, "--collect") == 0  # the first answers count, also after another hand-in
    asked.hand_in("bob", asked.answer("def double(x):\n    return x.nothing", RIGHT_HALF))
    return asked


def collect(course: TinyCourse, share: str) -> float:
    """Collect, and return Bob's score."""
    assert defend(course, "--collect", "--share", share) == 0
    return scores(course)["bob"]


def autograde(course: TinyCourse) -> None:
    """As nbgrader does, and formgrader's button: it doesn't wait for other commands."""
    done = course.run("nbgrader", "autograde", "01_double", "--student", "bob", "--force")
    assert done.returncode == 0, done.stderr


def taken_off(course: TinyCourse) -> float:
    """What the key, and so the feedback page, says of Bob; fails unless it is what the gradebook has."""
    sheet = sheet_of(course, "bob")
    with course.running.gradebook() as gradebook:
        grade = gradebook.find_grade("test_double", "double", "01_double", "bob")
        off = -(grade.extra_credit or 0)
        assert grade.score >= 0
    assert sum(sheet.deducted.values()) == off and not sheet.writing
    return off


def at_store(monkeypatch: pytest.MonkeyPatch, number: int, then: Callable[[], None]) -> None:
    """Do something when the key is stored the `number`-th time while points are taken off."""
    stored = iter(range(1, 100))

    def store(assignment: object, key: Key) -> None:
        store_key(assignment, key)  # type: ignore[arg-type]
        if next(stored) == number:
            then()

    monkeypatch.setattr(deductions, "store_key", store)


@pytest.mark.slow
def test_a_new_answer_that_is_graded_while_points_are_taken_off_has_0_points_and_not_fewer(
    wrong, monkeypatch
):
    """The score is read, and it is another one when the deduction is written."""
    half = scores(wrong)["bob"] - 10
    at_store(monkeypatch, 1, lambda: autograde(wrong))
    assert collect(wrong, "0.5") == half and taken_off(wrong) == 0


@pytest.mark.slow
def test_points_that_are_taken_off_while_a_new_answer_is_graded_are_no_more_than_it_earns(wrong):
    """Nothing is off when grading reads the score."""
    half = scores(wrong)["bob"] - 10
    with (wrong.root / "nbgrader_config.py").open("a") as file:
        file.write(WAITING)
    grading = threading.Thread(target=autograde, args=[wrong])
    grading.start()
    while not (wrong.root / "read").exists():
        assert grading.is_alive()
        time.sleep(0.02)
    assert collect(wrong, "0.5") == half + 5
    (wrong.root / "go on").touch()
    grading.join()
    assert scores(wrong)["bob"] == half and taken_off(wrong) == 0


@pytest.mark.slow
def test_a_deduction_that_is_lessened_and_replaced_at_once_is_in_the_key_as_in_the_gradebook(
    wrong, monkeypatch
):
    half = scores(wrong)["bob"] - 10
    assert collect(wrong, "0.5") == half + 5
    grading = threading.Thread(target=autograde, args=[wrong])
    at_store(monkeypatch, 1, grading.start)
    collect(wrong, "0.3")
    grading.join()
    assert scores(wrong)["bob"] == half and taken_off(wrong) == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])  # before the gradebook is written, and after that
def test_a_command_that_is_stopped_midway_takes_nothing_for_a_person_s(asked, monkeypatch, capsys, number):
    before = scores(asked)["bob"]
    hand_in_answers(asked, "bob", answers_for(sheet_of(asked, "bob"), wrong=3))

    def stop(*of: object) -> None:
        if of[-1:] != (0.0,):  # of nothing that is taken off
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if number == 1:
            at_store(patched, 1, stop)
        else:
            patched.setattr(Key, "set_taken", stop)  # the gradebook has it, the key doesn't know
        with pytest.raises(KeyboardInterrupt):
            deductions_of(asked)
    assert scores(asked)["bob"] == before - (5 if number == 2 else 0)
    capsys.readouterr()
    assert collect(asked, "0.3") == before - 3 and taken_off(asked) == 3
    assert collect(asked, "0") == before and taken_off(asked) == 0
    assert "a person typed in" not in capsys.readouterr().out


def deductions_of(course: TinyCourse) -> None:
    """What `--collect --share 0.5` does in the end."""
    from gradekit_integrity.defend.records import changing_key

    with changing_key(course.assignment) as key:
        key.latest()["bob"].right = {"double/double": 0}
        deductions.take_off(course.running, course.assignment, key, 0.5)


@pytest.mark.slow
def test_what_a_person_types_in_meanwhile_stays_and_is_not_said_to_be_taken_off(asked, monkeypatch, capsys):
    hand_in_answers(asked, "bob", answers_for(sheet_of(asked, "bob"), wrong=3))

    def type_in() -> None:
        with asked.running.gradebook() as gradebook:
            gradebook.find_grade("test_double", "double", "01_double", "bob").extra_credit = -1
            gradebook.db.commit()

    before = scores(asked)["bob"]
    at_store(monkeypatch, 1, type_in)
    assert collect(asked, "0.5") == before - 1
    assert "bob: double has extra credit that a person typed in" in capsys.readouterr().out
    assert not read_key(asked.assignment).latest()["bob"].deducted
    assert Path(asked.root, "reports", "01_double", "defense.csv").read_text().count("typed in") == 1
