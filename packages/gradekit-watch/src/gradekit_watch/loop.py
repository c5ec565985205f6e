"""`gradekit watch`: looks for hand-ins, has each graded in its turn, and continues whatever happens to one of them.

What a command that was killed left half done is repaired before the first step. Then each step has the same order. The
settings are read first, so that everything in a step follows the same rules. Next, the loop looks for hand-ins, and
grades those whose turn it is; it looks again whenever a worker is idle, so that new ones needn't wait for the next step.
Only then the attempt that counts is put back, because grading a later one has replaced it. Pages that are due are
released after that, and final pages are written last, in a step without anything to grade: a hand-in that still
waits may change them, and students who wait for a grade come first.
"""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from gradekit.attempts import (
    AttemptRecord,
    Attempts,
    Page,
    Shows,
    attempt_that_counts,
    is_in_time,
    time_in_words,
)
from gradekit.course import Assignment, CourseError, stamp_of
from gradekit.course.files import FOR_EVERYBODY
from gradekit.course.operating_system import ending_signals
from gradekit.course.printing import printable
from gradekit.grading.running_course import GradebookAway, RunningCourse
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.verdict.tries import fault_lines
from gradekit_watch.arrivals import time_of
from gradekit_watch.pipeline import Blocked, Deadlines, GradedHandIn, NotGraded, away, no_space
from gradekit_watch.status import Event, EventKind, Reports, last_listed, locked
from gradekit_watch.waiting import Waiting, WatchedCourse, WatchOptions
from gradekit_watch.ways import HandIn

POLL_SECONDS = 0.5
#: between two steps while nothing can be written
BLOCKED_SECONDS = 5.0
#: hand-ins for one assignment before second tries of stopped code get a turn
_IN_A_ROW = 20
#: this many of these may have arrived after one for another assignment
_BEFORE_OTHERS = 8


