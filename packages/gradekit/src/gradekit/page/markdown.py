"""Renders students' markdown, formulas and code as sanitized HTML that needs no script, in limited time and size.

Graders read students' answers while logged in, so nothing in them may run. A cell beyond the limits is shown as
plain text.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from html import escape, unescape
from string import ascii_lowercase
from typing import Any, TypeVar
from xml.etree.ElementTree import Element

import nh3
from latex2mathml.converter import convert_to_element
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from gradekit.course.language import N_, _
from gradekit.page import TooCostly, render_in_child

MAX_FORMATTED_CHARACTERS, MAX_LINE = 50_000, 2_000
#: characters of HTML that code displayed, such as a large table
MAX_HTML = 500_000
#: CPU seconds and MiB for a cell that is rendered in a child process
CELL_SECONDS, CELL_MEMORY = 2.0, 256
#: characters of HTML per character of a cell, and for any cell; formulas and highlighted code take about 10
MAX_GROWTH, _FRAME = 40, 2_000
#: characters of a cell that is rendered in this process, and of one that is cached
_SMALL, _CACHED = 1_500, 8_000
_BLANKS = re.compile(r"\s{200}")  # the highlighter takes quadratic time for these
TOO_LONG = N_("This cell is too long, so it is shown as plain text and cut off.")
TOO_COSTLY = N_("This cell would take too long to format, so it is shown as plain text.")
TOO_LARGE = N_("This cell would become too large when formatted, so it is shown as plain text.")
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
#: attributes that only some tags may have
_OF_TAGS = {
    "id": frozenset({"h1", "h2", "h3", "h4", "h5", "h6"}),
    **{"href": frozenset({"a"}), "src": frozenset({"img"}), "open": frozenset({"details"})},
}
_STYLES = {"text-align", "width", "height"}
#: in what code displayed
_MORE_STYLES = _STYLES | {"color", "background-color", "font-weight", "font-style", "text-decoration"}
#: one letter is a drive of Windows
_SCHEMES = {"http", "https", "mailto", "data", "file", "attachment", "embedded", *ascii_lowercase}
#: classes of highlighted code and of formulas; others could cover the page
_CLASS = re.compile(r"highlight|hl-\w+|language-[\w+-]+|(inline|block)-formula|[a-z]{1,2}\d?")
_UNDESCRIBED = re.compile(r"<img(?![^>]*\balt=)")
#: with the header of a table that it begins
_FORMULA = re.compile(r'(<th\b[^>]*>)?<code class="(inline|block)-formula">([^<]*)</code>')
#: style declarations without functions, strings and escapes
_STYLE = re.compile(r"[\w\s:;.%!#-]*")
_LINKS = ("http://", "https://", "mailto:", "#")
#: languages whose lexers take linear time; others are highlighted in a child process
_LEXERS = {"python", "python3", "py", "text", "bash", "sh", "console", "json", "yaml", "toml"}
_FENCE = re.compile(r"(?:`{3,}|~{3,})[ \t]*([^\s`~]+)")

MAX_LATEX = 2_000  # longer formulas are shown as source
_MATH_TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mstyle", "mphantom", "mpadded", "mfrac", "msqrt"),
    *("mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd"),
}
#: without those of \href, \style and \hspace, which could link, style or cover the page
_MATH_ATTRIBUTES = {
    *("display", "stretchy", "fence", "form", "minsize", "maxsize", "mathvariant", "columnalign"),
    *("displaystyle", "scriptlevel", "separator", "movablelimits", "accent", "linebreak"),
}
_MAX_SPACE = 4  # em
T = TypeVar("T")


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, with plain headings, and with formulas as code until the rest is sanitized."""

    def __init__(self) -> None:
        super().__init__(escape=False)

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        return f'<h{level} id="{escape(anchor(plain_text(text)))}">{text}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return super(IPythonRenderer, self).image(text, url, title)  # it refuses attachments that it lacks

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


