"""The service that browsers and platforms talk to: `gradekit lti`. Starlette's application, behind a web server with TLS.

The cookie of a session is sent to the addresses of its assignment only. Each use of a page replaces it by one that is good for longer.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvicorn
from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.exception import LtiException, OIDCException, ToolConfException
from pylti1p3.lineitem import LineItem
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Message
from uvicorn.protocols.http.h11_impl import H11Protocol

from gradekit.course import CourseError
from gradekit.course.operating_system import locked_file
from gradekit.course.printing import printable
from gradekit.grading.running_course import RunningCourse
from gradekit_lms.lti.launches import CLAIM, Form, Launch, Tool, has_role
from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_lms.lti.lti_store import Class, LtiStore, Target, Upload
from gradekit_lms.lti.pages import WAITS, Pages, Sessions, SignedIn
from gradekit_lms.lti.people import STUDENT_ROLES, People, Unknown
from gradekit_lms.lti.scores import GradeSender
from gradekit_watch.bounded_http import bound_server, host_and_port
from gradekit_watch.hand_in_store import (
    SAME_NAME,
    RequestRefused,
    files_digest,
    in_utc,
    is_untouched,
    log_line,
    require_files,
)

_SMALL_BYTES = 2**18
_SMALL_SECONDS = 15.0
_AT_ONCE = 200
#: uploads whose files are in memory
_READ_AT_ONCE = 4
_LINK_SECONDS = 1800.0
_SESSION = "gradekit"
_TEACHER_ROLES = ("Instructor", "ContentDeveloper", "Administrator")
#: seconds after which nothing is half done
_OLD = 3600.0
_AGAIN = "Open the assignment again in your LMS."


def _refuse(status: int, reason: str) -> HTTPException:
    return HTTPException(status, reason)


class Service:
    """The answers to requests."""

    def __init__(self, course: RunningCourse, settings: LtiHandIns, store: LtiStore) -> None:
        self._course, self._settings, self._store = course, settings, store
        self.tool = Tool(settings, store.key)
        self._people = People(course, store, settings.student)
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)
        self._pages, self._sessions = Pages(settings), Sessions(settings, self.tool.seals)
        self._refused_contexts: set[str] = set()

    def application(self) -> Starlette:
        base = self._pages.base
        assignment = base + "/assignments/{assignment}"
        return Starlette(
            routes=[
                Route(f"{base}/keys", self._keys),
                Route(f"{base}/login", self._login, methods=["GET", "POST"]),
                Route(f"{base}/launch", self._launch, methods=["POST"]),
                Route(f"{base}/link", self._link, methods=["POST"]),
                Route(assignment, self._show),
                Route(assignment, self._hand_in, methods=["POST"]),
                Route(assignment + "/leave", self._leave, methods=["POST"]),
                Route(assignment + "/{time}/{page}", self._feedback),
            ],
            exception_handlers={HTTPException: self._refused, CourseError: self._away, OSError: self._away},
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
            self._pages.set_cookie(answer, name, value, f"{self._pages.base}/", 600)
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
        if not number:
            raise _refuse(403, "The LMS doesn't say from which course this link is. Ask your instructor.")
        title = printable(str(context.get("title") or context.get("label") or "without a title"))
        if number not in self._refused_contexts:
            self._refused_contexts.add(number)
            log_line(
                f"a launch from the course {title} of the LMS was refused. To allow it, add {number!r} to the context_ids of "
                f"c.LtiHandIns.platforms[{data['iss']!r}], and start `gradekit lti` again"
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
            return self._pages.page(
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
        answer = RedirectResponse(self._pages.place(assignment), 303)
        return self._used(SignedIn(student, assignment, target, self.tool.seals.now()), answer)

    async def _show(self, request: Request) -> Response:
        session, waits = self._session(request), WAITS in request.query_params
        answer = await run_in_threadpool(self._page_of, session, waits=waits)
        # a page that reloads itself is used by nobody
        return answer if waits else self._used(session, answer)

    async def _leave(self, request: Request) -> Response:
        session = self._session(request)
        await self._own_form(request, session, _SMALL_BYTES, _SMALL_SECONDS)
        self._sessions.end_all(session.student)
        text = "You have left, so nobody can hand in or read your pages in this browser. Log out of your LMS, too."
        answer = self._pages.page("Left", text=f"{text} To come back, open the assignment there again.")
        return self._pages.set_cookie(answer, _SESSION, "", self._pages.place(session.assignment), 0)

    async def _hand_in(self, request: Request) -> Response:
        session = self._session(request)
        limit = self._settings.max_megabytes * 10**6
        form = await self._own_form(request, session, limit + _SMALL_BYTES, self._settings.seconds)
        try:
            files: dict[str, bytes] = {}
            async with self._reading:
                for found in form.getlist("files"):
                    if isinstance(found, UploadFile):
                        name = found.filename or ""
                        if name in files:
                            raise RequestRefused(400, SAME_NAME)
                        files[name] = await found.read()
                if [*files] == [""]:
                    raise RequestRefused(400, "no file was chosen")
                text = await run_in_threadpool(self._keep, session, files)
        except RequestRefused as error:
            raise _refuse(error.code, f"Nothing was handed in: {error}.") from error
        finally:
            await form.close()
        return self._used(session, await run_in_threadpool(partial(self._page_of, session, text, waits=True)))

    async def _own_form(self, request: Request, session: SignedIn, limit: int, seconds: float) -> FormData:
        """A form that was made for this student."""
        self._require_own_form(request)
        form = await self._read(request, limit, seconds)
        if not self._sessions.has_form(session, str(form.get("seal"))):
            await form.close()
            raise _refuse(403, f"The form isn't yours, or too old. {_AGAIN}")
        return form

    async def _feedback(self, request: Request) -> Response:
        session, wanted = self._session(request), request.path_params

        def find() -> Response:
            for _, place in self._released(session):
                for page in place.glob("*.html"):
                    if (place.name, page.name) == (wanted["time"], wanted["page"]):
                        return self._pages.feedback(page.read_bytes())
            raise _refuse(404, "There is no such page.")

        return self._used(session, await run_in_threadpool(find))

    def _choose(self, launch: Launch) -> Response:
        """Let an instructor choose the assignment of a new link."""
        data: dict[str, Any] = dict(launch.get_launch_data())
        if not has_role(data, _TEACHER_ROLES):
            raise _refuse(403, "Only instructors of the course can make links.")
        settings = _mapping(data, "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings")
        if not isinstance(settings.get("deep_link_return_url"), str):
            raise _refuse(400, "The LMS doesn't say where the link goes. Ask your administrator.")
        values = (data["iss"], launch.get_client_id(), data[f"{CLAIM}deployment_id"], settings)
        seal = self.tool.seals.seal("link", _LINK_SECONDS, link=values)
        names = self._assignments()
        text = "" if names else "The course has no assignments yet."
        return self._pages.page(
            "Choose an assignment", text=text, choices=names, seal=seal, action=f"{self._pages.base}/link"
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
        return self._pages.page(
            name, jwt=link.get_response_jwt([target]), action=str(settings["deep_link_return_url"])
        )

    def _keep(self, session: SignedIn, files: dict[str, bytes]) -> str:
        """Store an upload; returns what to tell the student."""
        size = require_files(files, self._settings.max_files, self._settings.max_megabytes * 10**6)
        student, assignment = session.student, session.assignment
        if is_untouched(self._course.root / self._course.folders.release_directory / assignment, files):
            raise RequestRefused(400, "this is the notebook as it was handed out")
        digest = files_digest(files)
        kept = Upload(student, assignment, datetime.now(UTC), size, digest, session.target)
        most = self._settings.max_total_megabytes * 10**6
        kept, new = self._store.take(kept, files, most, digest[:12])
        if not new:
            return f"These files were handed in at {in_utc(kept.handed_in)} already."
        return f"Handed in at {in_utc(kept.handed_in)}: {', '.join(sorted(files))}."

    def _page_of(self, session: SignedIn, text: str = "", waits: bool = False) -> Response:
        """The page of an assignment: the student's hand-ins, and the form, unless it waits for feedback and reloads itself."""
        student, assignment = session.student, session.assignment
        hand_ins = [
            (
                in_utc(time),
                [
                    (page.stem, f"{self._pages.place(assignment)}/{place.name}/{quote(page.name)}")
                    for page in sorted(place.glob("*.html"))
                ],
            )
            for time, place in reversed(self._released(session))
        ]
        return self._pages.page(
            assignment,
            text=text,
            refresh=waits and not all(pages for _, pages in hand_ins),
            upload=self._pages.place(assignment),
            seal=self._sessions.form_seal(session),
            megabytes=self._settings.max_megabytes,
            student=student,
            hand_ins=hand_ins,
        )

    def _released(self, session: SignedIn) -> list[tuple[datetime, Path]]:
        """The hand-ins of a session's student, with the folder for the pages of each."""
        student, assignment = session.student, session.assignment
        times = [kept.handed_in for _, kept in self._store.of(student, assignment)]
        return [(time, self._store.pages(student, assignment, time)) for time in times]

    def _assignments(self) -> list[str]:
        generated = self._course.assignments()
        return [each.name for each in self._course.layout.assignments() if each.name in generated]

    def _session(self, request: Request) -> SignedIn:
        """Who this is, and that it is for this assignment."""
        session = self._sessions.unsealed(request.cookies.get(_SESSION, ""))
        person = session and self._store.person(session.target.issuer, session.target.user)
        if session is None or person is None or person.student != session.student:
            raise _refuse(403, f"Your session is over, or your browser keeps no cookies here. {_AGAIN}")
        if session.assignment != request.path_params["assignment"]:
            raise _refuse(403, _AGAIN)
        return session

    def _used(self, session: SignedIn, answer: Response) -> Response:
        """Keep the session going."""
        sealed = self._sessions.sealed(session)
        return self._pages.set_cookie(answer, _SESSION, sealed, self._pages.place(session.assignment))

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

    async def _refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return self._pages.page("Not possible", error.status_code, text=error.detail)

    async def _away(self, request: Request, error: Exception) -> Response:
        """The gradebook or the disk can't be used; the person who runs the service reads why."""
        log_line(str(error))
        text = "Something here doesn't work, so nothing was handed in. Try again later."
        return self._pages.page("Not possible", 503, text=text)


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
        store.clean(_OLD)
        service = Service(course, settings, store)
        host, port = host_and_port(settings.listen)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = bound_server(
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


def _mapping(data: dict[str, Any], claim: str) -> dict[str, Any]:
    found = data.get(claim)
    return found if isinstance(found, dict) else {}


def _reason(error: Exception) -> str:
    """Why PyLTI1p3 refuses something; errors that it doesn't expect come from messages that are no messages."""
    known = isinstance(error, LtiException | OIDCException | ToolConfException)
    return printable(str(error).rstrip(".")) if known else "it can't be understood"
