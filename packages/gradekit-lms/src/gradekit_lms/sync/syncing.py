"""One exchange with the LMS: students and submissions in, then scores, comments and pages out."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from gradekit.course import Assignment, CourseError
from gradekit.course.operating_system import locked_file
from gradekit.grading.running_course import RunningCourse
from gradekit_lms.claims import lines_of_report
from gradekit_lms.sync.connection import LmsAway, LmsError
from gradekit_lms.sync.incoming import Incoming, match_people, would_collect
from gradekit_lms.sync.lms import Lms, Notes, State, folder_of_state
from gradekit_lms.sync.outgoing import OutgoingResult
from gradekit_lms.sync.sync_settings import LmsSync


@dataclass
class Synced:
    """What was done, or would be, and what has to be said about the rest, below headings.

    Args:
        failed: why it ended early.
    """

    done: list[str] = field(default_factory=list)
    notes: Notes = field(default_factory=lambda: defaultdict(list))
    failed: CourseError | None = None

    def lines(self) -> Iterator[str]:
        yield from self.done
        yield from lines_of_report(self.notes)


def lms_of(settings: LmsSync, token: str) -> Lms:
    """The LMS of the settings.

    Raises:
        CourseError: a package that it needs is not installed.
    """
    if settings.product == "moodle":
        from gradekit_lms.sync.moodle import Moodle

        return Moodle(settings.address, token, settings.course)
    try:
        from gradekit_lms.sync.canvas import Canvas
    except ImportError as error:
        raise CourseError(f"Canvas needs the package canvasapi ({error}): `pip install canvasapi`") from None
    return Canvas(settings.address, token, settings.course)


def synchronize(
    course: RunningCourse, assignments: Sequence[Assignment], token: str, dry_run: bool = False
) -> Synced:
    """Exchange what is new. What is done stays done if this ends early, and is not done again.

    Args:
        token: from the environment; empty if it is in a file.
        dry_run: only say what would be done.

    Raises:
        CourseError: a setting is wrong, or another process does this.
    """
    settings = LmsSync.of(course)
    if not assignments:
        assignments = [course.assignment(name) for name in settings.assignments]
    for assignment in assignments:
        settings.number_of(assignment)
    lms = lms_of(settings, settings.token(course, token))
    synced = Synced()
    course.require_gradebook(writing=not dry_run)
    lock: AbstractContextManager[object] = nullcontext()
    if not dry_run:
        folder_of_state(course.root).mkdir(parents=True, exist_ok=True)
        try:
            lock = locked_file(folder_of_state(course.root) / "lock", wait=False)
        except BlockingIOError:
            raise CourseError(
                "another `gradekit lms sync` works in this course: wait until it has ended"
            ) from None
    with lock:
        try:
            students, added = match_people(course, lms, lms.people(), synced.notes, dry_run)
            _say(synced, dry_run, "students", "added", added)
            for assignment in assignments:
                _exchange(course, lms, assignment, students, settings, synced, dry_run)
        except CourseError as error:
            synced.failed = error
    if not synced.done and not synced.failed:
        synced.done.append("nothing to do: all that can be exchanged was exchanged before")
    return synced


def _exchange(
    course: RunningCourse,
    lms: Lms,
    assignment: Assignment,
    students: dict[str, str],
    settings: LmsSync,
    synced: Synced,
    dry_run: bool,
) -> None:
    name, notes = assignment.name, synced.notes
    state = State.of(course.root, name)
    remote = lms.read(settings.number_of(assignment))
    incoming = Incoming(course, lms, assignment, students, settings.max_megabytes * 10**6)
    wanted = incoming.wanted(remote.submissions, state, notes)
    collected = would_collect(wanted) if dry_run else []
    try:
        if wanted and not dry_run:
            incoming.collect(wanted, state, notes, collected)
    finally:
        _say(synced, dry_run, name, "collected", collected)
    numbers = {student: number for number, student in students.items()}
    outgoing = OutgoingResult(course, lms, assignment, numbers, settings)
    sent: list[str] = []
    try:
        for student, result in outgoing.wanted(remote, state, notes):
            try:
                if not dry_run:
                    outgoing.send(student, result, state)
            except LmsAway:
                raise
            except LmsError as error:  # those of others may be taken
                notes[f"Not sent: {error}"].append(student)
                continue
            sent.append(f"{student} ({result.score:g})")
    finally:
        _say(synced, dry_run, name, "sent", sent)
    if not dry_run:
        state.save(course.root, name)


def _say(synced: Synced, dry_run: bool, what: str, verb: str, names: list[str]) -> None:
    if names:
        would = "would be " if dry_run else ""
        synced.done.append(f"{what}: {len(names)} {would}{verb}: {', '.join(names)}")