def remembering(texts: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Remembers the results of a function for the latest short texts: the instructor's are the same on every page."""

    def remember(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(texts)(function)
        return wraps(function)(lambda text: cached(text) if len(text) <= _CACHED else function(text))

    return remember


@remembering(128)
def safe_markdown(source: str) -> str:
    """Render markdown, with formulas as MathML.

    Pictures have the addresses that the text gives them: `Pictures.put_into` must replace each.
    """
    return render_markdown(source)


def visible_markdown(source: str) -> str:
    """Like `safe_markdown`, or the source if nothing of it can be seen, as of an answer in an HTML comment."""
    html = safe_markdown(source)
    seen = "<img" in html or plain_text(html) or not source.strip()
    return html if seen else f"<pre>{escape(source, quote=False)}</pre>"


def render_markdown(source: str) -> str:
    """Like `safe_markdown`, without the cache."""
    linear = all(found[1] in _LEXERS for found in _FENCE.finditer(source[:_SMALL]))
    return _within_limits(_formatted, source, linear)


def as_plain_text(source: str, why: str) -> str:
    """The reason, and the source of a cell, cut if it is too long."""
    text = source[:MAX_FORMATTED_CHARACTERS]
    return f"<p>{escape(_(why))}</p><pre>{escape(text, quote=False)}{'…' if len(source) > len(text) else ''}</pre>"


def _within_limits(render: Callable[[str], str], source: str, linear: bool) -> str:
    """Render a cell, or show it as plain text beyond the limits. If it is `linear`, a small cell needs no child process."""
    if len(source) > MAX_FORMATTED_CHARACTERS:
        return as_plain_text(source, TOO_LONG)
    largest = MAX_GROWTH * len(source) + _FRAME
    try:
        if linear and len(source) <= _SMALL:
            html = render(source)
        else:
            html = render_in_child(lambda: render(source), CELL_SECONDS, CELL_MEMORY, 4 * largest)
    except Exception:  # TooCostly, a RecursionError, or whatever else the libraries raise
        return as_plain_text(source, TOO_COSTLY)
    return html if len(html) <= largest else as_plain_text(source, TOO_LARGE)


def _formatted(source: str) -> str:
    text = source.encode("utf-8", "replace").decode()  # lone surrogates can't be encoded
    rendered = balanced(MarkdownWithMath(renderer=_Renderer()).render(text), _TAGS)
    clean = _sanitized(rendered, _STYLES)
    clean = clean.replace("<th></th>", "<td></td>")  # an empty corner isn't a header
    clean = _UNDESCRIBED.sub("<img alt", clean)  # without quotes, so safe even inside an attribute
    # formulas come last and are made from plain text, so no HTML of a student's escapes the sanitizer
    return _FORMULA.sub(_formula_in_its_place, clean)


def _sanitized(balanced_html: str, styles: set[str]) -> str:
    clean: str = nh3.clean(
        balanced_html,
        tags=set(_TAGS),
        clean_content_tags=set(),
        attributes={tag: {name for name in _ATTRIBUTES if tag in _OF_TAGS.get(name, _TAGS)} for tag in _TAGS},
        attribute_filter=_allowed,
        url_schemes=_SCHEMES,
        filter_style_properties=styles,
        link_rel=None,
    )
    return clean


def safe_html(source: str) -> str:
    """Sanitize HTML that a student's code displayed; empty beyond the limits. Its pictures are as in `safe_markdown`."""
    if len(source) > MAX_HTML:
        return ""

    def render() -> str:
        text = replace_elements(source.encode("utf-8", "replace").decode(), "script|style", lambda _: "")
        html = balanced(canonical(text, _TAGS, _ATTRIBUTES), _TAGS)
        return _UNDESCRIBED.sub("<img alt", _sanitized(html, _MORE_STYLES))

    largest = MAX_GROWTH * len(source) + _FRAME
    try:
        return (
            render() if len(source) <= _SMALL else render_in_child(render, CELL_SECONDS, CELL_MEMORY, largest)
        )
    except TooCostly:
        return ""


def _formula_in_its_place(found: re.Match[str]) -> str:
    header, kind, latex = found[1] or "", found[2], unescape(found[3])
    written = formula(latex, kind == "block")
    if header:  # it needs a name, and the parts of a formula are none
        written = written.replace("<math", f'<math aria-label="{escape(latex)}"', 1)
    return header + written


def anchor(heading: str) -> str:
    """The id that Jupyter gives a heading with this text."""
    return heading.replace(" ", "-")


def plain_text(html: str) -> str:
    """The text of a piece of HTML, on one line."""
    return " ".join(unescape(re.sub(r"<[^<>]*>", "", html)).split())


def highlighted_code(source: str, *args: Any, **options: Any) -> str:
    """Highlight Python code. Replaces nbconvert's filter `highlight_code`, whose options are ignored."""
    return _render_code(source)


@remembering(128)
def _render_code(source: str) -> str:
    longest = max(map(len, source.splitlines()), default=0)
    if len(source) <= MAX_FORMATTED_CHARACTERS and longest > MAX_LINE:
        return f"<pre>{escape(source)}</pre>"
    # a cell magic chooses another lexer
    linear = "%%" not in source and not _BLANKS.search(source)
    return _within_limits(lambda text: str(Highlight2HTML()(text)), source, linear)


def _allowed(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute, or None to remove the attribute."""
    match name:
        case "class":
            fits = all(_CLASS.fullmatch(name) for name in value.split())
        case "href":
            fits = _as_browsers_read(value).startswith(_LINKS)
        case "style":
            fits = bool(_STYLE.fullmatch(value))
        case _:
            fits = True
    return value if fits else None


def _as_browsers_read(address: str) -> str:
    """Remove what browsers ignore in an address, such as a line break inside `javascript:`."""
    return "".join(c for c in unescape(address) if c.isprintable() and not c.isspace()).lower()


@lru_cache(maxsize=4096)
def formula(latex: str, block: bool = False) -> str:
    """LaTeX as MathML, or as code if it can't be converted."""
    try:
        if len(latex) > MAX_LATEX:
            raise ValueError("too long")
        # latex2mathml only knows align*
        known = latex.replace("{aligned}", "{align*}").strip()
        written = _mathml(convert_to_element(known, display="block" if block else "inline"))
        # focusable, so that a wide formula can be scrolled with the keyboard
        return written.replace("<math", '<math tabindex="0"', 1) if block else written
    except Exception:  # latex2mathml raises exceptions of many kinds
        return f"<code>{escape(latex.strip())}</code>"


def _mathml(element: Element) -> str:
    """Write the element with the allowed tags and attributes only.

    Raises:
        ValueError: it has another tag, or contains an unknown command.
    """
    text = unescape(element.text or "").replace("\\_", "_")
    if element.tag not in _MATH_TAGS or (text.startswith("\\") and len(text) > 1):
        raise ValueError(element.tag)
    attributes = {name: value for name, value in element.attrib.items() if name in _MATH_ATTRIBUTES}
    if element.tag == "mspace":
        attributes["width"] = _em_width(element.get("width", ""))
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{element.tag}{written}>{escape(text)}{''.join(map(_mathml, element))}</{element.tag}>"


def _em_width(value: str) -> str:
    """A width in em; 0 for the named widths, which browsers no longer support and which are all small."""
    try:
        return f"{min(max(float(value.removesuffix('em')), 0), _MAX_SPACE):g}em"
    except ValueError:
        return "0em"


# Raw HTML is made well-nested before it reaches a parser, which reopens an unclosed `<b>` in every paragraph that
# follows: a few kilobytes with many of them would become gigabytes. Both steps are linear and write each tag once.

MAX_HTML_DEPTH = 40
_VOID = {"br", "hr", "img"}
_TAG_NAME = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)")
_ATTRIBUTE = re.compile(r"""[\s/]*([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+))?""")
_END = re.compile(r"[\s/]*>")
#: a tag as written by `canonical` and by the markdown renderer, or any other `<`
_WRITTEN = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z][a-z-]*(?:="[^"<>]*")?)*) ?/?>|<')

_CELLS = frozenset({"td", "th"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TABLE = frozenset({"table", "caption", *_CELLS})
_LISTS = frozenset({"ul", "ol", "dl", "blockquote", "details", "div"})
_BLOCKS = _HEADINGS | _LISTS | {"p", "hr", "pre", "li", "dt", "dd", "table", "summary"}
#: start tag -> the open elements that it closes, and the elements at which it stops looking for them
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "a": (frozenset({"a"}), _TABLE),
    "li": (frozenset({"li"}), _TABLE | _LISTS),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), _TABLE | _LISTS)),
    **dict.fromkeys(_HEADINGS, (_HEADINGS, _TABLE | _LISTS | {"li"})),
    **dict.fromkeys(("td", "th"), (_CELLS, frozenset({"table", "tr"}))),
    "tr": (frozenset({"tr", "caption"}), frozenset({"table"})),
    **dict.fromkeys(
        ("thead", "tbody", "caption"), (frozenset({"thead", "tbody", "caption"}), frozenset({"table"}))
    ),
}
_PARAGRAPH = (frozenset({"p"}), _TABLE)
#: part of a table -> the elements it may be in; a parser would move anything else out of the table
_PLACES = {
    **dict.fromkeys(("thead", "tbody", "caption"), frozenset({"table"})),
    "tr": frozenset({"table", "thead", "tbody"}),
    **dict.fromkeys(("td", "th"), frozenset({"tr"})),
}
_WITHIN_TABLES = frozenset({"table", "thead", "tbody", "tr"})


