"""The page of similar answers as an instructor sees it: a class of sixty in this course's second assignment."""

import random
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

from gradekit.cli import main
from gradekit.course import Course
from gradekit.course.cells import grade_id

ROOT = Path(__file__).parents[4]
sys.path.append(str(ROOT / "packages" / "gradekit"))  # last, so that gradekit is the installed one
from bench.similar import attention, copies  # noqa: E402
from bench.similar.students import answers_of  # noqa: E402

NAME = "02_attention"


@pytest.fixture(scope="module")
def similar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about sixty students who answer independently, two who copied, and a cluster of three."""
    root = tmp_path_factory.mktemp("similar") / "course"
    for step in ("source", "release"):
        shutil.copytree(ROOT / step / NAME, root / step / NAME)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    people = {f"student{number:02}": answers_of(attention, random.Random(number)) for number in range(60)}
    draw = random.Random(0)
    people["anna"] = copies.renamed(people["student07"], draw)
    people["ben"] = copies.disguised(people["student23"], draw)
    people["carla"] = copies.reordered(people["student23"], draw)
    assignment = Course(root).assignment(NAME)
    (name,) = assignment.released_names()
    for student, answers in people.items():
        notebook = assignment.released(name)
        for cell in notebook.cells:
            cell.source = answers.get(grade_id(cell) or "", cell.source)
        path = root / "submitted" / student / NAME / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    assert main(["--course-dir", str(root), "similar", NAME]) == 0
    return root / "reports" / NAME / "similar.html"


@pytest.mark.slow
def test_everybody_can_read_the_page(page, similar, picture, accessibility_problems):
    page.goto(similar.as_uri())
    assert page.locator("h1").inner_text() == "02_attention: similar answers"
    assert accessibility_problems(page) == []
    assert page.refused == []
    assert page.locator("mark").count() > 10
    pair = page.locator("#pairs article", has_text="anna and student07")
    picture(pair.locator(".two", has_text="def masked_attention"), "similar")


@pytest.mark.slow
def test_the_copies_and_the_cluster_are_there(page, similar):
    page.goto(similar.as_uri())
    pairs = page.locator("#pairs caption + thead + tbody a").all_inner_texts()
    assert "anna and student07" in pairs
    assert page.locator("#clusters li").all_inner_texts() == ["ben, carla, student23"]


@pytest.mark.slow
def test_it_fits_on_a_phone_and_on_paper(page, similar):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(similar.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.emulate_media(media="print")
    style = page.locator("mark").first.evaluate("mark => getComputedStyle(mark).textDecorationLine")
    assert style == "underline"