class Watch:
    """The loop over one course. `report` is called with each event."""

    def __init__(self, course: RunningCourse, options: WatchOptions, report: Callable[[Event], None]) -> None:
        self._watched = WatchedCourse(course, options)
        self._reports = Reports(course.root, report)
        self._waiting = Waiting(self._watched, self._reports)
        self._counting = Counting(self._watched, self._reports)
        self._due = DuePages(self._watched, self._reports)
        self._begun = self._ending = self._final_pages = self._once = False

    def run(self, once: bool = False) -> int:
        """Watch until SIGTERM or SIGINT, or with `once` until everything that has arrived is graded.

        Returns:
            The exit code: with `once`, 1 if something was refused or not graded.
        """
        self._once = once
        with locked(self._watched.course.root), self._signals():
            self._reports.say(EventKind.STARTED, f"watching {self._watched.source.description}")
            self._name_unknown_rules()
            try:
                self._watched.source.start(once)
                begun = time.monotonic()
                while not self._ending:
                    worked = self._guarded(self._step)
                    begun = time.monotonic() if worked else begun
                    status, waited = self._reports.status, time.monotonic() - begun
                    waits = (
                        status.incomplete and not status.blocked and waited < self._watched.source.patience
                    )
                    if once and not (worked or waits):
                        break
                    self._reports.write()
                    if not worked and not self._ending:
                        is_full = status.blocked and self._watched.source.place.exists()
                        time.sleep(BLOCKED_SECONDS if is_full else POLL_SECONDS)
            finally:
                self._watched.close()
            self._reports.say(EventKind.ENDED, "ended")
            self._reports.write(now=True)
        return int(once and bool(self._reports.failed or self._reports.status.blocked))

    def _guarded(self, step: Callable[[], bool]) -> bool:
        """Take one step. A problem that keeps all hand-ins from being graded is reported once, and they wait."""
        try:
            worked = step()
        except (Blocked, CourseError) as error:
            reason = " ".join(str(error).split())
        except SQLAlchemyError as error:
            reason = away(error)
        except OSError as error:
            reason = self._watched.source.why_away() or str(error)
            reason = no_space(error) if error.errno in FOR_EVERYBODY else reason
        else:
            self._unblock()
            return worked
        if reason != self._reports.status.blocked:
            self._reports.status.blocked = reason
            self._reports.say(EventKind.WAITING, reason)
        return False

    def _unblock(self) -> None:
        if self._reports.status.blocked:
            self._reports.status.blocked = ""
            self._reports.say(EventKind.RELOADED, "grading continues")

    def _step(self) -> bool:
        """Look, grade the hand-ins whose turn it is, and release pages that are due; False if there was nothing to do."""
        if not self._begun:
            self._watched.repair()
            self._due.find()
            self._begun = True
        self._reload()
        if self._waiting.look_if_needed():
            self._final_pages = True
        worked = self._grade()
        self._counting.put_back(self._waiting.known, self._waiting.queue.has)
        self._due.release_due()
        if self._final_pages and not worked:
            self._due.write_final(self._waiting.deadlines, self._waiting.queue.has)
            self._final_pages = False
        return worked

    def _reload(self) -> None:
        try:
            reopened = self._watched.reopened()
        except CourseError as error:
            text = f"{error}. Until that is fixed, the previous settings are used."
            return self._reports.say(EventKind.PROBLEM, text)
        if reopened is not None:
            self._watched = reopened
            reopened.source.start(self._once)
            for part in (self._waiting, self._counting, self._due):
                part.settings_changed(reopened)
            self._reports.say(EventKind.RELOADED, "the settings have changed and were read again")
            self._name_unknown_rules()

    def _name_unknown_rules(self) -> None:
        for sentence in self._watched.unknown_rules():
            self._reports.say(EventKind.PROBLEM, sentence)

    def _grade(self) -> bool:
        """Grade the hand-ins of the assignment whose turn it is, as long as it is."""
        first = self._waiting.first()
        if first is None:
            return False
        assignment = self._watched.course.assignment(first.assignment)
        stamp = stamp_of(assignment)
        under_way: dict[str, HandIn] = {}
        try:
            grading = self._watched.gradings.of(assignment)
            with contextlib.closing(grading.grade(self._students(assignment, under_way))) as submissions:
                for submission in submissions:
                    hand_in = under_way[submission.student]
                    with self._giving_up(hand_in):
                        self._finished(self._watched.pipeline.finish(submission, hand_in))
                        for line in fault_lines(submission.faults, assignment.name):
                            self._reports.fail(EventKind.PROBLEM, line, hand_in.student, assignment.name)
                    del under_way[submission.student]
        except BaseException as error:
            self._watched.gradings.drop(assignment.name)
            if not isinstance(error, CourseError) or isinstance(error, GradebookAway):
                raise
            self._waiting.hold(assignment.name, stamp, " ".join(str(error).split()))
        return True

    def _students(self, assignment: Assignment, under_way: dict[str, HandIn]) -> Iterator[str]:
        """The students whose turn it is, each when a worker is idle and the hand-in has been collected."""
        for number in range(_IN_A_ROW):
            with contextlib.suppress(OSError, CourseError, SQLAlchemyError):  # reported after those under way
                self._waiting.look_if_needed()
            # all workers have to end before another assignment begins, so its hand-ins wait for a few of this one's
            only = assignment.name if number < _BEFORE_OTHERS else ""
            hand_in = self._waiting.first(under_way, only)
            if self._ending or hand_in is None or hand_in.assignment != assignment.name:
                return
            if not self._watched.gradings.is_current(assignment):
                return
            with self._giving_up(hand_in):
                for sentence in self._watched.pipeline.collect(hand_in):
                    self._reports.say(EventKind.PROBLEM, sentence, hand_in.student, hand_in.assignment)
                self._name_backdated(hand_in)
                under_way[hand_in.student] = hand_in
                yield hand_in.student

    def _name_backdated(self, hand_in: HandIn) -> None:
        """Students write the time themselves. It counts, as in nbgrader, but a person should know."""
        if hand_in.arrived and hand_in.is_backdated(self._reports.seen_until):
            text = (
                f"its time is {hand_in.handed_in:%Y-%m-%d %H:%M} UTC, but it arrived at "
                f"{hand_in.arrived:%Y-%m-%d %H:%M} UTC: ask why before you accept it as in time"
            )
            self._reports.say(EventKind.PROBLEM, text, hand_in.student, hand_in.assignment)
            self._reports.add_backdated(f"{hand_in.student} {hand_in.assignment}", text)

    @contextlib.contextmanager
    def _giving_up(self, hand_in: HandIn) -> Iterator[None]:
        """Report why this one hand-in can't be graded, and continue without it."""
        try:
            yield
        except NotGraded as error:
            self._waiting.give_up(hand_in, error)

    def _finished(self, graded: GradedHandIn) -> None:
        hand_in, record = graded.hand_in, graded.record
        seconds = hand_in.waited(datetime.now(UTC))
        kind, what = EventKind.RELEASED, f"page {self._watched.sink.done} after {seconds:.1f} s"
        if record.page == Page.HELD:
            kind, what = EventKind.HELD, f"page held until {time_in_words(record.due)}"
            self._due.hold(hand_in.student, hand_in.assignment, record)
        else:
            self._reports.add_latency(seconds)
        nothing_graded = record.max_points > 0 and not any(record.notebooks.values())
        points = f"{record.score:g} of {record.max_points:g} points"
        text = f"{'nothing could be graded' if nothing_graded else points}, {what}"
        names = printable(hand_in.student), hand_in.assignment
        score = None if nothing_graded else record.score
        due = record.due if record.page == Page.HELD else None
        event = Event(kind, text, *names, score, record.max_points, round(seconds, 3), due)
        self._waiting.done(hand_in)
        self._due.graded(hand_in.student, hand_in.assignment)
        self._counting.graded(hand_in)
        self._unblock()
        self._reports.report(event)
        self._reports.failed = self._reports.failed or nothing_graded
        for problem in graded.problems:
            self._reports.say(EventKind.PROBLEM, problem, hand_in.student, hand_in.assignment)
        self._reports.write()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """End after the current hand-in on SIGTERM and Ctrl-C; at once on a second one."""

        def end() -> None:
            if self._ending:
                raise KeyboardInterrupt
            self._ending = True
            with contextlib.suppress(OSError):  # print may not be used in a signal handler
                os.write(2, b"ending after the hand-ins under way; Ctrl-C again ends at once\n")

        with ending_signals(end):
            yield


