"""Moodle by its web services, written from their documentation (docs.moodle.org/dev/Web_service_API_functions).

moodlepy wasn't used: it needs attrs and cattrs of 2022, and neither uploads nor downloads files.
"""

import contextlib
import html
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from gradekit_lms.sync.connection import Connection
from gradekit_lms.sync.lms import LmsPerson, LmsSubmission, Remote, RemoteFile, Result

_PAGE = 500
#: Moodle's numbers for HTML, and for the newest attempt
_HTML, _NEWEST = 1, -1
_REFUSED = ("invalidtoken", "accessexception", "servicenotavailable", "sitemaintenance")


class Moodle:
    """A course in Moodle."""

    product = "Moodle"

    def __init__(self, address: str, token: str, course: int) -> None:
        # all are posts; to save a result twice changes nothing
        self._connection = Connection(self.product, address, token, ("GET", "POST"))
        self._token, self._course = token, course

    def people(self) -> list[LmsPerson]:
        with self._connection.understanding(f"the users of course {self._course}"):
            return [_person(user) for user in self._users if _is_student(user)]

    @cached_property
    def _users(self) -> list[dict[str, Any]]:
        users: list[dict[str, Any]] = []
        while True:
            options = {"limitfrom": len(users), "limitnumber": _PAGE, "sortby": "id"}
            page = self._call(
                "core_enrol_get_enrolled_users",
                courseid=self._course,
                options=[{"name": name, "value": value} for name, value in options.items()],
            )
            users += page
            if len(page) < _PAGE:
                return users

    @cached_property
    def _assignments(self) -> dict[int, dict[str, Any]]:
        """By the numbers in their addresses, which are those of the course's modules."""
        found = self._call("mod_assign_get_assignments", courseids=[self._course])
        return {each["cmid"]: each for course in found["courses"] for each in course["assignments"]}

    def _assignment(self, number: int) -> dict[str, Any]:
        if number not in self._assignments:
            raise self._connection.error(
                f"course {self._course} has no assignment {number} that the token's owner may grade: "
                "see the number after ?id= in the address of its page, and correct c.LmsSync"
            )
        return self._assignments[number]

    def read(self, assignment: int) -> Remote:
        with self._connection.understanding(f"assignment {assignment}"):
            return self._read(assignment)

    def _read(self, assignment: int) -> Remote:
        about = self._assignment(assignment)
        if about["grade"] <= 0:
            raise self._connection.error(
                f"assignment {assignment} has no points: choose the grade type Point in its settings"
            )
        if about.get("blindmarking") and not about.get("revealidentities"):
            raise self._connection.error(
                f"the names in assignment {assignment} are hidden: reveal the student identities there first"
            )
        remote = Remote(float(about["grade"]), [], {}, {})
        for found in self._of("mod_assign_get_grades", about["id"], "grades"):
            if float(found["grade"] or -1) >= 0:
                remote.scores[str(found["userid"])] = float(found["grade"])
        remote.submissions.extend(
            _submission(found, self._owners(found))
            for found in self._of("mod_assign_get_submissions", about["id"], "submissions")
            if found["status"] in ("submitted", "draft")
        )
        return remote

    def _of(self, function: str, number: int, what: str) -> list[dict[str, Any]]:
        told = self._call(function, assignmentids=[number])
        for warning in told.get("warnings", []):
            # "3" says that there is nothing yet
            if str(warning.get("warningcode")) != "3":
                raise self._connection.error(f"{function} says {warning.get('message')}")
        return [found for each in told["assignments"] for found in each[what]]

    def _owners(self, found: dict[str, Any]) -> tuple[str, ...]:
        if found["userid"]:
            return (str(found["userid"]),)
        group = found.get("groupid", 0)
        students = [user for user in self._users if _is_student(user)]
        return tuple(
            str(u["id"]) for u in students if group in [each["id"] for each in u.get("groups") or []]
        )

    def download(self, file: RemoteFile, path: Path) -> None:
        if not file.url.startswith(f"{self._connection.address}/"):
            raise self._connection.error(
                f"{path.name} is at {file.url.partition('?')[0]}, which isn't below c.LmsSync.address, so the token "
                "isn't sent there: correct the address"
            )
        # in the body, since addresses are logged
        answer = self._connection.post(
            file.url,
            data={"token": self._token},
            headers={"Accept-Encoding": "identity"},
            stream=True,
            allow_redirects=False,
        )
        length = answer.headers.get("Content-Length", "")
        if answer.status_code != 200 or (length.isdecimal() and int(length) != file.size):
            with contextlib.suppress(ValueError):  # errors have the status 200
                answer.json()
                self._checked(answer, "pluginfile.php")
            raise self._connection.error(f"{path.name} can't be downloaded ({answer.status_code})")
        self._connection.save(answer, path, file.size)

    def send(self, assignment: int, student: str, attempt: int, result: Result) -> None:
        about = self._assignment(assignment)
        enabled = {
            each["plugin"]
            for each in about.get("configs", [])
            if (each["subtype"], each["name"], str(each["value"])) == ("assignfeedback", "enabled", "1")
        }
        wanted = {"comments": "Feedback comments"} | ({"file": "Feedback files"} if result.pages else {})
        if missing := [title for name, title in wanted.items() if name not in enabled]:
            raise self._connection.error(
                f"assignment {assignment} takes no {' and no '.join(missing)}: tick these feedback types in its settings"
                + (", or set c.LmsSync.pages = False" if "Feedback files" in missing else "")
            )
        text = html.escape(result.comment)
        feedback: dict[str, Any] = {"assignfeedbackcomments_editor": {"text": text, "format": _HTML}}
        if result.pages:
            feedback["files_filemanager"] = self._uploaded(result.pages)
        self._call(
            "mod_assign_save_grade",
            assignmentid=about["id"],
            userid=int(student),
            grade=result.score,
            attemptnumber=_NEWEST,
            addattempt=0,
            workflowstate="",
            applytoall=0,
            plugindata=feedback,
        )

    def _uploaded(self, pages: Any) -> int:
        """The number of a draft area with these files."""
        area = 0
        for page in pages:
            with page.open("rb") as file:
                answer = self._connection.post(
                    f"{self._connection.address}/webservice/upload.php",
                    data={"token": self._token, "filearea": "draft", "itemid": str(area)},
                    files={"file_1": file},
                    allow_redirects=False,
                )
            told = self._checked(answer, "upload.php")
            if not isinstance(told, list) or not told or "itemid" not in told[0]:
                why = told[0].get("error") if isinstance(told, list) and told else "no answer"
                raise self._connection.error(f"{page.name} was not accepted ({why})")
            area = int(told[0]["itemid"])
        return area

    def _call(self, function: str, **arguments: Any) -> Any:
        data = {"wstoken": self._token, "wsfunction": function, "moodlewsrestformat": "json"}
        answer = self._connection.post(
            f"{self._connection.address}/webservice/rest/server.php",
            data=data | dict(_flat(arguments)),
            allow_redirects=False,
        )
        return self._checked(answer, function)

    def _checked(self, answer: Any, function: str) -> Any:
        """The content of an answer. An error is one with the status 200 and a code."""
        if answer.is_redirect:
            raise self._connection.error(
                f"it has moved to {answer.headers['Location'].partition('/webservice')[0]}: correct c.LmsSync.address"
            )
        try:
            told = answer.json()
        except ValueError:
            raise self._connection.error(
                f"its answer to {function} ({answer.status_code}) can't be understood: "
                "is c.LmsSync.address that of Moodle, and are its web services enabled?"
            ) from None
        if isinstance(told, dict) and "errorcode" in told:
            why = f"{told['errorcode']}: {told.get('message') or told.get('error')}"
            if told["errorcode"] in _REFUSED:
                raise self._connection.refused(f"{why}, for {function}, which its service must have")
            raise self._connection.error(f"{function} was answered with {why}")
        return told


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Moodle's form of nested arguments: `options[0][name]`."""
    if not isinstance(value, dict | list):
        yield name, value
        return
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _flat(each, f"{name}[{key}]" if name else str(key))


