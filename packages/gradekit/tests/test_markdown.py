"""What markdown in a written answer becomes."""

import os

import pytest
from bs4 import BeautifulSoup

from gradekit.page.displayed import markdown_with_pictures
from gradekit.page.markdown import safe_markdown, visible_markdown


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        '<iframe src="https://example.org"></iframe>',
        '<div class="modal" style="position:fixed">',
        '<svg onload="alert(1)">',
    ],
)
def test_nothing_is_left_that_runs_or_covers_the_page(text):
    shown = safe_markdown(text)
    for word in ("<script", "<iframe", "<svg", "onerror", "onload", "javascript:", "modal", "fixed"):
        assert word not in shown.replace("alert(1)", "")


@pytest.mark.parametrize(
    "inside",
    ["<img onmouseover=alert(1) ", "<code class='inline-formula'>x</code>", "<th></th>", "<h1>x</h1>"],
)
def test_markup_in_an_attribute_does_not_escape_it(inside):
    (tag,) = BeautifulSoup(safe_markdown(f'<span title="{inside}">x</span>'), "html.parser").find_all("span")
    assert set(tag.attrs) == {"title"}


@pytest.mark.parametrize(
    "address",
    [
        " data:text/html,x",
        "&#100;ata:text/html,x",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "vbscript:x",
        "../x.html",
    ],
)
def test_a_link_leads_to_the_web_or_to_a_place_on_the_page(address):
    shown = safe_markdown(f'<a href="{address}">x</a> <a href="#place">y</a>')
    assert [link.get("href") for link in BeautifulSoup(shown, "html.parser").find_all("a")] == [
        None,
        "#place",
    ]


def test_an_embedded_picture_stays():
    assert 'src="data:image/png;base64,AAAA"' in safe_markdown("![x](data:image/png;base64,AAAA)")


def test_ordinary_text_formulas_and_code_stay():
    shown = safe_markdown(
        "# A\n\n**b** $x_1$ [c](https://example.org)\n\n```python\nx = 1\n```\n\n| d |\n|---|\n| e |"
    )
    for part in (
        "<h1",
        "<strong>b</strong>",
        "<msub><mi>x</mi><mn>1</mn></msub>",
        'href="https://example.org"',
        "highlight",
        "<table",
        "<td>e</td>",
    ):
        assert part in shown


@pytest.mark.parametrize("text", [f'<div class="{"a" * 5000}!">', "<b>" * 16_000, "`" * 20_000, "[" * 20_000])
def test_odd_text_takes_bounded_time(text):
    began = sum(os.times()[:4])  # CPU time, of children as well
    safe_markdown(text)
    assert sum(os.times()[:4]) - began < 20


@pytest.mark.parametrize("language", ["python", "perl", "r"])
def test_code_is_highlighted_in_its_language(language):
    assert '<span class="' in safe_markdown(f"```{language}\nx = 'a'\n```")


def test_code_in_an_unknown_language_is_shown_as_code():
    assert "x = 1" in safe_markdown("```nosuch\nx = 1\n```")


def test_a_diagram_is_shown_as_its_source():
    assert safe_markdown("```mermaid\nA --> B\n```").strip() == "<pre>A --&gt; B</pre>"


@pytest.mark.parametrize(
    ("style", "kept"),
    [
        ("text-align: right", "text-align:right"),
        ("width: 50%; color: red", "width:50%"),
        ("width: url(x)", None),
        (r"wid\\74h: 1px", None),
    ],
)
def test_of_styles_only_sizes_and_alignment_stay(style, kept):
    (cell,) = BeautifulSoup(safe_markdown(f'<p style="{style}">x</p>'), "html.parser").find_all("p")
    assert (cell.get("style") or None) == kept


def test_folded_text_keeps_its_markdown():
    shown = safe_markdown("<details><summary>More</summary>\n\n**b**\n\n</details>\n\nafter")
    tree = BeautifulSoup(shown, "html.parser")
    assert tree.details.summary.text == "More" and tree.details.strong.text == "b"
    assert tree.find(string="after").parent.parent is tree


def test_bold_html_that_is_not_closed_ends_with_its_paragraph():
    shown = safe_markdown("<p><b>x\n<p>y")
    assert shown.count("<b>") == 1


def test_a_wide_bomb_stays_small():
    bomb = "# a\n\n<p>" + "".join(f"<b title={n}>" for n in range(400)) + "<p>x" * 400
    assert len(safe_markdown(bomb)) < 3 * len(bomb)


def test_a_formula_that_is_a_header_has_a_name_for_screen_readers():
    html = safe_markdown("| $d_k$ | b |\n|---|---|\n| $a < b$ | 2 |")
    assert '<th><math aria-label="d_k" display="inline">' in html
    assert html.count("aria-label") == 1
    quoted = safe_markdown('| $"a" < b$ |\n|---|\n| 1 |')
    assert 'aria-label="&quot;a&quot; &lt; b"' in quoted


@pytest.mark.parametrize(
    "text", ["<!-- because\n\n it is -->", "<video\nbecause it is>", "[//]: # (because it is)"]
)
def test_a_text_of_which_nothing_can_be_seen_is_shown_as_its_source(text):
    source = BeautifulSoup(visible_markdown(text), "html.parser").find("pre")
    assert source.text == text
    assert "<pre>" in markdown_with_pictures({}, text), "as formgrader shows it"


@pytest.mark.parametrize("text", ["", " \n", "because", "$x$", "![](plot.png)", "because <!-- of it -->"])
def test_a_text_of_which_something_can_be_seen_is_shown_as_ever(text):
    assert visible_markdown(text) == safe_markdown(text)
