"""How hand-ins come in, and how grades and pages go out: the two protocols that each way implements.

nbgrader's exchange and the folder submitted/ are ways. A package brings others by an entry point in the group
`gradekit.ways`. Its value is a function that is called with the parser of `gradekit watch` and its group of places, and
adds an option there, which stores an `OpensWay` as `way`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nbgrader.coursedir import CourseDirectory

from gradekit.attempts.rules import AttemptRecord, Shows
from gradekit.grading.running_course import RunningCourse
from gradekit.watch.arrivals import HandIn, Look


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


class Source(Protocol):
    """Where hand-ins arrive. Nothing that a student does there may keep another's from being found."""

    @property
    def place(self) -> Path:
        """What the command says that it watches."""

    @property
    def keeps_all(self) -> bool:
        """Whether each hand-in stays as it was. Otherwise only a student's last one is there, and its files change."""

    def start(self, once: bool) -> None:
        """Begin to look out for hand-ins; with `once`, return when everything that was handed in has arrived.

        Raises:
            CourseError: this can't work.
        """

    def close(self) -> None:
        """Stop looking out. Called at the end, and before a source with new settings is started."""

    def why_away(self) -> str:
        """Why nothing can be read there now, and what to do; empty if it can."""

    def changed(self) -> bool:
        """Whether to look again; cheap enough to be asked twice a second. False while nothing new can be there."""

    def look(self) -> Look:
        """Everything that has arrived, what was graded already included.

        Raises:
            OSError: the place can't be read.
        """

    def collect(self, hand_in: HandIn) -> None:
        """Put a hand-in into submitted/, with its time in timestamp.txt, or leave what was there before.

        Raises:
            Exception: it can't be copied; the message says why.
        """

    def accepting(self, hand_in: HandIn) -> str:
        """How an instructor accepts a hand-in that came after the deadline."""


class Sink(Protocol):
    """Where grades and pages go. Everything can be repeated: the command may be killed after each step."""

    @property
    def done(self) -> str:
        """What has been done with a page then: "released", "written"."""

    def why_away(self) -> str:
        """Why nothing can be written there now, and what to do; empty if it can."""

    def has_page(self, hand_in: HandIn, notebooks: list[str]) -> bool:
        """Whether somebody has put a page of this hand-in there without this command."""

    def complete(self, page: PageOf) -> None:
        """Add files to pages that were just written from autograded/. They are held with the pages until these are due."""

    def release(self, page: PageOf) -> None:
        """Give the pages to the student.

        Raises:
            Exception: they can't be copied; the message says why.
        """


class FolderSink:
    """Pages in feedback/ of the course, where the command has put them already."""

    done = "written"

    def why_away(self) -> str:
        return ""

    def has_page(self, hand_in: HandIn, notebooks: list[str]) -> bool:
        return False

    def complete(self, page: PageOf) -> None:
        """The pages are all there is."""

    def release(self, page: PageOf) -> None:
        """The instructor passes them on."""


@dataclass(frozen=True)
class Way:
    """A source, and the sink that belongs to it."""

    source: Source
    sink: Sink


class OpensWay(Protocol):
    """Opens a way for a course, with its settings.

    Raises:
        CourseError: a setting is wrong.
    """

    def __call__(self, course: RunningCourse) -> Way: ...
