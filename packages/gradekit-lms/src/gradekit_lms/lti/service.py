"""The service that browsers and platforms talk to: `gradekit lti`. Starlette's application, behind a web server with TLS.

A student's session is for one assignment: its cookie is sent to the addresses of this assignment only, and says who it is.
The cookie goes with the browser, and each use of the page replaces it by one that is good for longer.
"""

import asyncio
import contextlib
import hashlib
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import uvicorn
from jinja2 import Environment, PackageLoader
from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.exception import LtiException, OIDCException, ToolConfException
from pylti1p3.lineitem import LineItem
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Message
from uvicorn.protocols.http.h11_impl import H11Protocol

from gradekit.course import CourseError
from gradekit.course.operating_system import locked_file
from gradekit.course.printing import printable
from gradekit.grading.running_course import RunningCourse
from gradekit.submission.extra_files import SECRET, TIMESTAMP
from gradekit.submission.renamed import is_notebook
from gradekit_lms.bounded_http import bound, host_and_port
from gradekit_lms.hand_in_store import after, is_untouched
from gradekit_lms.lti.launches import CLAIM, Form, Launch, Tool, has_role
from gradekit_lms.lti.lti_settings import LtiHandIns, origin_of
from gradekit_lms.lti.lti_store import Class, LtiStore, Target, Upload
from gradekit_lms.lti.people import STUDENT_ROLES, People, Unknown
from gradekit_lms.lti.scores import GradeSender

_SMALL_BYTES = 2**18
_SMALL_SECONDS = 15.0
_NAME_BYTES = 255
_AT_ONCE = 200
#: uploads whose files are in memory
_READ_AT_ONCE = 4
_LINK_SECONDS = 1800.0
_SESSION = "gradekit"
_WAITS = "waits"
_TEACHER_ROLES = ("Instructor", "ContentDeveloper", "Administrator")
_PAGE = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self' {form}; frame-ancestors {frames}"
_FEEDBACK = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors {frames}"
_AGAIN = "Open the assignment again in your LMS."


class _Session(NamedTuple):
    """`began` is in seconds, as `time.time` has it."""

    student: str
    assignment: str
    target: Target
    began: float


def _refuse(status: int, reason: str) -> HTTPException:
    return HTTPException(status, reason)


