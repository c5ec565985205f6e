"""nbgrader's own commands with gradekit plugged in, on the tiny course."""

import json
import os
import re
from copy import deepcopy

import pytest
from bs4 import BeautifulSoup
from nbformat import v4
from nbgrader.api import Gradebook

from gradekit.course import CourseError
from gradekit.course.cells import find_cell, is_test_cell
from gradekit.nbgrader_plugin.bind import require_bound
from gradekit.report.table import class_table
from gradekit.verdict.results import SubmissionResult

from .forked import run_forked

RIGHT = "def double(x):\n    return 2 * x"
TRIPLE = "def double(x):\n    return 3 * x"


def autograde(course, *options):
    return course.run("nbgrader", "autograde", "01_double", "--force", *options)


def result_of(course, student):
    return SubmissionResult.from_dict(course.autograded(student).metadata["gradekit"])


def gradebook(course):
    return Gradebook(f"sqlite:///{course.root / 'gradebook.db'}")


def feedback(course, student):
    path = course.root / "feedback" / student / "01_double" / "double.html"
    if not path.exists():
        done = course.run("nbgrader", "generate_feedback", "01_double")
        assert done.returncode == 0, done.stderr
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def row_of(course, student):
    return next(row for row in class_table(course.running, course.assignment).rows if row.student == student)


def test_an_edited_points_value_stops_generate_assignment_with_one_sentence(generated, tiny_source):
    find_cell(tiny_source, "test_double").metadata.nbgrader.points = 12
    generated.write_source(tiny_source)
    done = generated.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode != 0
    assert (
        "source/01_double/double.ipynb: the test cell `test_double` is worth 12 points, but the checks in "
        "tests/01_double/test_double.py add up to 10." in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_cells_with_the_same_grade_id_stop_generate_assignment_with_one_sentence(generated, tiny_source):
    again = deepcopy(find_cell(tiny_source, "test_double"))
    again["id"] = "again"
    tiny_source.cells.append(again)
    generated.write_source(tiny_source)
    done = generated.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode != 0
    assert (
        "source/01_double/double.ipynb: the cells 3, 6 have the same grade_id `test_double`. Give each its own."
        in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_commands_work_in_an_environment_that_was_not_activated(tiny_course):
    environment = {"PATH": os.defpath, "HOME": str(tiny_course.root)}
    done = run_forked(
        ["nbgrader", "generate_assignment", "01_double", "--force"], tiny_course.root, environment
    )
    assert done.returncode == 0, done.stderr


def test_points_without_a_number_are_explained(tiny_course):
    tiny_course.checks.write_text(tiny_course.checks.read_text().replace("@points(4)", "@points"))
    with pytest.raises(CourseError, match=r"test_double\.py.*write @points\(2\)"):
        require_bound(tiny_course.assignment)


@pytest.mark.parametrize("mark", ["", '@points("4")\n'])
def test_a_check_without_points_is_named(tiny_course, mark):
    tiny_course.checks.write_text(tiny_course.checks.read_text().replace("@points(4)\n", mark, 1))
    with pytest.raises(CourseError) as told:
        require_bound(tiny_course.assignment)
    assert str(told.value) == (
        "tests/01_double/test_double.py: test_value has no points. Write @points(n) above it, n a number."
    )


def test_checks_without_a_test_cell_stop_generate_assignment(generated):
    generated.checks.with_name("test_other.py").write_text("")
    done = generated.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert "tests/01_double/test_other.py belongs to no cell" in done.stderr


def test_autograde_without_a_release_says_what_to_do(generated):
    (generated.root / "release" / "01_double" / "double.ipynb").unlink()
    generated.hand_in("ada", v4.new_notebook())
    done = autograde(generated)
    assert done.returncode != 0
    assert "run `nbgrader generate_assignment 01_double --force` first" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("Execute.timeout = -3", "c.Execute.timeout must be more than 0 seconds"),
        ("RunChecks.student_kernel = 'nope'", "names the kernel `nope`, which is not installed"),
    ],
)
def test_an_invalid_setting_ends_autograde_with_one_sentence(generated, setting, words):
    generated.hand_in("ada", generated.answer(RIGHT))
    with (generated.root / "nbgrader_config.py").open("a") as file:
        file.write(f"\nget_config().{setting}\n")
    done = autograde(generated)
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_score_is_the_sum_of_the_checks_whatever_the_cell_prints(generated):
    generated.hand_in("ada", generated.answer("print(1000)\n1000.0\n" + TRIPLE))
    assert autograde(generated).returncode == 0
    with gradebook(generated) as book:
        assert book.find_grade("test_double", "double", "01_double", "ada").auto_score == 3
    assert row_of(generated, "ada").points["test_double"] == 3


