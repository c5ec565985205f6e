"""What cells and texts show on a page: pictures, and outputs as sanitized HTML, Markdown, formulas, JSON or plain text.

The pictures of a text are attachments, data in the text, or files beside the notebook. One is embedded if it is what it
claims to be, and not too large. SVG is shown as a picture, in which browsers run no script. Nothing runs. Where a page
can't show something, a sentence names it, and says where it is.
"""

import base64
import binascii
import io
import json
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from html import escape, unescape
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import Any
from urllib.parse import unquote

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from gradekit.course.cells import ADDRESS, DATA, PLAIN_TEXT, SVG, Attachments, picture_in
from gradekit.course.files import read_safely
from gradekit.course.language import N_, _, ngettext
from gradekit.course.printing import printable
from gradekit.page import PageBudget
from gradekit.page.markdown import plain_text, replace_elements, safe_html, safe_markdown, visible_markdown

#: of one picture
MAX_PICTURE_BYTES, MAX_SVG_BYTES, MAX_PIXELS = 10 * 2**20, 2**20, 60_000_000
#: of all pictures of a page
PAGE_BYTES, PAGE_PIXELS, PAGE_PICTURES = 40 * 2**20, 500_000_000, 500
#: key in the resources of a page in formgrader: its `Pictures`
OF_PAGE = "gradekit_pictures"
#: the last is a JPEG from some phones
_PICTURE_TYPES = {
    **{kind: f"image/{kind.lower()}" for kind in ("PNG", "JPEG", "GIF", "WEBP")},
    "MPO": "image/jpeg",
}
#: stands for a picture in the text itself while the text is formatted
_EMBEDDED = "embedded:"
#: as `safe_markdown` writes it: without `<`, `>` and `"` in attributes
_IMAGE = re.compile(r'<img(?: [a-z]+(?:="[^"<>]*")?)*>')
_SOURCE = re.compile(r'<img\b[^<>]* src="([^"]*)"')
_ATTRIBUTE = re.compile(r' (src|alt|title)="([^"]*)"')
#: files in a folder among which one is looked for without regard to case
_READ_AT_MOST = 2_000
_LONGEST_NAME = 100

_UNKNOWN_KIND = N_("it can't be read as a PNG, JPEG, GIF, WebP or SVG picture")
_TOO_LARGE = N_("it is too large")
_TOO_MANY = N_("the pictures of this page are too many or too large together")
_NO_FILE = N_("no such file was handed in with the notebook")
_NO_ATTACHMENT = N_("the notebook doesn't contain it")
_ON_THE_WEB = N_("pages load nothing from the web")


class NotShown(Exception):
    """A picture that a page can't show. The message is a fixed text that says why."""


@dataclass
class Room:
    """How much of what pictures take is left on a page."""

    bytes: int
    pixels: int
    pictures: int


