"""The process that asks an exchange for hand-ins and gives it pages: `python -m gradekit_watch.polling`.

Each call of one of nbgrader's classes for the exchange is made in a fork, since it may hang, or end its process. What
a class collects comes into a new folder, and from there into the store. It ends with the process that started it.
"""

import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from gradekit.attempts import time_in_words
from gradekit.course.files import FOR_EVERYBODY, handed_in_text
from gradekit.course.printing import printable
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit.nbgrader_plugin.course_folders import usable_name
from gradekit.submission.extra_files import TIMESTAMP, NotATime, time_in
from gradekit_watch.course_settings import run_job
from gradekit_watch.exchange_calls import CallOutcome, ExchangeCalls
from gradekit_watch.exchange_store import (
    CollectedHandIn,
    ExchangeStore,
    OutgoingPage,
    Polled,
    digest_of_files,
    files_below,
)
from gradekit_watch.hand_in_store import Problem, after, log_line
from gradekit_watch.polled_exchange import PollingJob
from gradekit_watch.way_process import held_lock

_TICK = 0.1
#: later than all hand-ins, so that the exchange's class has nothing to collect
_PASSED_OVER = "8999-12-31 23:59:59.999999 UTC"
#: students who are passed over for the first time in a round, since nothing of theirs can be collected
_MOST_PASSED_OVER = 10
_AGAIN = ". It is tried again"
_LONGEST_PAUSE = 900.0