def _is_student(user: dict[str, Any]) -> bool:
    """Everybody is, if the token's owner may not see roles."""
    roles = [role.get("shortname") for role in user.get("roles") or []]
    return not roles or "student" in roles


def _person(user: dict[str, Any]) -> LmsPerson:
    name = str(user.get("idnumber") or user.get("username") or "")
    first, _, last = str(user.get("fullname") or "").rpartition(" ")
    others = {"firstname": first, "lastname": last, "email": ""}
    texts = [str(user.get(key) or other) for key, other in others.items()]
    return LmsPerson(str(user["id"]), name, *texts)


def _submission(found: dict[str, Any], owners: tuple[str, ...]) -> LmsSubmission:
    files = []
    for plugin in found.get("plugins", []):
        for area in plugin.get("fileareas", []) if plugin["type"] == "file" else ():
            for each in area.get("files", []):
                name = f"{each.get('filepath', '/').strip('/')}/{each['filename']}".lstrip("/")
                key = f"{name}@{each.get('timemodified', 0)}"
                files.append(RemoteFile.told(key, name, each.get("filesize"), each.get("fileurl")))
    draft = found["status"] == "draft"
    without = "has only a draft so far" if draft else "" if files else "handed in without files"
    time = datetime.fromtimestamp(found["timemodified"], UTC)
    attempt = int(found.get("attemptnumber", 0))
    return LmsSubmission(owners, attempt, time, () if draft else tuple(files), without)
