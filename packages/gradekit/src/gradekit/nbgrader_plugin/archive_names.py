"""Names of archives, and of the files in a zip, whose encoding isn't always known.

The format of zip files has a flag for UTF-8 (bit 11), which the zip programs of macOS and many servers don't set. Without it, Python
reads IBM's code page 437. From version 3.12 on, it reads Info-ZIP's extra field as well.
"""

import struct
import unicodedata
import zlib
from functools import cache
from pathlib import Path
from zipfile import ZipInfo

_ENDINGS = (".tar.gz", ".tgz", ".zip", ".gz")
_IS_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_UNIX = 3
#: of Windows Explorer in America and Western Europe, and of programs that use the system's
_DOS, _UNIX_PAGES = ("cp437", "cp850", "cp1252"), ("cp1252", "cp437", "cp850")


def folder_for(path: Path) -> Path | None:
    """Where to unpack an archive; None if the file isn't an archive."""
    ending = next((ending for ending in _ENDINGS if path.name.lower().endswith(ending)), None)
    return path.with_name(path.name[: -len(ending)] or "archive") if ending else None


def archive_of(folder: Path) -> Path | None:
    """The archive that was unpacked to this folder; None if there is none."""
    return _unpacked(folder.parent).get(folder)


@cache
def _unpacked(folder: Path) -> dict[Path, Path]:
    found = ((folder_for(path), path) for path in sorted(folder.iterdir()) if path.is_file())
    return {target: path for target, path in found if target is not None and target.is_dir()}


def name_in_zip(entry: ZipInfo) -> str:
    """The name that the zip's author saw."""
    if entry.flag_bits & _IS_UTF8:
        return entry.filename
    try:
        stored = entry.orig_filename.encode("cp437")
    except UnicodeEncodeError:  # Python has found the extra field itself
        return entry.filename
    found = _unicode_path(entry.extra, stored)
    return found or _decoded(stored, _UNIX_PAGES if entry.create_system == _UNIX else _DOS)


def _unicode_path(extra: bytes, stored: bytes) -> str:
    """The name in Info-ZIP's extra field, unless it belongs to another name."""
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        content, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == _UNICODE_PATH and len(content) > 5 and content[0] == 1:
            (checksum,) = struct.unpack("<L", content[1:5])
            try:
                return content[5:].decode() if checksum == zlib.crc32(stored) else ""
            except UnicodeDecodeError:
                return ""
    return ""


def _decoded(stored: bytes, pages: tuple[str, ...]) -> str:
    """UTF-8 if it is valid, which a word in another encoding hardly ever is; or else the first page that gives letters."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        readings = [stored.decode(page, errors="replace") for page in pages]
        return next(filter(_is_latin, readings), readings[0])


def _is_latin(name: str) -> bool:
    return all(
        character.isascii() or unicodedata.name(character, "").startswith("LATIN ") for character in name
    )
