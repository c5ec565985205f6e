"""Files as an LMS packs them."""

import csv
import io
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"
NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'

Content = str | bytes


def zipped(files: dict[str, Content], method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def damaged(method: int, start: int) -> bytes:
    """A zip of a notebook with some bytes overwritten, `start` bytes into the content."""
    packed = bytearray(zipped({"double.ipynb": NOTEBOOK}, method))
    begin = packed.index(b"double.ipynb") + len("double.ipynb") + start
    packed[begin : begin + 8] = b"\xff" * 8
    return bytes(packed)


def tarred(name: str, content: str, **headers: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size, entry.pax_headers = len(content), headers
        archive.addfile(entry, io.BytesIO(content.encode()))
    return stream.getvalue()


def rows(name: str) -> list[list[str]]:
    with (SAMPLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


@dataclass
class Collected:
    """What `nbgrader zip_collect` logged, and its exit code."""

    stderr: str
    returncode: int = 0

    @property
    def reported(self) -> str:
        """The log without the lines in which nbgrader names every file."""
        noise = ("Parsing file", "Copying ")
        return "\n".join(line for line in self.stderr.splitlines() if not any(word in line for word in noise))
