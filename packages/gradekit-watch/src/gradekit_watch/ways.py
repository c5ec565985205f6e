"""How hand-ins come in, and how grades and pages go out: the two classes that each way implements.

nbgrader's exchange and the folder submitted/ are ways. A package brings others by an entry point in the group
`gradekit.ways`. Its value is a function that is called with the parser of `gradekit watch` and its group of places, and
adds an option there, which stores an `OpensWay` as `way`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from gradekit.attempts import AttemptRecord, Shows
from gradekit.grading.running_course import RunningCourse

#: the longest that `nbgrader submit` takes to copy a hand-in
_ON_ITS_WAY = timedelta(minutes=10)


@dataclass(frozen=True)
class HandIn:
    """A complete submission as a student handed it in.

    Args:
        handed_in: its time, in UTC.
        secret: names its pages in the exchange; empty if there is none.
        state: changes with the files, if these can change.
        left_out: the names of files that were handed in and are not in its folder, with reasons that continue the names.
        arrived: when its folder, or a file in it, was last changed in the exchange, a time that the student can't choose.
        has_timestamp: False if the time is that of a file, which says when it was copied.
        copied: where `arrived` isn't known, when something in its folder was last changed.
    """

    student: str
    assignment: str
    handed_in: datetime
    folder: Path
    secret: str = ""
    state: object = None
    arrived: datetime | None = field(default=None, compare=False)
    has_timestamp: bool = field(default=True, compare=False)
    copied: datetime | None = field(default=None, compare=False)
    left_out: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def waited(self, now: datetime) -> float:
        """The seconds since it could have been graded: since it is here, whatever time the student wrote."""
        times = (self.handed_in, self.arrived, self.copied)
        began = max((time for time in times if time is not None and time <= now), default=now)
        return (now - began).total_seconds()

    def is_backdated(self, since: datetime) -> bool:
        """Whether it arrived after `since`, and much later than its time says."""
        return self.arrived is not None and self.arrived > max(since, self.handed_in + _ON_ITS_WAY)


@dataclass(frozen=True)
class Refusal:
    """A hand-in that is not graded, and why. The names are empty if they can't be read from its folder's name.

    Without a folder of its own, it has a `name` instead, which no two refusals share.
    """

    folder: Path
    reason: str
    student: str = ""
    assignment: str = ""
    name: str = ""


@dataclass
class Look:
    """The hand-ins found: complete ones, refused ones, and the folders of those that are not complete yet.

    `away` says why there may be more, and that they are waited for; empty if there are no more.
    """

    hand_ins: list[HandIn] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    incomplete: list[Path] = field(default_factory=list)
    away: str = ""

    def add(self, folder: Path, found: HandIn | Refusal | None) -> None:
        if isinstance(found, HandIn):
            self.hand_ins.append(found)
        elif isinstance(found, Refusal):
            self.refused.append(found)
        else:
            self.incomplete.append(folder)


@dataclass(frozen=True)
class PageOf:
    """The pages of one attempt, and all that a sink may tell the student with them.

    Args:
        pages: the folder that holds them: `<notebook>.html`.
        folders: nbgrader's folders, whose feedback folder has the pages.
        shows: how much they show. Nothing else may show more.
    """

    student: str
    assignment: str
    record: AttemptRecord
    pages: Path
    folders: CourseDirectory
    shows: Shows = Shows.EVERYTHING


class Source:
    """Where hand-ins arrive. Nothing that a student does there may keep another's from being found.

    If a source `keeps_all`, each hand-in stays as it was. Otherwise only a student's last one is there, and its files
    change. With `once`, the command waits `patience` seconds for what is not complete.
    """

    keeps_all = True
    patience = 15.0
    place: Path

    @property
    def description(self) -> str:
        """What the command says that it watches."""
        return str(self.place)

    def start(self, once: bool) -> None:
        """Begin to look out for hand-ins; with `once`, return when everything that was handed in has arrived.

        Raises:
            CourseError: this can't work.
        """

    def close(self) -> None:
        """Stop looking out. Called at the end, and before a source with new settings is started."""

    def why_away(self) -> str:
        """Why nothing can be read there now, and what to do; empty if it can."""
        return ""

    def changed(self) -> bool:
        """Whether to look again; cheap enough to be asked twice a second. False while nothing new can be there."""
        raise NotImplementedError

    def look(self) -> Look:
        """Everything that has arrived, what was graded already included.

        Raises:
            OSError: the place can't be read.
        """
        raise NotImplementedError

    def collect(self, hand_in: HandIn) -> None:
        """Put a hand-in into submitted/, with its time in timestamp.txt, or leave what was there before.

        Only asked of a source that keeps all.

        Raises:
            Exception: it can't be copied; the message says why.
        """

    def accepting(self, hand_in: HandIn) -> str:
        """How an instructor accepts a hand-in that came after the deadline."""
        raise NotImplementedError


class Sink:
    """Where grades and pages go: by default, into feedback/ of the course, where the command has put them already.

    Everything can be repeated: the command may be killed after each step. `done` says what has been done with a page then.
    """

    done = "written"

    def why_away(self) -> str:
        """Why nothing can be written there now, and what to do; empty if it can."""
        return ""

    def has_page(self, hand_in: HandIn, notebooks: list[str]) -> bool:
        """Whether somebody has put a page of this hand-in there without this command."""
        return False

    def complete(self, page: PageOf) -> None:
        """Add files to pages that were just written from autograded/. They are held with the pages until these are due."""

    def release(self, page: PageOf) -> None:
        """Give the pages to the student.

        Raises:
            Exception: they can't be copied; the message says why.
        """


@dataclass(frozen=True)
class Way:
    """A source, and the sink that belongs to it."""

    source: Source
    sink: Sink


#: opens a way for a course, with its settings; raises a CourseError if one is wrong
OpensWay = Callable[[RunningCourse], Way]