class Pictures:
    """The pictures of one notebook on a page.

    Args:
        folder: of the notebook; None if the files beside it are not known.
        room: what is left on the page, which several notebooks may share.
    """

    def __init__(self, folder: Path | None = None, room: Room | None = None) -> None:
        self._folder = folder
        self._room = room or Room(PAGE_BYTES, PAGE_PIXELS, PAGE_PICTURES)

    def put_into(self, html: str, embedded: Sequence[str], attachments: Attachments) -> str:
        """Put its pictures into a formatted text.

        Args:
            html: from `safe_markdown`.
            embedded: the pictures that `text_and_pictures` took out of the text.
            attachments: of the cell.
        """

        def shown(tag: re.Match[str]) -> str:
            said = {name: unescape(value) for name, value in _ATTRIBUTE.findall(tag[0])}
            address = said.get("src", "")
            try:
                source = self.address_of(self.data_at(address, embedded, attachments))
            except NotShown as reason:
                return _sentence(address, said.get("alt") or said.get("title") or "", str(reason))
            return re.sub(r' src="[^"]*"', f' src="{source}"', tag[0])

        return _IMAGE.sub(shown, html)

    def formatted(
        self, source: str, cell: Mapping[str, Any], render: Callable[[str], str] = safe_markdown
    ) -> str:
        """A text in Markdown of a cell, with its pictures."""
        text, embedded = text_and_pictures(source)
        return self.put_into(render(text), embedded, cell.get("attachments") or {})

    def address_of(self, data: bytes) -> str:
        """A `data:` address of a picture, for this page.

        Raises:
            NotShown: it isn't a picture, or a limit is exceeded.
        """
        kind, pixels = _checked(data)
        room = self._room
        if len(data) > room.bytes or pixels > room.pixels or not room.pictures:
            raise NotShown(_TOO_MANY)
        room.bytes -= len(data)
        room.pixels -= pixels
        room.pictures -= 1
        return f"data:{kind};base64,{base64.b64encode(data).decode()}"

    def data_at(self, address: str, embedded: Sequence[str], attachments: Attachments) -> bytes:
        """The content of the picture at an address.

        Raises:
            NotShown: there is none.
        """
        if address.startswith(_EMBEDDED):
            number = address.removeprefix(_EMBEDDED)
            known = number.isdecimal() and len(number) < 9 and int(number) < len(embedded)
            return decoded(embedded[int(number)].partition(",")[2] if known else "")
        if address.startswith(ADDRESS):
            name = address.removeprefix(ADDRESS)
            bundle = attachments.get(name) or attachments.get(unquote(name))
            if not bundle:
                raise NotShown(_NO_ATTACHMENT)
            return decoded(bundle.get(picture_in(bundle), ""))
        if re.match(r"(?:https?:)?//", address, re.IGNORECASE):
            raise NotShown(_ON_THE_WEB)
        if path := self.path_of(address):
            with suppress(OSError):
                return read_safely(path, MAX_PICTURE_BYTES)
        raise NotShown(_NO_FILE)

    def path_of(self, address: str) -> Path | None:
        """The file in the notebook's folder that an address means."""
        bare = re.split("[?#]", address)[0]
        for name in dict.fromkeys((unquote(bare), address, unquote(bare).replace("\\", "/"))):
            path = self._folder
            for part in PurePosixPath(name.removeprefix("files/")).parts:
                path = _entry(path, part) if path else None
            if path and path != self._folder:
                return path
        return None


def text_and_pictures(source: str) -> tuple[str, list[str]]:
    """A text without the pictures in it, which don't count as text, and these pictures for `Pictures.put_into`."""
    found = DATA.findall(source)
    numbers = iter(range(len(found)))
    return DATA.sub(lambda picture: f"{_EMBEDDED}{next(numbers)}", source), found


@pass_context
def markdown_with_pictures(context: Context, source: str) -> str:
    """Replaces nbconvert's filter `markdown2html`."""
    pictures: Pictures = (context.get("resources") or {}).get(OF_PAGE) or Pictures()
    return pictures.formatted(source, context.get("cell") or {}, visible_markdown)


def has_own_picture(
    cell: NotebookNode, released: NotebookNode, folder: Path, handed_out: Set[PurePath]
) -> bool:
    """True if a text that is as it was released shows a picture of the student's, attached or in a file.

    `handed_out` are the files in the notebook's folder that aren't the student's.
    """
    if (cell.get("attachments") or {}) != (released.get("attachments") or {}):
        return True
    found = map(Pictures(folder).path_of, addresses_in(cell.source) if cell.cell_type == "markdown" else ())
    return any(path and path.relative_to(folder) not in handed_out for path in found)


def addresses_in(text: str) -> Iterator[str]:
    html = safe_markdown(text_and_pictures(text)[0])
    return (unescape(source[1]) for source in _SOURCE.finditer(html))


def attached_only(cell: NotebookNode) -> list[str]:
    """The names of attachments that the text of a cell doesn't show, so that no page would show them."""
    names = cell.get("attachments") or {}
    addresses = addresses_in(cell.source) if names and ADDRESS in cell.source else ()
    shown = {unquote(address.removeprefix(ADDRESS)) for address in addresses}
    return [name for name in names if unquote(name) not in shown]


def decoded(data: str) -> bytes:
    """The bytes that base64 stands for; none if it is damaged."""
    if len(data) > 2 * MAX_PICTURE_BYTES:
        return b" " * (MAX_PICTURE_BYTES + 1)  # too large as well
    try:
        return base64.b64decode(data)
    except binascii.Error:
        return b""


