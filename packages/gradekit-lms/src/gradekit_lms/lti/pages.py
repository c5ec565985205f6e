"""The pages of `gradekit lti`, made from one template, with headers that let nothing in them run, and its sessions.

A session says who a browser is of, until it is closed, nothing is done for a while, or somebody leaves.
"""

from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from jinja2 import Environment, PackageLoader
from msgspec.structs import astuple
from starlette.responses import HTMLResponse, Response

from gradekit_lms.lti.launches import Seals
from gradekit_lms.lti.lti_settings import LtiHandIns, origin_of
from gradekit_lms.lti.lti_store import Target

#: in the address of a page that reloads itself
WAITS = "waits"
_PAGE = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self' {form}; frame-ancestors {frames}"
_FEEDBACK = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors {frames}"


class Pages:
    """Makes the answers to requests."""

    def __init__(self, settings: LtiHandIns) -> None:
        self._is_secure, self.base = settings.is_secure, urlsplit(settings.address).path
        environment = Environment(
            loader=PackageLoader("gradekit_lms.lti", "."), autoescape=True, trim_blocks=True
        )
        self._template = environment.get_template("page.html.j2")
        # of these, at least one is where the pages of the LMS are
        places = [*settings.clients]
        for found in settings.clients.values():
            places += [each[name] for each in found for name in ("auth_login_url", "auth_token_url")]
        self._frames = " ".join(["'self'", *sorted({origin_of(each) for each in places} - {""})])

    def place(self, assignment: str) -> str:
        return f"{self.base}/assignments/{quote(assignment, safe='')}"

    def page(self, title: str, status: int = 200, **values: Any) -> Response:
        form = origin_of(values.get("action", ""))
        text = self._template.render(title=title, waits=WAITS, **values)
        return HTMLResponse(text, status, self._headers(_PAGE, form))

    def feedback(self, content: bytes) -> Response:
        return Response(content, 200, self._headers(_FEEDBACK), "text/html")

    def set_cookie(
        self, answer: Response, name: str, value: str, path: str, seconds: int | None = None
    ) -> Response:
        """Set a cookie, which the browser keeps until it is closed, or for some seconds; returns the answer."""
        # browsers take cookies in a frame of the LMS only with the last two
        secure = self._is_secure
        same_site = "none" if secure else "lax"
        answer.set_cookie(name, value, seconds, path=path, httponly=True, secure=secure, samesite=same_site)  # type: ignore[arg-type]
        if secure:
            answer.raw_headers[-1] = (b"set-cookie", answer.raw_headers[-1][1] + b"; Partitioned")
        return answer

    def _headers(self, policy: str, form: str = "") -> dict[str, str]:
        return {
            "Content-Security-Policy": policy.format(frames=self._frames, form=form),
            "X-Content-Type-Options": "nosniff",
            # with no-referrer, browsers send the forms of a page as if they came from nowhere
            "Referrer-Policy": "same-origin",
            "Cache-Control": "no-store",
        }


class SignedIn(NamedTuple):
    """A student's session is for one assignment. `began` is in seconds, as `Seals.now` has it."""

    student: str
    assignment: str
    target: Target
    began: float


class Sessions:
    """They are in the browsers' cookies, and nowhere else."""

    def __init__(self, settings: LtiHandIns, seals: Seals) -> None:
        self._idle, self._whole = settings.idle_minutes * 60, settings.session_hours * 3600
        self._seals = seals
        #: by student, when all sessions of theirs were ended
        self._left: dict[str, float] = {}

    def sealed(self, session: SignedIn) -> str:
        """The session for as long as it may be idle from now on, and in all."""
        student, assignment, target, began = session
        seconds = min(self._idle, began + self._whole - self._seals.now())
        return self._seals.seal("session", seconds, session=[student, assignment, began, *astuple(target)])

    def unsealed(self, text: str) -> SignedIn | None:
        """The session, if it isn't over."""
        found = self._seals.unseal("session", text)
        if found is None:
            return None
        student, assignment, began, *target = found["session"]
        is_over = began <= self._left.get(student, 0.0)
        return None if is_over else SignedIn(student, assignment, Target(*target), began)

    def form_seal(self, session: SignedIn) -> str:
        """What the forms on the student's page have."""
        return self._seals.seal("form", self._whole, of=session[:2])

    def has_form(self, session: SignedIn, seal: str) -> bool:
        found = self._seals.unseal("form", seal)
        return found is not None and found["of"] == list(session[:2])

    def end_all(self, student: str) -> None:
        """End all sessions of a student, those for other assignments and in other browsers, too."""
        self._left[student] = self._seals.now()
