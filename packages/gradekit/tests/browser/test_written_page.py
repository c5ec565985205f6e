"""The pages with written answers as those who grade them see them."""

import shutil

import pytest

from ..tiny_course import TinyCourse
from ..written_class import make_class


@pytest.fixture(scope="module")
def pages(made_once, tmp_path_factory):
    """The page of the class, and that of a grader."""
    original = made_once("answers as read", make_class)
    course = TinyCourse(shutil.copytree(original, tmp_path_factory.mktemp("pages") / "course"))
    assert course.gradekit("written", "01_double") == 0
    assert course.gradekit("deal", "01_double", "--to", "gus,hal", "--twice", "100%") == 0
    return [course.root / "reports/01_double/written.html", course.root / "dealt/01_double/gus.html"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_everybody_can_read_it_and_sees_each_picture(page, pages, number, accessibility_problems):
    page.goto(pages[number].as_uri())
    assert accessibility_problems(page) == []
    assert page.refused == []
    widths = page.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)")
    assert len(widths) > 5 and set(widths) == {20}
