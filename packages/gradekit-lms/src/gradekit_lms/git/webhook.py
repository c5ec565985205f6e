"""The endpoint for webhooks: a push makes `gradekit watch` fetch at once.

A request only says where to look, so even a forged or repeated one could do no more than a look that would have come
anyway. Still, it must be signed, is read up to a size and for a time, and counts once.
"""

import contextlib
import hashlib
import hmac
import json
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: what GitHub and Forgejo call the HMAC-SHA256 of the body
_SIGNATURES = ("X-Hub-Signature-256", "X-Forgejo-Signature", "X-Gitea-Signature")
_MAX_BYTES = 2**20
_SECONDS = 10.0
_AT_ONCE = 16
_POLL_SECONDS = 0.1
_REMEMBERED = 10_000


class Webhook(ThreadingHTTPServer):
    """Listens for pushes, and calls `pushed` with the addresses of the repository in each."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: str, secret: str, pushed: Callable[[list[str]], None]) -> None:
        host, _, port = address.rpartition(":")
        self.secret, self.pushed = secret.encode(), pushed
        self.slots = threading.BoundedSemaphore(_AT_ONCE)
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()
        super().__init__((host.strip("[]") or "127.0.0.1", int(port)), _Request)

    def is_new(self, body: bytes) -> bool:
        """Whether this body comes for the first time: the same signed request may be sent again by anybody."""
        digest = hashlib.sha256(body).digest()
        with self._lock:
            known = digest in self._seen
            self._seen[digest] = None
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        return not known

    def process_request(self, request: Any, client_address: Any) -> None:
        """Refuse what comes while too many others are being read, so that slow senders keep no threads."""
        if self.slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A broken connection is nobody's fault here."""


class _Request(BaseHTTPRequestHandler):
    server: Webhook
    server_version, sys_version = "gradekit", ""
    timeout = _SECONDS

    def setup(self) -> None:
        super().setup()
        # however slowly the bytes come
        self._end = threading.Timer(_SECONDS, self._cut_off)
        self._end.daemon = True
        self._end.start()

    def finish(self) -> None:
        self._end.cancel()
        super().finish()

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdecimal() or self.headers.get("Transfer-Encoding"):
            return self._answer(411)
        if int(length) > _MAX_BYTES:
            return self._answer(413)
        body = self.rfile.read(int(length))
        if len(body) != int(length) or not self._is_signed(body):
            return self._answer(403)
        if self.server.is_new(body):
            self.server.pushed(_addresses_in(body))
        return self._answer(202)

    def log_message(self, *_: object) -> None:
        """Nothing: a request may have anything in it."""

    def _is_signed(self, body: bytes) -> bool:
        expected = hmac.new(self.server.secret, body, hashlib.sha256).hexdigest().encode()
        given = (self.headers.get(name, "").removeprefix("sha256=") for name in _SIGNATURES)
        return any([hmac.compare_digest(expected, value.encode(errors="replace")) for value in given])

    def _answer(self, code: int) -> None:
        self.close_connection = True
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _cut_off(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


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
        OSError, ValueError: the address can't be used.
    """
    for attempt in range(20):  # a process that was killed may hold it for a moment
        try:
            server = Webhook(address, secret, pushed)
        except OSError:
            if attempt == 19:
                raise
            time.sleep(0.1)
        else:
            threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True).start()
            return server
    raise AssertionError
