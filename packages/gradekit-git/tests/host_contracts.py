"""The REST API of a host of repositories, as samples/git_hosts.json has it from the hosts' documentation."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_CALLS = json.loads((Path(__file__).parent / "samples" / "git_hosts.json").read_text())


class ContractServer:
    """Answers the calls of one kind of host, and refuses all others. `broken` codes are given first, one a request."""

    def __init__(self, kind: str, visible: str = "private") -> None:
        self.calls, self.visible = _CALLS[kind], visible
        self.statuses: list[Any] = []
        self.comments: list[Any] = []
        self.asked: list[str] = []
        self.broken: list[tuple[int, Any]] = []
        outer = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self, None)

            def do_POST(self) -> None:
                outer._answer(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _answer(self, request: Any, body: Any) -> None:
        path = re.sub(r"[0-9a-f]{40}", "COMMIT", request.path.partition("?")[0])
        self.asked.append(f"{request.command} {path}")
        code, answer = self.broken.pop(0) if self.broken else self._found(request, path, body)
        content = json.dumps(answer).encode()
        request.send_response(code)
        if code == 302:
            request.send_header("Location", "http://127.0.0.1:1/")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _found(self, request: Any, path: str, body: Any) -> tuple[int, Any]:
        for name, value in self.calls["token"].items():
            if request.headers[name] != value.replace("TOKEN", "s3cret"):
                return 401, {"message": f"Bad credentials: {request.headers[name]}"}
        comments = self.calls["comments"] or {"path": ""}
        if (request.command, path) == ("GET", self.calls["repository"]["path"]):
            return 200, self.calls["repository"][self.visible]
        if (request.command, path) == ("POST", self.calls["status"]["path"]):
            self.statuses.append(body)
            return 201, {}
        if path == comments["path"] and request.command == "POST":
            self.comments.append(body)
            return 201, {}
        if path == comments["path"]:
            return 200, self.comments
        return 404, {"message": "Not Found"}
