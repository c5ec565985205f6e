"""Who is who: the students of the gradebook, by their names in other programs, and the groups that they form."""

import csv
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from nbgrader.api import Student

from gradekit.course import CourseError
from gradekit.grading.running_course import RunningCourse

#: the columns of a list of groups: gradekit's own, and those of Canvas's export of a group set
_GROUP_COLUMNS = ("group", "group_name")
_STUDENT_COLUMNS = ("student", "student_id", "id", "login_id", "canvas_user_id", "email", "email address")


class Roster:
    """Finds students of the gradebook by their names and ids in other programs."""

    def __init__(self, students: Iterable[Student]) -> None:
        self._names: dict[str, str] = {}
        self._ids: dict[tuple[str, str], list[str]] = {}
        for student in students:
            first, last = student.first_name or "", student.last_name or ""
            self._names[student.id] = f"{first} {last}"
            emails = {_composed(student.id).casefold(), _composed(student.email or "").casefold()}
            names = {letters_of_name(f"{first} {last}"), letters_of_name(f"{last} {first}")}
            keys = [
                ("id", {_composed(student.id)}),
                ("number", {student.lms_user_id}),
                ("email", emails),
                ("name", names),
            ]
            for kind, texts in keys:
                for text in filter(None, texts):
                    self._ids.setdefault((kind, text), []).append(student.id)

    def __len__(self) -> int:
        return len(self._names)

    def by_id(self, student: str) -> list[str]:
        return self._ids.get(("id", _composed(student)), [])

    def by_number(self, number: str) -> list[str]:
        """The students with this number in the column lms_user_id."""
        return self._ids.get(("number", number), [])

    def by_email(self, email: str) -> list[str]:
        return self._ids.get(("email", _composed(email).casefold()), [])

    def by_name(self, name: str) -> list[str]:
        return self._ids.get(("name", letters_of_name(name)), [])

    def by_anything(self, text: str) -> list[str]:
        return self.by_id(text) or self.by_number(text) or self.by_email(text) or self.by_name(text)

    def is_called(self, student: str, name: str) -> bool:
        """False if no part of the student's name is in `name`, which then may be the name of a group."""
        words = [letters_of_name(word) for word in self._names[student].split()]
        return not words or any(
            word in letters_of_name(name) for word in words if len(word) > 1 or not word.isascii()
        )


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
                head = file.readline()
                file.seek(0)
                delimiter = max(",;\t", key=head.count)
                lines = [
                    {(key or "").strip().casefold(): value or "" for key, value in line.items() if key}
                    for line in csv.DictReader(file, delimiter=delimiter)
                ]
        except (OSError, ValueError, csv.Error) as error:
            raise CourseError(
                f"{path} can't be read ({error}): c.Collector.groups is the name of a CSV file in UTF-8"
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
            if student and letters_of_name(group):
                members.setdefault(letters_of_name(group), []).append(student)
        return cls(members)

    def of(self, name: str) -> tuple[str, ...]:
        """The members of a group; empty if it isn't listed."""
        return tuple(dict.fromkeys(self._members.get(letters_of_name(name), [])))

    def by_student(self) -> dict[str, str]:
        """The group of each student who is in one."""
        return {student: group for group, students in self._members.items() for student in students}


def _composed(text: str) -> str:
    """The text with each accent stored in one way, that of keyboards."""
    return unicodedata.normalize("NFC", text)


def letters_of_name(name: str) -> str:
    """Only the letters and digits of a name, in lower case."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", name).casefold())


def only(students: list[str], what: str) -> str | None:
    """The one student that was found, or None.

    Raises:
        CourseError: several were found.
    """
    if len(students) > 1:
        raise CourseError(
            f"{what} may be {' or '.join(sorted(students))}. Copy the file into submitted/ yourself"
        )
    return students[0] if students else None


def groups_of_students(course: RunningCourse, path: Path) -> dict[str, str]:
    """The group of each student who is in one, from a list of groups.

    Raises:
        CourseError: it can't be read.
    """
    try:
        with course.gradebook() as gradebook:
            roster = Roster(gradebook.students)
    except CourseError:  # no gradebook yet
        roster = Roster([])
    return Groups.read(path, roster).by_student()
