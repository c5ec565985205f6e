"""Text cells on a page: Markdown as nbconvert renders it, without anything that a browser would run.

A student's written answer is shown to whoever grades it, logged in as a grader.
"""

import re
from html import escape

import bleach
from bleach.css_sanitizer import CSSSanitizer
from nbconvert.filters import markdown2html

MAX_CHARACTERS = 50_000
_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "div", "span", "pre", "code", "blockquote"),
    *("a", "b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "kbd"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "caption"),
    *("img", "details", "summary"),
}
#: classes of highlighted code and of nbconvert's anchors; others could lay a text over the page
_CLASSES = re.compile(r"(?:\s*(?:highlight|hl-\w+|language-[\w+-]+|anchor-link|[a-z]{1,2}\d?))*\s*")
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


def _allowed(tag: str, name: str, value: str) -> bool:
    match name:
        case "class":
            return bool(_CLASSES.fullmatch(value))
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
