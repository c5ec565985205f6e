#!/usr/bin/env python3
"""Send notebooks from a CI job to `gradekit watch --http`, and wait for the result.

It is one file that needs only Python 3.9 or newer, so that it can be copied into a repository. The exit code is 0 if all
points were earned, or the result comes later, 1 if some points are missing, 2 if nothing was handed in, and 3 if the
notebook was handed in but isn't graded.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import http.client
import io
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

PLACE = "/v1/hand-ins"
#: what the student thinks is wrong about a check, as the page says
_REQUESTS = "requests.txt"
_ANSWER_BYTES = 64 * 2**20
_SECONDS = 90
#: requests that fail without an answer, or with "try again", are sent so often in all
_TRIES = 6
_LATER = (408, 409, 429, 500, 502, 503, 504)


class NotTaken(Exception):
    """The message says why, and what to do."""


def signature(key: str, method: str, path: str, student: str, when: str, nonce: str, digest: str) -> str:
    """The HMAC-SHA256 of a request, in hex; `digest` is the SHA-256 of its body."""
    text = "\n".join(("gradekit-1", method, path, student, when, nonce, digest))
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take a notebook or a token elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Endpoint:
    """The endpoint, as one student sees it."""

    def __init__(self, address: str, student: str, key: str) -> None:
        try:
            parts = urllib.parse.urlsplit(address)
            _ = parts.port
        except ValueError as error:
            raise NotTaken(f"{address} is no address ({error}): check GRADEKIT_SERVER") from error
        if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost"):
            raise NotTaken(f"{address} must begin with https://, so that nobody can read what is sent.")
        self._address = address.rstrip("/")
        self._student, self._key = urllib.parse.quote(student), key
        self._opener = urllib.request.build_opener(NoRedirects)

    def ask(self, method: str, path: str, body: bytes = b"") -> dict[str, Any]:
        """Send a request, with a new signature for each try.

        Raises:
            NotTaken: the server refuses it, or can't be reached, or isn't gradekit.
        """
        for number in range(_TRIES):
            if number:
                time.sleep(min(30, 2**number))
            try:
                with self._opener.open(self._signed(method, path, body), timeout=_SECONDS) as answer:
                    found = json.loads(answer.read(_ANSWER_BYTES))
                if not (
                    isinstance(found, dict)
                    and "state" in found
                    and {"id", "sentence", "result"} & found.keys()
                ):
                    raise ValueError("its answer isn't gradekit's")
                return found
            except urllib.error.HTTPError as error:
                with error:
                    why = _sentence_in(error.read(10_000)) or f"the server answered {error.code}"
                if error.code not in _LATER:
                    break
            except (OSError, ValueError, http.client.HTTPException) as error:
                why = f"{self._address} can't be reached or understood ({error}): check GRADEKIT_SERVER, or try again later"
        raise NotTaken(why)

    def _signed(self, method: str, path: str, body: bytes) -> urllib.request.Request:
        when, nonce = str(int(time.time())), secrets.token_hex(16)
        digest = hashlib.sha256(body).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "gradekit-send",
            "X-Gradekit-Student": self._student,
            "X-Gradekit-Time": when,
            "X-Gradekit-Nonce": nonce,
            "X-Gradekit-Digest": digest,
            "X-Gradekit-Signature": signature(self._key, method, path, self._student, when, nonce, digest),
        }
        return urllib.request.Request(self._address + path, body or None, headers, method=method)


def hand_in(server: Endpoint, assignment: str, files: list[Path]) -> dict[str, Any]:
    """Send the files; the answer has their id, unless they are as they were handed out."""
    contents = {}
    requests = files[0].parent / _REQUESTS
    for path in dict.fromkeys([*files, *([requests] if requests.is_file() else [])]):
        if path.name in contents:
            raise NotTaken(f"two files have the name {path.name}: rename one.")
        try:
            contents[path.name] = base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            raise NotTaken(f"{path} can't be read ({error.strerror}): check its name in the job.") from error
    link = os.environ.get("CI_PROJECT_URL", "")  # GitLab
    if not link and os.environ.get("GITHUB_REPOSITORY"):
        link = f"{os.environ.get('GITHUB_SERVER_URL', '')}/{os.environ['GITHUB_REPOSITORY']}"
    commit = os.environ.get("GITHUB_SHA") or os.environ.get("CI_COMMIT_SHA") or ""
    document = {"assignment": assignment, "files": contents, "repository": link, "commit": commit}
    return server.ask("POST", PLACE, json.dumps(document).encode())


def wait(server: Endpoint, name: str, minutes: float) -> dict[str, Any]:
    """Ask for the result until it is there, or there will be none for now."""
    pause, end = 0.5, time.monotonic() + 60 * minutes
    while True:
        found = server.ask("GET", f"{PLACE}/{name}")
        if found["state"] != "waiting" or time.monotonic() > end:
            return found
        time.sleep(pause)
        pause = min(10.0, pause * 1.2)


def say_result(found: dict[str, Any], assignment: str) -> int:
    """Print the result, and return the exit code."""
    if found["state"] != "graded":
        print(f"{assignment}: {_line(found.get('sentence', 'there is no result'))}")
        return 0 if found["state"] in ("held", "untouched") else 3
    result = found["result"]
    parts = found.get("parts", 1)
    for test in result["tests"]:
        if not test["passed"]:
            why = f": {_line(test['output'])}" if test.get("output") else ""
            points = f"{test['score'] / parts:g} of {test['max-score'] / parts:g} points"
            print(f"  {_line(test['test-name'])} ({points}){why}")
    print(f"{assignment}: {result['score'] / parts:g} of {result['max-score'] / parts:g} points")
    return int(result["score"] < result["max-score"])


def save_result(found: dict[str, Any], folder: Path) -> None:
    """Write the result and the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(found["result"], indent=2) + "\n", encoding="utf-8")
    for name, page in found["pages"].items():
        (folder / Path(name).name).write_text(page, encoding="utf-8")
    print(f"The feedback is in {folder}/.")


def _sentence_in(answer: bytes) -> str:
    try:
        return _line(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def _line(text: str) -> str:
    """In one line, without anything that a terminal or a CI system would act upon."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split()).replace("::", ": :")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Hand in notebooks, and wait for the result.")
    parser.add_argument("assignment")
    parser.add_argument("files", nargs="+", type=Path, metavar="file")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the result and the page there")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long to wait (default: 30)")
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # on Windows, not all signs can be shown
            stream.reconfigure(errors="backslashreplace")
    names = ("GRADEKIT_SERVER", "GRADEKIT_STUDENT", "GRADEKIT_KEY")
    values = {name: os.environ.get(name, "").strip() for name in names}
    try:
        if missing := [name for name, value in values.items() if not value]:
            raise NotTaken(f"{missing[0]} is not set: add it to the variables and secrets of the repository.")
        server = Endpoint(*values.values())
        answer = hand_in(server, options.assignment, options.files)
        if answer["state"] == "untouched":
            return say_result(answer, options.assignment)
        print(f"Handed in as {answer['id']}.", flush=True)
    except NotTaken as error:
        print(f"Not handed in: {error}", file=sys.stderr)
        return 2
    try:
        found = wait(server, answer["id"], options.minutes)
        if found.get("pages") and options.save:
            save_result(found, options.save)
        return say_result(found, options.assignment)
    except NotTaken as error:
        print(f"Handed in, but there is no result: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    raise SystemExit(main())
