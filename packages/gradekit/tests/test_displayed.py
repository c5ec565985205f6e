"""What code displays reaches the grader and the page: HTML, drawings, Markdown, formulas, JSON; and nothing of it runs."""

import pytest
from bs4 import BeautifulSoup

from gradekit.course.cells import find_cell
from gradekit.page import PageBudget
from gradekit.page.displayed import Displayed, Pictures, plain_figure
from gradekit.page.markdown import MAX_HTML
from gradekit.session.runner import MAX_DATA, KeptData, sizes_in

from .beside_plain import BothSides, both_sides
from .test_pictures import RED, embedded, in_base64, in_formgrader

TABLE = '<style scoped>.dataframe td {color: red}</style><table border="1"><tr><td>cell</td></tr></table>'
WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "IntSlider(value=5)"}
PLOTLY = {
    "application/vnd.plotly.v1+json": {"data": []},
    "text/html": "<div><script>draw()</script></div>",
    "text/plain": "Figure()",
}


def shown(data: dict, budget: PageBudget | None = None) -> BeautifulSoup:
    page = Displayed(Pictures(), budget or PageBudget(10, 1_000_000), plain_figure)
    return BeautifulSoup(page.html(data), "html.parser")


@pytest.mark.parametrize(
    ("data", "tag", "text"),
    [
        ({"text/html": TABLE, "text/plain": "  0"}, "td", "cell"),
        ({"text/html": "<b>bold</b>", "text/plain": "<IPython HTML object>"}, "b", "bold"),
        ({"text/html": '<span style="color: #a00">red</span>'}, "span", "red"),
        ({"text/markdown": "**strong** text", "text/plain": "x"}, "strong", "strong"),
        ({"text/latex": r"$\frac{1}{2}$", "text/plain": "1/2"}, "mfrac", "12"),
        ({"application/json": {"a": [1]}, "text/plain": "<JSON object>"}, "pre", '{ "a": [ 1 ] }'),
        ({"text/plain": "3 <b>"}, "pre", "3 <b>"),
    ],
)
def test_a_page_shows_the_best_form_that_is_safe(data, tag, text):
    page = shown(data)
    assert " ".join(page.find(tag).text.split()) == text
    assert "scoped" not in str(page) and "Not shown" not in page.text


def test_colors_in_html_stay():
    assert shown({"text/html": '<b style="color: #a00; position: fixed">x</b>'}).b["style"] == "color:#a00"


def test_pictures_and_drawings_within_html_are_pictures():
    picture, drawing = f'<img src="{embedded(RED)}" alt="a dot">', '<svg width="9"><circle r="4"/></svg>'
    images = shown({"text/html": f"<p>{picture}</p>{drawing}"}).find_all("img")
    assert [image["src"].partition(";")[0] for image in images] == ["data:image/png", "data:image/svg+xml"]
    assert images[0]["alt"] == "a dot"


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (WIDGET, "an interactive widget"),
        (PLOTLY, "an interactive figure, a script, or an embedded page, video or sound"),
        ({"application/javascript": "run()", "text/plain": "<Javascript object>"}, "a script"),
        ({"application/pdf": "JVBERg==", "text/plain": "<PDF>"}, "application/pdf"),
        (
            {"text/html": "<p>a map</p><iframe src='x'></iframe>"},
            "a script, or an embedded page, video or sound",
        ),
        ({"text/html": "<p>" + "x" * MAX_HTML, "text/plain": "x"}, "HTML that can't be formatted"),
    ],
    ids=["widget", "plotly", "javascript", "pdf", "iframe", "too long"],
)
def test_what_a_page_cannot_show_is_named_below_its_text(data, named):
    page = shown(data)
    assert page.find("em").text == f"(Not shown here: {named})"
    assert data.get("text/plain", "a map") in page.text
    assert page.find(["script", "iframe"]) is None


def test_beyond_the_page_s_budget_there_is_plain_text():
    page = shown({"text/html": "<b>bold</b>", "text/plain": "plain"}, PageBudget(-1, 1_000))
    assert page.find("b") is None and "plain" in page.text


@pytest.fixture
def both(made_once, tmp_path) -> BothSides:
    return both_sides(made_once, tmp_path)


DISPLAYING = f"""
from IPython.display import HTML, JSON, Javascript, Latex, Markdown, SVG, display
display(HTML("{TABLE.replace('"', "'")}"))
display(Markdown("**strong**"), Latex("$x$"), JSON({{"a": 1}}), Javascript("run()"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><circle r='4'/></svg>"))
display({{"application/vnd.plotly.v1+json": {{"data": [1]}}, "text/plain": "Figure()"}}, raw=True)
display({{"image/png": "{in_base64(RED)}"}}, metadata={{"image/png": {{"width": 30}}}}, raw=True)
import numpy as np

def double(x):
    return 2 * x"""


@pytest.mark.slow
def test_what_code_displays_is_kept_as_with_plain_nbgrader_and_shown_on_both_pages(both):
    both.hand_in(both.released(DISPLAYING))
    both.autograde()

    def kept(side):
        outputs = find_cell(side.autograded(), "double").outputs
        return [(output.get("data", {}), output.get("metadata", {})) for output in outputs]

    ours, plain = kept(both.ours), kept(both.plain)
    assert [data | {"text/plain": ""} for data, _ in ours] == [data | {"text/plain": ""} for data, _ in plain]
    assert ours[-1][1] == plain[-1][1] == {"image/png": {"width": 30}}
    both.ours.run("nbgrader", "generate_feedback", "a1")
    for page in (in_formgrader(both.ours), BeautifulSoup(both.ours.page(), "html.parser")):
        assert [cell.text for cell in page.find_all("td") if cell.text == "cell"] == ["cell"]
        assert page.find("strong").text == "strong" and page.find("math") is not None
        assert {image["src"].partition(";")[0] for image in page.find_all("img")} >= {
            "data:image/svg+xml",
            "data:image/png",
        }
        assert "an interactive figure" in page.text and '"a": 1' in page.text


def test_the_data_of_a_notebook_are_limited_together():
    kept, large = KeptData(), "x" * (MAX_DATA // 2 + 1)
    assert kept.of({"text/html": large}) == ({"text/html": large}, "")
    assert kept.of({"image/png": large, "text/html": "x"}) == (
        {"text/html": "x"},
        " (too large to keep: `image/png`)",
    )


def test_odd_data_are_left_out():
    deep: object = 1
    for _ in range(500):
        deep = [deep]
    odd = {
        "application/json": deep,
        "text/html": 3,
        "text/markdown": {"a": 1},
        "<b>": "x",
        "text/latex": ["a", "b"],
    }
    assert KeptData().of(odd) == ({"text/latex": "ab"}, "")
    assert KeptData().of({"application/json": [float("nan")]}) == ({}, "")
    assert len(KeptData().of({f"text/x{number}": "x" for number in range(99)})[0]) == 20
    assert sizes_in({"image/png": {"width": '1" onload="x', "height": True, "x": 1}, "a": {"width": 3}}) == {}
