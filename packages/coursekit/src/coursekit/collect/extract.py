"""Unpacking downloads: what is wrong with one archive concerns that archive alone."""

import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from nbgrader.plugins import ExtractorPlugin
from traitlets import Integer

_ENDINGS = (".tar.gz", ".tgz", ".zip", ".gz")
_JUNK = ("__MACOSX", ".ipynb_checkpoints")
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile)
_BROKEN += (tarfile.TarError, zlib.error, lzma.LZMAError)
#: what a file takes on a disk, however small it is
_LEAST = 4096


class HarmlessExtractor(ExtractorPlugin):
    """Takes the place of nbgrader's extractor, which ends the whole command at a broken or malicious archive.

    An archive is unpacked into a folder of its name. Names that lead out of it, links, files with holes, and what
    operating systems add are left out.
    """

    download_limit = Integer(8192, help="MiB that all downloads may take when they are unpacked").tag(
        config=True
    )
    size_limit = Integer(256, help="MiB that an archive inside a download may take").tag(config=True)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        source = Path(archive_path)
        files = sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
        if not files:
            self.log.warning("%s is empty: put there what you downloaded", source)
        left = self.download_limit << 20
        for path in files:
            target = Path(extracted_path) / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            if _stem(path.name) is None:
                shutil.copyfile(path, target)
                continue
            folder = target.with_name(_stem(path.name))
            left = self._unpack(path, folder, left)
            for packed in _archives_in(folder):
                allowed = rest = min(left, self.size_limit << 20)
                rest = self._unpack(packed, packed.with_name(_stem(packed.name)), rest)
                for inner in _archives_in(packed.with_name(_stem(packed.name))):
                    rest = self._unpack(inner, inner.with_name(_stem(inner.name)), rest)
                left -= allowed - rest

    def _unpack(self, archive: Path, folder: Path, left: int) -> int:
        """Unpack into `folder`; gives how many bytes are left of those that it may take."""
        allowance = _Allowance(left)
        try:
            for name, stream in _members(archive, allowance):
                place = _place(name)
                if place is None:
                    self.log.warning("%s: %r leads out of its folder and was left out", archive, name)
                elif place.parts and not set(place.parts) & set(_JUNK) and place.name[:2] != "._":
                    _write(stream, folder / place)
        except _TooLarge:
            self.log.warning("%s takes too much space when it is unpacked: the rest was left out", archive)
            return 0
        except _BROKEN as error:
            self.log.warning("%s can't be unpacked: %s. Unpack or ask for it by hand.", archive, error)
        return allowance.left


class _TooLarge(Exception):
    """An archive holds more than it may."""


@dataclass
class _Allowance:
    """How many bytes may still be unpacked."""

    left: int

    def take(self, size: int) -> None:
        if size > self.left:
            raise _TooLarge
        self.left -= size


@dataclass
class _Counted:
    """A stream that is read at the cost of an allowance, at its end too, so that nobody reads there for ever."""

    stream: IO[bytes]
    allowance: _Allowance

    def read(self, size: int) -> bytes:
        block = self.stream.read(size)
        self.allowance.take(max(len(block), _LEAST))
        return block


def _archives_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and _stem(path.name) is not None]


def _stem(name: str) -> str | None:
    """The name without the ending of an archive; None if it is none."""
    ending = next((ending for ending in _ENDINGS if name.lower().endswith(ending)), None)
    return name[: -len(ending)] or "archive" if ending else None


def _members(path: Path, allowance: _Allowance) -> Iterator[tuple[str, IO[bytes] | _Counted]]:
    """Name and content of each ordinary file in an archive; the content has to be read before the next is asked for."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                allowance.take(_LEAST)
                if not entry.is_dir():
                    with archive.open(entry) as stream:
                        yield entry.filename, _Counted(stream, allowance)
    else:
        # as a stream, since a header may be as long as a file
        with (
            gzip.open(path) as stream,
            tarfile.open(fileobj=_Counted(stream, allowance), mode="r|") as archive,
        ):
            for entry in archive:
                allowance.take(_LEAST)
                if entry.isfile() and not entry.issparse():
                    yield entry.name, archive.extractfile(entry)


def _place(name: str) -> PurePosixPath | None:
    path = PurePosixPath(name.replace("\\", "/"))
    return None if path.is_absolute() or ".." in path.parts else path


def _write(stream: IO[bytes] | _Counted, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        try:
            shutil.copyfileobj(stream, file, _LEAST)  # some formats unpack a block of this size to 100 MB
        except Exception:
            path.unlink()  # half a notebook is none
            raise
