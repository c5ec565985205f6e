"""Who is who: the students of the gradebook, by what other programs call them, and the groups that they form."""

import csv
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from coursekit.course import CourseError

#: the columns of a list of groups: coursekit's own, and those of Canvas's export of a group set
_GROUP_COLUMNS = ("group", "group_name")
_STUDENT_COLUMNS = ("student", "student_id", "id", "login_id", "canvas_user_id", "email", "email address")
#: names that only a group has, also in Canvas's spelling, `projectgroup1`
_GROUP_NAME = re.compile(
    r"(default group|(^|[\s-]|project|lab|student)(group|team|gruppe|groupe|équipe|equipe|grupo|gruppo)s?"
    r"[\s-]*(\d+|[a-z])?)$"
)


@dataclass(frozen=True)
class Person:
    """One student of the gradebook."""

    id: str
    lms_user_id: str
    email: str
    first_name: str
    last_name: str

    @property
    def names(self) -> set[str]:
        names = f"{self.first_name} {self.last_name}", f"{self.last_name} {self.first_name}"
        return {squeezed(name) for name in names} - {""}


class Roster:
    """Finds students of the gradebook by what other programs call them."""

    def __init__(self, people: list[Person]) -> None:
        self._people = people

    @classmethod
    def read(cls, gradebook: Gradebook) -> "Roster":
        return cls(
            [
                Person(
                    student.id,
                    student.lms_user_id or "",
                    (student.email or "").casefold(),
                    student.first_name or "",
                    student.last_name or "",
                )
                for student in gradebook.students
            ]
        )

    def __len__(self) -> int:
        return len(self._people)

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
        return [person.id for person in self._people if squeezed(name) in person.names]

    def is_called(self, student: str, name: str) -> bool:
        """False if no part of the student's name is in `name`, which then may be the name of a group."""
        person = next(person for person in self._people if person.id == student)
        words = map(squeezed, f"{person.first_name} {person.last_name}".split())
        return not person.names or any(
            word in squeezed(name) for word in words if len(word) > 1 or not word.isascii()
        )

    def by_anything(self, text: str) -> list[str]:
        return self.by_id(text) or self.by_number(text) or self.by_email(text) or self.by_name(text)


class Groups:
    """The members of each group."""

    def __init__(self, members: dict[str, list[str]]) -> None:
        self._members = members

    @classmethod
    def read(cls, path: Path, roster: Roster) -> "Groups":
        """Read a CSV file with a line for each member.

        Raises:
            CourseError: the file can't be read, or has no column for groups or for students.
        """
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                lines = [
                    {(key or "").strip().casefold(): value or "" for key, value in line.items() if key}
                    for line in csv.DictReader(file)
                ]
        except (OSError, ValueError, csv.Error) as error:
            raise CourseError(
                f"{path} can't be read ({error}): set c.Collector.groups to a CSV file"
            ) from None
        columns = lines[0].keys() if lines else set()
        if columns.isdisjoint(_GROUP_COLUMNS) or columns.isdisjoint(_STUDENT_COLUMNS):
            raise CourseError(
                f"{path} needs a line for each member, below the heading `group,student`; a student is an id or email"
            )
        members: dict[str, list[str]] = {}
        for line in lines:
            group = next((line[column] for column in _GROUP_COLUMNS if line.get(column)), "")
            texts = [line[column].strip() for column in _STUDENT_COLUMNS if line.get(column, "").strip()]
            if not texts:
                continue
            known = next((found for text in texts if (found := roster.by_anything(text))), [texts[0]])
            student = only(known, f"{texts[0]} in {path.name}")
            if student and squeezed(group):
                members.setdefault(squeezed(group), []).append(student)
        return cls(members)

    def of(self, name: str) -> tuple[str, ...]:
        """The members of a group; empty if it isn't listed."""
        return tuple(dict.fromkeys(self._members.get(squeezed(name), [])))


def looks_like_group(name: str) -> bool:
    """True for names such as `Group A`, `Team 7` and `projectgroup1`."""
    return bool(_GROUP_NAME.search(name.casefold()))


def name_as_id(name: str) -> str:
    """A name in lower case, with `-` between the words; letters of any script stay."""
    text = unicodedata.normalize("NFC", name).casefold()
    return re.sub(r"[^\w]+", "-", text).strip("-_")


def squeezed(name: str) -> str:
    """Only the letters and digits of a name, in lower case."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", name).casefold())


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
