"""The order in which waiting hand-ins are graded: as they arrived, but students take turns."""

import time
from collections.abc import Callable, Container, Iterable

from gradekit.watch.arrivals import HandIn


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
