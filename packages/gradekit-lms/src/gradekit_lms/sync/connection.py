"""A connection to an LMS: waits where the LMS wants it, and says in one sentence what went wrong."""

import contextlib
import time
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from gradekit.course import CourseError
from gradekit_lms.sync import LMS_TOKEN

_TIMEOUTS = (10, 60)
_TRIES = 6
_LONGEST_WAIT = 60.0
#: of Canvas's quota, which is 700 and grows by 10 a second
_LOW = 50.0
AGAIN = "run the command again: what was done stays done, and nothing is done twice"


class LmsError(CourseError):
    """Something can't be exchanged with the LMS."""


class LmsAway(LmsError):
    """Nothing can be exchanged: the LMS can't be reached, or refuses the token."""


class Connection(requests.Session):
    """Requests with time limits. Those that are refused for now are repeated.

    Args:
        token: never appears in an error.
        harmless: methods that are also repeated when it isn't known whether the request has arrived.
    """

    def __init__(self, product: str, address: str, token: str, harmless: Container[str] = ("GET",)) -> None:
        super().__init__()
        self.product, self.address = product, address.rstrip("/")
        self._token, self._harmless = token, harmless

    def request(self, method: str, url: str, *args: Any, **options: Any) -> requests.Response:  # type: ignore[override]
        options.setdefault("timeout", _TIMEOUTS)
        harmless = method.upper() in self._harmless
        for number in range(_TRIES):
            for file in (options.get("files") or {}).values():
                file.seek(0)
            failure = f"{self.product} is overloaded"
            with contextlib.ExitStack() as failed:
                try:
                    answer = super().request(method, url, *args, **options)
                except requests.TooManyRedirects:
                    raise self.error("its address redirects in a circle") from None
                except requests.RequestException as error:
                    failure = f"{urlsplit(self.address).netloc} can't be reached ({type(error).__name__})"
                    if not harmless:
                        break
                    wait = 2.0**number
                else:
                    code = answer.status_code
                    # there were too many, so it may be repeated
                    limited = code == 429 or (code == 403 and "rate limit exceeded" in answer.text.lower())
                    if not (limited or (code in (502, 503, 504) and harmless)):
                        if _seconds(answer.headers.get("X-Rate-Limit-Remaining", ""), _LOW) < _LOW:
                            time.sleep(1)
                        return answer
                    failed.enter_context(answer)
                    wait = _seconds(answer.headers.get("Retry-After", ""), 2.0**number)
            if number < _TRIES - 1:
                time.sleep(min(wait, _LONGEST_WAIT))
        raise LmsAway(f"{failure}: {AGAIN}")

    @contextlib.contextmanager
    def understanding(self, what: str) -> Iterator[None]:
        """Raise the errors of an answer of another form as a sentence."""
        try:
            yield
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise self.error(
                f"its answer about {what} can't be understood ({type(error).__name__}): "
                f"is c.LmsSync.address that of {self.product}?"
            ) from None

    def error(self, text: object) -> LmsError:
        """An error with what the LMS said, which may repeat the request."""
        told = " ".join(str(text).replace(self._token, "…").split())[:300]
        return LmsError(f"{self.product} at {self.address}: {told}")

    def refused(self, why: str) -> LmsAway:
        error = self.error(
            f"the token is refused ({why}). It has expired, was deleted, or may not do this: make a new one "
            f"(docs/lms-sync.md), and put it into ${LMS_TOKEN} or the file c.LmsSync.token_file"
        )
        return LmsAway(str(error))

    def save(self, answer: requests.Response, path: Path, size: int) -> None:
        """Write the file in an answer.

        Raises:
            LmsError: it isn't of this size.
        """
        written = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with answer, path.open("wb") as file:
                for piece in answer.iter_content(1 << 16):
                    written += len(piece)
                    if written > size:
                        break
                    file.write(piece)
        except requests.RequestException as error:
            raise LmsError(f"the download of {path.name} stopped ({type(error).__name__}): {AGAIN}") from None
        if written != size:
            raise LmsError(f"{path.name} arrived with another size than announced, {size} bytes: {AGAIN}")


def _seconds(text: str, default: float) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return default