class Service:
    """The answers to requests."""

    def __init__(self, course: RunningCourse, settings: LtiHandIns, store: LtiStore) -> None:
        self._course, self._settings, self._store = course, settings, store
        self.tool = Tool(settings, store.key)
        self._people = People(course, store, settings.student)
        self._adding, self._reading = threading.Lock(), asyncio.Semaphore(_READ_AT_ONCE)
        #: by student, when all sessions of theirs were ended
        self._left: dict[str, float] = {}
        self._said: set[str] = set()
        self._template = Environment(
            loader=PackageLoader("gradekit_lms.lti", "."), autoescape=True, trim_blocks=True
        ).get_template("page.html.j2")
        self._base = urlsplit(settings.address).path
        # of these, at least one is where the pages of the LMS are
        places = {
            *settings.clients,
            *(
                each[name]
                for found in settings.clients.values()
                for each in found
                for name in ("auth_login_url", "auth_token_url")
            ),
        }
        self._frames = " ".join(["'self'", *sorted({origin_of(each) for each in places} - {""})])

    def application(self) -> Starlette:
        assignment = self._base + "/assignments/{assignment}"
        return Starlette(
            routes=[
                Route(f"{self._base}/keys", self._keys),
                Route(f"{self._base}/login", self._login, methods=["GET", "POST"]),
                Route(f"{self._base}/launch", self._launch, methods=["POST"]),
                Route(f"{self._base}/link", self._link, methods=["POST"]),
                Route(assignment, self._show),
                Route(assignment, self._hand_in, methods=["POST"]),
                Route(assignment + "/leave", self._leave, methods=["POST"]),
                Route(assignment + "/{time}/{page}", self._feedback),
            ],
            exception_handlers={
                HTTPException: self._refused,
                CourseError: self._away,
                OSError: self._away,
            },
        )

    async def _keys(self, request: Request) -> Response:
        return JSONResponse(self.tool.jwks)

    async def _login(self, request: Request) -> Response:
        form = await self._form(request)
        try:
            place, cookies = self.tool.login(form, f"{self._settings.address}/launch")
        except Exception as error:
            raise _refuse(
                400,
                f"The LMS isn't known here: {_reason(error)}. The setting c.LtiHandIns.platforms lists those that are.",
            ) from error
        answer = RedirectResponse(place, 302)
        for name, value in cookies.items():
            self._set_cookie(answer, name, value, f"{self._base}/", 600)
        return answer

    async def _launch(self, request: Request) -> Response:
        form = await self._form(request)
        try:
            launch = await run_in_threadpool(self.tool.launch, form)
        except Exception as error:
            raise _refuse(400, f"The link can't be used: {_reason(error)}. {_AGAIN}") from error
        await run_in_threadpool(self._require_context, launch)
        if launch.is_deep_link_launch():
            return await run_in_threadpool(self._choose, launch)
        return await run_in_threadpool(self._open, launch)

    def _require_context(self, launch: Launch) -> None:
        """Refuse a course of the LMS that isn't one of those in the settings."""
        data: dict[str, Any] = dict(launch.get_launch_data())
        context = _mapping(data, f"{CLAIM}context")
        number = str(context.get("id") or "")
        if self._settings.allows(data["iss"], launch.get_client_id(), number):
            return
        title = printable(str(context.get("title") or context.get("label") or "without a title"))
        where = f"c.LtiHandIns.platforms[{data['iss']!r}]['context_ids']"
        self._log(
            f"a launch from the course {title} of the LMS was refused. To allow it, add {number!r} to {where}, and start "
            "`gradekit lti` again",
            once=True,
        )
        raise _refuse(403, f"The course {title} of your LMS doesn't hand in here. Ask your instructor.")

    def _open(self, launch: Launch) -> Response:
        """Open a link in a course of the LMS."""
        data: dict[str, Any] = dict(launch.get_launch_data())
        custom, context = _mapping(data, f"{CLAIM}custom"), _mapping(data, f"{CLAIM}context")
        assignment = custom.get("assignment", "")
        names = self._assignments()
        if assignment not in names:
            raise _refuse(
                400,
                f"This link is for the assignment {printable(str(assignment)) or 'without a name'}, which the course "
                "doesn't have. The link needs the custom parameter assignment.",
            )
        memberships = _mapping(data, "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice").get(
            "context_memberships_url"
        )
        client = launch.get_client_id()
        if isinstance(memberships, str) and has_role(data, _TEACHER_ROLES):
            title = str(context.get("title") or context.get("label") or context.get("id") or "class")
            found = Class(data["iss"], client, title, memberships, str(context.get("id") or ""))
            self._store.opened_from(found)
        if not has_role(data, STUDENT_ROLES):
            number = len({kept.student for _, kept in self._store.all() if kept.assignment == assignment})
            return self._page(
                assignment,
                text=f"{number} students have handed in here. You aren't a student of this course, so you can't.",
            )
        try:
            student = self._people.student(data)
        except Unknown as reason:
            raise _refuse(403, f"{reason}. Ask your instructor.") from reason
        ags = _mapping(data, "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint")
        columns = {key: str(ags.get(key) or "") for key in ("lineitem", "lineitems")}
        target = Target(data["iss"], client, data["sub"], **columns)
        answer = RedirectResponse(self._place(assignment), 303)
        return self._used(_Session(student, assignment, target, time.time()), answer)

    async def _show(self, request: Request) -> Response:
        session = self._session(request)
        answer = await run_in_threadpool(self._page_of, session)
        # a page that reloads itself is used by nobody
        return answer if _WAITS in request.query_params else self._used(session, answer)

    async def _leave(self, request: Request) -> Response:
        """End all sessions of the student, those for other assignments and in other browsers, too."""
        session = self._session(request)
        await self._own_form(request, session, _SMALL_BYTES, _SMALL_SECONDS)
        self._left[session.student] = time.time()
        text = "You have left, so nobody can hand in or read your pages in this browser. Log out of your LMS, too."
        answer = self._page("Left", text=f"{text} To come back, open the assignment there again.")
        self._set_cookie(answer, _SESSION, "", self._place(session.assignment), 0)
        return answer

    async def _hand_in(self, request: Request) -> Response:
        session = self._session(request)
        limit = self._settings.max_megabytes * 10**6
        form = await self._own_form(request, session, limit + _SMALL_BYTES, self._settings.seconds)
        try:
            files: dict[str, bytes] = {}
            async with self._reading:
                for found in form.getlist("files"):
                    if isinstance(found, UploadFile):
                        name = _file_name(found.filename or "", files)
                        files[name] = await found.read()
                text = await run_in_threadpool(self._keep, session, files)
        finally:
            await form.close()
        return self._used(session, await run_in_threadpool(partial(self._page_of, session, text)))

    async def _own_form(self, request: Request, session: _Session, limit: int, seconds: float) -> FormData:
        """A form that was made for this student."""
        self._require_own_form(request)
        form = await self._read(request, limit, seconds)
        seal = self.tool.seals.unseal("upload", str(form.get("seal")))
        if seal is None or seal["of"] != [session.student, session.assignment]:
            await form.close()
            raise _refuse(403, f"The form isn't yours, or too old. {_AGAIN}")
        return form

    async def _feedback(self, request: Request) -> Response:
        session, wanted = self._session(request), request.path_params
        headers = self._headers(_FEEDBACK)

        def find() -> Response:
            for _, place in self._released(session):
                for page in place.glob("*.html"):
                    if (place.name, page.name) == (wanted["time"], wanted["page"]):
                        return Response(page.read_bytes(), 200, headers, "text/html")
            raise _refuse(404, "There is no such page.")

        return self._used(session, await run_in_threadpool(find))

    def _choose(self, launch: Launch) -> Response:
        """Let an instructor choose the assignment of a new link."""
        data: dict[str, Any] = dict(launch.get_launch_data())
        if not has_role(data, _TEACHER_ROLES):
            raise _refuse(403, "Only instructors of the course can make links.")
        settings = _mapping(data, "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings")
        values = (data["iss"], launch.get_client_id(), data[f"{CLAIM}deployment_id"], settings)
        seal = self.tool.seals.seal("link", _LINK_SECONDS, link=values)
        names = self._assignments()
        text = "" if names else "The course has no assignments yet."
        return self._page(
            "Choose an assignment", text=text, choices=names, seal=seal, action=f"{self._base}/link"
        )

    async def _link(self, request: Request) -> Response:
        self._require_own_form(request)
        form = await self._read(request, _SMALL_BYTES, _SMALL_SECONDS)
        found = self.tool.seals.unseal("link", str(form.get("seal")))
        name = str(form.get("assignment"))
        if found is None or name not in await run_in_threadpool(self._assignments):
            raise _refuse(403, f"The form is too old. {_AGAIN}")
        return await run_in_threadpool(self._linked, name, *found["link"])

    def _linked(self, name: str, issuer: str, client: str, deployment: str, settings: Any) -> Response:
        """The page that takes a new link back to the LMS."""
        with self._course.gradebook() as book:
            points = book.find_assignment(name).max_score
        column = LineItem().set_tag(name).set_label(name).set_resource_id(name).set_score_maximum(points)
        target = DeepLinkResource().set_title(name).set_url(f"{self._settings.address}/launch")
        target.set_custom_params({"assignment": name}).set_lineitem(column)
        link = DeepLink(self.tool.registration(issuer, client), deployment, settings)
        return self._page(
            name, jwt=link.get_response_jwt([target]), action=str(settings["deep_link_return_url"])
        )

    def _keep(self, session: _Session, files: dict[str, bytes]) -> str:
        """Store an upload; returns what to tell the student."""
        if not any(is_notebook(name) for name in files):
            raise _refuse(400, "A hand-in needs a notebook, a file that ends with .ipynb.")
        if len(files) > self._settings.max_files:
            raise _refuse(413, f"A hand-in may have {self._settings.max_files} files.")
        student, assignment = session.student, session.assignment
        folders = self._course.folders
        if is_untouched(self._course.root / folders.release_directory / assignment, files):
            raise _refuse(400, "This is the notebook as it was handed out, so nothing was handed in.")
        size = sum(map(len, files.values()))
        parts = [hashlib.sha256(name.encode() + b"\0" + files[name]).hexdigest() for name in sorted(files)]
        digest = hashlib.sha256("".join(parts).encode()).hexdigest()
        with self._adding:
            earlier = self._store.of(student, assignment)
            last = earlier[-1][1] if earlier else None
            if last is not None and last.digest == digest and last.target == session.target:
                return f"These files were handed in at {_time(last.handed_in)} already."
            if self._store.size_of(student) + size > self._settings.max_total_megabytes * 10**6:
                limit = self._settings.max_total_megabytes
                raise _refuse(413, f"All hand-ins of a student may have {limit} MB. Ask your instructor.")
            now = after(datetime.now(UTC), last)
            kept = Upload(student, assignment, now, size, digest, session.target)
            self._store.keep(kept, files.items(), digest[:12])
        return f"Handed in at {_time(now)}: {', '.join(sorted(files))}."

    def _page_of(self, session: _Session, text: str = "") -> Response:
        """The page of an assignment: the form, and the student's hand-ins."""
        student, assignment = session.student, session.assignment
        hand_ins = [
            (
                _time(time),
                [
                    (page.stem, f"{self._place(assignment)}/{place.name}/{quote(page.name)}")
                    for page in sorted(place.glob("*.html"))
                ],
            )
            for time, place in reversed(self._released(session))
        ]
        return self._page(
            assignment,
            text=text,
            upload=self._place(assignment),
            waits=_WAITS,
            seal=self.tool.seals.seal(
                "upload", self._settings.session_hours * 3600, of=[student, assignment]
            ),
            megabytes=self._settings.max_megabytes,
            student=student,
            hand_ins=hand_ins,
        )

    def _released(self, session: _Session) -> list[tuple[datetime, Path]]:
        """The hand-ins of a session's student, with the folder for the pages of each."""
        student, assignment = session.student, session.assignment
        times = [kept.handed_in for _, kept in self._store.of(student, assignment)]
        return [(time, self._store.pages(student, assignment, time)) for time in times]

    def _assignments(self) -> list[str]:
        generated = self._course.assignments()
        return [each.name for each in self._course.layout.assignments() if each.name in generated]

    def _session(self, request: Request) -> _Session:
        """Who this is, and that it is for this assignment."""
        found = self.tool.seals.unseal("session", request.cookies.get(_SESSION, ""))
        if found is None:
            raise _refuse(403, f"Your session is over, or your browser keeps no cookies here. {_AGAIN}")
        student, assignment, began, *target = found["session"]
        if began <= self._left.get(student, 0.0):
            raise _refuse(403, f"You have left. {_AGAIN}")
        if assignment != request.path_params["assignment"]:
            raise _refuse(403, _AGAIN)
        return _Session(student, assignment, Target(*target), began)

    def _used(self, session: _Session, answer: Response) -> Response:
        """Keep the session going, for as long as a session may be idle, and in all."""
        settings, (student, assignment, target, began) = self._settings, session
        values = [student, assignment, began, *(getattr(target, name) for name in Target.__struct_fields__)]
        seconds = min(settings.idle_minutes * 60, began + settings.session_hours * 3600 - time.time())
        sealed = self.tool.seals.seal("session", seconds, session=values)
        self._set_cookie(answer, _SESSION, sealed, self._place(assignment))
        return answer

    def _require_own_form(self, request: Request) -> None:
        origin = request.headers.get("origin", self._settings.origin)
        if origin != self._settings.origin:
            raise _refuse(403, f"The form was sent from {printable(origin)}. {_AGAIN}")

    async def _form(self, request: Request) -> Form:
        """The parameters of a login or a launch."""
        values: Any = request.query_params
        if request.method == "POST":
            values = await self._read(request, _SMALL_BYTES, _SMALL_SECONDS)
        texts = {key: value for key, value in values.items() if isinstance(value, str)}
        return Form(texts, request.cookies, self._settings.is_secure)

    async def _read(self, request: Request, limit: int, seconds: float) -> FormData:
        """The form that a request sends, up to a size and for a time."""
        total = 0

        async def receive() -> Message:
            nonlocal total
            message = await request.receive()
            total += len(message.get("body", b""))
            # a browser shows the answer only if it could send all, so a little more is thrown away
            while total > limit and message.get("more_body") and total < 4 * limit:
                message = await request.receive()
                total += len(message.get("body", b""))
            if total > limit:
                raise _refuse(413, f"More than {limit // 10**6} MB were sent, so nothing was handed in.")
            return message

        bounded = Request(request.scope, receive)
        try:
            async with asyncio.timeout(seconds):
                return await bounded.form(max_files=self._settings.max_files, max_fields=20)
        except TimeoutError as error:
            raise _refuse(408, "That took too long, so nothing was handed in. Try again.") from error

    def _place(self, assignment: str) -> str:
        return f"{self._base}/assignments/{quote(assignment, safe='')}"

    def _page(self, title: str, status: int = 200, **values: Any) -> Response:
        form = origin_of(values.get("action", ""))
        waiting = any(not pages for _, pages in values.get("hand_ins", ()))
        text = self._template.render(title=title, refresh=waiting, **values)
        return HTMLResponse(text, status, self._headers(_PAGE, form))

    def _headers(self, policy: str, form: str = "") -> dict[str, str]:
        return {
            "Content-Security-Policy": policy.format(frames=self._frames, form=form),
            "X-Content-Type-Options": "nosniff",
            # with no-referrer, browsers send the forms of a page as if they came from nowhere
            "Referrer-Policy": "same-origin",
            "Cache-Control": "no-store",
        }

    async def _refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return self._page("Not possible", error.status_code, text=error.detail)

    async def _away(self, request: Request, error: Exception) -> Response:
        """The gradebook or the disk can't be used; the person who runs the service reads why."""
        self._log(str(error))
        text = "Something here doesn't work, so nothing was handed in. Try again later."
        return self._page("Not possible", 503, text=text)

    def _log(self, text: str, once: bool = False) -> None:
        """Tell the person who runs the service."""
        if not (once and text in self._said):
            print(f"{_time(datetime.now(UTC))} {printable(text, 600)}", file=sys.stderr, flush=True)
        self._said |= {text} if once else set()

    def _set_cookie(
        self, answer: Response, name: str, value: str, path: str, seconds: int | None = None
    ) -> None:
        """Set a cookie, which the browser keeps until it is closed, or for some seconds."""
        secure = self._settings.is_secure
        # browsers take cookies in a frame of the LMS only with the last two
        answer.set_cookie(
            name,
            value,
            max_age=seconds,
            path=path,
            httponly=True,
            secure=secure,
            samesite="none" if secure else "lax",
        )
        if secure:
            answer.raw_headers[-1] = (b"set-cookie", answer.raw_headers[-1][1] + b"; Partitioned")


