"""Canvas by its REST API, with canvasapi (developerdocs.instructure.com: users, submissions, submission comments)."""

import contextlib
import json
import logging
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from canvasapi import exceptions
from canvasapi.course import Course
from canvasapi.requester import Requester
from canvasapi.submission import Submission as CanvasSubmission
from canvasapi.upload import Uploader

from gradekit_lms.sync.connection import AGAIN, Connection
from gradekit_lms.sync.lms import LmsPerson, LmsSubmission, Remote, RemoteFile, Result

#: files of these kinds of submission are the student's
_UPLOAD = "online_upload"


class Canvas:
    """A course in Canvas."""

    product = "Canvas"

    def __init__(self, address: str, token: str, course: int) -> None:
        logging.getLogger("canvasapi").setLevel(logging.WARNING)  # it logs each header and body
        self._connection = Connection(self.product, address, token)
        self._requester = Requester(self._connection.address, token)
        self._requester._session = self._connection
        self._token, self._number = token, course
        self._course = Course(self._requester, {"id": course})

    def people(self) -> list[LmsPerson]:
        with self._asking(f"course {self._number}"):
            users = self._course.get_users(enrollment_type=["student"], include=["email"])
            return [_person(vars(user)) for user in users]

    def read(self, assignment: int) -> Remote:
        with self._asking(f"assignment {assignment} in course {self._number}"):
            found = self._course.get_assignment(assignment)
            if getattr(found, "grading_type", "points") == "not_graded":
                raise self._connection.error(f"assignment {assignment} isn't graded: let it have points")
            if getattr(found, "anonymize_students", False):
                raise self._connection.error(
                    "the names are hidden; run this again when anonymous grading is over"
                )
            remote = Remote(float(found.points_possible or 0), [], {}, {})
            for submission in found.get_submissions(include=["submission_comments"]):
                self._add(remote, submission)
        return remote

    def _add(self, remote: Remote, found: CanvasSubmission) -> None:
        user = str(found.user_id)
        if getattr(found, "excused", False):
            remote.excused.add(user)
        # before the points that Canvas takes off for being late
        entered = getattr(found, "entered_score", None)
        score = found.score if entered is None else entered
        if score is not None:
            remote.scores[user] = float(score)
        comments = getattr(found, "submission_comments", [])
        remote.comments[user] = "\n".join(str(comment.get("comment") or "") for comment in comments)
        if not found.submitted_at:
            return
        kind = str(found.submission_type or "")
        # canvasapi makes objects of the attachments in some versions
        attached = getattr(found, "attachments", None) or []
        items = [item if isinstance(item, dict) else vars(item) for item in attached]
        files = tuple(
            RemoteFile.told(item["id"], item["display_name"], item.get("size"), item.get("url"))
            for item in items
            if kind == _UPLOAD
        )
        without = "" if files else f"handed in without files ({kind.replace('_', ' ')})"
        time = datetime.fromisoformat(found.submitted_at)
        remote.submissions.append(LmsSubmission((user,), int(found.attempt or 0), time, files, without))

    def download(self, file: RemoteFile, path: Path) -> None:
        here = urlsplit(file.url)[:2] == urlsplit(self._connection.address)[:2]
        # a redirect to another host loses the token
        headers = {"Authorization": f"Bearer {self._token}"} if here else {}
        headers["Accept-Encoding"] = "identity"
        answer = self._connection.get(file.url, headers=headers, stream=True)
        if answer.status_code != 200:
            raise self._connection.error(f"{path.name} can't be downloaded ({answer.status_code})")
        self._connection.save(answer, path, file.size)

    def send(self, assignment: int, student: str, attempt: int, result: Result) -> None:
        about = {"course_id": self._number, "assignment_id": assignment, "user_id": int(student), "id": 0}
        place = f"courses/{self._number}/assignments/{assignment}/submissions/{student}/comments/files"
        with self._asking(f"submission of user {student} for assignment {assignment}"):
            # not upload_comment, which makes a comment of its own (github.com/ucfopen/canvasapi/issues/496)
            uploaded = [Uploader(self._requester, place, str(page)).start() for page in result.pages]
            if not all(done for done, _ in uploaded):
                raise self._connection.error(f"a page for user {student} was not accepted")
            comment: dict[str, object] = {"text_comment": result.comment}
            if uploaded:
                comment["file_ids"] = [told["id"] for _, told in uploaded]
            if attempt:
                comment["attempt"] = attempt
            # score and comment in one request: both are there, or neither
            CanvasSubmission(self._requester, about).edit(
                submission={"posted_grade": f"{result.score:.10g}"}, comment=comment
            )

    @contextlib.contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        """Raise the errors of canvasapi as sentences."""
        try:
            with self._connection.understanding(what):
                yield
        except exceptions.InvalidAccessToken as error:
            raise self._connection.refused(_said(error)) from None
        except (exceptions.Unauthorized, exceptions.Forbidden) as error:
            raise self._connection.error(
                f"the token's owner may not use {what} ({_said(error)}): it needs the role of a teacher there"
            ) from None
        except exceptions.ResourceDoesNotExist:
            raise self._connection.error(
                f"there is no {what}: see the numbers in the address of its page, and correct c.LmsSync"
            ) from None
        except exceptions.CanvasException as error:
            raise self._connection.error(_said(error)) from None


def _said(error: exceptions.CanvasException) -> str:
    """The message in Canvas's answer."""
    told = error.message
    if isinstance(told, str):
        if re.search(r"status code 5|processing your request", told):  # canvasapi's own, if Canvas failed
            return f"{told}: {AGAIN}"
        with contextlib.suppress(ValueError):
            told = json.loads(told)
    if isinstance(told, dict):
        told = told.get("errors") or told.get("message") or told
    if isinstance(told, list):
        return "; ".join(str(each.get("message", each) if isinstance(each, dict) else each) for each in told)
    return str(told)


def _person(user: dict[str, object]) -> LmsPerson:
    last, comma, first = str(user.get("sortable_name") or "").partition(", ")
    if not comma:
        first, _, last = str(user.get("name") or "").rpartition(" ")
    texts = [str(user.get(key) or "") for key in ("login_id", "email")]
    return LmsPerson(str(user["id"]), texts[0], first, last, texts[1])
