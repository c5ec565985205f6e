"""A page with questions about one's own code, as a student answers it: with the button, with the keyboard, and without scripts."""

import json
from datetime import UTC, datetime

import pytest

from gradekit_integrity.defend.pages import defense_as_html
from gradekit_integrity.defend.records import GivenQuestion, Issued

from .test_viva_page import CALL, SOURCE


def question(line: int, text: str, *options: str) -> GivenQuestion:
    return GivenQuestion("positions", "distances", line, text, CALL, options, "B")


SHEET = Issued(
    "0123456789abcdef",
    "ada",
    "7",
    datetime(2026, 3, 1, tzinfo=UTC),
    [
        question(2, "When line 2 has run, which shape does `table` have?", "`(3,)`", "`(3, 3)`", "`(3, 1)`"),
        question(3, "How often does the body of the loop in line 3 run?", "Twice.", "3 times.", "9 times."),
    ],
    {"positions/distances": "1"},
)


@pytest.mark.slow
def test_answers_are_saved_as_the_file_that_is_marked(page, tmp_path, picture, accessibility_problems):
    path = tmp_path / "ada.html"
    path.write_text(defense_as_html("01_positions", SHEET, {("positions", "distances"): SOURCE}))
    page.goto(path.as_uri())
    assert (
        page.get_by_role("radio").count() == 6 and page.get_by_role("group", name="Question 2").count() == 1
    )
    assert accessibility_problems(page) == []
    page.set_viewport_size({"width": 760, "height": 700})
    picture(page, "defend", clip={"x": 0, "y": 0, "width": 760, "height": 640}, full_page=True)
    page.get_by_label("B: (3, 3)").check()
    save = page.get_by_role("button", name="Save my answers")
    save.click()
    assert page.get_by_role("status").inner_text() == "Question 2 has no answer yet."
    page.keyboard.press("Space")  # the focus is there
    with page.expect_download() as saved:
        save.click()
    assert saved.value.suggested_filename == "defense.json"
    answers = {"sheet": SHEET.id, "answers": {"1": "B", "2": "A"}}
    assert json.loads(saved.value.path().read_text()) == answers


@pytest.mark.slow
def test_without_scripts_the_page_says_what_to_write(browser, tmp_path):
    path = tmp_path / "ada.html"
    path.write_text(defense_as_html("01_positions", SHEET, {("positions", "distances"): SOURCE}))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.get_by_role("button").count() == 0 and page.get_by_role("radio").count() == 6
    page.get_by_text("If there is no button").click()
    assert json.loads(page.locator("pre").inner_text())["answers"] == {"1": "?", "2": "?"}
    context.close()
