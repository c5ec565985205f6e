"""Calls of nbgrader's classes for an exchange, each in a fork, since a class may hang, end its process or log its errors only."""

import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeList
from nbgrader.exchange.exchange_factory import ExchangeFactory

from gradekit.course.operating_system import ends_by_itself, forks_of_this
from gradekit.course.printing import printable
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit_watch.polled_exchange import PollingJob

_TICK = 0.1
#: nbgrader's own; a course may have another
_STRUCTURE = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
#: of Python's audit events, those that change a file or a folder
_WRITES = {
    *("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link"),
    *("shutil.rmtree", "shutil.copytree", "shutil.copyfile", "shutil.move", "shutil.unpack_archive"),
}
_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_ADDRESS = re.compile(r" object at 0x[0-9a-f]+")


@dataclass(frozen=True)
class CallOutcome:
    """What one call came to.

    Args:
        failure: why something in it failed, in one sentence without its full stop; empty if nothing did.
        aborted: whether it ended then. Otherwise it has gone on with the next hand-in.
        hung: whether it was ended, since it took too long.
        at: the student whose folder it had written last when it was aborted.
        students: this one, and those at whom it has gone on after a failure, which is the value.
    """

    value: Any = None
    failure: str = ""
    details: str = ""
    aborted: bool = False
    hung: bool = False
    at: str = ""
    students: Mapping[str, str] = field(default_factory=dict)


class Told(NamedTuple):
    """What a fork tells on its way: whose folder it writes, and an error that the class has logged, if it is about that."""

    student: str
    error: str = ""


class Watcher(logging.Handler):
    """Tells which errors a class logs, since some of them raise none, and for which student it writes something.

    What the class does isn't known otherwise, and times of files don't say which of two was later.
    """

    def __init__(self, place: Path, tell: Callable[[Told], None]) -> None:
        super().__init__(logging.ERROR)
        self._place, self._tell = f"{place / 'submitted'}{os.sep}", tell
        self._student = ""
        sys.addaudithook(self._see)

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._tell(Told(self._student, f"{record.getMessage()}{f' ({reason_of(error)})' if error else ''}"))

    def _see(self, event: str, values: tuple[Any, ...]) -> None:
        if event not in _WRITES or (event == "open" and not int(values[2] or 0) & _TO_WRITE):
            return
        for path in values[:2]:
            if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self._place):
                student = os.fspath(path)[len(self._place) :].partition(os.sep)[0]
                if student != self._student:
                    self._student = student
                    self._tell(Told(student))


class ExchangeCalls:
    """Calls of the classes that the course is configured for."""

    def __init__(self, job: PollingJob) -> None:
        self._job = job
        self.course = RunningCourse.open(Path(job.course_dir) if job.course_dir else None)

    def collect(self, assignment: str, place: Path) -> CallOutcome:
        """Collect what is newer than the folders in `place`."""
        return self._call("Collect", self._folders(place, assignment), update=True)

    def listed(self, assignment: str = "", student: str = "*", inbound: bool = False) -> CallOutcome:
        """The released assignments as nbgrader's list command has them, or the hand-ins."""
        if issubclass(ExchangeFactory(config=self.course.config).list, ExchangeList):
            return CallOutcome(failure="its list is one of folders", aborted=True)
        folders = self._folders(self.course.root, assignment)
        folders.student_id = student
        return self._call("List", folders, inbound=inbound)

    def release(self, place: Path, assignment: str) -> CallOutcome:
        # for all students whose pages are there: a class may take a name such as [ab] for a pattern
        return self._call("ReleaseFeedback", self._folders(place, assignment))

    def _folders(self, root: Path, assignment: str) -> CourseDirectory:
        folders = CourseDirectory(
            config=self.course.config,
            root=str(root),
            directory_structure=_STRUCTURE,
            submitted_directory="submitted",
            feedback_directory="feedback",
        )
        folders.db_url = self.course.folders.db_url
        folders.assignment_id, folders.student_id = assignment, "*"
        return folders

    def _call(self, kind: str, folders: CourseDirectory, **values: bool) -> CallOutcome:
        config = self.course.config

        def do(log: logging.Logger) -> object:
            make = getattr(ExchangeFactory(config=config), kind)
            called = make(coursedir=folders, authenticator=Authenticator(config=config), log=log)
            for name, value in values.items():
                setattr(called, name, value)
            return _plain(called.start())

        return self._apart(do, Path(folders.root))

    def _apart(self, do: Callable[[logging.Logger], object], place: Path) -> CallOutcome:
        forks = forks_of_this()
        reader, writer = forks.Pipe(duplex=False)
        given = do, writer, self._job.timeout, place
        process = forks.Process(target=_answer, args=given, daemon=True)
        process.start()
        writer.close()
        deadline, told = time.monotonic() + self._job.timeout, [Told("")]
        try:
            while time.monotonic() < deadline and os.getppid() == self._job.parent:
                if reader.poll(_TICK):
                    found = reader.recv()
                    if isinstance(found, CallOutcome):
                        return _with(found, told)
                    told.append(found)
                    deadline = time.monotonic() + self._job.timeout
            why = f"there was no answer within {self._job.timeout:g} seconds (c.ExchangePolling.timeout)"
            return _with(CallOutcome(failure=why, aborted=True, hung=True), told)
        except EOFError:
            process.join()
            return _with(CallOutcome(failure=f"its process ended ({process.exitcode})", aborted=True), told)
        finally:
            process.kill()
            process.join()
            reader.close()


def _with(answer: CallOutcome, told: Sequence[Told]) -> CallOutcome:
    """The answer, with what was told before."""
    errors = [_sentence(each.error) for each in told if each.error]
    students = {each.student: _sentence(each.error) for each in told[::-1] if each.error}
    # an error that was logged is the cause of nbgrader's own, but not of one that nobody has thought of
    failure = errors[0] if errors and not answer.details and not answer.hung else _sentence(answer.failure)
    at = told[-1].student if answer.aborted else ""
    if at:
        students.setdefault(at, failure)
    students.pop("", None)
    return replace(answer, failure=failure, at=at, students=students)


def _sentence(text: str) -> str:
    return printable(_ADDRESS.sub("", " ".join(text.split()).rstrip(".")), 200)


def _answer(do: Callable[[logging.Logger], object], writer: Connection, seconds: float, place: Path) -> None:
    """Make a call in this fork, and send what it came to."""

    def tell(found: Told) -> None:
        ends_by_itself(seconds + 5)  # if nobody waits for it any more
        writer.send(found)

    log, answer = logging.Logger("exchange"), CallOutcome()
    log.addHandler(Watcher(place, tell))
    tell(Told(""))
    try:
        answer = CallOutcome(do(log))
    except SystemExit as ended:
        if ended.code not in (None, 0):
            answer = CallOutcome(failure=f"{ended}", aborted=True)
    except ExchangeError as error:
        answer = CallOutcome(failure=str(error), aborted=True)
    except NotImplementedError:
        answer = CallOutcome(failure="its class can't do this", details=traceback.format_exc(), aborted=True)
    except BaseException as error:
        answer = CallOutcome(failure=reason_of(error), details=traceback.format_exc(), aborted=True)
    writer.send(answer)


def _plain(listed: object) -> list[dict[str, str]]:
    """The texts in what nbgrader's list command returns: one dictionary for each assignment, or for each hand-in."""
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    nested = [each for entry in entries for each in entry.get("submissions") or [entry]]
    return [{name: value for name, value in each.items() if isinstance(value, str)} for each in nested]
