"""Which hand-ins wait for their turn, and in which order; which do not: refused, late, given up, or for an assignment on hold."""

import time
from collections.abc import Callable, Container, Iterable
from itertools import filterfalse
from pathlib import Path

from gradekit.attempts.rules import Attempts, Chance, NoChance, is_in_time, time_in_words
from gradekit.course import Assignment, stamp_of
from gradekit.course.files import Stamp
from gradekit.course.printing import printable
from gradekit.watch.arrivals import time_of
from gradekit.watch.pipeline import Deadlines, NotGraded
from gradekit.watch.status import EventKind, ListedHandIn, Reports, last_listed
from gradekit.watch.watched import WatchedCourse
from gradekit.watch.ways import HandIn, Look, Refusal

#: between full looks, since network file systems report changes late
LOOK_SECONDS = 30.0


class Queue:
    """Hand-ins that wait.

    Each student's come oldest first. Between students, the one whose next hand-in has waited longest is first, and a
    hand-in waits only since the student's previous one was done. So a student who hands in hundreds delays
    everybody else by only one of them at a time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[str, list[HandIn]] = {}
        self._seen: dict[HandIn, float] = {}
        self._served: dict[str, float] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def update(self, hand_ins: Iterable[HandIn]) -> None:
        """Replace the waiting hand-ins; those that have been waiting keep their places."""
        now, before = self._clock(), self._seen
        self._waiting, self._seen = {}, {}
        for hand_in in sorted(hand_ins, key=lambda found: found.handed_in):
            self._waiting.setdefault(hand_in.student, []).append(hand_in)
            self._seen[hand_in] = before.get(hand_in, now)

    def first(
        self, busy: Container[str] = (), on_hold: Container[str] = (), assignment: str = ""
    ) -> HandIn | None:
        """The hand-in whose turn it is; None if there is none.

        Args:
            busy: students whose previous hand-in is being graded.
            on_hold: assignments that can't be graded now.
            assignment: only hand-ins for this one; by default for all.
        """
        nexts = (
            next((h for h in waiting if h.assignment not in on_hold), None)
            for student, waiting in self._waiting.items()
            if student not in busy
        )
        turns = (found for found in nexts if found and assignment in ("", found.assignment))
        return min(turns, key=self._place, default=None)

    def has(self, student: str, assignment: str) -> bool:
        """Whether a hand-in by the student for the assignment is waiting."""
        return any(hand_in.assignment == assignment for hand_in in self._waiting.get(student, []))

    def remove(self, hand_in: HandIn) -> None:
        """Remove a hand-in that is done or has been given up."""
        self._served[hand_in.student] = self._clock()
        waiting = self._waiting.get(hand_in.student, [])
        if hand_in in waiting:
            waiting.remove(hand_in)

    def _place(self, hand_in: HandIn) -> tuple[float, float]:
        waits_since = max(self._seen[hand_in], self._served.get(hand_in.student, 0.0))
        return waits_since, hand_in.handed_in.timestamp()


class Waiting:
    """Looks for hand-ins, and says which is next.

    `deadlines` are those of the assignments that can be graded, `queue` has the hand-ins that wait.
    """

    def __init__(self, watched: WatchedCourse, reports: Reports) -> None:
        self._watched, self._reports = watched, reports
        self.deadlines: dict[str, Deadlines] = {}
        #: the hand-ins that were or can be graded; a new list after each look
        self.known: list[HandIn] = []
        self.queue = Queue()
        #: students with a late hand-in that may be a second chance once the earlier ones are graded
        self._after_others: set[tuple[str, str]] = set()
        self._next_look = 0.0
        self._known: dict[str, Assignment] = {}
        self._unknown: dict[str, str] = {}
        self._broken: dict[str, tuple[Stamp, str]] = {}
        self._given_up: dict[HandIn, tuple[Stamp, str]] = {}
        self._refused: dict[tuple[Path, str], str] = {}
        self._late: set[HandIn] = set()

    def look_if_needed(self) -> bool:
        """Look if something may have arrived; true after a full look.

        Raises:
            OSError: the place where hand-ins arrive can't be read.
        """
        self._try_again()
        if time.monotonic() >= self._next_look:
            self._known = self._watched.assignments()
            self.deadlines = {name: Deadlines(self._watched.course, name) for name in self._known}
            self._look()
            self._next_look = time.monotonic() + LOOK_SECONDS
            return True
        turn_came = any(not self.queue.has(*names) for names in self._after_others)
        if self._watched.source.changed() or turn_came:
            self._look()
        return False

    def settings_changed(self, watched: WatchedCourse) -> None:
        """Make the next look a full one, with the new settings."""
        self._watched, self._next_look = watched, 0.0

    def first(self, busy: Container[str] = (), assignment: str = "") -> HandIn | None:
        """The hand-in whose turn it is, by default for any assignment; None if there is none.

        `busy` students have a hand-in that is being graded.
        """
        return self.queue.first(busy, self._broken, assignment)

    def done(self, hand_in: HandIn) -> None:
        self.queue.remove(hand_in)
        self._count()

    def give_up(self, hand_in: HandIn, error: NotGraded) -> None:
        """Leave a hand-in until the files of its assignment change, or the next start."""
        reason = f"{error.what}: {error}"
        self._given_up[hand_in] = stamp_of(self._watched.course.assignment(hand_in.assignment)), reason
        self.queue.remove(hand_in)
        self._reports.fail(EventKind.NOT_GRADED, reason, hand_in.student, hand_in.assignment)
        self._count()

    def hold(self, assignment: str, stamp: Stamp, reason: str) -> None:
        """Leave an assignment's hand-ins waiting until its files have another stamp."""
        self._broken[assignment] = stamp, reason
        self._reports.fail(EventKind.WAITING, f"its hand-ins wait: {reason}", assignment=assignment)
        self._count()

    def _look(self) -> None:
        look = self._watched.source.look()
        chosen = [hand_in for hand_in in look.hand_ins if self._watched.is_chosen(hand_in.assignment)]
        self._name_unknown({hand_in.assignment for hand_in in chosen} - set(self._known))
        there = [hand_in for hand_in in chosen if hand_in.assignment in self._known]
        late = {hand_in for hand_in in there if self._is_late(hand_in)}
        allowed = set(self._watched.course.gradable([hand_in.student for hand_in in there]))
        present = set(there)
        self._given_up = {hand_in: why for hand_in, why in self._given_up.items() if hand_in in present}
        to_do = [
            hand_in
            for hand_in in there
            if hand_in not in late and hand_in.student in allowed and hand_in not in self._given_up
        ]
        outstanding = self._watched.history.outstanding(to_do)
        if self._watched.chance is not None:
            late_ones = [hand_in for hand_in in late if hand_in.student in allowed]
            to_do += self._second_chances(self._watched.chance, late_ones, outstanding, look)
            outstanding = self._watched.history.outstanding(to_do)
        self.known = to_do
        self.queue.update(outstanding)
        self._refuse(look)
        self._name_late(late - set(to_do))
        self._reports.status.incomplete = len(look.incomplete)
        self._count()

    def _is_late(self, hand_in: HandIn) -> bool:
        """Whether a hand-in is late; as in nbgrader, a submission without a time stamp never is."""
        if not hand_in.has_timestamp:
            return False
        deadline = self.deadlines[hand_in.assignment].of(hand_in.student)
        return not is_in_time(self._watched.rules.of(hand_in.assignment), hand_in.handed_in, deadline)

    def _name_late(self, late: Iterable[HandIn]) -> None:
        """Report late hand-ins that nobody has graded, once each. A course with second chances refuses them instead."""
        missed = () if self._watched.chance else filterfalse(self._is_graded, late)
        left = sorted(missed, key=lambda hand_in: hand_in.handed_in)
        for hand_in in left:
            if hand_in not in self._late:
                text = (
                    f"handed in at {time_in_words(hand_in.handed_in)}, after the deadline, so it is left to you: "
                    f"{self._watched.source.accepting(hand_in)}"
                )
                self._reports.say(EventKind.WAITING, text, hand_in.student, hand_in.assignment)
        self._late = set(left)
        self._reports.status.late = len(left)
        self._reports.status.late_ones = last_listed(
            (printable(f"{h.student} {h.assignment}"), f"handed in at {time_in_words(h.handed_in)}")
            for h in left
        )

    def _is_graded(self, hand_in: HandIn) -> bool:
        """Whether this hand-in, or a later one, was autograded."""
        graded = time_of(self._watched.course.autograded(hand_in.student, hand_in.assignment))
        return graded is not None and graded >= hand_in.handed_in

    def _second_chances(
        self, chance: Chance, late: Iterable[HandIn], outstanding: Iterable[HandIn], look: Look
    ) -> list[HandIn]:
        """The late hand-ins that are second chances. The others are refused, or wait for earlier ones."""
        waiting = {(hand_in.student, hand_in.assignment) for hand_in in outstanding}
        self._after_others.clear()
        found = []
        for hand_in in sorted(late, key=lambda each: each.handed_in):
            student, assignment = hand_in.student, hand_in.assignment
            deadline = self.deadlines[assignment].of(student)
            if deadline is None or hand_in in self._given_up:
                continue
            if (student, assignment) in waiting:
                self._after_others.add((student, assignment))
                continue
            attempts = Attempts.load(self._watched.course.root, assignment, student)
            try:
                rule = self._watched.rules.of(assignment)
                chance.first_attempt(rule, attempts, hand_in.handed_in, deadline)
            except NoChance as reason:
                refusal = Refusal(hand_in.folder, f"isn't a second chance: {reason}", student, assignment)
                look.refused.append(refusal)
            else:
                found.append(hand_in)
                if attempts.at(hand_in.handed_in) is None:
                    waiting.add((student, assignment))
        return found

    def _name_unknown(self, names: set[str]) -> None:
        """Report, once for each assignment, hand-ins that can't be graded because the assignment is not there."""
        reasons = {name: self._unknown.get(name) or self._watched.why_unknown(name) for name in names}
        for name in reasons.keys() - self._unknown.keys():
            self._reports.fail(EventKind.WAITING, f"its hand-ins wait: {reasons[name]}", assignment=name)
        self._unknown = reasons

    def _refuse(self, look: Look) -> None:
        """Report each refused hand-in once, even if the command is started again."""
        now = {(refusal.folder, refusal.name): refusal for refusal in look.refused}
        for key in sorted(now.keys() - self._refused.keys()):
            refusal = now[key]
            self._reports.failed = True
            if ListedHandIn(_name_of(refusal), refusal.reason) not in self._reports.refused_before:
                text = f"refused: {printable(refusal.name or str(refusal.folder), None)} {refusal.reason}"
                self._reports.say(EventKind.REFUSED, text, refusal.student, refusal.assignment)
        self._refused = {key: refusal.reason for key, refusal in now.items()}
        self._reports.status.refused = last_listed((_name_of(each), each.reason) for each in now.values())

    def _try_again(self) -> None:
        """Retry hand-ins that could not be graded, if the files of their assignment have changed."""
        names = {*self._broken, *(hand_in.assignment for hand_in in self._given_up)}
        stamps = {name: stamp_of(self._watched.course.assignment(name)) for name in names}
        before = len(self._broken), len(self._given_up)
        self._broken = {name: why for name, why in self._broken.items() if why[0] == stamps[name]}
        self._given_up = {h: why for h, why in self._given_up.items() if why[0] == stamps[h.assignment]}
        if before != (len(self._broken), len(self._given_up)):
            self._next_look = 0.0

    def _count(self) -> None:
        status = self._reports.status
        status.waiting = len(self.queue)
        status.on_hold = self._unknown | {name: reason for name, (_, reason) in self._broken.items()}
        status.not_graded = last_listed(
            (printable(f"{h.student} {h.assignment}"), why) for h, (_, why) in self._given_up.items()
        )


def _name_of(refusal: Refusal) -> str:
    """The name of the folder; in submitted/, where it is that of the assignment, after the student's."""
    if refusal.name:
        return printable(f"{refusal.student} {refusal.name}".strip(), None)
    name = refusal.folder.name
    return printable(name if "+" in name else f"{refusal.student} {name}".strip())
