"""Small servers with the calls of Canvas and Moodle that their documentation describes, and all state in memory.

The shapes of answers are those in samples/lms_apis.json.
"""

import copy
import email.parser
import email.policy
import json
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

SHAPES = json.loads((Path(__file__).parent / "samples" / "lms_apis.json").read_text(encoding="utf-8"))
LMS_TOKEN = "t0kenThatNobodyMaySee"
HANDED_IN = datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC)


@dataclass
class HandedIn:
    """A student's files by their names; `groups` members share one in Moodle."""

    files: dict[str, bytes]
    attempt: int = 1
    time: datetime = HANDED_IN
    kind: str = "online_upload"
    group: int = 0


@dataclass
class Answer:
    code: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class LmsServer:
    """What both have: people, hand-ins, scores, comments and files sent, faults, and a record of the requests.

    Args:
        maximum: the assignment's points.
    """

    product = ""

    def __init__(self, maximum: float) -> None:
        self.maximum, self.page = maximum, 2
        self.people: dict[int, dict[str, Any]] = {}
        self.hand_ins: dict[int, HandedIn] = {}
        self.scores: dict[int, float] = {}
        self.comments: dict[int, list[str]] = {}
        self.pages: dict[int, list[tuple[str, bytes]]] = {}
        self.uploads: dict[int, tuple[str, bytes]] = {}
        self.assignment: dict[str, Any] = {}
        self.asked: list[str] = []
        #: answers to requests whose line matches, given instead, or (None) the connection is closed
        self.faults: list[tuple[str, Answer | None]] = []
        #: called when a request was carried out, before it is answered
        self.after: Callable[[str], None] = lambda line: None
        self.token = LMS_TOKEN
        self.errors: list[str] = []
        #: the headers of each request that have the token
        self.with_token: list[bool] = []
        self._lock = threading.Lock()
        outer = self

        class Answers(BaseHTTPRequestHandler):
            def _handle(self) -> None:
                outer._serve(self)

            do_GET = do_POST = do_PUT = _handle

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                if not isinstance(error := sys.exception(), ConnectionError):  # of a client that was killed
                    outer.errors.append(repr(error))

        self._http = Server(("127.0.0.1", 0), Answers)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def enrol(self, number: int, login: str, name: str = "", **changes: Any) -> None:
        raise NotImplementedError

    def shape(self, kind: str, /, **changes: Any) -> dict[str, Any]:
        found = copy.deepcopy(SHAPES[self.product.lower()][kind])
        assert changes.keys() <= found.keys(), "a field that isn't documented"
        return dict(found | changes)

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers["Content-Length"] or 0)
        fields, files = _form(request.headers["Content-Type"] or "", request.rfile.read(length))
        path, _, query = request.path.partition("?")
        line = f"{request.command} {unquote(path)} {fields.get('wsfunction', [''])[0]}".strip()
        with self._lock:
            self.asked.append(line)
            self.with_token.append("Authorization" in request.headers)
            fault = next((fault for fault in self.faults if re.search(fault[0], line)), None)
            if fault:
                self.faults.remove(fault)
            if fault and fault[1] is None:
                request.close_connection = True
                return
            answer = (fault and fault[1]) or self.answer(
                request.command, unquote(path), parse_qs(query) | fields, files, request.headers
            )
            self.after(line)
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        request.send_response(answer.code)
        for name, value in answer.headers.items():
            request.send_header(name, value)
        if "Content-Length" not in answer.headers:
            request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def answer(
        self,
        method: str,
        path: str,
        fields: dict[str, list[str]],
        files: dict[str, tuple[str, bytes]],
        headers: Any,
    ) -> Answer:
        raise NotImplementedError


def _form(kind: str, body: bytes) -> tuple[dict[str, list[str]], dict[str, tuple[str, bytes]]]:
    """The fields and the files of a form."""
    if not kind.startswith("multipart/"):
        return parse_qs(body.decode(), keep_blank_values=True), {}
    message: Any = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
        f"Content-Type: {kind}\r\n\r\n".encode() + body
    )
    fields: dict[str, list[str]] = {}
    files: dict[str, tuple[str, bytes]] = {}
    for part in message.iter_parts():
        name, content = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
        if part.get_filename():
            files[name] = (part.get_filename(), content)
        else:
            fields.setdefault(name, []).append(content.decode())
    return fields, files