def _checked(data: bytes) -> tuple[str, int]:
    """The type and the number of pixels of a picture, which isn't decoded for this."""
    from PIL import Image  # the configuration imports this module in every command

    if data[:1_000].lstrip()[:1] == b"<" and b"<svg" in data[:10_000]:
        if len(data) > MAX_SVG_BYTES or b"<!ENTITY" in data:  # entities can make a small file large
            raise NotShown(_TOO_LARGE)
        return SVG, 0
    if len(data) > MAX_PICTURE_BYTES:
        raise NotShown(_TOO_LARGE)
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as picture:
            kind, pixels = _PICTURE_TYPES[picture.format or ""], picture.width * picture.height
            picture.verify()
    except Image.DecompressionBombError:
        raise NotShown(_TOO_LARGE) from None
    except Exception:  # a damaged file can cause anything
        raise NotShown(_UNKNOWN_KIND) from None
    if pixels > MAX_PIXELS:
        raise NotShown(_TOO_LARGE)
    return kind, pixels


def _entry(folder: Path, name: str) -> Path | None:
    """The file or folder of this name, without regard to case or to how letters with accents are encoded."""
    if "/" in name or name == ".." or not folder.is_dir():
        return None
    if not os.path.lexists(folder / name):
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, _READ_AT_MOST)]
        name = next((one for one in names if _folded(one) == _folded(name)), name)
    path = folder / name
    return path if os.path.lexists(path) and not path.is_symlink() else None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _sentence(address: str, description: str, why: str) -> str:
    if address.startswith(_EMBEDDED):
        name = description or _("in this text")
    else:
        name = unquote(address.removeprefix(ADDRESS)) or description
    reason = _(why)
    if why not in (_NO_FILE, _NO_ATTACHMENT, _ON_THE_WEB):
        where = _("It is in the notebook.") if ":" in address else _("It is beside the notebook.")
        reason = f"{reason}. {where}"
    text = _(
        "The picture %(name)s is not shown: %(reason)s", name=printable(name, _LONGEST_NAME), reason=reason
    )
    return f"<em>({escape(text, quote=False)})</em>"


#: budget of a page: CPU seconds, and characters of HTML without pictures
PAGE_SECONDS, PAGE_CHARACTERS = 10.0, 8_000_000
LEFT_OUT = N_("This cell is left out: the page would be too large.")
#: key in the resources of a page in formgrader: its `Displayed`
OF_DISPLAYED = "gradekit_displayed"
#: characters of the budget that each piece of a page takes besides its text
_OVERHEAD = 200
_LONG = 40
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
_ACTIVE = re.compile(r"<(?:script|iframe|object|embed|canvas|video|audio)\b", re.IGNORECASE)
_PARTS = N_("a script, or an embedded page, video or sound")
#: what a page can't show, by the beginning of its type
_KINDS = {
    "application/vnd.jupyter.widget": N_("an interactive widget"),
    "application/vnd.plotly": N_("an interactive figure"),
    "application/vnd.vega": N_("an interactive figure"),
    "application/vnd.bokeh": N_("an interactive figure"),
    "application/javascript": N_("a script"),
    "text/html": N_("HTML that can't be formatted"),
}


def with_room(budget: PageBudget, html: str) -> str:
    """The piece of a page, or a sentence if the page has no room for it."""
    if budget.take(len(html) + _OVERHEAD):
        return html
    return f"<p>{escape(_(LEFT_OUT), quote=False)}</p>"


def printed(text: str) -> str:
    """Text that a program printed; if it is long, it is folded."""
    plain = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", strip_ansi(text))
    shown = f'<pre class="output">{escape(plain, quote=False)}</pre>'
    lines = text.count("\n")
    if lines <= _LONG:
        return shown
    title = ngettext("Output of %(lines)s line", "Output of %(lines)s lines", lines, lines=lines)
    return f"<details><summary>{escape(title)}</summary>{shown}</details>"


