"""The settings of hand-ins by LTI, `c.LtiHandIns` in nbgrader_config.py."""

from typing import Any
from urllib.parse import urlsplit

from traitlets import Dict, Float, Integer, Unicode
from traitlets.config import Configurable

from gradekit.course import CourseError
from gradekit.grading.running_course import RunningCourse
from gradekit_watch.course_settings import require_listen, settings_of

_NEEDED = ("client_id", "auth_login_url", "auth_token_url", "key_set_url", "deployment_ids")
_KNOWN = {*_NEEDED, "auth_audience", "context_ids"}
_PORTS = {"http": 80, "https": 443}
_LOCAL = ("http://127.0.0.1:", "http://localhost:")


class LtiHandIns(Configurable):
    """Where the service is, which platforms may use it, and how much a student may upload."""

    address = Unicode("", help="address of the service as browsers see it, such as https://host/lti").tag(
        config=True
    )
    listen = Unicode("127.0.0.1:8766", help="address and port that the web server forwards to").tag(
        config=True
    )
    platforms = Dict(help="for each issuer, what its LMS says of the tool: " + ", ".join(sorted(_KNOWN))).tag(
        config=True
    )
    student = Unicode(
        "sub",
        help="what becomes a student's id: sub, person_sourcedid, or custom.NAME for a custom parameter",
    ).tag(config=True)
    max_megabytes = Integer(50, min=1, help="size of a hand-in").tag(config=True)
    max_total_megabytes = Integer(500, min=1, help="size of all hand-ins of a student").tag(config=True)
    max_files = Integer(100, min=1, help="files of a hand-in").tag(config=True)
    seconds = Float(120.0, min=1.0, help="the longest that an upload may take").tag(config=True)
    session_hours = Float(8.0, min=0.01, help="how long an assignment that was opened can be used").tag(
        config=True
    )
    idle_minutes = Float(120.0, min=0.1, help="how long it can be used after nothing was done there").tag(
        config=True
    )
    retry = Float(
        10.0, min=0.1, help="seconds until a grade that couldn't be sent is sent again; then twice as many"
    ).tag(config=True)

    @classmethod
    def of(cls, course: RunningCourse) -> "LtiHandIns":
        """The settings of a course.

        Raises:
            CourseError: one is unknown, wrong or missing.
        """
        settings = settings_of(cls, course)
        require_listen(cls, course, "listen", settings.listen)
        reason = settings._wrong()
        if reason:
            raise CourseError(f"{course.last_file}: c.LtiHandIns.{reason}")
        return settings

    @property
    def origin(self) -> str:
        """The part of the address that browsers send with a form."""
        return origin_of(self.address)

    @property
    def is_secure(self) -> bool:
        return self.address.startswith("https://")

    @property
    def clients(self) -> dict[str, list[dict[str, Any]]]:
        """The registrations of each issuer, in the form of PyLTI1p3's ToolConfDict."""
        return {
            issuer: found if isinstance(found, list) else [found] for issuer, found in self.platforms.items()
        }

    def allows(self, issuer: str, client: str, context: str) -> bool:
        """Whether a course of an LMS may use the tool: all of them, unless the platform has `context_ids`."""
        found = (each for each in self.clients.get(issuer, []) if each["client_id"] == client)
        return all(context in each.get("context_ids", [context]) for each in found)

    def _wrong(self) -> str:
        """The end of a sentence about a setting; empty if all is well."""
        if not _is_safe(self.address) or self.address.endswith("/"):
            return 'address must be that of the service, with https and no slash at the end: "https://…"'
        kind, _, name = self.student.partition(".")
        if self.student not in ("sub", "person_sourcedid") and not (kind == "custom" and name):
            return "student must be sub, person_sourcedid or custom.NAME"
        if not self.platforms:
            return "platforms has no platform: what to write is in docs/lti.md"
        for issuer, registrations in self.clients.items():
            for found in registrations:
                if not isinstance(found, dict) or any(not found.get(key) for key in _NEEDED):
                    return f"platforms[{issuer!r}] needs {', '.join(_NEEDED)}"
                if unknown := found.keys() - _KNOWN:
                    return f"platforms[{issuer!r}] has {sorted(unknown)[0]!r}, which isn't known"
                if wrong := [key for key in _NEEDED if key.endswith("_url") and not _is_safe(found[key])]:
                    return f"platforms[{issuer!r}][{wrong[0]!r}] must be an address with https"
                for key in ("deployment_ids", "context_ids"):
                    ids = found.get(key, [])
                    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
                        return f"platforms[{issuer!r}][{key!r}] must be a list of texts"
        return ""


def origin_of(address: str) -> str:
    """The scheme, the host and the port of an address, as browsers write them; empty if it has none."""
    parts = urlsplit(address)
    if parts.scheme not in _PORTS or not parts.netloc:
        return ""
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(f':{_PORTS[parts.scheme]}')}"


def _is_safe(address: object) -> bool:
    return isinstance(address, str) and address.startswith(("https://", *_LOCAL))