class CanvasServer(LmsServer):
    """Course 7 with the assignment 11."""

    product = "Canvas"

    def enrol(self, number: int, login: str, name: str = "", **changes: Any) -> None:
        first, _, last = (name or f"{login.title()} Fox").partition(" ")
        values = {"id": number, "name": f"{first} {last}", "sortable_name": f"{last}, {first}"}
        self.people[number] = self.shape(
            "user", **values | {"login_id": login, "email": f"{login}@example.edu"} | changes
        )

    def answer(
        self,
        method: str,
        path: str,
        fields: dict[str, list[str]],
        files: dict[str, tuple[str, bytes]],
        headers: Any,
    ) -> Answer:
        if path == "/upload":  # the address carries its own permission
            assert "Authorization" not in headers and fields["key"] == ["k"]
            number = len(self.uploads) + 1
            self.uploads[number] = files["file"]
            return Answer(303, b"", {"Location": f"{self.address}/uploaded/{number}"})
        if match := re.fullmatch(r"/uploaded/(\d+)", path):
            return Answer(body=self.shape("attachment", id=int(match[1])))
        if match := re.fullmatch(r"/files/(\d+)/(\d+)/download", path):
            content = list(self.hand_ins[int(match[1])].files.values())[int(match[2])]
            return Answer(body=content)
        if headers["Authorization"] != f"Bearer {self.token}":
            return Answer(401, self.shape("refused"), {"WWW-Authenticate": 'Bearer realm="canvas-lms"'})
        here = "/api/v1/courses/7"
        if not path.startswith(here):
            return Answer(404, self.shape("missing"))
        if method == "GET" and path in (f"{here}/users", f"{here}/search_users"):
            assert fields["enrollment_type[]"] == ["student"]
            return self._page(path, fields, list(self.people.values()))
        if (method, path) == ("GET", f"{here}/assignments/11"):
            return Answer(body=self.shape("assignment", points_possible=self.maximum, **self.assignment))
        if (method, path) == ("GET", f"{here}/assignments/11/submissions"):
            assert fields["include[]"] == ["submission_comments"]
            numbers = sorted(self.people.keys() | self.hand_ins.keys())
            return self._page(path, fields, [self._submission(number) for number in numbers])
        if match := re.fullmatch(rf"{here}/assignments/11/submissions/(\d+)/comments/files", path):
            assert method == "POST" and fields["name"] and int(fields["size"][0])
            return Answer(body=self.shape("upload", upload_url=f"{self.address}/upload"))
        if (match := re.fullmatch(rf"{here}/assignments/11/submissions/(\d+)", path)) and method == "PUT":
            number = int(match[1])
            self.scores[number] = float(fields["submission[posted_grade]"][0])
            self.comments.setdefault(number, []).append(fields["comment[text_comment]"][0])
            ids = fields.get("comment[file_ids][]", [])
            self.pages.setdefault(number, []).extend(self.uploads[int(each)] for each in ids)
            return Answer(body=self._submission(number))
        return Answer(404, self.shape("missing"))

    def _page(self, path: str, fields: dict[str, list[str]], found: list[dict[str, Any]]) -> Answer:
        number = int(fields.get("page", ["1"])[0])
        rest = "&".join(f"{quote(k)}={quote(v[0])}" for k, v in fields.items() if k != "page")
        headers = {}
        if number * self.page < len(found):
            headers["Link"] = f'<{self.address}{path}?{rest}&page={number + 1}>; rel="next"'
        return Answer(body=found[(number - 1) * self.page : number * self.page], headers=headers)

    def _submission(self, number: int) -> dict[str, Any]:
        score = self.scores.get(number)
        comments = [self.shape("comment", comment=text) for text in self.comments.get(number, [])]
        found = self.shape("submission", user_id=number, score=score, entered_score=score)
        found["submission_comments"] = comments
        if hand_in := self.hand_ins.get(number):
            found |= {
                "submitted_at": f"{hand_in.time:%Y-%m-%dT%H:%M:%SZ}",
                "attempt": hand_in.attempt,
                "submission_type": hand_in.kind,
                "workflow_state": "submitted",
            }
            found["attachments"] = [
                self.shape(
                    "attachment",
                    id=number * 1000 + hand_in.attempt * 100 + place,
                    display_name=name,
                    size=len(content),
                    url=f"{self.address}/files/{number}/{place}/download?download_frd=1&verifier=v",
                )
                for place, (name, content) in enumerate(hand_in.files.items())
            ]
        return found


