"""The whole way of questions about one's own code: hand in, answer them, see the result, and what a TA sees."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from gradekit_integrity.defend.records import read_key

from ..tiny_course import RIGHT_HALF, TinyCourse

ANSWER = """\
def double(x):
    total = x * 4
    for step in range(2):
        total = total - x
    if step > 5:
        total = total + 1
    shaped = total.reshape(-1)
    return shaped.reshape(x.shape)"""
INPUTS = '''
from gradekit.checks import try_it


@try_it("test_double")
def three_by_two(double):
    """A tensor of 3 × 2."""
    import torch

    double(torch.ones(3, 2))
'''


@pytest.fixture(scope="module")
def course(class_original: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyCourse:
    """Ann and Bob have handed in their notebooks, are graded, and are asked."""
    course = TinyCourse(Path(shutil.copytree(class_original, tmp_path_factory.mktemp("way") / "course")))
    course.checks.with_name("viva.py").write_text(INPUTS)
    course.hand_in("ann", course.answer(ANSWER, RIGHT_HALF))
    course.hand_in("bob", course.answer(ANSWER.replace("total", "sum_of_both"), RIGHT_HALF))
    assert course.gradekit("autograde", "01_double") == 0
    assert course.gradekit("defend", "01_double", "--workers", "1") == 0
    return course


def answer(page, course: TinyCourse, student: str, wrong: int) -> Path:
    """Open the student's page, choose options, and save the file that the browser offers."""
    page.goto((course.root / "reports/01_double/defense" / f"{student}.html").as_uri())
    assert page.locator("fieldset").count() == 3
    for number, question in enumerate(read_key(course.assignment).latest()[student].questions, 1):
        letter = question.right if number > wrong else next(one for one in "AB" if one != question.right)
        page.locator(f'input[name="{number}"][value="{letter}"]').check()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save my answers").click()
    return saved.value.path()


@pytest.mark.thorough
def test_a_student_answers_three_questions_and_a_ta_sees_who_could_not(
    page, course, tmp_path, picture, accessibility_problems
):
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    for student, wrong in {"ann": 0, "bob": 3}.items():
        shutil.copy(answer(page, course, student, wrong), uploads / f"{student}_defense.json")
        assert accessibility_problems(page) == []
    assert json.loads((uploads / "ann_defense.json").read_text())["answers"].keys() == {"1", "2", "3"}
    command = ("defend", "01_double", "--collect", "--answers", str(uploads), "--share", "0.3")
    assert course.gradekit(*command) == 0

    done = course.run("nbgrader", "generate_feedback", "01_double", "--force")
    assert done.returncode == 0, done.stderr
    for student, said in {
        "ann": "Your answers have arrived: 3 of 3 are right.",
        "bob": "0 of 3 are right. For the others, 3 points of your score were taken off.",
    }.items():
        page.goto((course.root / "feedback" / student / "01_double/double.html").as_uri())
        assert said in re.sub(r"\s+", " ", page.locator("body").inner_text())
        assert accessibility_problems(page) == []

    assert course.gradekit("report", "01_double") == 0
    page.goto((course.root / "reports/01_double/report.html").as_uri())
    section = page.locator("#defense")
    assert "not an accusation" in section.inner_text()
    picture(section, "report-defended")
    row = page.get_by_role("row").filter(has=page.get_by_role("cell", name="double", exact=True)).first
    assert row.get_by_role("cell").all_inner_texts()[:4] == ["double", "10", "2", "1"]  # passed, defended
    assert "bob" in section.inner_text() and "ann" not in section.inner_text()
    assert accessibility_problems(page) == [] and page.refused == []
    with (course.root / "reports/01_double/defense.csv").open() as file:
        outcomes = {one["student"]: one["outcome"] for one in csv.DictReader(file)}
    assert outcomes == {"ann": "defended", "bob": "not defended"}
    assert course.gradekit("viva", "01_double", "bob") == 0  # for the talk
    page.goto((course.root / "reports/01_double/viva/bob.html").as_uri())
    assert page.locator("details").count() >= 1
