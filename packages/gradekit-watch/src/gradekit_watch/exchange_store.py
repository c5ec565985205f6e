"""What `.gradekit/exchange` of the course has: hand-ins from an exchange that isn't a folder, and pages on their way to it."""

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from gradekit.course.files import read_json, write_json
from gradekit_watch.hand_in_store import HandInStore, Kept, digest, in_utc
from gradekit_watch.ways import PageOf

_PAGE = "page.json"


class CollectedHandIn(Kept, frozen=True):
    """A hand-in as the exchange's class put it into the folder for collecting.

    Args:
        stamp: the text of its timestamp.txt, by which the exchange knows it.
        digest: of its files.
        left_out: names of what was handed in and is not there, with reasons that continue the names.
    """

    stamp: str
    digest: str
    left_out: tuple[tuple[str, str], ...] = ()


class OutgoingPage(Struct, frozen=True):
    """A page that is to be given to the exchange, in a folder that has only what the exchange's class needs for it."""

    student: str
    assignment: str
    handed_in: datetime

    @property
    def problem(self) -> tuple[str, str, str]:
        """How a problem with it is named."""
        return self.student, self.assignment, f"the page for {in_utc(self.handed_in)}"


class Polled(Struct):
    """How far the process that asks the exchange is.

    Args:
        process: the one that has finished a round.
        away: why the exchange didn't answer in the last one; empty if it did.
        asked: the assignments of which everything has been collected once.
    """

    process: int = 0
    away: str = ""
    asked: set[str] = set()


class ExchangeStore(HandInStore[CollectedHandIn, OutgoingPage]):
    """The files in `.gradekit/exchange`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "exchange", CollectedHandIn, OutgoingPage)
        self._polled = self.folder / "polled.json"

    @property
    def polled(self) -> Polled:
        return read_json(self._polled, Polled) or Polled()

    def note(self, polled: Polled) -> None:
        write_json(self._polled, polled)
        self.touch()

    def send(self, page: PageOf, submitted: Path) -> None:
        """Put a page on its way: with the hand-in, of which some exchanges have to see the notebook."""
        names = page.student, page.assignment
        with self.scratch() as scratch:
            shutil.copytree(page.pages, scratch.joinpath("feedback", *names))
            if submitted.is_dir():
                shutil.copytree(submitted, scratch.joinpath("submitted", *names), symlinks=True)
            write_json(scratch / _PAGE, OutgoingPage(*names, page.record.handed_in))
            key = digest("\0".join((*names, page.record.handed_in.isoformat())))
            self.outbox.mkdir(exist_ok=True)
            os.rename(scratch, self.outbox / f"{key}.{time.time_ns()}")
        self.touch()

    def pages(self) -> list[tuple[Path, OutgoingPage]]:
        """The pages on their way, oldest first: of each hand-in, only the last."""
        folders = sorted(self.outbox.glob("[!.]*.*"), key=lambda path: int(path.suffix[1:]))
        last = {folder.stem: folder for folder in folders}
        for folder in folders:
            if last[folder.stem] != folder:
                shutil.rmtree(folder, ignore_errors=True)
        return [(each, page) for each in last.values() if (page := read_json(each / _PAGE, OutgoingPage))]


def files_below(folder: Path) -> Iterator[Path]:
    """All files in a folder, links to others included, sorted."""
    for place, folders, names in sorted(os.walk(folder)):
        links = [name for name in folders if Path(place, name).is_symlink()]
        yield from (Path(place, name) for name in sorted([*links, *names]))


def digest_of_files(folder: Path) -> str:
    """By which equal hand-ins are recognized."""
    found = hashlib.sha256()
    for path in files_below(folder):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found.update(
            f"{path.relative_to(folder)}\0{len(content)}\0".encode(errors="surrogateescape") + content
        )
    return found.hexdigest()
