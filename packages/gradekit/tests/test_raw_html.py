"""Raw HTML in markdown, before it is sanitized: tags in one form, closed, and not nested too deeply."""

import nh3
import pytest

from gradekit.page.markdown import MAX_HTML_DEPTH, balanced, canonical

TAGS = frozenset(
    {"p", "b", "i", "a", "br", "img", "ul", "li", "div", "table", "tr", "td", "tbody", "details", "summary"}
)
ATTRIBUTES = frozenset({"title", "href", "src", "open"})


def well_nested(html: str) -> str:
    return balanced(canonical(html, TAGS, ATTRIBUTES), TAGS)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<B TITLE='x'>a</B>", '<b title="x">a</b>'),
        ("<a href=x onclick=y>a</a>", '<a href="x">a</a>'),
        ("<details open>a</details>", '<details open="">a</details>'),
        ("<script>a</script><svg>b</svg>", "ab"),
        ("a<!-- <b> -->c<?php b ?>d<!DOCTYPE x>e", "acde"),
        ("<img src='x'/>", '<img src="x">'),
        ("<b title='<i>\"'>a</b>", '<b title="&lt;i&gt;&quot;">a</b>'),
        ("1 < 2 <3 <b", "1 &lt; 2 &lt;3 &lt;b"),
        ("a <!-- b", "a &lt;!-- b"),
        ("&lt;b&gt; &amp;", "&lt;b&gt; &amp;"),
    ],
)
def test_tags_are_written_in_one_form(written, shown):
    assert canonical(written, TAGS, ATTRIBUTES) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<p><b>a<p>b", "<p><b>a</b></p><p>b</p>"),
        ("<b><i>a</b>b</i>", "<b><i>a</i></b>b"),
        ("</b>a</p>", "a"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
        ("<a>a<a>b</a>", "<a>a</a><a>b</a>"),
        ("<table><b><tr>a<td>b<td>c</table>d", "<table><tr>a<td>b</td><td>c</td></tr></table>d"),
        ("<tr><td>a", "a"),
        ("<details><summary>a</summary>\n<p>b</p>\n</details>",) * 2,
    ],
)
def test_elements_are_closed_where_a_parser_closes_them(written, shown):
    assert well_nested(written) == shown


def test_what_is_nested_too_deeply_keeps_its_text():
    shown = well_nested("<b>x" * 100 + "</b>y" * 100)
    assert shown.count("<b>") == shown.count("</b>") == MAX_HTML_DEPTH
    assert shown.count("x") == shown.count("y") == 100


@pytest.mark.parametrize(
    "bomb",
    [
        "<p>" + "".join(f"<b title={n}>" for n in range(300)) + "<p>x" * 300,
        "<table>" + "".join(f"<b title={n}>" for n in range(300)) + "<tr></tr>x" * 300,
        "".join(f"<tr><td><i title={n}><table>" for n in range(300)) + "<tr><td>x" * 300,
        "".join(f"<a title={n}><div>" for n in range(300)),
        "".join(f"<b title={n}><li>" for n in range(300)) + "<ul><li>x" * 300,
        "".join(f"<b title={n}><details><p>" for n in range(300)) + "</details><p>x" * 300,
        "<p>" + f"<b title={'y' * 200}>" * 30 + "<p>x" * 300,
        "<div></p>" * 300,
    ],
)
def test_a_parser_has_nothing_to_repair(bomb):
    """Each element is written once, so the HTML grows by end tags and quotes only."""
    attributes = {"b": {"title"}, "i": {"title"}, "a": {"title"}}
    parsed = nh3.clean(well_nested(bomb), tags=set(TAGS), attributes=attributes, link_rel=None)
    assert len(parsed) <= 3 * len(bomb)
    assert parsed.count("title=") <= bomb.count("title=")
