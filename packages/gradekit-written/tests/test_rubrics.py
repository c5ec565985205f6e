"""Rubrics with numbered items, and the items that a comment gives."""

import pytest
from bs4 import BeautifulSoup

from gradekit.course.cells import find_cell
from gradekit.course.rubrics import RUBRIC, RubricItem, rubric_items
from gradekit.page.markdown import safe_markdown
from gradekit_written.rubrics import items_in, rubric_of, with_numbers

from ...gradekit.tests.test_rubric import LIST, TABLE


def test_the_rubric_of_an_answer_is_in_the_source_notebook(tiny_course, tiny_source):
    find_cell(tiny_source, "why").source = TABLE
    tiny_course.write_source(tiny_source)
    assert rubric_of(tiny_course.assignment, "double", "why") == RUBRIC + TABLE.partition(RUBRIC)[2]


@pytest.mark.parametrize("rubric", [TABLE, LIST])
def test_graders_see_the_ideas_in_a_numbered_list_below_the_rest_of_the_rubric(rubric):
    html = BeautifulSoup(safe_markdown(with_numbers(rubric)), "html.parser")
    (ideas,) = html.find_all("ol")
    numbered = [f"({item.points:g})" for item in rubric_items(rubric)[0]]
    assert [idea.text.partition(" ")[0] for idea in ideas.find_all("li")] == numbered
    assert "Rubric (5 points)" in html.text.partition("(2)")[0]
    assert html.find("table") is None and with_numbers("No **Rubric** of ideas") == "No **Rubric** of ideas"


@pytest.mark.parametrize(("comment", "given"), [
    ("", []),
    ("Good.\n\n* +1: a", [1]),
    ("* +1: a, b\nMore.", [2]),
    ("* +1: a and more", [1]),
    (" * +1: a", []),
    ("* +2: a\n+1: a", []),
    ("* +1: a, b\n* +1: a\n* +1: a", [1, 2]),
])  # fmt: skip
def test_a_line_of_the_comment_is_that_of_the_longest_item_that_it_begins_with(comment, given):
    items = {1: RubricItem(1, "a"), 2: RubricItem(1, "a, b")}
    assert items_in(comment, list(items.values())) == {items[number] for number in given}