class Counting:
    """Puts attempts that count back in place.

    No progress is stored: the records say which attempt counts, and the folders whether it is in place. So the next
    start finishes the work of a process that was killed.
    """

    def __init__(self, watched: WatchedCourse, reports: Reports) -> None:
        self._watched, self._reports = watched, reports
        self._known: Sequence[HandIn] = ()
        self._hand_ins: dict[tuple[str, str], list[HandIn]] = {}
        self._in_place: set[tuple[str, str]] = set()

    def graded(self, hand_in: HandIn) -> None:
        """Check again which attempt counts for this student."""
        self._in_place.discard((hand_in.student, hand_in.assignment))

    def settings_changed(self, watched: WatchedCourse) -> None:
        """Check again which attempts count for everybody."""
        self._watched = watched
        self._in_place.clear()

    def put_back(self, known: Sequence[HandIn], waits: Callable[[str, str], bool]) -> None:
        """Put the attempts that count in place.

        Args:
            known: the hand-ins, graded ones included; another list when something has arrived.
            waits: whether a student has a hand-in for an assignment that is not graded yet.
        """
        if known is not self._known:
            self._known, self._hand_ins = known, {}
            for hand_in in known:
                self._hand_ins.setdefault((hand_in.student, hand_in.assignment), []).append(hand_in)
        for student, assignment in sorted(self._hand_ins.keys() - self._in_place):
            if not waits(student, assignment):
                self._put_back(student, assignment)
                self._in_place.add((student, assignment))

    def _put_back(self, student: str, assignment: str) -> None:
        records = Attempts.load(self._watched.course.root, assignment, student).records
        counting = attempt_that_counts(self._watched.rules.of(assignment).counts, records)
        if counting is None or self._is_in_place(student, assignment, counting, records):
            return
        which = f"attempt {records.index(counting) + 1}, with {counting.score:g} points,"
        hand_ins = self._hand_ins[student, assignment]
        hand_in = next((found for found in hand_ins if found.handed_in == counting.handed_in), None)
        try:
            if hand_in is None:
                raise NotGraded("it is no longer in the exchange")
            self._watched.pipeline.put_back(hand_in)
        except NotGraded as reason:
            text = f"{which} counts, but is not in the gradebook: {reason}"
            self._reports.fail(EventKind.NOT_GRADED, text, student, assignment)
        else:
            text = f"{which} counts and is in the gradebook"
            self._reports.say(EventKind.RELEASED, text, student, assignment)

    def _is_in_place(
        self, student: str, assignment: str, counting: AttemptRecord, records: list[AttemptRecord]
    ) -> bool:
        """True also if the instructor has collected something else, which has no record and isn't known here."""
        course = self._watched.course
        times = {record.handed_in for record in records}
        submitted, autograded = course.submitted(student, assignment), course.autograded(student, assignment)
        collected, graded = time_of(submitted), time_of(autograded)
        if graded is not None and graded not in times:
            return True
        if collected not in times:
            known = {hand_in.handed_in for hand_in in self._hand_ins[student, assignment]}
            return collected not in known or graded == counting.handed_in
        if not collected == graded == counting.handed_in:
            return False
        if counting is records[-1]:  # its record was stored when it had been written
            return True
        names = course.assignment(assignment).released_names()
        return all(_was_graded(autograded / f"{name}.ipynb") for name in names)


