"""An LMS on 127.0.0.1: messages, keys, tokens and services are those of lti1p3platform. Here are only the addresses, the data, and
a browser."""

import contextlib
import html
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx
import jwt
import nbformat
import uvicorn
from jwcrypto.jwk import JWK
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.membership import Context
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request as PlatformRequest
from lti1p3platform.score import UpdateScoreStatus
from lti1p3platform.service_connector import AssignmentsGradesService, NamesRoleProvisioningService
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_lms.lti.lti_store import LtiStore
from gradekit_lms.lti.service import Service

from ...gradekit.tests.tiny_course import RIGHT

NAME = "01_double"
CLIENT, DEPLOYMENT = "tool-7", "deployment-1"
COURSE = "http://purl.imsglobal.org/vocab/lis/v2/membership"
LEARNER, TEACHER = f"{COURSE}#Learner", f"{COURSE}#Instructor"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"


def key_pair() -> tuple[str, str]:
    """A private and a public key."""
    made = JWK.generate(kty="RSA", size=2048)
    return made.export_to_pem(private_key=True, password=None).decode(), made.export_to_pem().decode()


@contextlib.contextmanager
def serving(application: Any, port: int = 0) -> Iterator[str]:
    """Serve an application in a thread; the address is that of the server."""
    listener = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(application, log_level="error", access_log=False, server_header=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@dataclass
class Link:
    """A link to the tool in a course, by default for an assignment."""

    custom: dict[str, str] = field(default_factory=lambda: {"assignment": "01_double"})
    column: bool = True
    deep: bool = False


class _Conf(LTI1P3PlatformConfAbstract):
    def init_platform_config(self, registration: Registration) -> None:
        self._registration = registration

    def get_registration_by_params(self, **_: Any) -> Registration:
        return self._registration


class _Request(PlatformRequest):
    def build_metadata(self, request: Any) -> Any:
        return request


class _Login(OIDCLoginAbstract):
    def set_lti_message_hint(self, hint: str) -> None:
        self._lti_message_hint = hint

    def get_redirect(self, url: str) -> str:
        return url


class _Launch(LTIAdvantageMessageLaunchAbstract):
    def render_launch_form(self, launch_data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return launch_data


class _Grades(AssignmentsGradesService):
    """The columns and the scores of an LMS."""

    lms: "Lms"

    def update_score(self, line_item_id: str, score: Any) -> UpdateScoreStatus:
        self.lms.received.append(score)
        before = self.lms.scores.get((line_item_id, score["userId"]))
        now = datetime.fromisoformat(score["timestamp"])
        if before and datetime.fromisoformat(before["timestamp"]) > now:
            return UpdateScoreStatus.OLD_TIMESTAMP
        if before and before["timestamp"] == score["timestamp"]:
            assert before == score
            return UpdateScoreStatus.SUCCESS  # it came before
        self.lms.scores[line_item_id, score["userId"]] = score
        self.lms.changes.append(score)
        self.lms.after_score()
        return UpdateScoreStatus.SUCCESS

    def find_lineitems(self, **_: Any) -> Any:
        return {"content": list(self.lms.columns.values()), "has_next": False}

    def create_lineitem(self, creation_data: Any) -> Any:
        name = f"made-{len(self.lms.columns)}"
        made = creation_data | {"id": f"{self.lms.address}/lineitems/{name}"}
        self.lms.columns[name] = made
        return made

    def find_lineitem(self, line_item_id: str) -> Any: ...
    def update_lineitem(self, update_data: Any) -> Any: ...
    def delete_lineitem(self, line_item_id: str) -> None: ...
    def get_results(self, *_: Any, **__: Any) -> Any: ...


class _Members(NamesRoleProvisioningService):
    lms: "Lms"

    def get_member_data_page(self, **_: Any) -> Any:
        return {"content": self.lms.members, "has_next": False}

    def get_context_by_id(self) -> Context:
        return Context("course-1", "T1", "Transformers")


class Lms:
    """An LMS with one course.

    Args:
        tool: the address of the tool.
    """

    def __init__(self, tool: str) -> None:
        self.tool, self.address = tool, ""
        self.private, self.public = key_pair()
        self.users: dict[str, list[str]] = {}
        self.links: dict[str, Link] = {"1": Link()}
        self.members: list[dict[str, Any]] = []
        self.columns: dict[str, Any] = {}
        self.linked: list[dict[str, Any]] = []
        #: all scores that came, those that changed a grade, and the grades by column and user
        self.received: list[Any] = []
        self.changes: list[Any] = []
        self.scores: dict[tuple[str, str], Any] = {}
        #: called with the path of each request of the tool; its answer replaces the LMS's
        self.meddle: Callable[[str], Response | None] = lambda path: None
        #: called when a score has been stored, before the tool is told
        self.after_score: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    @property
    def conf(self) -> _Conf:
        registration = Registration()
        registration.set_iss(self.address).set_client_id(CLIENT).set_deployment_id(DEPLOYMENT)
        registration.set_launch_url(f"{self.tool}/launch").set_deeplink_launch_url(f"{self.tool}/launch")
        registration.set_oidc_login_url(f"{self.tool}/login").set_tool_key_set_url(f"{self.tool}/keys")
        registration.set_platform_private_key(self.private).set_platform_public_key(self.public)
        return _Conf(registration=registration)

    @property
    def settings(self) -> dict[str, Any]:
        """What an instructor writes into the settings of the tool."""
        return {
            self.address: {
                "client_id": CLIENT,
                "auth_login_url": f"{self.address}/auth",
                "auth_token_url": f"{self.address}/token",
                "key_set_url": f"{self.address}/keys",
                "deployment_ids": [DEPLOYMENT],
            }
        }

    @contextlib.contextmanager
    def running(self) -> Iterator["Lms"]:
        routes = [
            Route("/auth", self._auth),
            Route("/keys", lambda _: JSONResponse(self.conf.get_jwks())),
            Route("/token", self._token, methods=["POST"]),
            Route("/members", self._service),
            Route("/lineitems", self._service, methods=["GET", "POST"]),
            Route("/lineitems/{column}/scores", self._service, methods=["POST"]),
            Route("/linked", self._linked, methods=["POST"]),
        ]
        with serving(Starlette(routes=routes)) as self.address:
            yield self

    def start_of(self, user: str, link: str = "1") -> str:
        """Where a browser goes when somebody clicks on a link."""
        conf = self.conf
        login = _Login(_Request({}), conf)
        login.set_lti_message_hint(link)
        return str(login.initiate_login(user))

    def message(self, asked: dict[str, str], sign: Callable[[dict[str, Any]], str] | None = None) -> Any:
        """The form that the browser sends to the tool.

        Args:
            asked: what the tool has asked for.
            sign: signs the message in place of the LMS.
        """
        link, user = self.links[asked["lti_message_hint"]], asked["login_hint"]
        launch = _Launch(_Request({"get_data": asked, "form_data": {}}), self.conf)
        launch.set_user_data(user, self.users[user], full_name=user.title())
        launch.set_launch_context_claim("course-1", context_title="Transformers")
        launch.set_resource_link_claim(asked["lti_message_hint"])
        launch.set_custom_parameters_claim(link.custom)
        launch.set_nrps(f"{self.address}/members")
        column = f"{self.address}/lineitems/{asked['lti_message_hint']}" if link.column else None
        launch.set_ags(f"{self.address}/lineitems", column)
        if link.deep:
            launch.set_dl(f"{self.address}/linked", extra_data={"from": "the LMS"})
        if sign is not None:
            launch._registration = launch._platform_config.get_registration()
            launch._registration.platform_encode_and_sign = lambda message, expiration: sign(  # type: ignore[method-assign,assignment]
                message | {"iat": int(time.time()), "exp": int(time.time()) + expiration}
            )
        return launch.lti_launch()

    def sign(self, message: dict[str, Any], private: str = "", **headers: Any) -> str:
        """Sign a message as the LMS does, or with another key."""
        kid = Registration.get_jwk(self.public)["kid"]
        return jwt.encode(message, private or self.private, algorithm="RS256", headers={"kid": kid} | headers)

    async def _auth(self, request: Request) -> Response:
        return JSONResponse(self.message(dict(request.query_params)))

    async def _token(self, request: Request) -> Response:
        form = dict(await request.form())
        return await self._answer(request, lambda: JSONResponse(self.conf.get_access_token(form)))

    async def _linked(self, request: Request) -> Response:
        conf, form = self.conf, dict(await request.form())

        def take() -> Response:
            self.linked += conf.validate_deeplinking_resp(form)
            return Response("linked")

        return await self._answer(request, take)

    async def _service(self, request: Request) -> Response:
        body = await request.body()
        given = {
            "method": request.method,
            "headers": {"Authorization": request.headers.get("authorization", "")},
            "get_data": {},
            "json": json.loads(body) if body else None,
        }
        return await self._answer(request, lambda: self._serve(request, _Request(given)))

    def _serve(self, request: Request, given: _Request) -> Response:
        if request.url.path == "/members":
            members = _Members(given, self.conf, f"{self.address}/members")
            members.lms = self
            done = members.handle_resp(members.handle_get_members)
        else:
            grades = _Grades(given, self.conf, f"{self.address}/lineitems")
            grades.lms = self
            if "column" in request.path_params:
                column = request.path_params["column"]
                with self._lock:
                    done = grades.handle_resp(grades.handle_update_score, line_item_id=column)
            elif request.method == "POST":
                done = grades.handle_resp(grades.handle_create_lineitem)
            else:
                done = grades.handle_resp(grades.handle_get_lineitems)
                if done.code == 200:
                    done.result = done.result["content"]
        return JSONResponse(done.result, done.code, media_type=done.media_type)

    async def _answer(self, request: Request, answer: Callable[[], Response]) -> Response:
        from starlette.concurrency import run_in_threadpool

        meddled = await run_in_threadpool(self.meddle, request.url.path)
        return meddled if meddled is not None else await run_in_threadpool(answer)


class Browser(httpx.Client):
    """A browser with a user of the LMS in front of it: keeps cookies, follows redirects, sends forms."""

    def __init__(self, lms: Lms, user: str, role: str = LEARNER) -> None:
        super().__init__(follow_redirects=True, timeout=30.0)
        self.lms, self.user = lms, user
        lms.users[user] = [role]

    def asked(self, link: str = "1") -> dict[str, str]:
        """Begin a launch; returns what the tool asks the LMS for."""
        answer = self.get(self.lms.start_of(self.user, link), follow_redirects=False)
        assert answer.status_code == 302, answer.text
        return dict(httpx.URL(answer.headers["location"]).params)

    def open(self, link: str = "1", sign: Callable[[dict[str, Any]], str] | None = None) -> httpx.Response:
        """Click on a link in the course."""
        return self.send_message(self.lms.message(self.asked(link), sign))

    def send_message(self, message: dict[str, Any]) -> httpx.Response:
        fields = {name: message[name] for name in ("id_token", "state")}
        return self.post(message["launch_url"], data=fields, headers={"Origin": self.lms.address})

    def hand_in(self, page: httpx.Response, *files: tuple[str, bytes], **headers: str) -> httpx.Response:
        """Choose files in the form of a page, and send it; its origin is as the Fetch standard says."""
        sent = [("files", (name, content, "application/octet-stream")) for name, content in files]
        place = str(page.url.join(field_of(page, "action")))
        told = page.headers["referrer-policy"] != "no-referrer"
        origin = f"{page.url.scheme}://{page.url.netloc.decode()}" if told else "null"
        return self.post(
            place, data={"seal": value_of(page, "seal")}, files=sent, headers={"Origin": origin} | headers
        )


class Course:
    """The tiny course, its service, and an LMS."""

    def __init__(self, course: Any, lms: Lms, port: int) -> None:
        self.course, self.lms, self.port = course, lms, port
        self.store = LtiStore(course.root)
        self.settings(
            f"c.LtiHandIns.address = {lms.tool!r}",
            f"c.LtiHandIns.listen = '127.0.0.1:{port}'",
            f"c.LtiHandIns.platforms = {lms.settings!r}",
            "c.LtiHandIns.max_megabytes = 1",
        )

    def settings(self, *lines: str) -> None:
        with (self.course.root / "nbgrader_config.py").open("a") as file:
            file.write("\nc = get_config()\n" + "\n".join(lines) + "\n")

    def notebook(self, answer: str = RIGHT) -> tuple[str, bytes]:
        return "double.ipynb", nbformat.writes(self.course.answer(answer)).encode()

    def service(self) -> Service:
        running = self.course.running
        return Service(running, LtiHandIns.of(running), self.store)

    def uploads(self) -> list[tuple[str, list[str]]]:
        """The students of all hand-ins, with the names of the files."""
        return sorted(
            (kept.student, sorted(path.name for path in folder.iterdir()))
            for folder, kept in self.store.all()
        )


def field_of(page: httpx.Response, name: str) -> str:
    """The value of an attribute in a page."""
    return html.unescape(re.findall(rf'{name}="([^"]*)"', page.text)[0])


def value_of(page: httpx.Response, name: str) -> str:
    """The value of a field of a form."""
    return html.unescape(re.findall(rf'name="{name}" value="([^"]*)"', page.text)[0])


def said(page: httpx.Response) -> str:
    """What a page says."""
    return html.unescape(" ".join(re.findall(r'role="status">(.*?)</p>', page.text, re.DOTALL)))