class _Impatient(H11Protocol):
    """A connection for one request, which is ended if none comes, so that nobody can take all connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(_SMALL_SECONDS, lambda: transport.close() if self.cycle is None else None)


def serve_lti(course: RunningCourse, ready: Callable[[], None] = lambda: None) -> None:
    """Answer requests and send grades, until the process is told to end.

    Raises:
        CourseError: a setting is wrong, its port is taken, or another process does this for the course.
    """
    settings, store = LtiHandIns.of(course), LtiStore(course.root)
    store.folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = locked_file(store.lock, wait=False)
    except BlockingIOError:
        raise CourseError("gradekit lti runs for this course already") from None
    with lock:
        service = Service(course, settings, store)
        host, port = host_and_port(settings.listen)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = bound(
            lambda: socket.create_server((host, port), family=family),
            f"c.LtiHandIns.listen, {settings.listen}",
        )
        stop = threading.Event()
        sender = threading.Thread(
            target=GradeSender(service.tool, store).keep_sending, args=(stop,), daemon=True
        )
        sender.start()
        ready()
        config = uvicorn.Config(
            service.application(),
            log_level="warning",
            access_log=False,
            limit_concurrency=_AT_ONCE,
            server_header=False,
            http=_Impatient,
            headers=[("Connection", "close")],
        )
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run([listener])
        stop.set()


def _file_name(name: str, known: dict[str, bytes]) -> str:
    """The name of an uploaded file, if a folder can have it."""
    plain = PurePosixPath(name)
    if (
        plain.name != name
        or "\\" in name
        or not name.isprintable()
        or name.startswith(".")
        or len(name.encode()) > _NAME_BYTES
        or name.casefold() in (TIMESTAMP, SECRET)
    ):
        raise _refuse(400, f"A file can't have the name {printable(name)}, so nothing was handed in.")
    if name in known:
        raise _refuse(400, f"Two files have the name {printable(name)}, so nothing was handed in.")
    return name


def _mapping(data: dict[str, Any], claim: str) -> dict[str, Any]:
    found = data.get(claim)
    return found if isinstance(found, dict) else {}


def _reason(error: Exception) -> str:
    """Why PyLTI1p3 refuses something; errors that it doesn't expect come from messages that are no messages."""
    known = isinstance(error, LtiException | OIDCException | ToolConfException)
    return printable(str(error).rstrip(".")) if known else "it can't be understood"


def _time(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
