"""Puts the pictures that a text refers to into its page: attachments, data in the text, files beside the notebook.

A picture is embedded if it is what it claims to be, and not too large. SVG is shown as a picture, in which browsers run
no script. For any other one, a sentence says why it isn't shown, and where it is.
"""

import base64
import binascii
import io
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from html import escape, unescape
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import unquote

from jinja2 import pass_context
from jinja2.runtime import Context
from nbformat import NotebookNode

from gradekit.course.cells import ADDRESS, DATA, SVG, Attachments, picture_in
from gradekit.course.language import N_, _
from gradekit.course.operating_system import open_safely
from gradekit.course.printing import printable
from gradekit.page.markdown import safe_markdown

#: of one picture
MAX_PICTURE_BYTES, MAX_SVG_BYTES, MAX_PIXELS = 10 * 2**20, 2**20, 60_000_000
#: of all pictures of a page
PAGE_BYTES, PAGE_PIXELS, PAGE_PICTURES = 40 * 2**20, 500_000_000, 500
#: key in the resources of a page in formgrader: its `Pictures`
OF_PAGE = "gradekit_pictures"
_KINDS = {
    **{"PNG": "image/png", "JPEG": "image/jpeg", "MPO": "image/jpeg"},  # MPO: a JPEG from some phones
    **{"GIF": "image/gif", "WEBP": "image/webp"},
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

    def address_of(self, data: bytes) -> str:
        """A `data:` address of a picture, for this page.

        Raises:
            NotShown: it isn't a picture, or a limit is exceeded.
        """
        is_svg = data[:1_000].lstrip()[:1] == b"<" and b"<svg" in data[:10_000]
        kind, pixels = _checked_svg(data) if is_svg else _checked(data)
        room = self._room
        if len(data) > room.bytes or pixels > room.pixels or not room.pictures:
            raise NotShown(_TOO_MANY)
        room.bytes, room.pixels, room.pictures = (
            room.bytes - len(data),
            room.pixels - pixels,
            room.pictures - 1,
        )
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
        return self._content(address)

    def _content(self, address: str) -> bytes:
        path = self.path_of(address)
        try:
            if path is None:
                raise NotShown(_NO_FILE)
            with open_safely(path) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise NotShown(_NO_FILE)
                return file.read(MAX_PICTURE_BYTES + 1)
        except OSError:
            raise NotShown(_NO_FILE) from None

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
    cell, resources = context.get("cell") or {}, context.get("resources") or {}
    pictures = resources.get(OF_PAGE) or Pictures()
    text, embedded = text_and_pictures(source)
    shown: str = pictures.put_into(safe_markdown(text), embedded, cell.get("attachments") or {})
    return shown


def has_own_picture(
    cell: NotebookNode, released: NotebookNode, folder: Path, handed_out: Set[PurePath]
) -> bool:
    """True if a text that is as it was released shows a picture of the student's, attached or in a file.

    Args:
        folder: of the notebook.
        handed_out: the files in it that aren't the student's.
    """
    if (cell.get("attachments") or {}) != (released.get("attachments") or {}):
        return True
    html = safe_markdown(text_and_pictures(cell.source)[0]) if cell.cell_type == "markdown" else ""
    pictures = Pictures(folder)
    found = map(pictures.path_of, addresses_in(html))
    return any(path and path.relative_to(folder) not in handed_out for path in found)


def addresses_in(html: str) -> Iterator[str]:
    """The addresses of the pictures in a text that `safe_markdown` has formatted."""
    return (unescape(source[1]) for source in _SOURCE.finditer(html))


def attached_only(cell: NotebookNode) -> list[str]:
    """The names of attachments that the text of a cell doesn't show, so that no page would show them."""
    names = cell.get("attachments") or {}
    html = safe_markdown(text_and_pictures(cell.source)[0]) if names and ADDRESS in cell.source else ""
    shown = {unquote(address.removeprefix(ADDRESS)) for address in addresses_in(html)}
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

    if len(data) > MAX_PICTURE_BYTES:
        raise NotShown(_TOO_LARGE)
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as picture:
            kind, pixels = _KINDS[picture.format or ""], picture.width * picture.height
            picture.verify()
    except Image.DecompressionBombError:
        raise NotShown(_TOO_LARGE) from None
    except Exception:  # a damaged file can cause anything
        raise NotShown(_UNKNOWN_KIND) from None
    if pixels > MAX_PIXELS:
        raise NotShown(_TOO_LARGE)
    return kind, pixels


def _checked_svg(data: bytes) -> tuple[str, int]:
    if len(data) > MAX_SVG_BYTES or b"<!ENTITY" in data:  # entities can make a small file large
        raise NotShown(_TOO_LARGE)
    return SVG, 0


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
    """What is shown in place of a picture."""
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
