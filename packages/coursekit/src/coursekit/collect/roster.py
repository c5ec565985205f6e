"""Who is who: nbgrader's own list of students, as `nbgrader db student import` fills it."""

import re
import unicodedata
from dataclasses import dataclass

from nbgrader.api import Gradebook


@dataclass(frozen=True)
class Person:
    """One student of the gradebook."""

    id: str
    lms_user_id: str
    email: str
    names: frozenset[str]


class Roster:
    """Finds students by what other programs call them."""

    def __init__(self, people: list[Person]) -> None:
        self._people = people

    @classmethod
    def read(cls, gradebook: Gradebook) -> "Roster":
        people = []
        for student in gradebook.students:
            first, last = student.first_name or "", student.last_name or ""
            names = {plain(f"{first} {last}"), plain(f"{last} {first}")} - {""}
            email, number = (student.email or "").casefold(), student.lms_user_id or ""
            people.append(Person(student.id, number, email, frozenset(names)))
        return cls(people)

    def by_number(self, number: str) -> list[str]:
        """By the column lms_user_id."""
        return [person.id for person in self._people if number and person.lms_user_id == number]

    def by_id(self, student: str) -> list[str]:
        return [person.id for person in self._people if person.id == student]

    def by_email(self, email: str) -> list[str]:
        wanted = email.casefold()
        return [
            person.id for person in self._people if wanted and wanted in (person.email, person.id.casefold())
        ]

    def by_name(self, name: str) -> list[str]:
        return [person.id for person in self._people if plain(name) in person.names]


def plain(name: str) -> str:
    """A name as an id: small letters of any script, and `-` between the words."""
    text = unicodedata.normalize("NFC", name).casefold()
    return re.sub(r"[^\w]+", "-", text).strip("-_")