def canonical(fragment: str, tags: frozenset[str], attributes: frozenset[str]) -> str:
    """Write all tags in one form, without comments and without any tags and attributes but those given.

    An incomplete tag becomes text. The result still has to be sanitized.
    """
    parts: list[str] = []
    at = 0
    while (begin := fragment.find("<", at)) >= 0:
        parts.append(fragment[at:begin])
        if fragment.startswith(("<!", "<?"), begin):
            mark = "-->" if fragment.startswith("<!--", begin) else ">"
            end = fragment.find(mark, begin)
            if end < 0:  # nor does any later one end
                return "".join([*parts, escape(fragment[begin:], quote=False)])
            at = end + len(mark)
            continue
        found = _TAG_NAME.match(fragment, begin)
        written, at = _tag(fragment, found, tags, attributes) if found else (None, begin)
        if written is None:
            parts.append("&lt;")
            at = begin + 1
        else:
            parts.append(written)
    return "".join([*parts, fragment[at:]])


def _tag(
    fragment: str, begun: re.Match[str], tags: frozenset[str], attributes: frozenset[str]
) -> tuple[str | None, int]:
    """The tag as `canonical` writes it, and where it ends; None if it is incomplete."""
    at = begun.end()
    kept: dict[str, str] = {}
    while not (end := _END.match(fragment, at)):
        found = _ATTRIBUTE.match(fragment, at)
        if not found:
            return None, at
        name, value = found[1].lower(), found[2] or ""
        if name in attributes:
            kept.setdefault(name, value[1:-1] if value[:1] in ("'", '"') else value)
        at = found.end()
    name = begun[2].lower()
    if name not in tags:
        return "", end.end()
    if begun[1]:
        return f"</{name}>", end.end()
    quoted = "".join(f' {key}="{_in_quotes(value)}"' for key, value in kept.items())
    return f"<{name}{quoted}>", end.end()


