"""The way through an exchange that isn't a folder, such as ngshare: a process asks nbgrader's classes for it for hand-ins.

Pages go back in the same way. The process is `gradekit_watch.polling`.
"""

import os
import time
from dataclasses import replace
from pathlib import Path

from msgspec import Struct
from traitlets import Float
from traitlets.config import Configurable

from gradekit.course import CourseError
from gradekit.grading.running_course import RunningCourse
from gradekit_watch.course_settings import settings_of
from gradekit_watch.exchange import configured_class
from gradekit_watch.exchange_store import CollectedHandIn, ExchangeStore
from gradekit_watch.way_process import ProcessSource
from gradekit_watch.ways import HandIn, Look, PageOf, Sink, Way

_TICK = 0.1


class ExchangePolling(Configurable):
    """How an exchange that isn't a folder is asked for hand-ins."""

    interval = Float(30.0, min=1.0, help="seconds between two rounds").tag(config=True)
    timeout = Float(60.0, min=1.0, help="the longest that the exchange may take for an answer").tag(
        config=True
    )


class PollingJob(Struct, frozen=True):
    """What the process that asks needs to know.

    Args:
        cwd: where the command runs, and `course_dir` its option.
        chosen: the assignments that are watched; all if there are none.
        parent: the process with which it ends.
    """

    cwd: str
    course_dir: str
    chosen: list[str]
    parent: int
    interval: float
    timeout: float


def open_polled_way(course: RunningCourse, course_dir: Path | None, chosen: tuple[str, ...]) -> Way:
    """The way through the classes that `ExchangeFactory` is configured to use.

    Raises:
        CourseError: a setting is wrong.
    """
    settings = settings_of(ExchangePolling, course)
    where = os.getcwd(), str(course_dir or "")
    job = PollingJob(*where, list(chosen), os.getpid(), settings.interval, settings.timeout)
    store = ExchangeStore(course.root)
    return Way(PolledSource(course, store, job), PolledSink(course, store))


class PolledSource(ProcessSource[CollectedHandIn]):
    """Hand-ins that the exchange's own class has collected; each stays in the store as it was."""

    module, what = "gradekit_watch.polling", "the exchange"
    ended = "can't be asked for hand-ins, since the process for this ended"
    corrected = " and {}"

    def __init__(self, course: RunningCourse, store: ExchangeStore, job: PollingJob) -> None:
        super().__init__(course, store, {"watch": job})
        self._store, self._job = store, job
        #: at the end, pages are still on their way
        self.patience = job.timeout + super().patience

    @property
    def description(self) -> str:
        kind = configured_class(self._course, "collect")
        return f"{kind.__module__}.{kind.__qualname__}, asked every {self._job.interval:g} seconds"

    def start(self, once: bool) -> None:
        super().start(once)
        process = self._process
        while once and process is not None and self._store.polled.process != process.pid:
            if process.poll() is not None:
                raise CourseError(f"{self.what} {self.ended}: see {self._store.log}")
            time.sleep(_TICK)

    def look(self) -> Look:
        look, polled = super().look(), self._store.polled
        # an assignment's first hand-ins come all at once: which of them were graded before, is asked once
        look.hand_ins = [found for found in look.hand_ins if found.assignment in polled.asked]
        look.away = polled.away
        failed = {(each.student, each.assignment, each.name) for each in self._store.problems}
        look.incomplete += [folder for folder, page in self._store.pages() if page.problem not in failed]
        return look

    def timestamp(self, hand_in: HandIn) -> str:
        kept = self._store.at(hand_in.student, hand_in.assignment, hand_in.handed_in)
        return kept.stamp if kept and kept.stamp else super().timestamp(hand_in)

    def _hand_in(self, folder: Path, kept: CollectedHandIn) -> HandIn:
        return replace(super()._hand_in(folder, kept), left_out=kept.left_out)


class PolledSink(Sink):
    """Pages that the same process gives to the exchange's own class."""

    done = "on its way to the exchange"

    def __init__(self, course: RunningCourse, store: ExchangeStore) -> None:
        self._course, self._store = course, store

    def release(self, page: PageOf) -> None:
        found = self._store.of(page.student, page.assignment)
        own = (folder for folder, kept in found if kept.handed_in == page.record.handed_in)
        submitted = self._course.submitted(page.student, page.assignment)
        self._store.send(page, next(own, submitted))
