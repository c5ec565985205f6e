"""What `gradekit lti` keeps in `.gradekit/lti` of the course: hand-ins, who is who, pages, grades on their way."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from gradekit.attempts import file_name
from gradekit.course.files import read_json, write_json
from gradekit.course.operating_system import locked_file
from gradekit.course.printing import printable, quoted
from gradekit_watch.hand_in_store import HandInStore, Kept, digest, in_utc

_STEP = timedelta(milliseconds=1)


class Target(Struct, frozen=True):
    """Where the grade of a student goes.

    Args:
        client: the tool's id at the platform, which `issuer` names.
        user: the student's id there.
        lineitem: the address of the column; empty if it has to be found or made in `lineitems`, which may be empty, too.
    """

    issuer: str
    client: str
    user: str
    lineitem: str = ""
    lineitems: str = ""

    @property
    def takes_grades(self) -> bool:
        return bool(self.lineitem or self.lineitems)


class Upload(Kept, frozen=True):
    """A hand-in; `digest` is that of its files, `handed_in` when all of it had arrived."""

    digest: str
    target: Target

    @property
    def content(self) -> tuple[str, Target]:
        return self.digest, self.target


class Score(Struct, frozen=True):
    """A grade for the platform. `at` orders the grades of a student there; one that is sent twice has the same.

    Args:
        pending: whether more points may come, from a person.
    """

    student: str
    assignment: str
    points: float
    max_points: float
    pending: bool
    target: Target
    at: datetime = datetime.min.replace(tzinfo=UTC)

    @property
    def in_words(self) -> str:
        return f"{printable(self.student)} {self.assignment}: {self.points:g} of {self.max_points:g} points"

    @property
    def key(self) -> str:
        """The same for all grades of a student in a column."""
        column = self.target.lineitem or f"{self.target.lineitems}\0{self.assignment}"
        return digest("\0".join((self.target.issuer, self.target.client, self.target.user, column)))


class Trouble(Struct, frozen=True):
    """Why a grade couldn't be sent, and when it is tried again."""

    tries: int
    reason: str
    next: datetime


class Person(Struct, frozen=True):
    """A user of a platform, and the student who that is."""

    issuer: str
    user: str
    student: str


class Class(Struct, frozen=True):
    """A course of a platform from which an assignment was opened, the address of its roster, and the platform's id for it."""

    issuer: str
    client: str
    title: str
    memberships: str
    context: str = ""


class PageScore(Struct, frozen=True):
    """What a page may tell of the points."""

    points: float
    max_points: float
    pending: bool

    def to(self, upload: Upload) -> Score:
        """The grade for where a hand-in came from."""
        values = self.points, self.max_points, self.pending
        return Score(upload.student, upload.assignment, *values, upload.target)


class LtiStore(HandInStore[Upload, Score]):
    """The files in `.gradekit/lti`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "lti", Upload, Score)
        self.key = self.folder / "key.pem"
        #: grades that are at the platform, and those that it refused, since it has a later one
        self.sent, self.outdated = self.folder / "sent", self.folder / "outdated"
        self.troubles = self.folder / "troubles"
        self.classes = self.folder / "classes"

    def people(self) -> list[Person]:
        found = (read_json(path, Person) for path in (self.folder / "people").glob("[!.]*.json"))
        return [person for person in found if person]

    def person(self, issuer: str, user: str) -> Person | None:
        return read_json(self._person(issuer, user), Person)

    def remember(self, person: Person) -> None:
        write_json(self._person(person.issuer, person.user), person)

    def forget(self, person: Person) -> None:
        self._person(person.issuer, person.user).unlink(missing_ok=True)

    def opened_from(self, found: Class) -> None:
        path = self.classes / f"{digest(found.memberships)}.json"
        if read_json(path, Class) != found:
            write_json(path, found)

    def send(self, score: Score, anyway: bool = False) -> bool:
        """Put a grade into the outbox, later than those before it; False if it is the last one again.

        Args:
            anyway: also if the platform has refused the same one, since it had a later one.
        """
        name = f"{score.key}.json"
        with self._alone():
            refused = read_json(self.outdated / name, Score)
            last = read_json(self.outbox / name, Score) or refused or read_json(self.sent / name, Score)
            if last is not None and replace(score, at=last.at) == last and not (anyway and last is refused):
                return False
            now = datetime.now(UTC)
            at = now if last is None else max(now, last.at + _STEP)
            write_json(self.outbox / name, replace(score, at=at))
        return True

    def was_sent(self, path: Path, score: Score, taken: bool = True) -> None:
        """Note that a grade is at the platform, or was not taken; a newer one may have replaced it in the outbox."""
        with self._alone():
            place, other = (self.sent, self.outdated) if taken else (self.outdated, self.sent)
            write_json(place / path.name, score)
            for gone in (other, self.troubles):
                (gone / path.name).unlink(missing_ok=True)
            if read_json(path, Score) == score:
                path.unlink()

    def trouble(self, path: Path) -> Trouble | None:
        return read_json(self.troubles / path.name, Trouble)

    def note(self, path: Path, trouble: Trouble) -> None:
        write_json(self.troubles / path.name, trouble)

    def pages(self, student: str, assignment: str, handed_in: datetime) -> Path:
        """The folder for the pages of a hand-in."""
        time = f"{handed_in.astimezone(UTC):%Y%m%dT%H%M%S.%f}"
        return self.folder / "pages" / file_name(student) / file_name(assignment) / time

    def _alone(self) -> ExitStack:
        """Keep the process that grades and the one that sends from changing the outbox at the same time."""
        return locked_file(self.folder / "outbox.lock")

    def _person(self, issuer: str, user: str) -> Path:
        return self.folder / "people" / f"{digest(f'{issuer}{chr(0)}{user}')}.json"


def lti_status_lines(store: LtiStore) -> tuple[list[str], bool]:
    """What `gradekit lti --status` says of hand-ins and grades, and whether a grade could not be sent."""
    uploads = [kept for _, kept in store.all()]
    sent = len(list(store.sent.glob("[!.]*.json")))
    waiting, outdated = store.outgoing(), store.results_in(store.outdated)
    lines = [f"hand-ins: {len(uploads)}, by {len({kept.student for kept in uploads})} students"]
    if without := sorted({kept.assignment for kept in uploads if not kept.target.takes_grades}):
        lines.append(f"no grades are sent for links without a grade column: {', '.join(without)}")
    not_taken = f", {len(outdated)} not taken" if outdated else ""
    lines.append(f"grades: {sent} at the LMS, {len(waiting)} waiting{not_taken}")
    failed = False
    for path, score in waiting:
        line = f"  {score.in_words}"
        if trouble := store.trouble(path):
            failed = True
            times = "once" if trouble.tries == 1 else f"{trouble.tries} times"
            line += f", tried {times}, again at {in_utc(trouble.next)}: {trouble.reason}"
        lines.append(line)
    for _, score in outdated:
        lines.append(
            f"  {score.in_words}, not taken: the LMS has a later grade, perhaps of a person. To replace it, and others that "
            f"were not taken: `gradekit lti --send {quoted(score.assignment)}`"
        )
    return lines, failed
