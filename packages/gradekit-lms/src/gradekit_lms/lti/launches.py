"""The tool's side of LTI 1.3, with PyLTI1p3: logins, launches, keys, and requests to the platform.

PyLTI1p3 checks the state, the issuer, the client and the deployment. Here are added: a nonce that belongs to its state and counts
once, the audience, the times with some room for clocks that differ, and limits for requests.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import jwt
import requests
from jwcrypto.jwk import JWK
from pylti1p3.cookie import CookieService
from pylti1p3.exception import LtiException, LtiMessageValidationException
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.oidc_login import OIDCLogin
from pylti1p3.registration import Registration
from pylti1p3.request import Request
from pylti1p3.service_connector import ServiceConnector
from pylti1p3.session import SessionService
from pylti1p3.tool_config.dict import ToolConfDict

from gradekit.course import CourseError
from gradekit.course.printing import quoted
from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_watch.hand_in_store import log_line

#: clocks of platforms and this one may differ by this much
SKEW_SECONDS = 60
_LOGIN_SECONDS = 600
_REQUEST_SECONDS = 15
_KEYS_SECONDS, _KEYS_AGAIN_SECONDS = 3600.0, 10.0
_KEY_BITS = 2048
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"


class Seals:
    """Texts that come back from a browser unchanged, or not at all; a new process knows none of the old ones."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    def now(self) -> float:
        """The seconds of a clock that nobody sets."""
        return time.monotonic()

    def seal(self, purpose: str, seconds: float, **values: Any) -> str:
        content = json.dumps([secrets.token_hex(12), self.now() + seconds, values]).encode()
        return f"{base64.urlsafe_b64encode(content).decode().rstrip('=')}.{self._mac(purpose, content)}"

    def unseal(self, purpose: str, text: str) -> dict[str, Any] | None:
        """The values, unless somebody else made the text, for something else, or too long ago."""
        encoded, _, mac = text.partition(".")
        try:
            content = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        except ValueError:
            return None
        if not hmac.compare_digest(self._mac(purpose, content).encode(), mac.encode(errors="replace")):
            return None
        _, until, values = json.loads(content)
        return values if self.now() <= until else None

    def use(self, text: str, seconds: float) -> bool:
        """Whether a sealed text is used for the first time."""
        now = self.now()
        with self._lock:
            self._used = {each: until for each, until in self._used.items() if until > now}
            return self._used.setdefault(text, end := now + seconds) is end

    def _mac(self, purpose: str, content: bytes) -> str:
        return hmac.new(self._key, purpose.encode() + b"\0" + content, hashlib.sha256).hexdigest()


class Form(Request):
    """The parameters and the cookies of a request."""

    def __init__(self, values: Mapping[str, str], cookies: Mapping[str, str], secure: bool) -> None:
        self.values, self.cookies, self.secure = values, cookies, secure

    def get_param(self, key: str) -> str:
        return self.values.get(key) or ""

    def is_secure(self) -> bool:
        return self.secure


class Cookies(CookieService):
    """The cookies of a request, and those for its answer."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self.new: dict[str, str] = {}

    def get_cookie(self, name: str) -> str | None:
        return self._form.cookies.get(f"{self._cookie_prefix}-{name}")

    def set_cookie(self, name: str, value: str | int, exp: int | None = None) -> None:
        self.new[f"{self._cookie_prefix}-{name}"] = str(value)


class _Session(SessionService):
    """Nothing is stored between login and launch: a nonce is sealed, with the state that it belongs to."""

    def __init__(self, form: Form, seals: Seals) -> None:
        self._form, self._seals = form, seals

    def save_nonce(self, nonce: str) -> None:
        """It comes back."""

    def check_nonce(self, nonce: str) -> bool:
        found = self._seals.unseal("nonce", nonce)
        return found is not None and found["state"] == self._form.get_param("state")

    def check_state_is_valid(self, state: str, id_token_hash: str) -> bool:
        return False  # the cookie decides, also for a message that comes again

    def save_launch_data(self, key: str, jwt_body: Mapping[str, Any]) -> None:
        """The service has sessions of its own."""

    def set_state_valid(self, state: str, id_token_hash: str) -> None:
        """See above."""


class _Login(OIDCLogin[Any, Any, Any, Any, Any]):
    def __init__(self, seals: Seals, *args: Any, **services: Any) -> None:
        super().__init__(*args, **services)
        self._seals, self._state = seals, ""

    def _get_uuid(self) -> str:
        self._state = super()._get_uuid()
        return self._state

    def get_redirect(self, url: str) -> Any:
        return url

    def _generate_nonce(self) -> str:
        return self._seals.seal("nonce", _LOGIN_SECONDS, state=f"state-{self._state}")


class Launch(MessageLaunch[Any, Any, Any, Any]):
    """A message from a platform."""

    platform_keys: "PlatformKeys"

    def _get_request_param(self, key: str) -> str:
        return str(self._request.get_param(key))

    def fetch_public_key(self, key_set_url: str) -> Any:
        return self.platform_keys.at(key_set_url, str(self._jwt["header"].get("kid")), self._requests_session)

    def validate_jwt_signature(self) -> "Launch":
        """Check the signature, the audience and the times."""
        public_key, _ = self.get_public_key()
        assert self._registration is not None
        client = self._registration.get_client_id()
        try:
            found = jwt.decode(
                self._get_id_token(),
                public_key,
                algorithms=["RS256"],
                audience=client,
                issuer=self._registration.get_issuer(),
                leeway=SKEW_SECONDS,
                options={"require": ["exp", "iat", "nonce", "sub"]},
            )
        except jwt.InvalidTokenError as error:
            raise LtiMessageValidationException(str(error)) from error
        if found.get("azp", client) != client:
            raise LtiMessageValidationException("it is for another tool")
        return self


class PlatformKeys:
    """The public keys of platforms, fetched again when one of them is new."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[float, Any]] = {}

    def at(self, address: str, kid: str, session: requests.Session) -> Any:
        when, found = self._found.get(address, (0.0, None))
        age = time.monotonic() - when
        known = found is not None and any(key.get("kid") == kid for key in found["keys"])
        if found is None or age > (_KEYS_SECONDS if known else _KEYS_AGAIN_SECONDS):
            found = _key_set(session, address)
            self._found[address] = time.monotonic(), found
        return found


