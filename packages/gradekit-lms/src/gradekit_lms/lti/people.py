"""Who is who: users of a platform, and students of the gradebook."""

import threading
from typing import Any

from pylti1p3.names_roles import NamesRolesProvisioningService

from gradekit.course import CourseError
from gradekit.course.files import read_json
from gradekit.course.printing import did_you_mean, printable, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import look_alike, usable_name
from gradekit_lms.identities import Roster
from gradekit_lms.lti.launches import CLAIM, Tool, has_role
from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_lms.lti.lti_store import Class, LtiStore, Person

STUDENT_ROLES = ("Learner",)
_LONGEST = 100


class Unknown(Exception):
    """A user can't be taken for a student; the message says why."""


class People:
    """Finds students. Once a user has been taken for a student, this stays, and nobody else is."""

    def __init__(self, course: RunningCourse, store: LtiStore, claim: str) -> None:
        self._course, self._store, self._claim = course, store, claim
        self._lock = threading.Lock()

    def student(self, data: dict[str, Any]) -> str:
        """The student who a launch is by.

        Raises:
            Unknown: that isn't certain.
        """
        return self.of(data["iss"], data["sub"], _value(data, self._claim))

    def of(self, issuer: str, user: str, value: str) -> str:
        """The student for a user.

        Args:
            value: of the claim that becomes the id of a new student.
        """
        with self._lock:
            known = self._store.person(issuer, user)
            if known is not None:
                return known.student
            student = self._found_by_number(user) or self._new(value, issuer, user)
            if any(person.student == student for person in self._store.people()):
                raise Unknown(
                    f"another user of the LMS hands in as {printable(student)}. {_settling(student, issuer, user)}"
                )
            self._store.remember(Person(issuer, user, student))
            return student

    def _new(self, value: str, issuer: str, user: str) -> str:
        """The id of a student who isn't in the gradebook."""
        if not value:
            raise Unknown(f"the LMS doesn't say who this is: {self._claim} is missing")
        odd = usable_name(value) != value or value.strip() != value or not value.isprintable()
        if odd or value.startswith(".") or "/" in value or len(value) > _LONGEST:
            raise Unknown(f"nbgrader can't handle a student named {printable(value)}")
        with self._course.gradebook() as book:
            for student in (each.id for each in book.students if look_alike([each.id, value])):
                raise Unknown(
                    f"the gradebook has a student {printable(student)}, who may be somebody else. "
                    f"{_settling(student, issuer, user)}"
                )
        return value

    def _found_by_number(self, number: str) -> str:
        with self._course.gradebook() as book:
            found = Roster(book.students).by_number(number)
        if len(found) > 1:
            raise Unknown(f"several students of the gradebook have the lms_user_id {printable(number)}")
        return found[0] if found else ""


def add_rosters(course: RunningCourse, tool: Tool, store: LtiStore) -> tuple[list[str], bool]:
    """Add the learners of the classes from which assignments were opened to the gradebook.

    Returns what was done, and whether each class gave its roster.
    """
    all_given = True
    people, lines = People(course, store, tool.settings.student), []
    for path in sorted(store.classes.glob("[!.]*.json")):
        found = read_json(path, Class)
        if found is None:
            continue
        name = printable(found.title)
        if not tool.settings.allows(found.issuer, found.client, found.context):
            lines.append(f"{name}: left out, since it is not in the context_ids of the settings")
            continue
        try:
            connector = tool.connector(found.issuer, found.client)
            service = NamesRolesProvisioningService(connector, {"context_memberships_url": found.memberships})
            members = [dict(member) for member in service.get_members()]
        except Exception as error:  # whatever an LMS answers, the other classes have theirs
            all_given = False
            lines.append(f"{name}: no roster: {printable(f'{type(error).__name__}: {error}')}")
            continue
        new = 0
        for member in members:
            is_student = has_role({f"{CLAIM}roles": member.get("roles")}, STUDENT_ROLES)
            if member.get("status", "Active") != "Active" or not is_student:
                continue
            user = str(member.get("user_id") or "")
            values = {"sub": user, "person_sourcedid": str(member.get("lis_person_sourcedid") or "")}
            try:
                if not user:
                    raise Unknown("the LMS doesn't say who this is: user_id is missing")
                student = people.of(found.issuer, user, values.get(tool.settings.student, ""))
            except Unknown as reason:
                lines.append(f"{name}: {printable(str(member.get('name') or user))} was not added: {reason}")
                continue
            new += _add(course, student, member)
        lines.append(f"{name}: {len(members)} members, {new} of them new in the gradebook")
    return lines, all_given


def _add(course: RunningCourse, student: str, member: dict[str, Any]) -> bool:
    """Put a student into the gradebook; what is there already stays."""
    with course.gradebook() as book:
        if any(each.id == student for each in book.students):
            return False
        book.add_student(
            student,
            first_name=member.get("given_name"),
            last_name=member.get("family_name") or member.get("name"),
            email=member.get("email"),
            lms_user_id=str(member["user_id"]),
        )
        return True


def settle(course: RunningCourse, store: LtiStore, student: str, issuer: str, user: str) -> list[str]:
    """From now on, take this user of a platform for the student, and nobody else; returns what was done.

    Raises:
        CourseError: there is no such platform or student.
    """
    platforms = LtiHandIns.of(course).clients
    if issuer not in platforms:
        raise CourseError(f"c.LtiHandIns.platforms has no {issuer}{did_you_mean(issuer, platforms)}")
    people = store.people()
    with course.gradebook() as book:
        known = {each.id for each in book.students} | {person.student for person in people}
    if student not in known:
        raise CourseError(f"there is no student {printable(student)}{did_you_mean(student, known)}")
    for person in people:
        if person.student == student:
            store.forget(person)
    store.remember(Person(issuer, user, student))
    before = [f"; until now, it was {person.user}" for person in people if person.student == student]
    before += [
        f"; until now, that was {person.student}"
        for person in people
        if (person.issuer, person.user) == (issuer, user)
    ]
    return [f"{student} is the user {user} of {issuer} from now on{''.join(dict.fromkeys(before))}"]


def _settling(student: str, issuer: str, user: str) -> str:
    command = f"`gradekit lti --user {quoted(student)} {quoted(issuer)} {quoted(user)}`"
    return f"If it is the same person, an instructor runs {command}"


def _value(data: dict[str, Any], claim: str) -> str:
    """The value of a claim; empty if it is missing."""
    if claim == "sub":
        return str(data["sub"])
    place, key = ("lis", claim) if claim == "person_sourcedid" else ("custom", claim.partition(".")[2])
    found = data.get(f"{CLAIM}{place}")
    value = found.get(key) if isinstance(found, dict) else None
    # a platform that doesn't know a variable sends its name
    return value if isinstance(value, str) and not value.startswith("$") else ""
