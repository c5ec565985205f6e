"""A student's text and code on a page, as nbconvert renders them, without anything that a browser would run.

A student's written answer is shown to whoever grades it, logged in as a grader.
"""

import re
from functools import lru_cache
from html import escape, unescape
from typing import Any

import bleach
from bleach.css_sanitizer import CSSSanitizer
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from coursekit.nbgrader_plugin.formulas import formula

MAX_CHARACTERS, MAX_LINE = 50_000, 2_000
_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "div", "span", "pre", "code", "blockquote"),
    *("a", "b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "kbd"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "caption"),
    *("img", "details", "summary"),
}
#: classes of highlighted code and of formulas; others could lay a text over the page
_CLASS = re.compile(r"highlight|hl-\w+|language-[\w+-]+|(inline|block)-formula|[a-z]{1,2}\d?")
_UNDESCRIBED = re.compile(r"<img(?![^>]*\balt=)")
_FORMULA = re.compile(r'<code class="(inline|block)-formula">([^<]*)</code>')
_LINKS = ("http://", "https://", "mailto:", "#")
_PLAIN = ("title", "alt", "width", "height", "align", "colspan", "rowspan", "start", "style")
_STYLES = CSSSanitizer(allowed_css_properties=["text-align", "width", "height"])


class _Renderer(IPythonRenderer):
    """nbconvert's, with formulas as code, so that they pass what cleans the rest, and plain headings."""

    def __init__(self) -> None:
        super().__init__(escape=False)

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        return f'<h{level} id="{escape(anchor(plain_text(text)))}">{text}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:"):  # attachments are not read from what was handed in
            return f"<em>(a picture that is not shown: {text or escape(url)})</em>"
        return super().image(text, url, title)

    def inline_math(self, body: str) -> str:
        return f'<code class="inline-formula">{escape(body)}</code>'

    def block_math(self, body: str) -> str:
        return f'<code class="block-formula">{escape(body)}</code>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


@lru_cache(maxsize=256)  # the instructor's text is the same on every page
def harmless_markdown(source: str) -> str:
    """Markdown to HTML, for nbconvert's filter `markdown2html`. Formulas become MathML."""
    if len(source) > MAX_CHARACTERS:  # rendering takes more than linear time
        return f"<pre>{escape(source[:MAX_CHARACTERS])}\n… the rest was cut off</pre>"
    rendered = MarkdownWithMath(renderer=_Renderer()).render(source)
    protocols = {"http", "https", "mailto", "data"}
    clean = bleach.clean(
        rendered, tags=_TAGS, attributes=_allowed, protocols=protocols, css_sanitizer=_STYLES, strip=True
    )
    clean = clean.replace("<th></th>", "<td></td>")  # the empty corner of a table heads nothing
    clean = _UNDESCRIBED.sub("<img alt", clean)  # without quotes: harmless wherever it stands
    # only now, and made from text: nothing that a student wrote gets past the cleaning as it is
    return _FORMULA.sub(lambda found: formula(unescape(found[2]), found[1] == "block"), clean)


def anchor(heading: str) -> str:
    """The id of a heading, as Jupyter makes it of the heading's text."""
    return heading.replace(" ", "-")


def plain_text(html: str) -> str:
    """The text of a piece of HTML, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


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
            return tag == "a" and _as_browsers_read(value).startswith(_LINKS)
        case "src":
            return tag == "img" and value.startswith(
                ("data:image/png;", "data:image/jpeg;", "data:image/gif;")
            )
        case "open":
            return tag == "details"
    return name in _PLAIN


def _as_browsers_read(address: str) -> str:
    """Without what they skip, such as a line break within `javascript:`."""
    return "".join(c for c in unescape(address) if c.isprintable() and not c.isspace()).lower()
