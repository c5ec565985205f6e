"""A course that is watched, with its settings and all that grades it, and the hand-ins that wait there, in their order.

Some do not wait: those that are refused, late, given up, or for an assignment on hold.
"""

import logging
import time
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import filterfalse
from pathlib import Path

from gradekit.attempts import AttemptRules, Attempts, Chance, Counts, NoChance, is_in_time, time_in_words
from gradekit.course import Assignment, CourseError, stamp_of
from gradekit.course.files import Stamp, files_stamp
from gradekit.course.kernels import libraries_of
from gradekit.course.printing import printable, quoted
from gradekit.grading.autograde import ClassGrading, GradingOptions
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.workers import LocalWorkers, local_workers
from gradekit.nbgrader_plugin.late import second_chance_of
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit_watch.arrivals import Submitted, time_of
from gradekit_watch.exchange import ExchangeOf, ExchangeSink, ExchangeSource, is_folder, put_all_back
from gradekit_watch.pipeline import Deadlines, History, NbgraderWarnings, NotGraded, Pipeline
from gradekit_watch.polled_exchange import open_polled_way
from gradekit_watch.status import EventKind, ListedHandIn, Reports, last_listed
from gradekit_watch.ways import HandIn, Look, OpensWay, Refusal, Sink, Way

#: between full looks, since network file systems report changes late
LOOK_SECONDS = 30.0


@dataclass(frozen=True)
class WatchOptions:
    """The options of `gradekit watch`.

    Without `assignments`, all are watched. With `folder`, hand-ins arrive in submitted/ instead of the exchange, and
    with `way`, as a package has it.
    """

    course_dir: Path | None
    assignments: tuple[str, ...]
    folder: bool
    grading: GradingOptions
    way: OpensWay | None = None


class Gradings:
    """The grading of each assignment that is handed in. All of them share their workers."""

    def __init__(self, course: RunningCourse, options: GradingOptions) -> None:
        self._course, self._options = course, options
        self._workers: LocalWorkers | None = None
        if not options.scheduler:
            libraries = libraries_of(course.layout.assignments())
            self._workers = local_workers(options.workers, course.layout, libraries)
        self._gradings: dict[str, tuple[ClassGrading, Stamp]] = {}

    def of(self, assignment: Assignment) -> ClassGrading:
        """The grading of an assignment, a new one if its files have changed.

        Raises:
            CourseError: something is wrong in these files.
        """
        stamp = stamp_of(assignment)
        grading, started_with = self._gradings.get(assignment.name, (None, None))
        if grading is None or stamp != started_with:
            self.drop(assignment.name)
            grading = ClassGrading(self._course, assignment, self._options, self._workers)
            grading.require_bound()  # before anything is collected
            self._gradings[assignment.name] = grading, stamp
        return grading

    def is_current(self, assignment: Assignment) -> bool:
        """Whether the files are those that the assignment's grading started with."""
        _, stamp = self._gradings.get(assignment.name, (None, None))
        return stamp == stamp_of(assignment)

    def drop(self, name: str) -> None:
        """Close a grading, if there is one, and end the workers, which may have read its files."""
        if name in self._gradings:
            self._gradings.pop(name)[0].close()
            self._end_workers()

    def close(self) -> None:
        for grading, _ in self._gradings.values():
            grading.close()
        self._gradings.clear()
        self._end_workers()

    def _end_workers(self) -> None:
        if self._workers is not None:
            self._workers.close()


