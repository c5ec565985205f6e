"""Feedback pages of notebooks that take too long to render, or become too large."""

import logging
from contextlib import chdir

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import v4

from gradekit.nbgrader_plugin import feedback
from gradekit.nbgrader_plugin.feedback import FeedbackExporter
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.page import PageBudget
from gradekit.page.displayed import LEFT_OUT
from gradekit.page.headings import MAX_HEADINGS, headings
from gradekit.page.markdown import (
    MAX_FORMATTED_CHARACTERS,
    TOO_COSTLY,
    TOO_LONG,
    highlighted_code,
    safe_markdown,
)
from gradekit.page.page_parts import PAGE_TOO_COSTLY, PageParts
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

FAILED = CheckResult("test_value", "The output is twice the input.", 5, "failed", "It is 3 times.")
RESULTS = SubmissionResult("graded", exercises=[ExerciseResult("test_double", [FAILED])], cells=["cell text"])


def notebook():
    graded = {"grade_id": "test_double", "grade": True, "points": 5, "score": 0}
    return v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# A *title*\n\nmy text"),
            v4.new_code_cell("mine = 1", outputs=[v4.new_output("stream", text="printed\n")]),
            v4.new_code_cell("", metadata={"nbgrader": graded}),
        ]
    )


def parts_with(seconds: float, characters: int) -> str:
    parts = PageParts(notebook(), RESULTS, frozenset(), PageBudget(seconds, characters)).parts()
    return "".join(part.html for part in parts)


def test_out_of_time_cells_are_plain_text_and_check_results_complete():
    shown = parts_with(0, 100_000)
    assert shown.count(PAGE_TOO_COSTLY) == 2
    assert "<pre># A *title*" in shown and "<pre>mine = 1" in shown and "printed" in shown
    assert "The output is twice the input." in shown


def test_out_of_room_cells_are_left_out_and_check_results_complete():
    shown = parts_with(60, 0)
    assert shown.count(LEFT_OUT) == 3
    assert "my text" not in shown and "printed" not in shown
    assert "The output is twice the input." in shown


def test_a_cell_that_is_too_long_is_plain_text_and_cut():
    for draw in (safe_markdown, highlighted_code):
        shown = draw("*x* " * MAX_FORMATTED_CHARACTERS)
        assert TOO_LONG in shown and shown.count("x") < MAX_FORMATTED_CHARACTERS / 3


@pytest.mark.slow
def test_a_cell_that_takes_too_long_is_plain_text():
    shown = highlighted_code("a" + "\n" * 30_000 + "b")
    assert TOO_COSTLY in shown and shown.endswith("b</pre>")


def test_of_very_many_headings_only_the_first_get_links():
    many = v4.new_notebook(
        cells=[v4.new_markdown_cell("# a\n" * 10_000), v4.new_markdown_cell("# " + "b" * 10_000)]
    )
    assert len(headings(many)) == MAX_HEADINGS


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("# A\n## B #\n#C", ["A", "B", "C"]),
        ("A\n===\n\nB\n---\n\n---", ["A", "B"]),
        ("```\n# no\n```\n# yes\n~~~~\n# no\n~~~\n# no\n~~~~\n# yes", ["yes", "yes"]),
        ("    # no\n####### no\n\\# no", []),
        ("# `code` and *more* $x_1$", ["code and more x1"]),
    ],
)
def test_headings_are_found_in_markdown(source, found):
    assert [each.text for each in headings(v4.new_notebook(cells=[v4.new_markdown_cell(source)]))] == found


def page_of(course, caplog) -> str:
    names = {
        "student": "a\x1b[1m",
        "assignment": "01_double",
        "notebook": "double",
        "score": 0,
        "max_score": 5,
    }
    graded = notebook()
    graded.metadata[RESULT] = RESULTS.as_dict()
    resources = ResourcesDict(nbgrader=names, metadata=ResourcesDict(name="double"))
    with chdir(course.root), caplog.at_level(logging.WARNING):
        exporter = FeedbackExporter(log=logging.getLogger(__name__))
        return exporter.from_notebook_node(graded, resources)[0]


def test_a_page_has_its_cells_and_a_printable_name(tiny_course, caplog):
    page = page_of(tiny_course, caplog)
    assert "my text" in page and "Feedback for a\\x1b[1m" in page and "\x1b" not in page
    assert caplog.messages == []


def test_a_page_that_cannot_be_rendered_shows_points_and_reason_only(tiny_course, caplog, monkeypatch):
    monkeypatch.setattr(feedback, "_PAGE_BYTES", 1_000)
    page = page_of(tiny_course, caplog)
    text = BeautifulSoup(page, "html.parser").get_text()
    assert feedback.NOT_RENDERED in text and "0 / 5" in text and "0 of 5 points" in text
    for theirs in ("my text", "mine", "printed", "cell text", "3 times"):
        assert theirs not in text
    assert 'href="#' not in page
    (said,) = caplog.messages
    assert (
        said.startswith(r"The feedback page of a\x1b[1m for double shows the points only")
        and "larger than" in said
    )
