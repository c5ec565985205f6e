"""The process that takes hand-ins by HTTP and gives back results: `python -m gradekit_git.runner.serving`.

It is a process of its own, so that whatever is sent to it, grading goes on. It ends with the process that started it.
A request is signed with the student's key, over its method, path, time, nonce and the digest of its body, and is refused
before its body is read if the signature is wrong, the time is far off, the nonce was used or too many came.
"""

import contextlib
import hashlib
import hmac
import json
import os
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from gradekit.attempts import Attempts, Page, time_in_words
from gradekit.course import CourseError
from gradekit.course.files import file_stamp, write_atomically
from gradekit.course.printing import printable
from gradekit_git.looking import assignments_in
from gradekit_git.runner.http_way import STORE, HttpJob
from gradekit_git.runner.keys import SigningKey, read_keys
from gradekit_git.runner.send import PLACE, signature
from gradekit_git.store import Fetched, GitStore
from gradekit_git.way import RESULT_FILE
from gradekit_watch.bounded_http import BoundedRequest, BoundedServer, listening
from gradekit_watch.course_settings import run_job
from gradekit_watch.hand_in_store import (
    Problem,
    RequestRefused,
    files_digest,
    is_untouched,
    letter_in,
    log_line,
    require_files,
)
from gradekit_watch.status import read_status
from gradekit_watch.way_process import held_lock