class PollingRounds:
    """Asks for the hand-ins to all assignments, again and again."""

    def __init__(self, job: PollingJob, calls: ExchangeCalls, store: ExchangeStore) -> None:
        self._job, self._calls, self._store = job, calls, store
        before = store.polled
        self.polled = Polled(os.getpid(), before.away, before.asked)
        self.problems: list[Problem] = []
        self._found: list[Problem] = []
        self._failed: dict[str, str] = {}
        #: by assignment, the students at whose hand-ins the class ended, and why; when they are tried again
        self._bad: dict[str, dict[str, str]] = {}
        self._next: dict[str, float] = {}
        self._pauses: dict[str, float] = {}
        self._said: set[str] = set()

    def ask(self, meanwhile: Callable[[], None]) -> None:
        """Collect what is new, once; `meanwhile` is called between two assignments."""
        try:
            away = self._ask(meanwhile)
        except OSError as error:
            away = f"what the exchange has can't be stored: {reason_of(error)}"
        if bool(away) != bool(self.polled.away):
            log_line(away or "the exchange answers again")
        self.polled.away = away

    def _ask(self, meanwhile: Callable[[], None]) -> str:
        """Returns why the exchange didn't answer."""
        listing = self._calls.listed()
        self._log("the released assignments", listing)
        released = {entry.get("assignment_id", "") for entry in listing.value or ()}
        chosen, found = self._job.chosen, self._calls.course.layout.assignments()
        names = [each.name for each in found if not chosen or each.name in chosen]
        before, self._failed, self._found = self._failed, {}, []
        for name in sorted(names, key=lambda each: (each in before, each)):  # one that hangs comes last
            self._collect(name)
            meanwhile()
            if listing.hung and name in self._failed:
                break
        if not listing.failure:  # a class fails for an assignment that isn't released
            self._failed = {name: why for name, why in self._failed.items() if name in released}
            names = [name for name in names if name in released]
        away = next(iter(self._failed.values()), "")
        if away and (listing.hung or len(self._failed) == len(names)):
            again = f"It is asked again every {self._job.interval:g} seconds, and nothing is lost"
            return f"the exchange can't be asked for hand-ins: {away}. {again}"
        for name, why in self._failed.items():
            self._name("all hand-ins", f"can't be collected: {why}", assignment=name)
        self.problems = self._found
        return ""

    def _collect(self, assignment: str) -> None:
        """Collect what is new for an assignment; students at whose hand-ins the class ends are passed over."""
        bad = self._bad.setdefault(assignment, {})
        earlier = bool(bad)
        for _ in range(_MOST_PASSED_OVER):
            answer = self._collect_but(assignment, bad)
            if not answer.aborted:
                if answer.failure and not answer.students:  # it may have been all that was asked for
                    self._failed[assignment] = answer.failure
                if not answer.failure or any(kept.assignment == assignment for _, kept in self._store.all()):
                    self.polled.asked.add(assignment)
                if earlier:
                    self._retry(assignment, bad)
                break
            if not answer.at or answer.at in bad:
                self._failed[assignment] = answer.failure
                break
            bad[answer.at] = answer.students[answer.at]
        for student, why in bad.items():
            self._name("the hand-in", f"could not be collected: {why}{_AGAIN}", student, assignment)

    def _retry(self, assignment: str, bad: dict[str, str]) -> None:
        """Try the hand-ins of those who were passed over: all together, since all may be well, then the next one."""
        now = time.monotonic()
        if now < self._next.get(assignment, 0.0):
            return
        for alone in (False, True):
            passed_over = list(bad)[1:] if alone else []
            answer = self._collect_but(assignment, passed_over)
            if not answer.aborted:
                for student in bad.keys() - set(passed_over):
                    bad.pop(student)
                break
            if answer.at:
                bad.pop(answer.at, None)
                bad[answer.at] = answer.students[answer.at]  # the last to be tried again
        self._pauses[assignment] = min(
            _LONGEST_PAUSE, 2 * self._pauses.get(assignment, self._job.interval / 2)
        )
        if not bad:
            self._pauses.pop(assignment)
        self._next[assignment] = time.monotonic() + self._pauses.get(assignment, 0.0)

    def _collect_but(self, assignment: str, passed_over: Collection[str]) -> CallOutcome:
        """Collect what is new, but not from these students."""
        with self._store.scratch() as scratch:
            stamps = self._set_up(scratch, assignment, passed_over)
            answer = self._calls.collect(assignment, scratch)
            self._log(assignment, answer)
            for student, folder in self._new(scratch, assignment, stamps):
                if student not in answer.students:
                    self._keep(student, assignment, folder)
                    self._bad[assignment].pop(student, None)
        others = {student: why for student, why in answer.students.items() if student != answer.at}
        for student, why in others.items():
            self._name("the hand-in", f"could not be collected: {why}{_AGAIN}", student, assignment)
        return answer

    def _set_up(self, place: Path, assignment: str, passed_over: Collection[str]) -> dict[str, str]:
        """Make folders like those of what was collected before, with nothing but its time, which is returned."""
        kept = [each for _, each in self._store.all() if each.assignment == assignment]
        stamps = {each.student: each.stamp for each in sorted(kept, key=lambda each: each.handed_in)}
        stamps |= dict.fromkeys(passed_over, _PASSED_OVER)
        for student, stamp in stamps.items():
            folder = place / "submitted" / student / assignment
            folder.mkdir(parents=True)
            if stamp:
                (folder / TIMESTAMP).write_text(stamp)
        return stamps

    def _new(self, place: Path, assignment: str, stamps: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
        """The students with other folders than were set up there."""
        for student in sorted(place.glob("submitted/*")):
            folder = student / assignment
            if folder.is_dir():
                stamp = handed_in_text(folder / TIMESTAMP).strip()
                if set(os.listdir(folder)) - {TIMESTAMP} or stamp != stamps.get(student.name):
                    yield student.name, folder

    def _keep(self, student: str, assignment: str, folder: Path) -> None:
        """Store what was collected, unless it is the same as before."""
        try:
            if usable_name(student) != student:
                raise ValueError("is by a student whose name nbgrader can't handle")
            self._store_new(student, assignment, folder)
        except NotATime as error:
            self._name("the hand-in", f"has a {TIMESTAMP} that {error}", student, assignment)
        except ValueError as error:
            self._name("the hand-in", str(error), student, assignment)
        except OSError as error:
            if error.errno in FOR_EVERYBODY:
                raise
            self._name("the hand-in", f"can't be read: {reason_of(error)}{_AGAIN}", student, assignment)

    def _store_new(self, student: str, assignment: str, folder: Path) -> None:
        earlier, found = self._store.of(student, assignment), digest_of_files(folder)
        last = earlier[-1][1] if earlier else None
        if last is not None and last.digest == found:
            return
        stamp = handed_in_text(folder / TIMESTAMP).strip()
        time = time_in(stamp).replace(tzinfo=UTC) if stamp else datetime.now(UTC)
        every = list(files_below(folder))
        files = {path for path in every if path.is_file() and not path.is_symlink()}
        names = {path: str(path.relative_to(folder)) for path in every}
        left_out = [
            (printable(names[path]), "isn't a file, so it was left out.")
            for path in every
            if path not in files
        ]
        if assignment in self.polled.asked:
            left_out += self._replaced(student, assignment, last, time)
        size = sum(path.stat().st_size for path in files)
        kept = CollectedHandIn(student, assignment, after(time, last), size, stamp, found, tuple(left_out))
        self._store.keep(
            kept, ((names[path], path.read_bytes()) for path in every if path in files), found[:12]
        )

    def _replaced(
        self, student: str, assignment: str, last: CollectedHandIn | None, time: datetime
    ) -> Iterator[tuple[str, str]]:
        """The hand-ins that a later one has replaced before they could be collected."""
        for entry in self._calls.listed(assignment, student, inbound=True).value or ():
            try:
                found = time_in(entry.get("timestamp", "").strip()).replace(tzinfo=UTC)
            except NotATime:
                continue
            own = entry.get("student_id", student) == student
            if own and found < time and (last is None or last.handed_in < found):
                why = "was replaced by this one before it could be collected, so it has no page."
                yield f"The hand-in at {time_in_words(found)}", why

    def _name(self, name: str, reason: str, student: str = "", assignment: str = "") -> None:
        self._found.append(Problem(name, reason, printable(student), assignment))

    def _log(self, what: str, answer: CallOutcome) -> None:
        """Write into the log why a call failed, once."""
        line = f"{what}: {answer.failure}"
        if answer.details and line not in self._said:
            self._said.add(line)
            log_answer(line, answer)


class Releases:
    """Gives pages to the exchange; one that it doesn't take is tried again later and later."""

    def __init__(self, job: PollingJob, calls: ExchangeCalls, store: ExchangeStore) -> None:
        self._job, self._calls, self._store = job, calls, store
        self._pauses: dict[str, float] = {}
        self._next: dict[str, float] = {}
        self._problems: dict[str, Problem] = {}

    @property
    def problems(self) -> list[Problem]:
        return list(self._problems.values())

    def release_due(self) -> None:
        """Release the pages that are due, new ones first."""
        pages = self._store.pages()
        for folder, page in sorted(pages, key=lambda each: self._next.get(each[0].stem, 0.0)):
            if self._next.get(folder.stem, 0.0) <= time.monotonic() and os.getppid() == self._job.parent:
                self._release(folder, page)

    def _release(self, folder: Path, page: OutgoingPage) -> None:
        key, answer = folder.stem, self._calls.release(folder, page.assignment)
        if not answer.failure:
            shutil.rmtree(folder, ignore_errors=True)
            for gone in (self._pauses, self._next, self._problems):
                gone.pop(key, None)
            return self._store.touch()
        self._pauses[key] = min(_LONGEST_PAUSE, 2 * self._pauses.get(key, self._job.interval / 2))
        self._next[key] = time.monotonic() + self._pauses[key]
        student, assignment, name = page.problem
        why = f"was not released: {answer.failure}{_AGAIN}"
        if key not in self._problems:
            log_answer(f"{student} {assignment}: {name} {why}", answer)
        self._problems[key] = Problem(name, why, student, assignment)


def log_answer(line: str, answer: CallOutcome) -> None:
    """Tell the person who runs the process what a call came to."""
    for each in (line, *answer.details.splitlines()):
        log_line(each)


def poll(job: PollingJob) -> int:
    """Ask the exchange until the parent ends; returns the exit code."""
    os.chdir(job.cwd)
    calls = ExchangeCalls(job)
    store = ExchangeStore(calls.course.root)
    store.folder.mkdir(parents=True, exist_ok=True)
    lock = held_lock(store.lock, job.parent)
    if lock is None:
        log_line("another process asks the exchange for this course")
        return 1
    with lock:
        store.clean()
        rounds, releases = PollingRounds(job, calls, store), Releases(job, calls, store)

        def release() -> None:
            releases.release_due()
            store.set_problems([*rounds.problems, *releases.problems])

        next_round = 0.0
        while os.getppid() == job.parent:
            if time.monotonic() >= next_round:
                rounds.ask(release)
                next_round = time.monotonic() + job.interval
                release()
                store.note(rounds.polled)
            release()
            time.sleep(_TICK)
    return 0


if __name__ == "__main__":
    run_job(PollingJob, poll)
