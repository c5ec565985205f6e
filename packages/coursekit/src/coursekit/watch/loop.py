"""`coursekit watch`: looks for hand-ins, has each graded in its turn, and goes on whatever happens to one of them."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from coursekit.course import Assignment, CourseError
from coursekit.grading.running_course import RunningCourse
from coursekit.grading.write import FOR_EVERYBODY
from coursekit.printing import printable
from coursekit.student.extra_files import time_handed_in
from coursekit.watch.arrivals import HandIn, Look
from coursekit.watch.history import Deadlines
from coursekit.watch.lock import locked
from coursekit.watch.pipeline import Blocked, Graded, NotGraded, gone, no_space
from coursekit.watch.pools import Stamp, stamp_of
from coursekit.watch.queue import Queue
from coursekit.watch.records import AttemptRecord, Attempts, Page
from coursekit.watch.rules import Shows
from coursekit.watch.status import Event, Kind, StatusFile, seen
from coursekit.watch.watched import WatchedCourse, WatchOptions

POLL_SECONDS = 0.5
#: between full looks, since network file systems report changes late
LOOK_SECONDS = 30.0
#: until the next try when nothing can be written
BLOCKED_SECONDS = 5.0
#: hand-ins for one assignment before second tries of stopped code have their turn
_IN_A_ROW = 20
#: with --once, how long to wait for hand-ins that are not complete
_ONCE_SECONDS = 15.0


class Watch:
    """The loop over one course. `report` is called with each event."""

    def __init__(self, course: RunningCourse, options: WatchOptions, report: Callable[[Event], None]) -> None:
        self._watched, self._report_to = WatchedCourse(course, options), report
        self._queue = Queue()
        self._file = StatusFile(course.root)
        self._status = self._file.status
        self._ending = False
        self._failed = False
        self._next_look = 0.0
        self._known: dict[str, Assignment] = {}
        self._deadlines: dict[str, Deadlines] = {}
        self._held: dict[tuple[str, str, datetime], AttemptRecord] = {}
        self._final: set[tuple[str, str]] = set()
        self._on_hold: dict[str, tuple[Stamp, str]] = {}
        self._given_up: dict[HandIn, tuple[Stamp, str]] = {}
        self._refused: dict[Path, str] = {}

    def run(self, once: bool = False) -> int:
        """Watch until SIGTERM or SIGINT, or with `once` until everything is graded that is there.

        Returns:
            1 if something was refused or not graded and `once` is set.
        """
        with locked(self._watched.course.root), self._signals():
            self._say(Kind.STARTED, f"watching {self._place}")
            try:
                self._guarded(self._begin)
                begun = time.monotonic()
                while not self._ending:
                    worked = self._guarded(self._step)
                    if once and (self._status.blocked or not (worked or self._waits_for_more(begun))):
                        break
                    with contextlib.suppress(OSError):  # a full disk is reported where it matters
                        self._file.write()
                    if not worked and not self._ending:
                        time.sleep(BLOCKED_SECONDS if self._no_space else POLL_SECONDS)
            finally:
                self._watched.close()
            self._say(Kind.ENDED, "ended")
            with contextlib.suppress(OSError):
                self._file.write(now=True)
        return int(once and (self._failed or bool(self._status.blocked)))

    @property
    def _place(self) -> str:
        exchange = self._watched.exchange
        course = self._watched.course
        return str(exchange.inbound if exchange else course.root / course.folders.submitted_directory)

    @property
    def _no_space(self) -> bool:
        return bool(self._status.blocked) and os.path.isdir(self._place)

    def _guarded(self, step: Callable[[], bool]) -> bool:
        """One step. What keeps everybody's hand-ins from being graded is reported once; they wait."""
        try:
            worked = step()
        except Blocked as blocked:
            reason = str(blocked)
        except OSError as error:
            if error.errno in FOR_EVERYBODY:
                reason = no_space(error)
            elif self._watched.exchange and not self._watched.exchange.inbound.is_dir():
                reason = gone(self._watched.exchange.inbound)
            else:
                reason = str(error)
        else:
            if self._status.blocked:
                self._status.blocked = ""
                self._say(Kind.RELOADED, "grading goes on")
            return worked
        if reason != self._status.blocked:
            self._status.blocked = reason
            self._say(Kind.WAITING, reason)
        return False

    def _begin(self) -> bool:
        self._watched.repair()
        for name in self._watched.assignments():
            for student in self._watched.course.handed_in(name):
                for record in Attempts.load(self._watched.course.root, name, student).records:
                    held = self._watched.history.held_folder(student, name, record.handed_in)
                    if record.page == Page.HELD and held.is_dir():
                        self._held[student, name, record.handed_in] = record
        return True

    def _step(self) -> bool:
        """Look, grade the hand-ins whose turn it is, and release what is due; False if there was nothing to do."""
        self._reload()
        if time.monotonic() >= self._next_look:
            self._look_fully()
        elif self._watched.arrivals.changed():
            self._look()
        self._retry()
        worked = self._grade_next()
        self._release_due()
        return worked

    def _waits_for_more(self, begun: float) -> bool:
        return bool(self._status.incomplete) and time.monotonic() - begun < _ONCE_SECONDS

    def _reload(self) -> None:
        try:
            reopened = self._watched.reopened()
        except CourseError as error:
            self._say(Kind.PROBLEM, f"{error}. The settings before are still used.")
            return
        if reopened is not None:
            self._watched, self._next_look = reopened, 0.0
            self._on_hold.clear()
            self._say(Kind.RELOADED, "the configuration has changed and was read again")

    def _look_fully(self) -> None:
        self._known = self._watched.assignments()
        self._deadlines = {name: Deadlines(self._watched.course, name) for name in self._known}
        self._look()
        self._finish_up()
        self._next_look = time.monotonic() + LOOK_SECONDS

    def _look(self) -> None:
        look = self._watched.arrivals.look()
        chosen = [hand_in for hand_in in look.hand_ins if self._watched.is_chosen(hand_in.assignment)]
        for name in {hand_in.assignment for hand_in in chosen} - set(self._known):
            if name not in self._on_hold:
                self._hold(name, (), self._watched.why_unknown(name))
        for name in set(self._known) & {name for name, (stamp, _) in self._on_hold.items() if not stamp}:
            del self._on_hold[name]
        in_time = [h for h in chosen if h.assignment in self._known and not self._is_late(h)]
        self._status.late = sum(self._is_late(hand_in) for hand_in in chosen)
        self._forget(look)
        allowed = set(self._watched.course.gradable([hand_in.student for hand_in in in_time]))
        to_do = [h for h in in_time if h.student in allowed and h not in self._given_up]
        self._queue.update(self._watched.history.outstanding(to_do))
        self._refuse(look)
        self._status.incomplete = len(look.incomplete)
        self._count()

    def _is_late(self, hand_in: HandIn) -> bool:
        deadlines = self._deadlines.get(hand_in.assignment)
        deadline = deadlines.of(hand_in.student) if deadlines else None
        return (
            deadline is not None
            and hand_in.handed_in > deadline + self._watched.rules.of(hand_in.assignment).grace
        )

    def _refuse(self, look: Look) -> None:
        now = {refusal.folder: refusal for refusal in look.refused}
        for folder in now.keys() - self._refused.keys():
            refusal = now[folder]
            self._failed = True
            text = f"refused: {printable(str(folder))} {refusal.reason}"
            self._say(Kind.REFUSED, text, student=refusal.student, assignment=refusal.assignment)
        self._refused = {folder: refusal.reason for folder, refusal in now.items()}
        self._status.refused = seen((printable(path.name), reason) for path, reason in self._refused.items())

    def _forget(self, look: Look) -> None:
        there = set(look.hand_ins)
        self._given_up = {hand_in: why for hand_in, why in self._given_up.items() if hand_in in there}

    def _retry(self) -> None:
        """Try again what could not be graded, when the files of its assignment have changed."""
        for name, (stamp, _) in list(self._on_hold.items()):
            if stamp and stamp != stamp_of(self._watched.course.assignment(name)):
                del self._on_hold[name]
                self._next_look = 0.0
        stamps = {
            name: stamp_of(self._watched.course.assignment(name))
            for name in {hand_in.assignment for hand_in in self._given_up}
        }
        again = [h for h, (stamp, _) in self._given_up.items() if stamp != stamps[h.assignment]]
        for hand_in in again:
            del self._given_up[hand_in]
            self._next_look = 0.0

    def _grade_next(self) -> bool:
        """Grade the hand-ins of the assignment whose turn it is, as long as it is."""
        first = self._queue.first(on_hold=self._on_hold)
        if first is None:
            return False
        assignment = self._watched.course.assignment(first.assignment)
        stamp = stamp_of(assignment)
        try:
            run = self._watched.pools.of(assignment)
            under_way: dict[str, HandIn] = {}
            with contextlib.closing(run.grade(self._students(assignment, under_way))) as submissions:
                for submission in submissions:
                    hand_in = under_way[submission.student]
                    with self._giving_up(hand_in):
                        self._done(self._watched.pipeline.finish(submission, hand_in))
                    del under_way[submission.student]
                    self._release_due()
        except CourseError as error:
            self._watched.pools.drop(assignment.name)
            self._failed = True
            self._hold(assignment.name, stamp, " ".join(str(error).split()))
        except BaseException:
            self._watched.pools.drop(assignment.name)
            raise
        return True

    def _students(self, assignment: Assignment, under_way: dict[str, HandIn]) -> Iterator[str]:
        """The students whose turn it is, each when a worker is idle and the hand-in has been collected."""
        for _ in range(_IN_A_ROW):
            with contextlib.suppress(OSError):  # it is reported after those under way
                if self._watched.arrivals.changed():
                    self._look()
            hand_in = self._queue.first(under_way, self._on_hold)
            if (
                self._ending
                or hand_in is None
                or hand_in.assignment != assignment.name
                or not self._watched.pools.is_current(assignment)
            ):
                return
            with self._giving_up(hand_in):
                for sentence in self._watched.pipeline.collect(hand_in):
                    self._say(Kind.PROBLEM, sentence, hand_in.student, hand_in.assignment)
                under_way[hand_in.student] = hand_in
                yield hand_in.student

    @contextlib.contextmanager
    def _giving_up(self, hand_in: HandIn) -> Iterator[None]:
        """Report why this one hand-in can't be graded, and go on without it."""
        try:
            yield
        except NotGraded as reason:
            self._failed = True
            stamp = stamp_of(self._watched.course.assignment(hand_in.assignment))
            self._given_up[hand_in] = stamp, str(reason)
            self._queue.remove(hand_in)
            self._say(Kind.NOT_GRADED, f"not graded: {reason}", hand_in.student, hand_in.assignment)
            self._count()

    def _done(self, graded: Graded) -> None:
        hand_in, record = graded.hand_in, graded.record
        self._queue.remove(hand_in)
        seconds = max(0.0, (datetime.now(UTC) - hand_in.handed_in).total_seconds())
        text = f"{record.score:g} of {record.max_points:g} points, "
        if record.page == Page.HELD:
            self._held[hand_in.student, hand_in.assignment, hand_in.handed_in] = record
            text += f"page held until {record.due.astimezone():%H:%M on %d %B}"
        else:
            text += "page written" if self._watched.exchange is None else "page released"
            text += f" after {seconds:.1f} s"
            self._file.add_latency(seconds)
        self._report(
            Event(
                Kind.HELD if record.page == Page.HELD else Kind.RELEASED,
                text,
                printable(hand_in.student),
                hand_in.assignment,
                record.score,
                record.max_points,
                round(seconds, 3),
                record.due if record.page == Page.HELD else None,
            )
        )
        for problem in graded.problems:
            self._say(Kind.PROBLEM, problem, hand_in.student, hand_in.assignment)
        self._count()

    def _release_due(self) -> None:
        """Release the held pages that are due, oldest first."""
        now = datetime.now(UTC)
        for key, record in sorted(self._held.items(), key=lambda item: item[0][2]):
            if record.due > now:
                continue
            student, assignment, _ = key
            text = "the held page was released"
            try:
                self._watched.pipeline.release(student, assignment, record)
            except NotGraded as reason:
                self._failed, text = True, f"the held page was not released: {reason}"
            del self._held[key]
            self._say(Kind.RELEASED, text, student, assignment)
            self._count()

    def _finish_up(self) -> None:
        """After the deadline, write the pages again that had to show less before it."""
        now = datetime.now(UTC)
        for name, deadlines in self._deadlines.items():
            rule = self._watched.rules.of(name)
            if rule.shows is Shows.EVERYTHING:
                continue
            for student in self._watched.course.handed_in(name):
                deadline = deadlines.of(student)
                if deadline and deadline + rule.grace < now and (student, name) not in self._final:
                    self._write_final(student, name)

    def _write_final(self, student: str, assignment: str) -> None:
        attempts = Attempts.load(self._watched.course.root, assignment, student)
        record = attempts.records[-1] if attempts.records else None
        if record is not None and (record.page == Page.HELD or self._queue.has(student, assignment)):
            return  # until it has been released
        self._final.add((student, assignment))
        graded = time_handed_in(self._watched.course.autograded(student, assignment))
        if record is None or record.final or (graded and graded.replace(tzinfo=UTC) != record.handed_in):
            return
        try:
            self._watched.pipeline.rewrite(student, assignment, record)
        except NotGraded as reason:
            self._failed = True
            self._say(Kind.NOT_GRADED, f"the page after the deadline: {reason}", student, assignment)
        else:
            text = "the page was written again in full after the deadline"
            self._say(Kind.RELEASED, text, student, assignment)

    def _hold(self, assignment: str, stamp: Stamp, reason: str) -> None:
        """Leave an assignment's hand-ins waiting until its files change."""
        self._on_hold[assignment] = stamp, reason
        self._say(Kind.WAITING, f"its hand-ins wait: {reason}", assignment=assignment)
        self._count()

    def _count(self) -> None:
        status = self._status
        status.waiting = len(self._queue)
        status.held = len(self._held)
        status.next_due = min((record.due for record in self._held.values()), default=None)
        status.on_hold = {name: reason for name, (_, reason) in self._on_hold.items()}
        status.not_graded = seen(
            (printable(f"{h.student} {h.assignment}"), why) for h, (_, why) in self._given_up.items()
        )

    def _say(self, kind: Kind, text: str, student: str = "", assignment: str = "") -> None:
        self._report(Event(kind, printable(text, None), printable(student), printable(assignment)))

    def _report(self, event: Event) -> None:
        self._report_to(event)
        with contextlib.suppress(OSError):
            self._file.write()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """End after the hand-in under way on SIGTERM and Ctrl-C; at once on a second one."""

        def end(number: int, frame: FrameType | None) -> None:
            if self._ending:
                raise KeyboardInterrupt
            self._ending = True

        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
