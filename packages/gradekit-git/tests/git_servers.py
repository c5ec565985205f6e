"""Real Git servers on 127.0.0.1, students who push to them, and a remote that never answers."""

import contextlib
import os
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ...gradekit.tests.ports import free_port

_QUIET = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A student",
    "GIT_AUTHOR_EMAIL": "student@example.edu",
    "GIT_COMMITTER_NAME": "A student",
    "GIT_COMMITTER_EMAIL": "student@example.edu",
}
#: long before anything that is tested: the author's date must not count
_AUTHORED = "2001-01-01T00:00:00Z"


def git(*command: str | Path, cwd: Path, given: bytes = b"") -> str:
    """Run Git as a student does."""
    dates = {"GIT_AUTHOR_DATE": _AUTHORED, "GIT_COMMITTER_DATE": _AUTHORED}
    done = subprocess.run(
        ["git", *command],
        cwd=cwd,
        env=os.environ | _QUIET | dates,
        input=given,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout.decode().strip()


@dataclass
class StudentRepository:
    """A student's repository on a server, and the clone that the student works in."""

    bare: Path
    clone: Path
    url: str

    def write(self, **files: str | bytes) -> "StudentRepository":
        """Write files; `__` in a name is a slash, `_ipynb` its ending."""
        for name, content in files.items():
            path = self.clone / name.replace("__", "/").replace("_ipynb", ".ipynb").replace("_txt", ".txt")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def push(self, message: str = "work", branch: str = "main") -> str:
        """Commit everything and push it, whatever was there; returns the commit."""
        git("add", "--all", "--force", cwd=self.clone)
        git("commit", "--quiet", "--allow-empty", "--message", message, cwd=self.clone)
        return self.push_only(branch)

    def push_only(self, branch: str = "main") -> str:
        git("push", "--quiet", "--force", str(self.bare), f"HEAD:refs/heads/{branch}", cwd=self.clone)
        return git("rev-parse", "HEAD", cwd=self.clone)

    def put(self, mode: str, name: str, content: bytes) -> None:
        """Put an entry of any kind into the index, such as a link (120000)."""
        blob = git("hash-object", "-w", "--stdin", cwd=self.clone, given=content)
        git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{name}", cwd=self.clone)

    def commit_index(self) -> str:
        git("commit", "--quiet", "--message", "odd", cwd=self.clone)
        return self.push_only()


@dataclass
class GitServer:
    """`git http-backend` behind a small HTTP server. `requests` are the paths that were asked for."""

    folder: Path
    password: str = ""
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    redirect_to: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        outer = self

        class Backend(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_GET(self) -> None:
                outer._answer(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def repository(self, name: str) -> StudentRepository:
        bare, clone = self.folder / f"{name}.git", self.folder / f"{name}-clone"
        git("init", "--quiet", "--bare", "--initial-branch=main", bare, cwd=self.folder)
        git("config", "http.receivepack", "true", cwd=bare)
        git("init", "--quiet", "--initial-branch=main", clone, cwd=self.folder)
        return StudentRepository(bare, clone, f"{self.address}/{name}.git")

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _answer(self, request: Any) -> None:
        self.requests.append(request.path)
        self.headers.append(dict(request.headers))
        if self.redirect_to:
            request.send_response(302)
            request.send_header("Location", self.redirect_to + request.path)
            request.end_headers()
            return
        if self.password and self.password not in request.headers.get("Authorization", ""):
            request.send_response(401)
            request.send_header("WWW-Authenticate", 'Basic realm="git"')
            request.end_headers()
            return
        path, _, query = request.path.partition("?")
        length = int(request.headers.get("Content-Length") or 0)
        done = subprocess.run(
            ["git", "http-backend"],
            input=request.rfile.read(length),
            capture_output=True,
            check=False,
            env=os.environ
            | _QUIET
            | {
                "GIT_PROJECT_ROOT": str(self.folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": request.command,
                "CONTENT_TYPE": request.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(length),
                "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "student",
                "REMOTE_ADDR": "127.0.0.1",
            },
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        request.send_response(int(fields.pop("Status", "200 OK").split()[0]))
        for name, value in fields.items():
            request.send_header(name, value)
        request.end_headers()
        with contextlib.suppress(OSError):
            request.wfile.write(body)


@contextlib.contextmanager
def hanging() -> Iterator[str]:
    """The address of a remote that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/r.git"


@contextlib.contextmanager
def endless() -> Iterator[str]:
    """The address of a remote that lists branches for ever."""

    class Endless(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(b"001e# service=git-upload-pack\n0000")
                line = b"0" * 40 + b" refs/heads/b%020d\n"
                for number in range(10**9):
                    text = line % number
                    self.wfile.write(b"%04x" % (len(text) + 4) + text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/r.git"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def git_daemon(folder: Path) -> Iterator[str]:
    """`git daemon` for the repositories in a folder."""
    port = free_port()
    command = [
        "git",
        "daemon",
        "--export-all",
        "--listen=127.0.0.1",
        f"--port={port}",
        f"--base-path={folder}",
    ]
    process = subprocess.Popen([*command, str(folder)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield f"git://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def noise(megabytes: float) -> bytes:
    """Bytes that can't be compressed."""
    return secrets.token_bytes(int(megabytes * 10**6))