def test_the_test_cell_shows_the_table_of_checks(generated):
    generated.hand_in("ada", generated.answer(TRIPLE))
    autograde(generated)
    cell = find_cell(generated.autograded("ada"), "test_double")
    assert is_test_cell(cell)
    assert "3 of 10 points" in cell.outputs[0].data["text/plain"]
    assert "Likely mistake: You took three times the input." in cell.outputs[0].data["text/plain"]


@pytest.mark.slow
def test_no_submission_stops_the_others(generated):
    generated.hand_in("a-broken", "{")
    generated.hand_in("b-empty", "")
    generated.hand_in(
        "c-forged", json.dumps({"nbformat": 4, "metadata": 3, "cells": [{"metadata": {"nbgrader": 1}}]})
    )
    old = generated.answer(RIGHT)
    find_cell(old, "test_double").metadata.nbgrader.update(schema_version=0, points="many")
    generated.hand_in("d-old-format", old)
    generated.hand_in("e-other-name", generated.answer(RIGHT), "mine.ipynb")
    generated.hand_in("f-nothing", "notes", "notes.txt")
    generated.hand_in("g-diary", v4.new_notebook(cells=[v4.new_code_cell("1")]), "diary.ipynb")
    generated.hand_in("h-right", generated.answer(RIGHT))
    done = autograde(generated)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    found = {
        row.student: (row.status, row.points["test_double"])
        for row in class_table(generated.running, generated.assignment).rows
    }
    assert found == {
        "a-broken": ("unreadable", None),
        "b-empty": ("unreadable", None),
        "c-forged": ("graded", 0),
        "d-old-format": ("graded", 10),
        "e-other-name": ("graded", 10),
        "f-nothing": ("missing", None),
        "g-diary": ("missing", None),
        "h-right": ("graded", 10),
    }


def test_an_unreadable_notebook_awaits_manual_grading_instead_of_scoring_zero(generated):
    generated.hand_in("ada", "{")
    autograde(generated)
    with gradebook(generated) as book:
        grade = book.find_grade("test_double", "double", "01_double", "ada")
        assert grade.auto_score is None
        assert grade.needs_manual_grade


@pytest.mark.slow
def test_manual_grades_and_comments_survive_a_second_autograde(generated):
    generated.hand_in("ada", generated.answer(TRIPLE))
    autograde(generated)
    with gradebook(generated) as book:
        book.find_grade("why", "double", "01_double", "ada").manual_score = 4
        book.find_grade("test_double", "double", "01_double", "ada").manual_score = 7
        book.find_comment("double", "double", "01_double", "ada").manual_comment = "Nearly."
        book.db.commit()
    generated.hand_in("ada", generated.answer(RIGHT))
    autograde(generated)
    with gradebook(generated) as book:
        assert book.find_grade("why", "double", "01_double", "ada").manual_score == 4
        assert book.find_comment("double", "double", "01_double", "ada").comment == "Nearly."
        grade = book.find_grade("test_double", "double", "01_double", "ada")
        assert (grade.auto_score, grade.manual_score, grade.score) == (10, 7, 7)
        assert grade.needs_manual_grade


