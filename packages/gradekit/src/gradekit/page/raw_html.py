"""Makes raw HTML in markdown well-nested before it reaches an HTML parser.

A parser reopens an unclosed `<b>` in every paragraph that follows, so a few kilobytes with many of them become
gigabytes. Both steps here take linear time and write each tag once.
"""

import re
from collections.abc import Callable
from html import escape

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
