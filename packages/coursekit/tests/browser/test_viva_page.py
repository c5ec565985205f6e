"""A sheet of questions as a TA sees it, on the screen and in print."""

from pathlib import Path

import pytest

from coursekit.viva.files import as_html
from coursekit.viva.questions import Kind, Question
from coursekit.viva.sheet import Sheet

SOURCE = """\
def make_causal_mask(length):
    mask = torch.zeros((length, length), dtype=torch.bool)
    for i in range(length):
        mask[i, : i + 1] = True
    return mask"""
CALL = (("make_causal_mask(length)", ("length: 3",)),)
CHOICES = ("It returns the same as before.", "It returns other values, of the same type and shape.")


def question(kind: Kind, line: int, text: str, answer: str, choices: tuple[str, ...] = ()) -> Question:
    return Question(kind, "attention", "causal_mask", line, text, answer, CALL, choices)


SHEET = Sheet(
    "ada",
    [
        question(Kind.SHAPE, 2, "When line 2 has run, which shape does `mask` have?", "`(3, 3)`"),
        question(Kind.LOOP, 3, "How often does the body of the loop in line 3 run?", "3 times."),
        question(Kind.TAKEN_OUT, 4, "Line 4 is taken out. What does the call do then?", CHOICES[1], CHOICES),
    ],
    {("attention", "causal_mask"): SOURCE},
)


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "ada.html"
    path.write_text(as_html("02_attention", SHEET, 0), encoding="utf-8")
    return path


def test_everybody_can_read_the_sheet(page, sheet, picture, accessibility_problems):
    page.set_viewport_size({"width": 760, "height": 900})
    page.goto(sheet.as_uri())
    assert page.locator("h3").all_inner_texts() == ["Question 1", "Question 2", "Question 3"]
    assert not page.get_by_text("3 times.").first.is_visible()
    page.get_by_text("Answer to question 2").click()
    assert page.get_by_text("3 times.").first.is_visible()
    assert accessibility_problems(page) == []
    assert page.refused == []
    picture(page, "viva", clip={"x": 0, "y": 0, "width": 760, "height": 800}, full_page=True)


def test_the_sheet_fits_on_a_phone(page, sheet):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(sheet.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_answers_are_printed_on_a_page_of_their_own(page, sheet):
    page.goto(sheet.as_uri())
    page.emulate_media(media="print")
    assert not page.locator("details").first.is_visible()
    answers = page.locator("section.answers")
    assert answers.is_visible()
    assert answers.evaluate("one => getComputedStyle(one).breakBefore") == "page"
    assert page.locator("section.answers li").all_inner_texts() == ["(3, 3)", "3 times.", CHOICES[1]]
