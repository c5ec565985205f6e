"""nbgrader's exchange for one hand-in: collecting exactly this one, and releasing its pages.

The classes that are configured in `ExchangeFactory` do it, since a hub may have its own.
"""

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from logging import Logger
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import Exchange, ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.exchange.exchange_factory import ExchangeFactory
from nbgrader.utils import notebook_hash
from traitlets.config import Config

from gradekit.course import CourseError
from gradekit.course.printing import quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit_watch.arrivals import Inbound
from gradekit_watch.ways import HandIn, PageOf, Sink

_REPLACED, _REMOVED = "replaced", "removed"


def configured_class(course: RunningCourse, name: str) -> type[Any]:
    """The class that `ExchangeFactory` is configured to use.

    Raises:
        CourseError: it can't be imported.
    """
    try:
        found: type[Any] = getattr(ExchangeFactory(config=course.config), name)
    except Exception as error:  # what its module raises
        raise CourseError(
            f"{course.last_file}: c.ExchangeFactory.{name} can't be used: {reason_of(error)}"
        ) from error
    return found


def is_folder(course: RunningCourse) -> bool:
    """Whether hand-ins and pages go through the folder of nbgrader's own exchange.

    Raises:
        CourseError: a class can't be imported.
    """
    kinds = {"collect": ExchangeCollect, "release_feedback": ExchangeReleaseFeedback}
    return all(issubclass(configured_class(course, name), kind) for name, kind in kinds.items())


class CollectOne(ExchangeCollect):
    """Collects the hand-in in `folder`. If this fails, the submission that was collected before is put back.

    nbgrader removes what was collected before it copies. Here it is moved aside and removed afterwards.
    """

    folder: Path
    student: str
    handed_in: datetime

    def init_src(self) -> None:
        super().init_src()
        record = {"username": self.student, "filename": self.folder.name, "timestamp": self.handed_in}
        self.src_records: list[dict[str, Any]] = [record]

    def copy_files(self) -> None:
        names = self.student, self.coursedir.assignment_id
        with replacing(Path(self.coursedir.format_path(self.coursedir.submitted_directory, *names))):
            super().copy_files()

    def not_collected(self, src: str, error: Exception) -> None:
        """Let the caller report it; `HarmlessCollect` would continue."""
        raise error


class ReleaseOne(ExchangeReleaseFeedback):
    """Releases the pages of one student, whose name may be one such as `[ab]`."""

    def init_src(self) -> None:
        super().init_src()
        self.src_path: str = glob.escape(self.src_path)


@dataclass(frozen=True)
class ExchangeOf:
    """The exchange that a course is configured for."""

    config: Config
    folders: CourseDirectory
    log: Logger

    def require_name(self) -> None:
        """Raise CourseError if the course has no name for its folder."""
        if not self.folders.course_id:
            raise CourseError(
                "the exchange has a folder for each course, and this course has no name: set "
                'c.CourseDirectory.course_id = "…", or use --folder'
            )

    @cached_property
    def inbound(self) -> Path:
        return Path(self.configured("collect", ExchangeCollect).root, self.folders.course_id, "inbound")

    def configured(self, name: str, kind: type[Exchange], folders: CourseDirectory | None = None) -> Any:
        """The configured class, combined with `kind`."""
        configured = getattr(ExchangeFactory(config=self.config), name)
        bases = (configured,) if issubclass(configured, kind) else (kind, configured)
        made = type(kind.__name__, bases, {})
        return made(coursedir=folders or self.folders, authenticator=None, config=self.config, log=self.log)


class ExchangeSource(Inbound):
    """Hand-ins that `nbgrader submit` puts into the exchange."""

    def __init__(self, exchange: ExchangeOf) -> None:
        super().__init__(exchange.inbound, exchange.configured("collect", ExchangeCollect).check_owner)
        self._exchange = exchange

    def why_away(self) -> str:
        return _gone(self.place)

    def collect(self, hand_in: HandIn) -> None:
        # for the assignment that the course's folders have
        collector = self._exchange.configured("collect", CollectOne)
        collector.folder, collector.student = hand_in.folder, hand_in.student
        collector.handed_in = hand_in.handed_in.replace(tzinfo=None)
        collector.start()

    def accepting(self, hand_in: HandIn) -> str:
        return (
            f"`nbgrader collect {quoted(hand_in.assignment)} --student={quoted(hand_in.student)} --update` and "
            "autograde it, or grant an extension"
        )


class ExchangeSink(Sink):
    """Pages that `nbgrader fetch_feedback` gets from the exchange."""

    done = "released"

    def __init__(self, exchange: ExchangeOf) -> None:
        self._exchange = exchange

    def why_away(self) -> str:
        return _gone(self._exchange.inbound)

    def has_page(self, hand_in: HandIn, notebooks: list[str]) -> bool:
        if not hand_in.secret:
            return False
        pages = (notebook_hash(secret=hand_in.secret, notebook_id=name) for name in notebooks)
        feedback = self._exchange.inbound.with_name("feedback")
        return any((feedback / f"{page}.html").exists() for page in pages)

    def release(self, page: PageOf) -> None:
        if not (page.pages / "submission_secret.txt").is_file():
            raise ExchangeError("it has no submission_secret.txt. The student needs a newer nbgrader")
        inbound = self._exchange.inbound
        if not inbound.is_dir():  # nbgrader would make the folder where an exchange is not mounted
            raise ExchangeError(f"{inbound} does not exist")
        self._exchange.configured("release_feedback", ReleaseOne, page.folders).start()


def _gone(inbound: Path) -> str:
    if inbound.is_dir():
        return ""
    return f"{inbound} does not exist; waiting for it. Mount it, or create it with `nbgrader release_assignment NAME`"


@contextlib.contextmanager
def replacing(collected: Path) -> Iterator[None]:
    """Replace a submission in the block. If this fails, or the process is killed, it is put back."""
    aside = _beside(collected, _REPLACED)
    if collected.exists():
        os.rename(collected, aside)
    try:
        yield
    except BaseException:
        put_back(collected)
        raise
    if aside.exists():
        removed = aside.with_suffix(f".{_REMOVED}")
        os.rename(aside, removed)  # in one step, so that nobody puts half of it back
        shutil.rmtree(removed)


def put_back(collected: Path) -> None:
    """Undo an interrupted collection: put back the submission that it would have replaced."""
    aside = _beside(collected, _REPLACED)
    if collected.exists():
        shutil.rmtree(collected)
    if aside.exists():
        os.rename(aside, collected)


def put_all_back(folders: CourseDirectory, assignment: str) -> None:
    """Undo every interrupted collection for the assignment."""
    path = Path(folders.format_path(folders.submitted_directory, "*", glob.escape(assignment)))
    for found in glob.glob(str(_beside(path, _REMOVED))):
        shutil.rmtree(found)
    for found in glob.glob(str(_beside(path, _REPLACED))):
        put_back(Path(found).with_name(Path(found).name[1:].removesuffix(f".{_REPLACED}")))


def _beside(collected: Path, state: str) -> Path:
    """A path next to the folder, so that moving it is one step; the pattern `*` doesn't match it."""
    return collected.with_name(f".{collected.name}.{state}")
