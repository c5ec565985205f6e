"""What the collectors of all products share: finding the student and the notebook of each file."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import FileNameCollectorPlugin

from coursekit.course import CourseError
from coursekit.grading.running_course import RunningCourse

#: what Canvas, Moodle and browsers append to a name that exists already: `-1`, ` (1)`
_COPY = re.compile(r"(?:-(\d+)|[ _]*\((\d+)\))$")


@dataclass(frozen=True)
class Person:
    """One student of the gradebook."""

    id: str
    lms_user_id: str
    email: str
    names: frozenset[str]


class Roster:
    """Finds students of the gradebook by what other programs call them."""

    def __init__(self, people: list[Person]) -> None:
        self._people = people

    @classmethod
    def read(cls, gradebook: Gradebook) -> "Roster":
        people = []
        for student in gradebook.students:
            first, last = student.first_name or "", student.last_name or ""
            names = {name_as_id(f"{first} {last}"), name_as_id(f"{last} {first}")} - {""}
            email, number = (student.email or "").casefold(), student.lms_user_id or ""
            people.append(Person(student.id, number, email, frozenset(names)))
        return cls(people)

    def by_id(self, student: str) -> list[str]:
        return [person.id for person in self._people if person.id == student]

    def by_number(self, number: str) -> list[str]:
        """By the column lms_user_id."""
        return [person.id for person in self._people if number and person.lms_user_id == number]

    def by_email(self, email: str) -> list[str]:
        wanted = email.casefold()
        return [
            person.id for person in self._people if wanted and wanted in (person.email, person.id.casefold())
        ]

    def by_name(self, name: str) -> list[str]:
        return [person.id for person in self._people if name_as_id(name) in person.names]


def name_as_id(name: str) -> str:
    """A name in lower case, with `-` between the words; letters of any script stay."""
    text = unicodedata.normalize("NFC", name).casefold()
    return re.sub(r"[^\w]+", "-", text).strip("-_")


def only(students: list[str], what: str) -> str | None:
    """The one student that was found, or None.

    Raises:
        CourseError: several were found.
    """
    if len(students) > 1:
        raise CourseError(
            f"{what} may be {' or '.join(sorted(students))}. Copy the file into submitted/ yourself."
        )
    return students[0] if students else None


@dataclass(frozen=True)
class Claim:
    """A file and the student who handed it in.

    `owner` distinguishes people with the same name, `number` increases from one file of a person to the next, and
    `timestamp` is in UTC, or empty if the product doesn't provide it.
    """

    path: Path
    student: str
    owner: str
    notebook: str
    number: tuple[int, ...] = ()
    timestamp: str = ""

    @property
    def age(self) -> tuple[str, tuple[int, ...], str]:
        return self.timestamp, self.number, str(self.path)


class Collector(FileNameCollectorPlugin):
    """Collects the newest file of each student and notebook, and skips files that belong to nobody.

    nbgrader asks for one file at a time. All are read at the first request, because only then is it known which file
    is the newest and who shares a name.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        claim = self._chosen.get(Path(submitted_file))
        if claim is None:
            return None
        info = {"student_id": claim.student, "file_id": claim.notebook}
        return info | ({"timestamp": claim.timestamp} if claim.timestamp else {})

    def claim(self, path: Path) -> Claim:
        """Find out who handed in the notebook at `path`, which is below `self.folder`.

        Raises:
            CourseError: the student can't be determined; the message says why.
        """
        raise NotImplementedError

    @cached_property
    def course(self) -> RunningCourse:
        return RunningCourse.of(self.parent)

    @cached_property
    def folder(self) -> Path:
        """Where nbgrader has put the unpacked files."""
        app = self.parent
        place = app.collect_directory_structure.format(
            downloaded=app.downloaded_directory,
            assignment_id=app.coursedir.assignment_id,
            collect_step=app.extracted_directory,
        )
        return Path(app.coursedir.root, place)

    @cached_property
    def roster(self) -> Roster:
        try:
            with self.course.gradebook() as gradebook:
                return Roster.read(gradebook)
        except CourseError:  # no gradebook yet
            return Roster([])

    @cached_property
    def _released(self) -> dict[str, str]:
        """The released notebooks, by name in lower case."""
        names = self.course.assignment(self.parent.coursedir.assignment_id).released_names()
        return {name.casefold(): name for name in names}

    @cached_property
    def _chosen(self) -> dict[Path, Claim]:
        chosen: dict[Path, Claim] = {}
        for student, claims in sorted(self._claims().items()):
            if len({claim.owner for claim in claims}) > 1:
                names = ", ".join(sorted({str(claim.path.relative_to(self.folder)) for claim in claims}))
                self.log.warning(
                    "%s may be several people: %s. None of these was collected; copy them into submitted/ yourself.",
                    student,
                    names,
                )
                continue
            newest: dict[str, Claim] = {}
            for claim in sorted(claims, key=lambda claim: claim.age):
                if claim.notebook in newest:
                    older = newest[claim.notebook].path.relative_to(self.folder)
                    self.log.warning("%s handed in a newer file: %s was skipped", student, older)
                newest[claim.notebook] = claim
            chosen |= {claim.path: claim for claim in newest.values()}
        return chosen

    def _claims(self) -> dict[str, list[Claim]]:
        claims = defaultdict(list)
        for path in sorted(self.folder.rglob("*")):
            if path.suffix not in self.valid_ext or not path.is_file():
                continue
            try:
                claim = self.claim(path)
            except CourseError as error:
                self.log.warning("%s was not collected: %s", path.relative_to(self.folder), error)
            else:
                claims[claim.student].append(claim)
        return claims

    def matches(self, path: Path) -> Iterator[tuple[re.Match[str], Path]]:
        """The parts of the path below the folder that match `named_regexp`, and the path up to each."""
        parts = path.relative_to(self.folder).parts
        for count, part in enumerate(parts, 1):
            match = re.match(self.named_regexp, part)
            if match:
                yield match, self.folder.joinpath(*parts[:count])

    def notebook(self, name: str) -> tuple[str, int]:
        """The notebook that a file name refers to, and the number of the copy, from 0.

        `attention-1.ipynb` is the second `attention.ipynb`, if an `attention` was released.
        """
        stem = name.removesuffix(".ipynb")
        copy = 0
        rest = stem
        while rest.casefold() not in self._released and (match := _COPY.search(rest)):
            copy = int(match[1] or match[2])
            rest = rest[: match.start()]
        if rest.casefold() in self._released:
            return self._released[rest.casefold()], copy
        return re.sub(r"[^\w.() -]", "_", stem).strip(". ") or "notebook", 0
