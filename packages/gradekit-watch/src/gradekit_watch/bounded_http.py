"""A small HTTP server that strangers may reach: few requests at a time, each of a bounded size, in a bounded time."""

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from gradekit.course import CourseError

#: for a request, until it is known whose it is
SECONDS = 10.0
_AT_ONCE = 16
_POLL_SECONDS = 0.1
_NOT_HERE = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)


class BoundedServer(ThreadingHTTPServer):
    """Listens at an address such as 127.0.0.1:8765."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: str, handler: type["BoundedRequest"]) -> None:
        self._slots = threading.BoundedSemaphore(_AT_ONCE)
        super().__init__(host_and_port(address), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Refuse what comes while too many others are being read, so that slow senders keep no threads."""
        if self._slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            with contextlib.suppress(OSError):
                request.setblocking(False)
                request.send(b"HTTP/1.0 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n")
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A broken connection is nobody's fault here."""


class BoundedRequest(BaseHTTPRequestHandler):
    """One request, with one answer."""

    server_version, sys_version = "gradekit", ""
    timeout = SECONDS

    def setup(self) -> None:
        super().setup()
        self._end: threading.Timer | None = None
        self.allow(SECONDS)

    def finish(self) -> None:
        if self._end is not None:
            self._end.cancel()
        super().finish()

    def allow(self, seconds: float) -> None:
        """Read for so many seconds from now, however slowly the bytes come; then it is as if the sender had ended."""
        if self._end is not None:
            self._end.cancel()
        self._end = threading.Timer(seconds, self._cut_off)
        self._end.daemon = True
        self._end.start()

    def length(self) -> int | None:
        """The length of the body; None if the request doesn't say it."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdecimal() or self.headers.get("Transfer-Encoding"):
            return None
        return int(length[:20])

    def answer(self, code: int, body: bytes = b"") -> None:
        """Answer, with JSON if there is a body, and take in the rest of the request: otherwise the answer may get lost."""
        self.close_connection = True
        self.send_response(code)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.allow(SECONDS)
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(2**16):
                pass

    def log_message(self, *_: object) -> None:
        """Nothing: a request may have anything in it."""

    def _cut_off(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)


_Bound = TypeVar("_Bound")
_Server = TypeVar("_Server", bound=BoundedServer)


def listening(make: Callable[[], _Server], setting: str) -> _Server:
    """Make a server, and start it in a thread of its own.

    Raises:
        CourseError: the address in the setting can't be used.
    """
    server = bound_server(make, setting)
    threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True).start()
    return server


def bound_server(make: Callable[[], _Bound], setting: str) -> _Bound:
    """What listens at the address in a setting, which a process that was killed may hold for a moment.

    Raises:
        CourseError: the address can't be used.
    """
    for attempt in range(20):
        try:
            return make()
        except OSError as error:
            if error.errno not in _NOT_HERE and not isinstance(error, socket.gaierror):
                raise
            if error.errno != errno.EADDRINUSE or attempt == 19:
                raise CourseError(
                    f"nothing can listen at {setting} ({error.strerror}): choose another port there, and let the web "
                    "server forward to it"
                ) from None
            time.sleep(0.1)
    raise AssertionError


def host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