#: clocks may differ by this much
_CLOCKS = 300.0
#: to send a body, once its signature is known to be right
_BODY_SECONDS = 60.0
#: requests of a student
_PER_MINUTE = 120
_FILES = 100
_TIDY_AFTER = 10_000
_USED = re.compile(r"[0-9]{1,12} [0-9a-f]{64}")
_TICK = 0.1
_SIGNED = re.compile(r"[0-9]{1,12} [0-9a-f]{32} [0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"https://[\w.-]+(?::\d+)?(?:/[\w.-]+){1,8}", re.ASCII)


class _Sent(msgspec.Struct):
    """The body of a hand-in; the contents are in Base64."""

    assignment: str
    files: dict[str, bytes]
    repository: str = ""
    commit: str = ""


class Nonces:
    """The nonces that were used while a request with them may still be good, by earlier processes, too."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        # a process that was killed may have left half a line, whose request was not answered
        pairs = [line.split(" ") for line in lines if _USED.fullmatch(line)]
        self._used = {name: int(when) for when, name in pairs}
        self._tidy()

    def use(self, student: str, nonce: str, when: int) -> bool:
        """Whether a nonce is used for the first time."""
        name = hashlib.sha256(f"{student} {nonce}".encode()).hexdigest()
        with self._lock:
            if name in self._used:
                return False
            self._used[name] = when
            self._file.write(f"{when} {name}\n")
            self._file.flush()
            self._written += 1
            if self._written >= _TIDY_AFTER:
                self._tidy()
            return True

    def _tidy(self) -> None:
        """Forget nonces whose requests would be refused for their time."""
        since = time.time() - 2 * _CLOCKS
        self._used = {name: when for name, when in self._used.items() if when > since}
        write_atomically(self._path, "".join(f"{when} {name}\n" for name, when in self._used.items()))
        # until here, the file before is written to: the disk may be full
        self._file, self._written = self._path.open("a", encoding="utf-8"), 0


class HandIns:
    """What students hand in, and what they get for it."""

    def __init__(self, job: HttpJob, store: GitStore) -> None:
        self._job, self._store = job, store
        self._root = Path(job.root)

    def take(self, key: SigningKey, body: bytes) -> dict[str, Any]:
        """Store a hand-in; one with the same files as the student's last is the last."""
        sent = _decoded(body)
        if sent.assignment not in assignments_in(Path(self._job.source)):
            raise RequestRefused(
                404, f"the course has no assignment {_short(sent.assignment)}: check its name in the job"
            )
        if key.assignment not in ("", sent.assignment):
            raise RequestRefused(403, f"this key is for {key.assignment} only: ask your instructor for one")
        size = require_files(sent.files, _FILES, self._job.max_bytes)
        if is_untouched(Path(self._job.release) / sent.assignment, sent.files):
            if letter := letter_in(sent.files):
                raise RequestRefused(
                    400,
                    f"{letter} came with the notebook as it was handed out, so neither was handed in: send it with your answers",
                )
            sentence = "the notebook is as it was handed out, so there is nothing to hand in"
            return {"state": "untouched", "sentence": sentence}
        name = os.urandom(20).hex()
        linked = _REPOSITORY.fullmatch(sent.repository) and _COMMIT.fullmatch(sent.commit)
        link = f"{sent.repository[:200]}/commit/{sent.commit}" if linked else ""
        about = key.student, sent.assignment, datetime.now(UTC), size, None, name, files_digest(sent.files)
        fetched = Fetched(*about, "http", "", link=link)
        fetched, _ = self._store.take(fetched, sent.files, self._job.max_total_bytes, name[:12])
        return {"state": "accepted", "id": fetched.commit}

    def state(self, key: SigningKey, name: str) -> dict[str, Any]:
        """What is known of a hand-in; only its student can ask."""
        fetched = self._found(key, name)
        place = self._place(fetched)
        with contextlib.suppress(FileNotFoundError):
            result = json.loads((place / RESULT_FILE).read_bytes())
            record = self._record(fetched)
            most = record.max_points if record else 0
            parts = round(result["max-score"] / most) if most else 1
            pages = {path.name: path.read_text(encoding="utf-8") for path in sorted(place.glob("*.html"))}
            found = {"state": "graded", "result": result, "parts": parts, "pages": pages}
            if not parts:  # 0 of 0 points
                found |= {
                    "state": "failed",
                    "sentence": "it could not be graded: see the page, or ask your instructor",
                }
            return found
        state, sentence = self._why_not(fetched)
        return {"state": state, "sentence": sentence}

    def _why_not(self, fetched: Fetched) -> tuple[str, str]:
        """Why there is no result. What keeps it from being graded is told to the instructor, as it may name checks."""
        record = self._record(fetched)
        if record is not None and record.page == Page.HELD and record.due > datetime.now(UTC):
            return "held", f"handed in; the result comes at {time_in_words(record.due)}"
        status, name = read_status(self._root), printable(f"{fetched.student} {fetched.assignment}")
        handed_in = fetched.handed_in
        if any((each.name, each.handed_in) == (name, handed_in) for each in status.late_ones):
            when = time_in_words(handed_in)
            return "late", f"handed in at {when}, after the deadline: your instructor decides, so ask"
        if any((each.name, each.handed_in) == (name, handed_in) for each in status.not_graded):
            return (
                "failed",
                "it could not be graded, which your instructor can see: ask, or change it and hand in again",
            )
        return "waiting", "it waits for its turn: run this job again later to get the result"

    def _found(self, key: SigningKey, name: str) -> Fetched:
        for fetched in self._of(key.student):
            if fetched.commit == name and key.assignment in ("", fetched.assignment):
                return fetched
        raise RequestRefused(404, "you have no such hand-in: check GRADEKIT_STUDENT, or hand in again")

    def _of(self, student: str) -> Iterator[Fetched]:
        for assignment in assignments_in(Path(self._job.source)):
            yield from (fetched for _, fetched in self._store.of(student, assignment))

    def _place(self, fetched: Fetched) -> Path:
        return Path(self._job.returned) / fetched.student / fetched.assignment / fetched.commit

    def _record(self, fetched: Fetched) -> Any:
        return Attempts.load(self._root, fetched.assignment, fetched.student).at(fetched.handed_in)


class SignedServer(BoundedServer):
    """Listens for signed requests."""

    def __init__(self, job: HttpJob, store: GitStore) -> None:
        self.max_bytes = job.max_bytes * 4 // 3 + 100_000
        self.hand_ins, self.nonces = HandIns(job, store), Nonces(store.folder / "nonces")
        self._job, self._store = job, store
        self._keys: list[SigningKey] = []
        self._stamp: object = None
        self._times: dict[str, deque[float]] = {}
        self._sending: set[str] = set()
        self._lock = threading.Lock()
        self.read_keys()
        super().__init__(job.listen, _Request)

    def read_keys(self) -> None:
        """Read the file with the keys, if it has changed."""
        path, known = Path(self._job.roster), assignments_in(Path(self._job.source))
        if self._stamp == (stamp := (file_stamp(path), known)):
            return
        self._stamp = stamp
        try:
            self._keys, bad = read_keys(path, known)
        except CourseError as error:  # it may be half written
            problems = [Problem(path.name, f"{error}. Until then, the keys read before are used")]
        else:
            problems = [Problem(f"{path.name}, line {line}", why, student) for line, student, why in bad]
        self._store.set_problems(problems)

    def key_for(self, student: str, signs: Any) -> SigningKey:
        """The student's key that a request is signed with. An unknown student takes as long, and is told the same."""
        keys = [key for key in self._keys if key.student == student]
        fitting = [key for key in keys or [SigningKey("", "")] if signs(key.key)]
        if not keys or not fitting:
            raise RequestRefused(
                403,
                "the signature is wrong: check GRADEKIT_STUDENT and GRADEKIT_KEY, or ask your instructor for a key",
            )
        return fitting[0]

    def require_turn(self, student: str) -> None:
        """Raise RequestRefused if the student has sent too many requests in the last minute."""
        with self._lock:
            times, now = self._times.setdefault(student, deque()), time.monotonic()
            while times and times[0] < now - 60:
                times.popleft()
            if len(times) >= _PER_MINUTE:
                raise RequestRefused(429, f"more than {_PER_MINUTE} requests came within a minute: wait one")
            times.append(now)

    @contextlib.contextmanager
    def sending(self, student: str) -> Iterator[None]:
        """One body of a student at a time, so that nobody takes all threads."""
        with self._lock:
            if student in self._sending:
                raise RequestRefused(429, "another hand-in of yours is on its way: wait for it")
            self._sending.add(student)
        try:
            yield
        finally:
            with self._lock:
                self._sending.remove(student)


class _Request(BoundedRequest):
    server: SignedServer

    def do_POST(self) -> None:
        self._answered(self._take)

    def do_GET(self) -> None:
        self._answered(self._give)

    def _answered(self, method: Any) -> None:
        try:
            method()
        except RequestRefused as error:
            self._tell(error.code, {"error": f"{error}."})
        except OSError as error:
            if isinstance(error, ConnectionError | TimeoutError):
                raise
            log_line(str(error))
            self._tell(503, {"error": "the server can't store it now: try again later."})

    def _take(self) -> None:
        if self.path != PLACE:
            raise RequestRefused(404, "there is nothing at this address: check GRADEKIT_SERVER")
        length = self.length()
        if length is None:
            raise RequestRefused(411, "the request must say how long it is")
        key, digest = self._signer()
        if length > self.server.max_bytes:
            raise RequestRefused(
                413,
                f"the files have more than {self.server.max_bytes / 10**6:.0f} MB as they are sent: send less",
            )
        with self.server.sending(key.student):
            self.allow(_BODY_SECONDS)
            body = self.rfile.read(length)
            if len(body) != length:
                raise RequestRefused(
                    408, f"the files did not arrive within {_BODY_SECONDS:g} seconds: try again"
                )
            if hashlib.sha256(body).hexdigest() != digest:
                raise RequestRefused(403, "the files are not those that were signed: send them again")
            taken = self.server.hand_ins.take(key, body)
        self._tell(202, taken)

    def _give(self) -> None:
        key, digest = self._signer()
        if digest != hashlib.sha256().hexdigest():
            raise RequestRefused(403, "the request must be signed without a body")
        self._tell(200, self.server.hand_ins.state(key, self.path.removeprefix(f"{PLACE}/")))

    def _signer(self) -> tuple[SigningKey, str]:
        """The key that the request is signed with, and the digest of its body."""
        student, when, nonce, digest, signed = (
            self.headers.get(f"X-Gradekit-{name}", "")
            for name in ("Student", "Time", "Nonce", "Digest", "Signature")
        )
        if not _SIGNED.fullmatch(f"{when} {nonce} {digest}"):
            raise RequestRefused(403, "the request isn't signed: send it with gradekit's send.py")

        def signs(key: str) -> bool:
            expected = signature(key, self.command, self.path, student, when, nonce, digest)
            return hmac.compare_digest(expected.encode(), signed.encode(errors="replace"))

        key = self.server.key_for(unquote(student), signs)
        if abs(off := int(when) - time.time()) > _CLOCKS:
            raise RequestRefused(
                403, f"the clock there is {abs(off):.0f} seconds off: set it, and send again"
            )
        self.server.require_turn(key.student)
        if not self.server.nonces.use(key.student, nonce, int(when)):
            raise RequestRefused(409, "this request was sent before: sign it again")
        return key, digest

    def _tell(self, code: int, document: dict[str, Any]) -> None:
        self.answer(code, json.dumps(document).encode())


def _decoded(body: bytes) -> _Sent:
    try:
        return msgspec.json.decode(body, type=_Sent)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise RequestRefused(
            400, "the request isn't JSON with assignment and files: send it with gradekit's send.py"
        ) from None


def _short(name: str) -> str:
    return printable(name[:80])


def serve_ci_jobs(job: HttpJob) -> int:
    """Take hand-ins until the parent ends; returns the exit code."""
    store = GitStore(Path(job.root), STORE)
    store.folder.mkdir(parents=True, exist_ok=True)
    lock = held_lock(store.lock, job.parent)
    if lock is None:
        log_line("another process takes hand-ins for this course")
        return 1
    with lock:
        store.clean()
        endpoint = listening(lambda: SignedServer(job, store), f"c.HttpHandIns.listen, {job.listen}")
        while os.getppid() == job.parent:
            endpoint.read_keys()
            time.sleep(_TICK)
    return 0


if __name__ == "__main__":
    run_job(HttpJob, serve_ci_jobs)
