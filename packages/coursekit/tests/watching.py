"""An exchange in which students hand in, for the tests of `coursekit watch`."""

import contextlib
import json
import os
import secrets
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import notebook_hash

from coursekit.grading.autograde import RunOptions
from coursekit.grading.running_course import RunningCourse
from coursekit.watch.loop import Watch
from coursekit.watch.records import Attempts
from coursekit.watch.status import Event, Kind
from coursekit.watch.watched import WatchOptions

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
        return self.course.coursekit("watch", "--once", "--workers", "1", *options)

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
            if not left and event.kind != Kind.ENDED:
                os.kill(os.getpid(), signal.SIGTERM)

        with contextlib.chdir(self.course.root):
            course = RunningCourse.open(self.course.root)
            options = WatchOptions(self.course.root, (), False, RunOptions(1))
            assert Watch(course, options, report).run() == 0
        assert not left
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
        return json.loads((self.course.root / ".coursekit" / "watch.json").read_text())


def exchange_of(course: Any, root: Path) -> WatchedExchange:
    """Connect a generated course with an exchange."""
    exchange = WatchedExchange(course, root)
    exchange.inbound.mkdir(parents=True)
    exchange.settings(SETTINGS.format(root))
    return exchange
