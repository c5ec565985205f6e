"""Makes untrusted text, such as names of students and files, safe for a terminal, a command, a page or a spreadsheet."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from unicodedata import category

#: control and format characters (bidi controls among them), surrogates, private and unassigned ones, line separators
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
#: the zero-width joiners, which Persian and Indic names and some emoji need
_JOINERS = "\u200c\u200d"
_LONGEST = 200
#: what begins a formula in a spreadsheet, including the wide forms of East Asian keyboards
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
#: characters of the message of a student's exception that are shown: it may have a check's hidden inputs in it
MAX_MESSAGE = 200
_Cell = TypeVar("_Cell")


def printable(text: str, limit: int | None = _LONGEST) -> str:
    """The text in one line, cut to `limit` characters, with escapes for everything that isn't printable.

    An escape character becomes a visible `\\x1b`, a byte of a name that isn't UTF-8 becomes `\\xe9`.
    """
    cut = limit is not None and len(text) > limit
    shown = text[:limit] if cut else text
    if not (shown.isascii() and shown.isprintable()):
        shown = "".join(map(_visible, shown))
    return f"{shown}…" if cut else shown


def shortened(text: str, limit: int = MAX_MESSAGE) -> str:
    """The text, cut to `limit` characters."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def defused(cell: _Cell) -> _Cell | str:
    """The cell of a CSV file, changed if a spreadsheet would take it for a formula."""
    if not isinstance(cell, str):
        return cell
    begins = cell.lstrip(" \u00a0\u3000\ufeff").startswith((*_FORMULA, "\t", "\r", "\n"))
    shown = printable(cell, limit=None)
    return f"'{shown}" if begins and not _NUMBER.fullmatch(cell) else shown


def quoted(name: object) -> str:
    """The name as it must be typed in a command: in quotes, if it has spaces or other special characters."""
    return shlex.quote(str(name))


def counted(number: int, noun: str) -> str:
    """The number and the noun: "1 entry", "2 entries"."""
    many = noun[:-1] + "ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"
    return f"{number} {noun if number == 1 else many}"


def listed(names: Iterable[str]) -> str:
    """Names in backticks, with commas between them."""
    return ", ".join(f"`{name}`" for name in names)


def first_of(names: Sequence[str], most: int) -> str:
    """The first names, safe to print, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(map(printable, names[:most]))}{more}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the one that it is like, if any."""
    from difflib import get_close_matches

    return "".join(f". Did you mean `{printable(near)}`?" for near in get_close_matches(name, known, n=1))


def aligned_lines(header: Sequence[str], rows: Sequence[Sequence[str]], least: int = 0) -> Iterator[str]:
    """A table with its columns aligned; those whose header begins with `>` to the right, and `least` wide."""
    names = [name.removeprefix(">") for name in header]
    widths = [
        max(least if head.startswith(">") else 0, *map(len, column))
        for head, *column in zip(header, names, *rows, strict=True)
    ]
    for row in [names, *rows]:
        parts = [
            f"{text:{'>' if head.startswith('>') else '<'}{width}}"
            for text, width, head in zip(row, widths, header, strict=True)
        ]
        yield "  ".join(parts).rstrip()


def _visible(character: str) -> str:
    if category(character) not in _UNPRINTABLE or character in _JOINERS:
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # Python's stand-in for a byte that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