def printed_by(output: NotebookNode) -> str:
    """The text of a stream or of an error; empty if there is nothing to see."""
    if output.output_type == "stream":
        text = output.text
    else:
        text = "\n".join(output.traceback) or f"{output.ename}: {output.evalue}"
    return printed(text) if text.strip() else ""


class Displayed:
    """Shows the data of the outputs of one page.

    Args:
        figure: writes a picture with an address.
        own: HTML of the grader's own, which is shown as it is.
    """

    def __init__(
        self, pictures: Pictures, budget: PageBudget, figure: Callable[[str], str], own: Collection[str] = ()
    ) -> None:
        self._pictures = pictures
        self._budget = budget
        self._figure = figure
        self._own = own

    def html(self, data: Mapping[str, Any]) -> str:
        """The output in the best of its forms that a page can show."""
        if data.get("text/html") in self._own:
            return str(data["text/html"])
        text = str(data.get(PLAIN_TEXT, ""))
        if (kind := picture_in(data)) and isinstance(picture := data[kind], str):
            try:
                return self._figure(
                    self._pictures.address_of(picture.encode() if kind == SVG else decoded(picture))
                )
            except NotShown as reason:
                text = _("%(text)s (not shown: %(reason)s)", text=text, reason=_(str(reason)))
        html, left_out = "" if self._budget.out_of_time else self._formatted(data), []
        if _ACTIVE.search(_text_of(data, "text/html")):
            left_out.append(_(_PARTS))
        if not html:
            left_out = [*self._unknown(data), *left_out]
            html = with_room(self._budget, printed(text)) if text.strip() else ""
        return html + _not_shown(left_out)

    def _formatted(self, data: Mapping[str, Any]) -> str:
        """The output as HTML, Markdown, formulas or JSON; empty if it has none of these, or nothing visible in them."""
        for kind, render in _RENDERED.items():
            if source := _text_of(data, kind):
                drawn = replace_elements(source, "svg", _drawing) if kind == "text/html" else source
                text, embedded = text_and_pictures(drawn)
                html = with_room(self._budget, render(text))
                if "<img" in html or plain_text(html):
                    return f'<div class="displayed">{self._pictures.put_into(html, embedded, {})}</div>'
        if "application/json" in data:
            return with_room(self._budget, printed(json.dumps(data["application/json"], indent=1)))
        return ""

    def _unknown(self, data: Mapping[str, Any]) -> list[str]:
        """What an output has besides text that a page can show, in words."""
        words = []
        for kind in data:
            known = next((name for beginning, name in _KINDS.items() if kind.startswith(beginning)), "")
            if known == _KINDS["text/html"] and _ACTIVE.search(_text_of(data, kind)):
                continue
            if known or not kind.startswith(("text/", "image/")):
                words.append(_(known) if known else kind)
        return words


_RENDERED = {"text/html": safe_html, "text/markdown": safe_markdown, "text/latex": safe_markdown}


def _text_of(data: Mapping[str, Any], kind: str) -> str:
    value = data.get(kind)
    return value if isinstance(value, str) else ""


def _drawing(svg: str) -> str:
    """A drawing within HTML as a picture, in which browsers run no script."""
    svg = svg if "xmlns=" in svg else f"{svg[:4]} {_NAMESPACE}{svg[4:]}"
    return f'<img src="data:{SVG};base64,{base64.b64encode(svg.encode("utf-8", "replace")).decode()}">'


def _not_shown(words: list[str]) -> str:
    if not words:
        return ""
    sentence = _("Not shown here: %(kinds)s", kinds=", ".join(dict.fromkeys(words)))
    return f"<p><em>({escape(sentence, quote=False)})</em></p>"


@pass_context
def displayed(context: Context, output: NotebookNode) -> str:
    """A filter for formgrader's template: an output with data, in place of nbconvert's blocks for each type."""
    resources = context.get("resources") or {}
    known = resources.get(OF_DISPLAYED)
    shown: Displayed = known or Displayed(Pictures(), PageBudget(PAGE_SECONDS, PAGE_CHARACTERS), plain_figure)
    return shown.html(output.get("data", {}))


def plain_figure(address: str) -> str:
    return f'<img alt="" src="{address}">'
