"""The process that fetches repositories, listens for webhooks, and sends results: `python -m gradekit_git.fetching`.

It is a process of its own, so that whatever a remote does, grading goes on. It ends with the process that started it.
"""

import contextlib
import csv
import hashlib
import hmac
import io
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs

from gradekit.course import CourseError
from gradekit.course.files import file_stamp, write_atomically
from gradekit.course.printing import defused
from gradekit_git.hosts import Host, HostError
from gradekit_git.looking import Looker, assignments_in
from gradekit_git.roster import Repository, read_roster, same_remote
from gradekit_git.settings import Job
from gradekit_git.store import GitStore, Seen
from gradekit_watch.bounded_http import BoundedRequest, BoundedServer, listening
from gradekit_watch.course_settings import run_job
from gradekit_watch.hand_in_store import Problem, in_utc, log_line
from gradekit_watch.way_process import held_lock

_TICK = 0.1
#: the longest between two looks at a repository that can't be fetched
_LONGEST_PAUSE = 900.0
#: between two looks that webhooks ask for
_SHORTEST_PAUSE = 5.0
_SEND_PAUSE, _LONGEST_SEND_PAUSE = 10.0, 3600.0
_ROW = ("student", "assignment", "remote", "branch", "commit", "first seen", "looked", "state")
#: what GitHub and Forgejo call the HMAC-SHA256 of the body
_SIGNATURES = ("X-Hub-Signature-256", "X-Forgejo-Signature", "X-Gitea-Signature")
_MAX_BYTES = 2**20
_REMEMBERED = 10_000


class Rounds:
    """Looks at all repositories, each in its turn.

    Those that can't be fetched are looked at more and more seldom, after all others, and never by all threads, so that a
    remote that hangs delays nobody for long.
    """

    def __init__(self, job: Job, store: GitStore) -> None:
        self._job, self._store, self._looker = job, store, Looker(job, store)
        self._pool = ThreadPoolExecutor(job.at_once)
        self._stamp: object = None
        self._bad: list[Problem] = []
        self._repositories: list[Repository] = []
        self._due: dict[Repository, float] = {}
        self._last: dict[Repository, float] = {}
        self._failures: dict[Repository, int] = {}
        self._seen: dict[Repository, Seen] = {}
        self._under_way: dict[Repository, Future[Seen]] = {}
        self._asked: set[str] = set()
        self._lock = threading.Lock()
        self.own_problems: list[Problem] = []

    def pushed(self, addresses: Sequence[str]) -> bool:
        """Look at the repositories with these addresses soon; returns whether there are any."""
        asked = {same_remote(address) for address in addresses[:3]}
        with self._lock:
            self._asked |= asked
        return any(same_remote(each.remote) in asked for each in list(self._repositories))

    def step(self) -> None:
        """Begin the looks that are due, and take in the results of others."""
        self._read_roster()
        self._bring_forward()
        for repository in [each for each, look in self._under_way.items() if look.done()]:
            self._finish(repository, self._under_way.pop(repository))
        now = time.monotonic()
        due = [each for each in self._repositories if each not in self._under_way and self._due[each] <= now]
        failing = sum(each in self._failures for each in self._under_way)
        for repository in sorted(due, key=lambda each: (each in self._failures, self._due[each])):
            if len(self._under_way) >= self._job.at_once:
                break
            if repository in self._failures:
                if failing >= self._job.at_once // 2:
                    break
                failing += 1
            self._last[repository] = now
            self._under_way[repository] = self._pool.submit(self._looker.look, repository)
        self._store.set_problems([*self.own_problems, *self._bad, *self._problems()])

    def all_once(self) -> None:
        """Look at each repository once."""
        self.step()
        begun = set(self._under_way)
        while self._under_way or not begun >= set(self._repositories):
            time.sleep(_TICK)
            self._due = {
                each: self._due[each] if each not in self._last else float("inf") for each in self._due
            }
            self.step()
            begun |= set(self._under_way) | set(self._last)

    def _read_roster(self) -> None:
        path, known = Path(self._job.roster), assignments_in(Path(self._job.source))
        stamp = file_stamp(path), known
        if stamp == self._stamp:
            return
        try:
            found, bad = read_roster(path, self._job.branch, self._job.protocols, known)
        except CourseError as error:  # it may be half written
            self.own_problems = [Problem(path.name, f"{error}. Until then, the rows read before are used")]
            self._stamp = stamp
            return
        self.own_problems, self._stamp = [], stamp
        self._bad = [Problem(f"{path.name}, line {row.row}", row.reason, row.student) for row in bad]
        self._repositories = found
        now = time.monotonic()
        self._due = {each: self._due.get(each, now) for each in found}
        for gone in self._seen.keys() - set(found):
            self._seen.pop(gone)

    def _bring_forward(self) -> None:
        with self._lock:
            asked, self._asked = self._asked, set()
        if asked:
            for each in self._repositories:
                if same_remote(each.remote) in asked:
                    soon = max(time.monotonic(), self._last.get(each, 0.0) + _SHORTEST_PAUSE)
                    # a look that is under way may have come too early for this push
                    self._due[each] = soon if each in self._under_way else min(self._due[each], soon)

    def _finish(self, repository: Repository, look: "Future[Seen]") -> None:
        if repository not in self._due:
            return  # it was taken out of the roster
        try:
            seen = look.result()
        except Exception as error:  # a fault here must not stop the others
            seen = Seen(unreached=f"can't be looked at: {type(error).__name__}: {error}")
        self._seen[repository] = seen
        pause = self._job.interval
        if seen.unreached:
            self._failures[repository] = self._failures.get(repository, 0) + 1
            pause = min(max(_LONGEST_PAUSE, pause), pause * 2 ** min(20, self._failures[repository]))
        else:
            self._failures.pop(repository, None)
        due = time.monotonic() + pause
        asked = self._due[repository] > self._last[repository]
        self._due[repository] = min(due, self._due[repository]) if asked else due
        self._write_table()

    def _problems(self) -> Iterator[Problem]:
        for repository in self._repositories:
            seen = self._seen.get(repository)
            if seen is None:
                continue
            what = f"{repository.remote} {repository.branch}"
            for reason, name in ((seen.unreached, what), (seen.problem, f"{what} {seen.commit[:12]}")):
                if reason:
                    yield Problem(name, reason, repository.student, repository.assignment)

    def _write_table(self) -> None:
        """Write repositories.csv, for people."""
        out = io.StringIO()
        rows = csv.writer(out)
        rows.writerow(_ROW)
        for each in self._repositories:
            seen = self._seen.get(each) or Seen()
            done = "fetched" if seen.done else "not looked at yet"
            times = [in_utc(time) if time else "" for time in (seen.first, seen.looked)]
            cells = [each.student, each.assignment, each.remote, each.branch, seen.commit, *times]
            rows.writerow(map(defused, [*cells, seen.unreached or seen.problem or seen.note or done]))
        with contextlib.suppress(OSError):
            write_atomically(self._store.folder / "repositories.csv", out.getvalue())


