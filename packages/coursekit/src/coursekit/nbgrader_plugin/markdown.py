"""A student's text and code on a page, as nbconvert renders them, without anything that a browser would run.

A student's written answer is shown to whoever grades it, logged in as a grader. Whatever it holds, drawing it takes
bounded time and memory and gives bounded HTML; beyond the bounds a cell is shown as plain text.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape, unescape
from typing import Any

import nh3
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from coursekit.nbgrader_plugin.budget import TooCostly, drawn_apart
from coursekit.nbgrader_plugin.formulas import formula
from coursekit.nbgrader_plugin.raw_html import balanced, canonical

MAX_CHARACTERS, MAX_LINE = 50_000, 2_000
#: CPU time and memory (MiB) of a cell that is drawn in a process of its own
CELL_SECONDS, CELL_MEMORY = 2.0, 256
#: characters of HTML for each character of a cell; formulas and highlighted code take about 10
MAX_GROWTH, _FRAME = 40, 2_000
#: characters of a cell that is drawn here and now, and of one that is drawn once for all pages
_SMALL, _REMEMBERED = 1_500, 8_000
_BLANKS = re.compile(r"\s{200}")  # the highlighter takes quadratic time for them
TOO_LONG = f"This cell is longer than {MAX_CHARACTERS:,} characters: it is shown as plain text, and the rest of it is cut off."
TOO_COSTLY = "This cell would take too long to format, so it is shown as plain text."
TOO_LARGE = "This cell would become too large when formatted, so it is shown as plain text."
_TAGS = frozenset({
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "div", "span", "pre", "code", "blockquote"),
    *("a", "b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "kbd"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "caption"),
    *("img", "details", "summary"),
})  # fmt: skip
_ATTRIBUTES = frozenset({
    *("title", "alt", "width", "height", "align", "colspan", "rowspan", "start", "style"),
    *("class", "id", "href", "src", "open"),
})  # fmt: skip
#: where those attributes may stand that not every tag may have
_OF_TAGS = {
    **dict.fromkeys(("id",), frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})),
    **{"href": frozenset({"a"}), "src": frozenset({"img"}), "open": frozenset({"details"})},
}
_STYLES = {"text-align", "width", "height"}
_SCHEMES = {"http", "https", "mailto", "data"}
#: classes of highlighted code and of formulas; others could lay a text over the page
_CLASS = re.compile(r"highlight|hl-\w+|language-[\w+-]+|(inline|block)-formula|[a-z]{1,2}\d?")
_UNDESCRIBED = re.compile(r"<img(?![^>]*\balt=)")
_FORMULA = re.compile(r'<code class="(inline|block)-formula">([^<]*)</code>')
#: declarations without functions, strings and escapes
_STYLE = re.compile(r"[\w\s:;.%!-]*")
_LINKS = ("http://", "https://", "mailto:", "#")
_PICTURES = ("data:image/png;", "data:image/jpeg;", "data:image/gif;")
#: languages whose lexers take linear time; code in any other is highlighted in a process of its own
_LEXERS = {"python", "python3", "py", "text", "bash", "sh", "console", "json", "yaml", "toml"}
_FENCE = re.compile(r"(?:`{3,}|~{3,})[ \t]*([^\s`~]+)")


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

    def block_html(self, html: str) -> str:
        return canonical(html, _TAGS, _ATTRIBUTES) + "\n"

    def inline_html(self, html: str) -> str:
        return canonical(html, _TAGS, _ATTRIBUTES)

    def block_mermaidjs(self, code: str) -> str:
        return f"<pre>{escape(code.strip())}</pre>"

    def inline_math(self, body: str) -> str:
        return f'<code class="inline-formula">{escape(body)}</code>'

    def block_math(self, body: str) -> str:
        return f'<code class="block-formula">{escape(body)}</code>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def harmless_markdown(source: str) -> str:
    """Markdown to HTML, for nbconvert's filter `markdown2html`. Formulas become MathML."""
    return _remembered(source) if len(source) <= _REMEMBERED else drawn_markdown(source)


def drawn_markdown(source: str) -> str:
    """What `harmless_markdown` returns, without remembering it."""
    tame = all(found[1] in _LEXERS for found in _FENCE.finditer(source[:_SMALL]))
    return _bounded(_formatted, source, tame)


_remembered = lru_cache(maxsize=128)(drawn_markdown)  # the instructor's text is the same on every page


def as_plain_text(source: str, why: str) -> str:
    """The beginning of a cell as it was written, with the reason."""
    text = source[:MAX_CHARACTERS]
    return (
        f"<p>{escape(why)}</p><pre>{escape(text, quote=False)}{'…' if len(source) > len(text) else ''}</pre>"
    )


def _bounded(draw: Callable[[str], str], source: str, tame: bool) -> str:
    """What `draw` makes of a cell, within the bounds; `tame` says that nothing in it takes more than linear time."""
    if len(source) > MAX_CHARACTERS:
        return as_plain_text(source, TOO_LONG)
    largest = MAX_GROWTH * len(source) + _FRAME
    try:
        if tame and len(source) <= _SMALL:
            drawn = draw(source)
        else:
            drawn = drawn_apart(lambda: draw(source), CELL_SECONDS, CELL_MEMORY, 4 * largest)
    except TooCostly:
        return as_plain_text(source, TOO_COSTLY)
    except Exception:  # such as a RecursionError; what the libraries raise is not documented
        return as_plain_text(source, TOO_COSTLY)
    return drawn if len(drawn) <= largest else as_plain_text(source, TOO_LARGE)


def _formatted(source: str) -> str:
    text = source.encode("utf-8", "replace").decode()  # half of a surrogate pair isn't text
    rendered = balanced(MarkdownWithMath(renderer=_Renderer()).render(text), _TAGS)
    clean = nh3.clean(
        rendered,
        tags=set(_TAGS),
        clean_content_tags=set(),
        attributes={tag: {name for name in _ATTRIBUTES if tag in _OF_TAGS.get(name, _TAGS)} for tag in _TAGS},
        attribute_filter=_allowed,
        url_schemes=_SCHEMES,
        filter_style_properties=_STYLES,
        link_rel=None,
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
    return " ".join(unescape(re.sub(r"<[^<>]*>", "", html)).split())


class HighlightedCode:
    """nbconvert's filter `highlight_code`, within the bounds of a cell."""

    def __call__(self, source: str, *args: Any, **options: Any) -> str:
        return _remembered_code(source) if len(source) <= _REMEMBERED else _drawn_code(source)


def _drawn_code(source: str) -> str:
    longest = max(map(len, source.splitlines()), default=0)
    if len(source) <= MAX_CHARACTERS and longest > MAX_LINE:
        return f"<pre>{escape(source)}</pre>"
    # a cell magic chooses another lexer
    return _bounded(_highlighted, source, tame="%%" not in source and not _BLANKS.search(source))


_remembered_code = lru_cache(maxsize=128)(_drawn_code)


def _highlighted(source: str) -> str:
    return Highlight2HTML()(source)


def _allowed(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute, or None if it may not have it."""
    match name:
        case "class":
            fits = all(_CLASS.fullmatch(name) for name in value.split())
        case "href":
            fits = _as_browsers_read(value).startswith(_LINKS)
        case "src":
            fits = value.startswith(_PICTURES)
        case "style":
            fits = bool(_STYLE.fullmatch(value))
        case _:
            fits = True
    return value if fits else None


def _as_browsers_read(address: str) -> str:
    """Without what they skip, such as a line break within `javascript:`."""
    return "".join(c for c in unescape(address) if c.isprintable() and not c.isspace()).lower()