def _key_set(session: requests.Session, address: str) -> Any:
    """The keys at an address of a platform. If there are none, the person who runs the service reads why."""
    try:
        found = session.get(address).json()
        reason = "" if isinstance(found["keys"], list) else "it has no list of keys"
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
    if reason:
        log_line(
            f"the keys of the LMS can't be read at {address}: see key_set_url in c.LtiHandIns.platforms ({reason})"
        )
        raise LtiException("the keys of the LMS can't be read now, so ask your instructor if it stays so")
    return found


class Connector(ServiceConnector):
    """Requests to a platform, with tokens that are used until they expire."""

    tokens: ClassVar[dict[tuple[str | None, ...], tuple[float, str]]] = {}

    def _for(self, scope_key: str) -> tuple[str | None, ...]:
        """Two platforms may have given the tool the same id."""
        return self._registration.get_issuer(), self._registration.get_client_id(), scope_key

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        until, token = self.tokens.get(self._for(scope_key), (0.0, ""))
        return token if time.monotonic() < until else None

    def _cache_access_token(self, scope_key: str, access_token: str, expires_in: float) -> None:
        self.tokens[self._for(scope_key)] = time.monotonic() + float(expires_in) - SKEW_SECONDS, access_token


class _Requests(requests.Session):
    """Requests that end, and go nowhere else."""

    def request(self, *args: Any, **options: Any) -> requests.Response:
        options |= {"timeout": _REQUEST_SECONDS, "allow_redirects": False}
        answer = super().request(*args, **options)
        if answer.is_redirect:
            raise requests.TooManyRedirects(f"{answer.url} leads elsewhere", response=answer)
        return answer


class Tool:
    """The tool, registered at the platforms of the settings.

    Args:
        key: the file with its private key; it is made if it is missing.

    Raises:
        CourseError: others can read the key, or it isn't one.
    """

    def __init__(self, settings: LtiHandIns, key: Path) -> None:
        self.settings, self.seals = settings, Seals()
        self._keys = PlatformKeys()
        private, public = _key_pair(key)
        self._config = ToolConfDict(settings.clients)  # type: ignore[arg-type]
        for issuer, registrations in settings.clients.items():
            for found in registrations:
                self._config.set_private_key(issuer, private, found["client_id"])
                self._config.set_public_key(issuer, public, found["client_id"])
        self.jwks = self._config.get_jwks()

    def login(self, form: Form, launch: str) -> tuple[str, dict[str, str]]:
        """Where to send the browser first, with which cookies.

        Raises:
            Exception: it doesn't come from a platform that is known.
        """
        cookies = Cookies(form)
        services = {"session_service": _Session(form, self.seals), "cookie_service": cookies}
        place: Any = _Login(self.seals, form, self._config, **services).get_redirect_object(launch)
        return place, cookies.new

    def launch(self, form: Form) -> Launch:
        """A message, with everything checked.

        Raises:
            Exception: it can't be trusted, or can't be understood.
        """
        services: dict[str, Any] = {
            "session_service": _Session(form, self.seals),
            "cookie_service": Cookies(form),
            "requests_session": _Requests(),
            "service_connector_cls": Connector,
        }
        launch = Launch(form, self._config, **services)
        launch.platform_keys = self._keys
        launch.validate()
        if not self.seals.use(launch.get_launch_data()["nonce"], _LOGIN_SECONDS + SKEW_SECONDS):
            raise LtiMessageValidationException("it has been used before")
        return launch

    def registration(self, issuer: str, client: str) -> Registration:
        """Raises ToolConfException if the settings no longer have it."""
        found: Registration = self._config.find_registration_by_params(issuer, client)
        return found

    def connector(self, issuer: str, client: str) -> Connector:
        return Connector(self.registration(issuer, client), _Requests())


def has_role(data: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether somebody has one of these roles in the course from which the message comes, not just anywhere."""
    roles = data.get(f"{CLAIM}roles")
    found = {str(role) for role in roles} if isinstance(roles, list) else set()
    course = "http://purl.imsglobal.org/vocab/lis/v2/membership"
    return any(found & {name, f"{course}#{name}"} for name in names)


def _key_pair(path: Path) -> tuple[str, str]:
    """The private and the public key, as PEM."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            made = JWK.generate(kty="RSA", size=_KEY_BITS).export_to_pem(private_key=True, password=None)
            new = path.with_suffix(f".{secrets.token_hex(4)}")
            try:
                with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(made)
                os.replace(new, path)
            finally:
                new.unlink(missing_ok=True)
        if path.stat().st_mode & 0o077:
            raise CourseError(f"others can read {path}: delete it, and a new key is made")
        private = path.read_bytes()
        public = JWK.from_pem(private).export_to_pem()
    except OSError as error:
        raise CourseError(f"the key in {path} can't be read or made: {error}") from error
    except ValueError as error:
        raise CourseError(
            f"{path} isn't a key ({error}): a new one is made after `rm {quoted(path)}`"
        ) from error
    return private.decode(), public.decode()