class Sender:
    """Sends the results in the outbox; one that can't be sent is kept, and tried again later and later."""

    def __init__(self, job: Job, store: GitStore) -> None:
        self._store = store
        self._host = Host(job.report, job.host, job.token, job.report_public) if job.report else None
        self._next: dict[Path, float] = {}
        self._pauses: dict[Path, float] = {}

    def send_due(self) -> None:
        """Send what is due, oldest first; after one that can't be sent for now, the others wait, too."""
        for path, outgoing in self._store.outgoing():
            if self._host is None or self._next.get(path, 0.0) > time.monotonic():
                continue
            content = path.read_bytes()
            try:
                if not self._host.has(outgoing.remote):
                    raise HostError(
                        "its repository is not on c.GitHandIns.host, so its result isn't sent", later=False
                    )
                self._host.send(outgoing)
            except HostError as error:
                log_line(f"{outgoing.commit[:12]} {error}")
                if error.later:
                    pause = self._pauses.get(path, _SEND_PAUSE / 2) * 2
                    self._pauses[path] = min(pause, _LONGEST_SEND_PAUSE)
                    self._next[path] = time.monotonic() + self._pauses[path]
                    return
                self._store.not_sent.mkdir(exist_ok=True)
                os.replace(path, self._store.not_sent / path.name)
                self._store.touch()
                continue
            with contextlib.suppress(FileNotFoundError):
                if path.read_bytes() == content:  # otherwise a newer result has replaced it meanwhile
                    path.unlink()

    def keep_sending(self) -> None:
        """Send from now on, in a thread."""
        while True:
            with contextlib.suppress(OSError):
                self.send_due()
            time.sleep(1.0)


def do_job(job: Job) -> int:
    """Do a job; returns the exit code."""
    store = GitStore(Path(job.root))
    store.folder.mkdir(parents=True, exist_ok=True)
    lock = held_lock(store.lock, job.parent)
    if lock is None:
        log_line("another process fetches for this course")
        return 1
    with lock:
        if job.mode == "deliver":
            sender = Sender(job, store)
            for _ in store.outgoing():  # after one that can't be sent for now, the next
                sender.send_due()
            return 0
        store.clean()
        rounds = Rounds(job, store)
        if job.mode == "once":
            rounds.all_once()
            return 0
        if job.webhook:
            listen(job.webhook, job.webhook_secret, rounds.pushed)
        threading.Thread(target=Sender(job, store).keep_sending, daemon=True).start()
        while os.getppid() == job.parent:
            rounds.step()
            time.sleep(_TICK)
    return 0


class Webhook(BoundedServer):
    """Listens for pushes, and calls `pushed` with the addresses of the repository in each."""

    def __init__(self, address: str, secret: str, pushed: Callable[[list[str]], bool]) -> None:
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
            return self._say(403, "the signature is not that of this body with the secret of c.GitHandIns")
        if not self.server.is_new(body):
            return self._say(202, "the same was received before")
        if not self.server.pushed(_addresses_in(body)):
            return self._say(202, "it names no repository of the list")
        return self._say(202, "the repository is looked at soon")

    def _say(self, code: int, sentence: str) -> None:
        """Hosts show the answer with each delivery."""
        self.answer(code, json.dumps({"message": sentence}).encode())

    def _is_signed(self, body: bytes) -> bool:
        expected = hmac.new(self.server.secret, body, hashlib.sha256).hexdigest().encode()
        given = (self.headers.get(name, "").removeprefix("sha256=") for name in _SIGNATURES)
        return any([hmac.compare_digest(expected, value.encode(errors="replace")) for value in given])


def _addresses_in(body: bytes) -> list[str]:
    """The addresses of the repository that a push is about: in JSON, which GitHub puts into a form unless it is told otherwise."""
    try:
        form = parse_qs(body.decode()) if body.startswith(b"payload=") else {}
        found = json.loads(form["payload"][0] if form else body)["repository"]
        names = ("clone_url", "ssh_url", "html_url")
        return [found[name] for name in names if isinstance(found.get(name), str)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def listen(address: str, secret: str, pushed: Callable[[list[str]], bool]) -> Webhook:
    """Start listening in a thread of its own.

    Raises:
        CourseError: the address can't be used.
    """
    return listening(lambda: Webhook(address, secret, pushed), f"c.GitHandIns.webhook, {address}")


if __name__ == "__main__":
    run_job(Job, do_job)  # the launcher has Git end with this process
