"""A student's text and code on a page, as nbconvert renders them, without anything that a browser would run.

A student's written answer is shown to whoever grades it, logged in as a grader.
"""

import re
from html import escape
from typing import Any

import bleach
from bleach.css_sanitizer import CSSSanitizer
from nbconvert.filters import Highlight2HTML, markdown2html

MAX_CHARACTERS, MAX_LINE = 50_000, 2_000
_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "div", "span", "pre", "code", "blockquote"),
    *("a", "b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "kbd"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "caption"),
    *("img", "details", "summary"),
}
#: classes of highlighted code and of nbconvert's anchors; others could lay a text over the page
_CLASS = re.compile(r"highlight|hl-\w+|language-[\w+-]+|anchor-link|[a-z]{1,2}\d?")
_PLAIN = ("title", "alt", "width", "height", "align", "colspan", "rowspan", "start", "style")
_STYLES = CSSSanitizer(allowed_css_properties=["text-align", "width", "height", "color", "background-color"])


def harmless_markdown(source: str) -> str:
    """Markdown to HTML, for nbconvert's filter `markdown2html`."""
    if len(source) > MAX_CHARACTERS:  # rendering takes more than linear time
        return f"<pre>{escape(source[:MAX_CHARACTERS])}\n… the rest was cut off</pre>"
    rendered = markdown2html(source)
    protocols = {"http", "https", "mailto", "data"}
    return bleach.clean(
        rendered, tags=_TAGS, attributes=_allowed, protocols=protocols, css_sanitizer=_STYLES, strip=True
    )


class HighlightedCode:
    """nbconvert's filter `highlight_code`, which takes more than linear time for odd sources."""

    def __call__(self, source: str, *args: Any, **options: Any) -> str:
        longest = max(map(len, source.splitlines()), default=0)
        if len(source) > MAX_CHARACTERS or longest > MAX_LINE:
            return f"<pre>{escape(source[:MAX_CHARACTERS])}</pre>"
        return Highlight2HTML()(source, *args, **options)


def _allowed(tag: str, name: str, value: str) -> bool:
    match name:
        case "class":
            return all(_CLASS.fullmatch(name) for name in value.split())
        case "id":
            return tag in ("h1", "h2", "h3", "h4", "h5", "h6")
        case "href":
            return tag == "a" and not value.lower().startswith("data:")
        case "src":
            return tag == "img" and value.startswith(
                ("data:image/png;", "data:image/jpeg;", "data:image/gif;")
            )
        case "open":
            return tag == "details"
    return name in _PLAIN
