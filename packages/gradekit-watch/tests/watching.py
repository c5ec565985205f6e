"""An exchange in which students hand in, for the tests of `gradekit watch`."""

import contextlib
import json
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import notebook_hash

from gradekit.attempts import Attempts
from gradekit.grading.autograde import GradingOptions
from gradekit.grading.running_course import RunningCourse
from gradekit_watch.loop import Watch
from gradekit_watch.status import Event, EventKind
from gradekit_watch.waiting import WatchOptions

RIGHT = "def double(x):\n    return 2 * x"
TRIPLE = "def double(x):\n    return 3 * x"
SETTINGS = """
c = get_config()
c.CourseDirectory.course_id = "tiny"
c.Exchange.root = "{}"
c.ExchangeCollect.check_owner = False
"""
#: within the format's range and in the past, so that nothing depends on today
FIRST = datetime(2026, 1, 10, 12, tzinfo=UTC)
#: until an event that is waited for has long been due
PATIENCE_SECONDS = 300
#: words in an event's text, and what to do then
Step = tuple[str, Callable[[], object]]


def nothing() -> None:
    """For a step that only waits."""


@dataclass
class WatchedExchange:
    """The tiny course with an exchange. Hand-ins are a minute apart from one another."""

    course: Any
    root: Path
    handed_in: list[Path] = field(default_factory=list)

    @property
    def inbound(self) -> Path:
        return self.root / "tiny" / "inbound"

    def settings(self, *lines: str) -> None:
        """Append lines to nbgrader_config.py."""
        with (self.course.root / "nbgrader_config.py").open("a") as file:
            file.write("\n".join(lines) + "\n")

    def hand_in(self, student: str, answer: str = RIGHT, when: datetime | None = None) -> Path:
        """What `nbgrader submit` leaves; returns the folder."""
        when = when or FIRST + timedelta(minutes=len(self.handed_in))
        time = f"{when:%Y-%m-%d %H:%M:%S.%f} UTC"
        folder = self.inbound / f"{student}+01_double+{time}+{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        nbformat.write(self.course.answer(answer), folder / "double.ipynb")
        (folder / "timestamp.txt").write_text(time)
        (folder / "submission_secret.txt").write_text(secrets.token_hex(64))
        self.handed_in.append(folder)
        return folder

    def page(self, folder: Path) -> str:
        """The released page of a hand-in, in one line; empty if there is none."""
        secret = (folder / "submission_secret.txt").read_text()
        page = self.root / "tiny" / "feedback" / f"{notebook_hash(secret=secret, notebook_id='double')}.html"
        return " ".join(page.read_text().split()) if page.exists() else ""

    def watch(self, *options: str) -> int:
        """Work off what is there."""
        return self.course.gradekit("watch", "--once", "--workers", "1", *options)

    def keep_watching(self, *steps: Step) -> list[str]:
        """Watch, and when an event has a step's words, do what the step says; end after the last one.

        Returns:
            The texts of all events.
        """
        texts: list[str] = []
        left = list(steps)

        def report(event: Event) -> None:
            texts.append(event.text)
            if left and left[0][0] in event.text:
                left.pop(0)[1]()
            if not left and event.kind != EventKind.ENDED:
                os.kill(os.getpid(), signal.SIGTERM)

        give_up = threading.Timer(PATIENCE_SECONDS, os.kill, (os.getpid(), signal.SIGTERM))
        give_up.start()
        try:
            with contextlib.chdir(self.course.root):
                course = RunningCourse.open(self.course.root)
                options = WatchOptions(self.course.root, (), False, GradingOptions(1))
                assert Watch(course, options, report).run() == 0
        finally:
            give_up.cancel()
        assert not left, f"{[words for words, _ in left]} did not come after {texts}"
        return texts

    def attempts(self, student: str) -> Attempts:
        return Attempts.load(self.course.root, "01_double", student)

    def set_deadline(self, when: datetime) -> None:
        with RunningCourse.open(self.course.root).gradebook() as book:
            book.update_or_create_assignment("01_double", duedate=when.replace(tzinfo=None))

    def score(self, student: str) -> float:
        with RunningCourse.open(self.course.root).gradebook() as book:
            return book.find_submission("01_double", student).score

    def status(self) -> dict[str, Any]:
        return json.loads((self.course.root / ".gradekit" / "watch.json").read_text())


def pid_of_watch(root: Path) -> int:
    """The process that watches; 0 if there is none yet."""
    lock = root / ".gradekit" / "watch.lock"
    return int(lock.read_text().strip() or 0) if lock.exists() else 0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


class Watching(threading.Thread):
    """`gradekit watch --once` in another process, which can be killed."""

    def __init__(self, exchange: WatchedExchange) -> None:
        super().__init__(daemon=True)
        self._exchange = exchange
        self.code: int | None = None
        self._before = pid_of_watch(exchange.course.root)
        self.start()
        until(lambda: self._has_begun() or not self.is_alive())

    def run(self) -> None:
        done = self._exchange.course.run("gradekit", "watch", "--once", "--workers", "1")
        self.code = done.returncode

    def kill_after(self, seconds: float) -> bool:
        """Kill it if it has not ended by then; whether that has ended it."""
        self.join(seconds)
        if self.is_alive():
            os.kill(pid_of_watch(self._exchange.course.root), signal.SIGKILL)
            self.join()
        assert self.code in (0, -signal.SIGKILL)
        return self.code != 0

    def _has_begun(self) -> bool:
        return pid_of_watch(self._exchange.course.root) not in (0, self._before)


def exchange_of(course: Any, root: Path) -> WatchedExchange:
    """Connect a generated course with an exchange."""
    exchange = WatchedExchange(course, root)
    exchange.inbound.mkdir(parents=True)
    exchange.settings(SETTINGS.format(root))
    return exchange