class MoodleServer(LmsServer):
    """Course 7 with the assignment 31, which has the number 11 in addresses."""

    product = "Moodle"

    def __init__(self, maximum: float) -> None:
        super().__init__(maximum)
        self.drafts: dict[int, list[tuple[str, bytes]]] = {}

    def enrol(self, number: int, login: str, name: str = "", **changes: Any) -> None:
        first, _, last = (name or f"{login.title()} Fox").partition(" ")
        values = {"id": number, "username": login, "email": f"{login}@example.edu"}
        names = {"firstname": first, "lastname": last, "fullname": f"{first} {last}"}
        self.people[number] = self.shape("user", **values | names | changes)

    def answer(
        self,
        method: str,
        path: str,
        fields: dict[str, list[str]],
        files: dict[str, tuple[str, bytes]],
        headers: Any,
    ) -> Answer:
        assert method == "POST", "the token would be in the address"
        given = {name: values[0] for name, values in fields.items()}
        if given.get("wstoken", given.get("token")) != self.token:
            return Answer(body=self.shape("refused"))
        if path == "/webservice/upload.php":
            area = int(given["itemid"]) or 70 + len(self.drafts)
            (page,) = files.values()
            self.drafts.setdefault(area, []).append(page)
            return Answer(body=[self.shape("uploaded", itemid=area, filename=page[0])])
        if match := re.fullmatch(r"/webservice/pluginfile.php/(\d+)/assignsubmission_file/(\d+)/.*", path):
            content = list(self.hand_ins[int(match[1])].files.values())[int(match[2])]
            return Answer(body=content, headers={"Content-Type": "document/unknown"})
        if path != "/webservice/rest/server.php":
            return Answer(404, b"<html>Not found</html>")
        return Answer(body=getattr(self, f"_{given['wsfunction']}")(given))

    def _core_enrol_get_enrolled_users(self, given: dict[str, str]) -> Any:
        if given["courseid"] != "7":
            return self.shape("missing")
        options = {given[f"options[{n}][name]"]: given[f"options[{n}][value]"] for n in range(3)}
        start, count = int(options["limitfrom"]), int(options["limitnumber"])
        return list(self.people.values())[start : start + count]

    def _mod_assign_get_assignments(self, given: dict[str, str]) -> Any:
        assert given["courseids[0]"] == "7"
        assignment = self.shape("assignment", grade=self.maximum, **self.assignment)
        return {"courses": [{"id": 7, "shortname": "c", "assignments": [assignment]}], "warnings": []}

    def _mod_assign_get_submissions(self, given: dict[str, str]) -> Any:
        assert given["assignmentids[0]"] == "31"
        found = []
        for number, hand_in in self.hand_ins.items():
            plugin = self.shape("plugin")
            for place, (name, content) in enumerate(hand_in.files.items()):
                folder, _, last = f"/{name}".rpartition("/")
                url = f"{self.address}/webservice/pluginfile.php/{number}/assignsubmission_file/{place}/{quote(name)}"
                plugin["fileareas"][0]["files"].append(
                    self.shape(
                        "file", filename=last, filepath=f"{folder}/", filesize=len(content), fileurl=url
                    )
                )
            found.append(
                self.shape(
                    "submission",
                    userid=0 if hand_in.group else number,
                    groupid=hand_in.group,
                    attemptnumber=hand_in.attempt - 1,
                    timemodified=int(hand_in.time.timestamp()),
                    status="draft" if hand_in.kind == "draft" else "submitted",
                    plugins=[plugin],
                )
            )
        return self._listed("submissions", found)

    def _mod_assign_get_grades(self, given: dict[str, str]) -> Any:
        found = [
            self.shape("grade", userid=number, grade=f"{score:.5f}") for number, score in self.scores.items()
        ]
        return self._listed("grades", found)

    def _listed(self, what: str, found: list[dict[str, Any]]) -> Any:
        if not found:
            return {"assignments": [], "warnings": [self.shape("nothing")]}
        return {"assignments": [{"assignmentid": 31, what: found}], "warnings": []}

    def _mod_assign_save_grade(self, given: dict[str, str]) -> Any:
        wanted = {
            "wstoken",
            "wsfunction",
            "moodlewsrestformat",
            "assignmentid",
            "userid",
            "grade",
            "attemptnumber",
        }
        wanted |= {"addattempt", "workflowstate", "applytoall", "plugindata[files_filemanager]"}
        wanted |= {f"plugindata[assignfeedbackcomments_editor][{name}]" for name in ("text", "format")}
        if not given.keys() <= wanted or given["assignmentid"] != "31":
            return self.shape("invalid")
        number = int(given["userid"])
        self.scores[number] = float(given["grade"])
        self.comments[number] = [given["plugindata[assignfeedbackcomments_editor][text]"]]
        if "plugindata[files_filemanager]" in given:
            self.pages[number] = self.drafts[int(given["plugindata[files_filemanager]"])]
        return None


SERVERS: dict[str, type[LmsServer]] = {"canvas": CanvasServer, "moodle": MoodleServer}