def _was_graded(notebook: Path) -> bool:
    """Whether it was autograded completely, by any version."""
    try:
        return RESULT in json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


class DuePages:
    """The pages that are still to be released."""

    def __init__(self, watched: WatchedCourse, reports: Reports) -> None:
        self._watched, self._reports = watched, reports
        self._held: dict[tuple[str, str, datetime], AttemptRecord] = {}
        self._final: set[tuple[str, str]] = set()

    def find(self) -> None:
        """Find the pages that an earlier command held, and remove the remains of an interrupted release."""
        for name in self._watched.assignments():
            for student in self._watched.course.handed_in(name):
                for record in self._attempts(student, name).records:
                    held = self._watched.history.held_folder(student, name, record.handed_in)
                    if record.page == Page.HELD and held.is_dir():
                        self._held[student, name, record.handed_in] = record
                    elif held.is_dir():
                        shutil.rmtree(held)
        self._count()

    def settings_changed(self, watched: WatchedCourse) -> None:
        self._watched = watched

    def graded(self, student: str, assignment: str) -> None:
        """Expect a final page again: there is another attempt."""
        self._final.discard((student, assignment))

    def hold(self, student: str, assignment: str, record: AttemptRecord) -> None:
        self._held[student, assignment, record.handed_in] = record
        self._count()

    def release_due(self) -> None:
        """Release the held pages that are due, oldest first."""
        now = datetime.now(UTC)
        due = [(key, record) for key, record in self._held.items() if record.due <= now]
        for key, record in sorted(due, key=lambda item: item[0][2]):
            student, assignment, _ = key
            try:
                self._watched.pipeline.release(student, assignment, record)
            except NotGraded as reason:
                text = f"the held page was not released: {reason}"
                self._reports.fail(EventKind.NOT_GRADED, text, student, assignment)
            else:
                self._reports.say(EventKind.RELEASED, "the held page was released", student, assignment)
            del self._held[key]
            self._count()

    def write_final(self, deadlines: Mapping[str, Deadlines], waits: Callable[[str, str], bool]) -> None:
        """Rewrite the pages whose deadline has passed, in full.

        Args:
            waits: whether a student has a hand-in for an assignment that is not graded yet.
        """
        now = datetime.now(UTC)
        for name, deadline_of in deadlines.items():
            rule = self._watched.rules.of(name)
            # the last page of a course with second chances offers one
            if rule.shows is Shows.EVERYTHING and self._watched.chance is None:
                continue
            for student in self._watched.course.handed_in(name):
                deadline = deadline_of.of(student)
                over = not is_in_time(rule, now, deadline)
                if over and (student, name) not in self._final and not waits(student, name):
                    self._write_final(student, name)

    def _write_final(self, student: str, assignment: str) -> None:
        records = self._attempts(student, assignment).records
        graded = time_of(self._watched.course.autograded(student, assignment))
        # the attempt that counts is the one in autograded/, unless the instructor has collected another
        found = [r for r in records if graded is None or r.handed_in == graded]
        if found and found[-1].page == Page.HELD:
            return  # until it has been released
        if found and not found[-1].final:
            try:
                self._watched.pipeline.rewrite(student, assignment, found[-1])
            except NotGraded as reason:
                text = f"the page after the deadline was not written: {reason}"
                self._reports.fail(EventKind.NOT_GRADED, text, student, assignment)
            else:
                text = "after the deadline, the page was written again in full"
                self._reports.say(EventKind.RELEASED, text, student, assignment)
        self._final.add((student, assignment))

    def _attempts(self, student: str, assignment: str) -> Attempts:
        return Attempts.load(self._watched.course.root, assignment, student)

    def _count(self) -> None:
        status = self._reports.status
        status.held = len(self._held)
        status.held_ones = last_listed(
            (printable(f"{student} {assignment}"), f"due at {time_in_words(record.due)}")
            for (student, assignment, _), record in self._held.items()
        )
        status.next_due = min((record.due for record in self._held.values()), default=None)