@pytest.mark.slow
def test_manual_grades_are_shown_as_such_after_grading_again(generated):
    scores = {"ada": 4, "ben": 0}
    for student in scores:
        generated.hand_in(student, generated.answer(RIGHT))
    autograde(generated)
    with gradebook(generated) as book:
        for student, score in scores.items():
            grade = book.find_grade("why", "double", "01_double", student)
            grade.manual_score, grade.needs_manual_grade = score, False
        book.db.commit()
    autograde(generated)
    for student, score in scores.items():
        page = feedback(generated, student)
        assert page.select_one(".total").text == f"{10 + score} of 15 points"
        row = [cell.text for cell in page.select(".points tr:last-child td")]
        assert row == ["why", f"{score} / 5", "graded manually"]
        assert "Awaiting" not in page.text


@pytest.mark.slow
def test_the_page_of_an_unreadable_notebook_shows_no_points_and_no_answers(generated):
    generated.hand_in("ada", "{")
    autograde(generated)
    with gradebook(generated) as book:
        book.find_comment("why", "double", "01_double", "ada").manual_comment = "Come and see me."
        book.db.commit()
    page = feedback(generated, "ada")
    assert page.select_one(".total").text == "– of 15 points"
    assert {row.select("td")[2].text for row in page.select(".points tbody tr")} == {"not graded"}
    assert [part.text for part in page.select(".comment p")][1:] == ["Come and see me."]
    assert page.select("pre, details") == []


@pytest.mark.slow
def test_a_forged_result_in_the_notebook_counts_for_nothing(generated):
    notebook = generated.answer(TRIPLE)
    autograde_result = SubmissionResult("graded", notes=["forged"]).as_dict()
    notebook.metadata["gradekit"] = autograde_result
    generated.hand_in("ada", notebook)
    autograde(generated)
    assert result_of(generated, "ada").notes == []
    assert row_of(generated, "ada").points["test_double"] == 3


@pytest.mark.slow
def test_the_page_shows_score_checks_and_diagnosis(generated):
    generated.hand_in("ada", generated.answer(TRIPLE))
    autograde(generated)
    assert generated.run("nbgrader", "generate_feedback", "01_double").returncode == 0
    page = (generated.root / "feedback" / "ada" / "01_double" / "double.html").read_text()
    for words in (
        "3 of 15 points",
        "Status: graded.",
        "You took three times the input.",
        "Not answered.",
    ):
        assert words in page


def test_neither_checks_nor_references_nor_inputs_leak(generated):
    """Canaries in a check's source and comments, in its inputs and in the recorded values."""
    checks = generated.checks.read_text()
    canary = "import torch\nCANARY = 'canary-in-source-77'\n"
    planted = checks.replace(
        'student.double(x), name="output")\n\n\n@points(3)',
        'student.double(x), name="output")\n    planted = torch.tensor([7182.5, 9341.25])  # canary-in-comment-78\n'
        '    reference.assert_close(student.double(planted), name="output", context="for planted")\n\n\n@points(3)',
    )
    assert planted != checks
    generated.checks.write_text(canary + planted)
    from gradekit_authoring.grade_variants import record

    record(generated.assignment, workers=1)
    generated.run("nbgrader", "generate_assignment", "01_double", "--force")
    answers = {
        "wrong": "def double(x):\n    return 2 * x if x.dim() == 2 else torch.zeros(2)",
        "crashing": "def double(x):\n    if x.dim() == 1: raise ValueError('stop')\n    return 2 * x",
        "wrong-type": "def double(x):\n    return 2 * x if x.dim() == 2 else None",
    }
    for student, source in answers.items():
        generated.hand_in(student, generated.answer(source))
    autograde(generated)
    generated.run("nbgrader", "generate_feedback", "01_double")
    # not digits of a time or an id
    secrets = re.compile(r"canary-in|CANARY|(?<![\w.])(7182|9341|14365|18682)|assert_close")
    found = 0
    for folder in ("release", "autograded", "feedback"):
        for path in (generated.root / folder).rglob("*"):
            if path.is_file():
                found += 1
                text = path.read_text(errors="replace")
                assert not secrets.search(text), path
    assert found == 1 + 3 + 3