def _in_quotes(value: str) -> str:
    return value.replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def balanced(html: str, tags: frozenset[str]) -> str:
    """Close every element, in the order in which a parser would; nest at most `MAX_HTML_DEPTH` deep.

    A tag that isn't in the form of `canonical` becomes text; one that isn't in `tags` is removed.
    """
    return _Balance(tags).of(html)


class _Balance:
    def __init__(self, tags: frozenset[str]) -> None:
        self._tags = tags
        self._open: list[str] = []
        self._left_out: dict[str, int] = {}

    def of(self, html: str) -> str:
        parts: list[str] = []
        at = 0
        for found in _WRITTEN.finditer(html):
            parts.append(html[at : found.start()])
            parts.append(self._of_tag(found))
            at = found.end()
        parts += [html[at:], self._closed_down_to(0)]
        return "".join(parts)

    def _of_tag(self, found: re.Match[str]) -> str:
        slash, name, attributes = found[1], found[2], found[3]
        if name is None:
            return "&lt;"
        if name not in self._tags:
            return ""
        return self._ended(name) if slash else self._begun(name, attributes)

    def _begun(self, name: str, attributes: str) -> str:
        before = self._ending(*_PARAGRAPH) if name in _BLOCKS else ""
        if name in _ENDS:
            before += self._ending(*_ENDS[name])
        inside = self._open[-1] if self._open else ""
        fits = inside in _PLACES[name] if name in _PLACES else inside not in _WITHIN_TABLES
        if not fits or len(self._open) >= MAX_HTML_DEPTH:
            if name not in _VOID:
                self._left_out[name] = self._left_out.get(name, 0) + 1
            return before
        if name not in _VOID:
            self._open.append(name)
        return f"{before}<{name}{attributes}>"

    def _ended(self, name: str) -> str:
        if self._left_out.get(name):
            self._left_out[name] -= 1
            return ""
        return self._ending(frozenset({name}), frozenset() if name in _WITHIN_TABLES else _CELLS)

    def _ending(self, ended: frozenset[str], border: frozenset[str]) -> str:
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place] in ended:
                return self._closed_down_to(place)
            if self._open[place] in border:
                break
        return ""

    def _closed_down_to(self, place: int) -> str:
        closed = "".join(f"</{name}>" for name in reversed(self._open[place:]))
        del self._open[place:]
        return closed


def replace_elements(html: str, names: str, replacement: Callable[[str], str]) -> str:
    """Replace elements by name ("script|style"), each up to its end tag, or without one, up to the end.

    Inside them, elements of the same name are not told apart. It takes linear time.
    """
    begins = re.compile(rf"<({names})(?=[\s/>])", re.IGNORECASE)
    ends = {name: re.compile(rf"</{name}[^<>]*>", re.IGNORECASE) for name in names.split("|")}
    parts: list[str] = []
    at = 0
    while begun := begins.search(html, at):
        ended = ends[begun[1].lower()].search(html, begun.end())
        parts += [html[at : begun.start()], replacement(html[begun.start() : ended.end() if ended else None])]
        at = ended.end() if ended else len(html)
    return "".join([*parts, html[at:]])
