"""Unpacks downloads; a bad archive affects no other.

The format of zip files has a flag for names in UTF-8 (bit 11), which the zip programs of macOS and many servers don't set.
Without it, Python reads IBM's code page 437. From version 3.12 on, it reads Info-ZIP's extra field as well.
"""

import errno
import gzip
import io
import lzma
import shutil
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Protocol, runtime_checkable
from zipfile import ZipInfo

from nbgrader.plugins import ExtractorPlugin
from traitlets import Integer

from gradekit.submission.extra_files import right_endings

_JUNK = "__MACOSX"
#: exceptions that the libraries raise for a damaged archive
_BROKEN: tuple[type[Exception], ...] = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
)
#: bytes that even the smallest file takes on disk
_BLOCK = 4096
_DEEPEST = 40
#: errors that are due to the name of a member
_OF_THE_NAME = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EINVAL, errno.EILSEQ)
_ENDINGS = (".tar.gz", ".tgz", ".zip", ".gz")
_IS_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_UNIX = 3
#: of Windows Explorer in America and Western Europe, and of programs that use the system's
_DOS, _UNIX_PAGES = ("cp437", "cp850", "cp1252"), ("cp1252", "cp437", "cp850")


@runtime_checkable
class Prepared(Protocol):
    """A collector that reads the course before it sees the files."""

    def prepare(self) -> None: ...


class HarmlessExtractor(ExtractorPlugin):
    """Replaces nbgrader's extractor, which stops the whole command at a broken or malicious archive.

    Unpacks each archive into a folder of the same name. Skips paths outside that folder, links, sparse files and
    files that operating systems add.
    """

    download_limit = Integer(8192, help="MiB that all downloads together may take when unpacked").tag(
        config=True
    )
    size_limit = Integer(256, help="MiB that an archive inside a download may take when unpacked").tag(
        config=True
    )

    def extract(self, archive_path: str, extracted_path: str) -> None:
        source = Path(archive_path)
        files = sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
        if not files:
            self.log.warning("%s is empty: put the files that you downloaded there", source)
        left = self.download_limit << 20
        for path in files:
            target = Path(extracted_path) / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            folder = folder_for(target)
            if folder is None:
                shutil.copyfile(path, target)
                continue
            left = self._unpack(path, folder, left)
            for packed, packed_folder in _archives_in(folder):
                allowed = min(left, self.size_limit << 20)
                rest = self._unpack(packed, packed_folder, allowed)
                for inner, inner_folder in _archives_in(packed_folder):
                    rest = self._unpack(inner, inner_folder, rest)
                left -= allowed - rest
        for old, new in right_endings(Path(extracted_path).rglob("*")):
            self.log.warning("%s was renamed to %s", old.relative_to(extracted_path), new.name)
        zip_app = self.parent
        if isinstance(collector := zip_app.collector_plugin_inst, Prepared):
            collector.prepare()

    def _unpack(self, archive: Path, folder: Path, limit: int) -> int:
        """Unpack into `folder`; returns how many bytes of the limit are left."""
        allowance = _Allowance(limit)
        links: list[str] = []
        try:
            for name, stream in _members(archive, allowance):
                place = _place(name)
                if stream is None:
                    links.append(name)
                elif place is None:
                    what = "points outside its folder or is nested too deep, and was skipped"
                    self.log.warning("%s: %r %s", archive, name, what)
                elif place.parts and _JUNK not in place.parts and not place.name.startswith("._"):
                    self._write(stream, folder / place, archive)
        except _TooLargeError:
            self.log.warning("%s takes too much space when unpacked: the rest was skipped", archive)
            return 0
        except _BROKEN as error:
            is_tar = archive.name.lower().endswith((".tar.gz", ".tgz"))
            if isinstance(error, tarfile.ReadError) and not is_tar:
                return allowance.left  # data that is compressed, such as `data.csv.gz`
            self.log.warning(
                "%s can't be unpacked: %s. Unpack it yourself, or ask for it again.", archive, error
            )
        finally:
            if links:
                self.log.warning(
                    "%s: links, devices and sparse files were skipped (%d, such as %r)",
                    *(archive, len(links), links[0]),
                )
        return allowance.left

    def _write(self, stream: "IO[bytes] | _Counted", path: Path, archive: Path) -> None:
        """Write a member. If this system can't store its name, it is reported and skipped."""
        if path.is_file():
            self.log.warning("%s has two files %s: the second was kept", archive, path.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                try:
                    # some formats unpack a block of this size to 100 MB
                    shutil.copyfileobj(stream, file, _BLOCK)
                except Exception:
                    path.unlink()  # half a notebook is useless
                    raise
        except OSError as error:
            if error.errno not in _OF_THE_NAME:
                raise
            self.log.warning(
                "%s: %s can't be written (%s), and was skipped", archive, path.name, error.strerror
            )


class _TooLargeError(Exception):
    """The archive exceeds its allowance."""


@dataclass
class _Allowance:
    """How many bytes may still be unpacked."""

    left: int

    def take(self, size: int) -> None:
        if size > self.left:
            raise _TooLargeError
        self.left -= size


class _Counted(io.BufferedIOBase):
    """A stream whose reads use up an allowance; so do reads at its end, so that none can continue forever."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, allowance: _Allowance) -> None:
        self._stream = stream
        self._allowance = allowance

    def read(self, size: int | None = -1, /) -> bytes:
        block = self._stream.read(-1 if size is None else size)
        self._allowance.take(max(len(block), _BLOCK))
        return block


def _archives_in(folder: Path) -> list[tuple[Path, Path]]:
    """The archives in a folder, and where to unpack them."""
    found = [(path, folder_for(path)) for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(path, target) for path, target in found if target is not None]


def _members(path: Path, allowance: _Allowance) -> Iterator[tuple[str, IO[bytes] | _Counted | None]]:
    """Name and content of each file in an archive; read the content before asking for the next.

    Links, devices and sparse files have no content here. In a zip, a link would be a file with the path of its target.
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                allowance.take(_BLOCK)
                if stat.S_ISLNK(entry.external_attr >> 16):
                    yield name_in_zip(entry), None
                elif not entry.is_dir():
                    with archive.open(entry) as stream:
                        yield name_in_zip(entry), _Counted(stream, allowance)
    else:
        # the stream is counted, since a tar header may be as long as a file
        with (
            gzip.open(path) as unzipped,
            tarfile.open(fileobj=_Counted(unzipped, allowance), mode="r|") as tar,
        ):
            for member in tar:
                allowance.take(_BLOCK)
                if not member.isdir():
                    ordinary = member.isfile() and not member.issparse()
                    yield member.name, tar.extractfile(member) if ordinary else None


def _place(name: str) -> PurePosixPath | None:
    """The path of a member below its folder; None if it points outside, or is too deep for Python's functions."""
    path = PurePosixPath(unicodedata.normalize("NFC", name.replace("\\", "/")))
    return None if path.is_absolute() or ".." in path.parts or len(path.parts) > _DEEPEST else path


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
