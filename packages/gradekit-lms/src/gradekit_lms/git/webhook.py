"""The endpoint for webhooks: a push makes `gradekit watch` fetch at once.

A request only says where to look, so even a forged or repeated one could do no more than a look that would have come
anyway. Still, it must be signed, is read up to a size and for a time, and counts once.
"""

import hashlib
import hmac
import json
import threading
from collections import OrderedDict
from collections.abc import Callable

from gradekit_lms.bounded_http import BoundedRequest, BoundedServer, listening

#: what GitHub and Forgejo call the HMAC-SHA256 of the body
_SIGNATURES = ("X-Hub-Signature-256", "X-Forgejo-Signature", "X-Gitea-Signature")
_MAX_BYTES = 2**20
_REMEMBERED = 10_000


class Webhook(BoundedServer):
    """Listens for pushes, and calls `pushed` with the addresses of the repository in each."""

    def __init__(self, address: str, secret: str, pushed: Callable[[list[str]], None]) -> None:
        self.secret, self.pushed = secret.encode(), pushed
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()
        super().__init__(address, _Request)

    def is_new(self, body: bytes) -> bool:
        """Whether this body comes for the first time: the same signed request may be sent again by anybody."""
        digest = hashlib.sha256(body).digest()
        with self._lock:
            known = digest in self._seen
            self._seen[digest] = None
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        return not known


class _Request(BoundedRequest):
    server: Webhook

    def do_POST(self) -> None:
        length = self.length()
        if length is None:
            return self.answer(411)
        if length > _MAX_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        if len(body) != length or not self._is_signed(body):
            return self.answer(403)
        if self.server.is_new(body):
            self.server.pushed(_addresses_in(body))
        return self.answer(202)

    def _is_signed(self, body: bytes) -> bool:
        expected = hmac.new(self.server.secret, body, hashlib.sha256).hexdigest().encode()
        given = (self.headers.get(name, "").removeprefix("sha256=") for name in _SIGNATURES)
        return any([hmac.compare_digest(expected, value.encode(errors="replace")) for value in given])


def _addresses_in(body: bytes) -> list[str]:
    """The addresses of the repository that a push is about."""
    try:
        found = json.loads(body)["repository"]
        names = ("clone_url", "ssh_url", "html_url")
        return [found[name] for name in names if isinstance(found.get(name), str)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def listen(address: str, secret: str, pushed: Callable[[list[str]], None]) -> Webhook:
    """Start listening in a thread of its own.

    Raises:
        CourseError: the address can't be used.
    """
    return listening(lambda: Webhook(address, secret, pushed), f"c.GitHandIns.webhook, {address}")