class WatchedCourse:
    """The course, the place where hand-ins arrive, and the pipeline, all with the same settings.

    Raises:
        CourseError: a setting is wrong.
    """

    def __init__(self, course: RunningCourse, options: WatchOptions) -> None:
        self.course, self._options = course, options
        warned = NbgraderWarnings()
        way = self._way(warned)
        self.source, self.sink = way.source, way.sink
        self.rules = AttemptRules(config=course.config)
        plugin = second_chance_of(course.config)
        self.chance = plugin.chance if plugin else None
        if not self.source.keeps_all:
            self._require_exchange_for_rules()
        self.history = History(course, self.source.keeps_all, self.sink)
        self.gradings = Gradings(course, options.grading)
        if options.grading.kernel_name:  # for the writers, too
            course.config.RunChecks.student_kernel = options.grading.kernel_name
        self.pipeline = Pipeline(course, way, self.rules, self.history, warned.sentences)
        self.configuration = self._configuration_stamp()

    def repair(self) -> None:
        """Undo the unfinished steps of a command that was killed."""
        with self.course.write_lock():
            for assignment in self.course.layout.assignments():
                put_all_back(self.course.folders, assignment.name)

    def assignments(self) -> dict[str, Assignment]:
        """The assignments to watch that exist and have been generated."""
        generated, found = self.course.assignments(), self.course.layout.assignments()
        return {each.name: each for each in found if each.name in generated and self.is_chosen(each.name)}

    def is_chosen(self, assignment: str) -> bool:
        """Whether hand-ins for it are watched, if there is such an assignment."""
        return not self._options.assignments or assignment in self._options.assignments

    def why_unknown(self, assignment: str) -> str:
        """Why an assignment that is not among `assignments` can't be graded."""
        if any(found.name == assignment for found in self.course.layout.assignments()):
            return (
                f"it has not been generated: run `nbgrader generate_assignment {quoted(assignment)} --force`"
            )
        return f"{self.course.layout.source}/ has no such assignment"

    def unknown_rules(self) -> list[str]:
        """Sentences about assignments that have rules or limits, but are not in the course."""
        there = {found.name for found in self.course.layout.assignments()}
        limits = RunChecks(config=self.course.config).per_assignment
        found = [("AttemptRules", "rules", name) for name in self.rules.per_assignment]
        found += [("RunChecks", "limits", name) for name in limits]
        return [
            f"c.{place}.per_assignment has {what} for {name}, but {self.course.layout.source}/ has no such assignment"
            for place, what, name in found
            if name not in there
        ]

    def reopened(self) -> "WatchedCourse | None":
        """The course with its new settings, if the configuration has changed.

        Raises:
            CourseError: the new configuration is wrong; raised once.
        """
        stamp = self._configuration_stamp()
        if stamp == self.configuration:
            return None
        self.configuration = stamp
        course = RunningCourse.open(self._options.course_dir)
        if not course.plugged_in:
            raise CourseError(f"{course.last_file} no longer ends with configure(c)")
        found = WatchedCourse(course, self._options)
        self.close()
        return found

    def close(self) -> None:
        self.source.close()
        self.gradings.close()

    def _way(self, warned: NbgraderWarnings) -> Way:
        if self._options.way is not None:
            return self._options.way(self.course)
        if self._options.folder:
            place = self.course.root / self.course.folders.submitted_directory
            return Way(Submitted(self._submitted, place=place), Sink())
        if not is_folder(self.course):
            return open_polled_way(self.course, self._options.course_dir, self._options.assignments)
        log = logging.getLogger(__name__)
        log.handlers, log.propagate = [warned], False
        exchange = ExchangeOf(self.course.config, self.course.folders, log)
        exchange.require_name()
        return Way(ExchangeSource(exchange), ExchangeSink(exchange))

    def _require_exchange_for_rules(self) -> None:
        """Raise CourseError if a rule needs earlier hand-ins: submitted/ has only the last."""
        setting = "c.AssignLatePenalties.plugin_class = SecondChance" if self.chance else ""
        if any(self.rules.of(name).counts is Counts.BEST for name in ("", *self.rules.per_assignment)):
            setting = "c.AttemptRules.counts = 'best'"
        if setting:
            raise CourseError(
                f"{self.course.last_file}: {setting} needs nbgrader's exchange, or another way that keeps all hand-ins: "
                "remove the line, or watch without --folder"
            )

    def _configuration_stamp(self) -> Stamp:
        return files_stamp({*self.course.files, self.course.root / "nbgrader_config.py"})

    def _submitted(self) -> Iterator[tuple[str, str, Path]]:
        """The submissions in submitted/: student, assignment, folder."""
        for name in self.assignments():
            for student in self.course.handed_in(name):
                yield student, name, self.course.submitted(student, name)


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
        self._away = ""

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
        to_grade = [h for h in there if h.student in allowed and h not in self._given_up]
        to_do = [hand_in for hand_in in to_grade if hand_in not in late]
        outstanding = self._watched.history.outstanding(to_do)
        if self._watched.chance is not None:
            late_ones = late.intersection(to_grade)
            to_do += self._second_chances(self._watched.chance, late_ones, outstanding, look)
            outstanding = self._watched.history.outstanding(to_do)
        self.known = to_do
        self.queue.update(outstanding)
        self._refuse(look)
        self._name_away(look.away)
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
        handed_in = {h: f"handed in at {time_in_words(h.handed_in)}" for h in left}
        for hand_in, when in handed_in.items():
            if hand_in not in self._late:
                how = self._watched.source.accepting(hand_in)
                text = f"{when}, after the deadline, so it is left to you: {how}"
                self._reports.say(EventKind.WAITING, text, hand_in.student, hand_in.assignment)
        self._late = set(left)
        self._reports.status.late = len(left)
        self._reports.status.late_ones = _all_listed(handed_in.items())

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
            if deadline is None:
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

    def _name_away(self, away: str) -> None:
        """Report that the place for hand-ins doesn't answer, and when it does again."""
        if away and not self._away:
            self._reports.fail(EventKind.WAITING, away)
        elif self._away and not away:
            self._reports.say(EventKind.RELOADED, "the exchange answers again")
        self._away = away

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
        if self._away:
            status.on_hold["new hand-ins"] = self._away
        status.not_graded = _all_listed((h, why) for h, (_, why) in self._given_up.items())


def _all_listed(found: Iterable[tuple[HandIn, str]]) -> list[ListedHandIn]:
    """All of them, since a student may ask for each (`gradekit watch --http`)."""
    return [ListedHandIn(printable(f"{h.student} {h.assignment}"), why, h.handed_in) for h, why in found]


def _name_of(refusal: Refusal) -> str:
    """The name of the folder; in submitted/, where it is that of the assignment, after the student's."""
    if refusal.name:
        return printable(f"{refusal.student} {refusal.name}".strip(), None)
    name = refusal.folder.name
    return printable(name if "+" in name else f"{refusal.student} {name}".strip())
