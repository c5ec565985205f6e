"""A sheet of questions as a TA sees it, on the screen and in print."""

from pathlib import Path

import pytest

from gradekit_integrity.viva.files import all_as_html, sheet_as_html
from gradekit_integrity.viva.questions import Question, QuestionKind
from gradekit_integrity.viva.sheets import Sheet

SOURCE = """\
def distances(length):
    table = torch.zeros((length, length), dtype=torch.long)
    for i in range(length):
        table[i] = (torch.arange(length) - i).abs()
    return table"""
#: no exercise of the course: the pictures are in the docs
CALL = (("distances(length)", ("length: 3",)),)
CHOICES = ("It returns the same as before.", "It returns other values, of the same type and shape.")


def question(
    kind: QuestionKind, line: int, text: str, answer: str, choices: tuple[str, ...] = ()
) -> Question:
    return Question(kind, "positions", "distances", line, text, answer, CALL, choices)


SHEET = Sheet(
    "ada",
    [
        question(QuestionKind.SHAPE, 2, "When line 2 has run, which shape does `table` have?", "`(3, 3)`"),
        question(QuestionKind.LOOP, 3, "How often does the body of the loop in line 3 run?", "3 times."),
        question(
            QuestionKind.TAKEN_OUT, 4, "Line 4 is taken out. What does the call do then?", CHOICES[1], CHOICES
        ),
    ],
    {("positions", "distances"): SOURCE},
)
RUBRIC = (
    "A known mistake: “Your table has only zeros.”",
    "“The next token is at distance 1” no longer holds. `table[0, 1]` is 0, but should be 1.",
)
WITH_RUBRIC = Sheet(
    "bob",
    [
        Question(
            QuestionKind.PURPOSE,
            "positions",
            "distances",
            4,
            "What is line 4 for? Say what would be wrong without it.",
            "One of these is enough, in any words. Found by running the checks with line 4 taken out:",
            rubric=RUBRIC,
        )
    ],
    {("positions", "distances"): SOURCE},
)
WITHOUT = Sheet("cho", problem="There is nothing to ask: attention.ipynb is missing.")


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "ada.html"
    path.write_text(sheet_as_html("05_positions", SHEET, 0), encoding="utf-8")
    return path


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_sheet_fits_on_a_phone(page, sheet):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(sheet.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_the_answers_are_printed_on_a_page_of_their_own(page, sheet):
    page.goto(sheet.as_uri())
    page.emulate_media(media="print")
    assert not page.locator("details").first.is_visible()
    answers = page.locator("section.answers")
    assert answers.is_visible()
    assert answers.evaluate("one => getComputedStyle(one).breakBefore") == "page"
    assert page.locator("section.answers li").all_inner_texts() == ["(3, 3)", "3 times.", CHOICES[1]]


@pytest.fixture
def everybody(tmp_path: Path) -> Path:
    path = tmp_path / "viva.html"
    path.write_text(all_as_html("05_positions", [SHEET, WITH_RUBRIC, WITHOUT], 0), encoding="utf-8")
    return path


@pytest.mark.slow
def test_all_sheets_are_on_one_page_with_a_list_of_the_students(
    page, everybody, picture, accessibility_problems
):
    page.set_viewport_size({"width": 760, "height": 900})
    page.goto(everybody.as_uri())
    assert page.locator("nav li").all_inner_texts() == ["ada", "bob", "cho: no questions"]
    assert page.locator("h2").all_inner_texts() == ["ada", "bob", "cho"]
    page.get_by_role("link", name="bob").click()
    page.locator("article", has=page.locator("#sheet-2")).get_by_text("Answer to question 1").click()
    assert page.get_by_text("The next token is at distance 1").first.is_visible()
    picture(page.locator("article", has=page.locator("#sheet-2")), "viva-rubric")
    assert accessibility_problems(page) == []
    assert page.refused == []


@pytest.mark.slow
def test_all_sheets_fit_on_a_phone(page, everybody):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(everybody.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_each_sheet_is_printed_on_pages_of_its_own_with_the_rubrics(page, everybody):
    page.goto(everybody.as_uri())
    page.emulate_media(media="print")
    breaks = [
        one.evaluate("one => getComputedStyle(one).breakBefore") for one in page.locator("article").all()
    ]
    assert breaks == ["page"] * 3
    answers = page.locator("section.answers")
    assert answers.count() == 2, "who has no questions has no answers"
    assert answers.nth(1).locator("ul li").count() == len(RUBRIC)
    # the list, then ada, her answers, bob, his answers, cho
    assert page.pdf().count(b"/Type /Page\n") == 6
