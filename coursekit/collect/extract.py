"""Unpacking downloads: what is wrong with one archive concerns that archive alone."""

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from nbgrader.plugins import ExtractorPlugin
from traitlets import Integer

_ENDINGS = (".tar.gz", ".tgz", ".zip", ".gz")
_JUNK = ("__MACOSX", ".ipynb_checkpoints")
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile)
_BROKEN += (tarfile.TarError,)


class HarmlessExtractor(ExtractorPlugin):
    """Takes the place of nbgrader's extractor, which ends the whole command at a broken or malicious archive.

    An archive is unpacked into a folder of its name. Names that lead out of it, links, and what operating
    systems add are left out.
    """

    download_limit = Integer(8192, help="MiB that a download may take when it is unpacked").tag(config=True)
    size_limit = Integer(256, help="MiB that an archive inside a download may take").tag(config=True)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        source = Path(archive_path)
        files = sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
        if not files:
            self.log.warning("%s is empty: put there what you downloaded", source)
        for path in files:
            target = Path(extracted_path) / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            if _stem(path.name) is None:
                shutil.copyfile(path, target)
                continue
            folder = target.with_name(_stem(path.name))
            self._unpack(path, folder, self.download_limit << 20)
            for packed in _archives_in(folder):
                left = self._unpack(packed, packed.with_name(_stem(packed.name)), self.size_limit << 20)
                for inner in _archives_in(packed.with_name(_stem(packed.name))):
                    left = self._unpack(inner, inner.with_name(_stem(inner.name)), left)

    def _unpack(self, archive: Path, folder: Path, left: int) -> int:
        """Unpack into `folder`; gives how many bytes are left of those that it may take."""
        try:
            with _opened(archive) as members:
                folder.mkdir(parents=True, exist_ok=True)
                for name, stream in members:
                    place = _place(name)
                    if place is None:
                        self.log.warning("%s: %r leads out of its folder and was left out", archive, name)
                    elif place.parts and not set(place.parts) & set(_JUNK) and place.name[:2] != "._":
                        left = _write(stream, folder / place, left)
        except _TooLarge:
            self.log.warning("%s takes too much space when it is unpacked: the rest was left out", archive)
            return 0
        except _BROKEN as error:
            self.log.warning("%s can't be unpacked: %s. Unpack or ask for it by hand.", archive, error)
        return left


class _TooLarge(Exception):
    """An archive holds more than it may."""


def _archives_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and _stem(path.name) is not None]


def _stem(name: str) -> str | None:
    """The name without the ending of an archive; None if it is none."""
    ending = next((ending for ending in _ENDINGS if name.lower().endswith(ending)), None)
    return name[: -len(ending)] or "archive" if ending else None


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Name and content of each ordinary file in an archive."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            files = (entry for entry in archive.infolist() if not entry.is_dir())
            yield ((entry.filename, archive.open(entry)) for entry in files)
    else:
        with tarfile.open(path) as archive:
            files = (entry for entry in archive if entry.isfile())
            yield ((entry.name, archive.extractfile(entry)) for entry in files)


def _place(name: str) -> PurePosixPath | None:
    path = PurePosixPath(name.replace("\\", "/"))
    return None if path.is_absolute() or ".." in path.parts else path


def _write(stream: IO[bytes], path: Path, left: int) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    with stream, path.open("wb") as file:
        while block := stream.read(1 << 20):
            left -= len(block)
            if left < 0:
                break
            file.write(block)
    if left < 0:
        path.unlink()
        raise _TooLarge
    return left
