"""From a CI job to its result: `gradekit watch --http` on the tiny course, with send.py as a job runs it."""

import ast
import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from gradekit.attempts import AttemptRecord, Attempts
from gradekit.course import CourseError
from gradekit.grading.running_course import RunningCourse
from gradekit_git.runner import send, serving
from gradekit_git.runner.http_way import STORE, open_http_way
from gradekit_git.runner.keys import make_keys, read_keys
from gradekit_git.runner.serving import Nonces, SignedServer
from gradekit_git.store import GitStore
from gradekit_watch import bounded_http
from gradekit_watch.bounded_http import listening

from ...gradekit.tests.ports import free_port
from ...gradekit.tests.tiny_course import RIGHT
from .test_git_watch import NAME, PATIENCE, is_a_result

TRIPLE = RIGHT.replace("2 * x", "3 * x")
SEND = Path(send.__file__)


@dataclass
class Class:
    """The tiny course with keys for its students."""

    course: Any
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.course.root

    def notebook(self, answer: str = RIGHT) -> bytes:
        return nbformat.writes(self.course.answer(answer)).encode()

    def endpoint(self) -> SignedServer:
        way = open_http_way(RunningCourse.open(self.root), self.root / "keys.csv")
        return listening(lambda: SignedServer(way.source._jobs["watch"], GitStore(self.root, STORE)), "here")

    def grade(self) -> int:
        """Grade in this process what was taken."""
        return self.course.gradekit("watch", "--http", "keys.csv", "--once", "--workers", "1")

    def hand_ins(self, student: str) -> list[Any]:
        return [fetched for _, fetched in GitStore(self.root, STORE).of(student, NAME)]

    def attempts(self, student: str) -> list[Any]:
        return Attempts.load(self.root, NAME, student).records


@pytest.fixture
def students(generated):
    with (generated.root / "nbgrader_config.py").open("a") as file:
        file.write(
            "c = get_config()\n"
            'c.CourseDirectory.course_id = "tiny"\n'
            f'c.HttpHandIns.listen = "127.0.0.1:{free_port()}"\n'
            "c.HttpHandIns.max_megabytes = 1\n"
            "c.HttpHandIns.max_total_megabytes = 2\n"
        )
    keys = generated.root / "keys.csv"
    make_keys(keys, ["ada", "ben"])
    return Class(generated, {key.student: key.key for key in read_keys(keys, [NAME])[0]})


@pytest.fixture
def endpoint(students) -> Iterator[SignedServer]:
    found = students.endpoint()
    yield found
    found.shutdown()
    found.server_close()


@dataclass
class Request:
    """A request, as an attacker may change it after it was signed, or before."""

    endpoint: SignedServer
    key: str
    student: str = "ada"
    method: str = "POST"
    path: str = send.PLACE
    body: bytes = b""
    when: float = field(default_factory=time.time)
    nonce: str = field(default_factory=lambda: os.urandom(16).hex())

    def headers(self) -> dict[str, str]:
        when, digest = str(int(self.when)), hashlib.sha256(self.body).hexdigest()
        signed = send.signature(self.key, self.method, self.path, self.student, when, self.nonce, digest)
        values = {
            "Student": self.student,
            "Time": when,
            "Nonce": self.nonce,
            "Digest": digest,
            "Signature": signed,
        }
        return {f"X-Gradekit-{name}": value for name, value in values.items()}

    def send(self, headers: dict[str, str] | None = None, **changed: Any) -> tuple[int, dict[str, Any]]:
        headers = headers or self.headers()
        connection = http.client.HTTPConnection("127.0.0.1", self.endpoint.server_address[1], timeout=20)
        connection.request(
            changed.get("method", self.method),
            changed.get("path", self.path),
            changed.get("body", self.body),
            headers,
        )
        with contextlib.closing(connection), connection.getresponse() as answer:
            return answer.status, json.loads(answer.read() or b"{}")


def sent(files: dict[str, bytes], assignment: str = NAME, **more: Any) -> bytes:
    contents = {name: base64.b64encode(content).decode() for name, content in files.items()}
    return json.dumps({"assignment": assignment, "files": contents, **more}).encode()


def refusal(code: int, answer: tuple[int, dict[str, Any]]) -> str:
    """The one sentence of a refusal."""
    assert answer[0] == code and set(answer[1]) == {"error"}, answer
    sentence = answer[1]["error"]
    assert sentence.endswith(".") and not re.search(r"[^.]\. |\n", sentence)
    return sentence


@contextlib.contextmanager
def watching(students: Class) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """`gradekit watch --http` in another process, until the end of the block."""
    command = [Path(sys.executable).with_name("gradekit"), "watch", "--http", "keys.csv", "--workers", "1"]
    settings = (students.root / "nbgrader_config.py").read_text()
    address = re.findall(r"127\.0\.0\.1:\d+", settings)[-1]
    with (students.root / "out.txt").open("a") as out:
        process = subprocess.Popen(command, cwd=students.root, stdout=out, stderr=out)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError), socket.create_connection(address.split(":"), 1):
                break
            assert time.monotonic() < end and process.poll() is None, (students.root / "out.txt").read_text()
            time.sleep(0.05)
        yield process, f"http://{address}"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()


def job(
    students: Class, address: str, student: str, answer: bytes, name: str = "double.ipynb"
) -> "subprocess.Popen[str]":
    """send.py, alone in a repository, as a CI job runs it."""
    repository = students.root.parent / f"repository of {student}"
    repository.mkdir(exist_ok=True)
    (repository / name).write_bytes(answer)
    shutil.copy(SEND, repository)
    environment = {
        "GRADEKIT_SERVER": address,
        "GRADEKIT_STUDENT": student,
        "GRADEKIT_KEY": students.keys.get(student, "no key at all"),
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": f"course/{student}",
        "GITHUB_SHA": "c0ffee" * 6 + "c0de",
    }
    command = [sys.executable, "-I", "send.py", NAME, name, "--save", "feedback", "--minutes", "2"]
    return subprocess.Popen(
        command, cwd=repository, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def done(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, out, errors


@pytest.mark.slow
def test_a_job_hands_in_and_gets_result_and_page_even_if_watch_is_killed_meanwhile(students):
    with watching(students) as (process, address):
        code, out, errors = done(job(students, address, "ada", students.notebook(TRIPLE)))
        assert (code, errors) == (1, "")
        assert (
            "  test_double: The output is twice the input. (0 of 4 points): You took three times the input."
            in out
        )
        assert f"\n{NAME}: 3 of 10 points\n" in out
        feedback = students.root.parent / "repository of ada" / "feedback"
        result = json.loads((feedback / "result.json").read_text())
        assert is_a_result(result) and (result["owner"], result["score"]) == ("ada", 3)
        assert result["commit"] == "https://github.com/course/ada/commit/" + "c0ffee" * 6 + "c0de"
        assert "You took three times the input." in " ".join((feedback / "double.html").read_text().split())
        hidden = (students.root / "source" / NAME).rglob("*.ipynb")
        assert "BEGIN SOLUTION" not in (feedback / "double.html").read_text() and list(hidden)

        untouched = (students.root / "release" / NAME / "double.ipynb").read_bytes()
        code, out, errors = done(job(students, address, "ben", untouched))
        assert (code, errors) == (0, "") and "as it was handed out" in out
        assert done(job(students, address, "eve", students.notebook()))[0::2] == (
            2,
            "Not handed in: the signature is wrong: check GRADEKIT_STUDENT and GRADEKIT_KEY, or ask your instructor "
            "for a key.\n",
        )

        (feedback.parent / "requests.txt").write_text("double::test_value: why?")
        again = job(students, address, "ada", students.notebook(RIGHT))
        assert again.stdout is not None
        accepted = again.stdout.readline()
        process.kill()  # between accepting and grading, or while it grades
        process.wait()
    assert accepted == f"Handed in as {students.hand_ins('ada')[-1].commit}.\n"
    with watching(students) as (_, address):
        code, out, errors = done(again)
        assert (code, errors, f"{NAME}: 10 of 10 points\n" in out) == (0, "", True)
        code, out, errors = done(
            job(students, address, "ada", students.notebook(RIGHT))
        )  # the job is run again
        assert (code, errors) == (0, "") and out.startswith(accepted)
    assert [record.score for record in students.attempts("ada")] == [3, 10]
    assert [found.handed_in for found in students.hand_ins("ada")] == [
        r.handed_in for r in students.attempts("ada")
    ]
    assert students.hand_ins("ben") == [] == students.hand_ins("eve")
    assert (
        students.root / "submitted" / "ada" / NAME / "requests.txt"
    ).read_text() == "double::test_value: why?"
    kept = [path.read_bytes() for path in students.root.glob(".gradekit/**/*") if path.is_file()]
    kept.append((students.root / "out.txt").read_bytes())
    assert not any(key.encode() in text for key in students.keys.values() for text in kept)


def test_every_attack_is_refused_in_one_sentence_and_nothing_is_lost_or_doubled(
    students, endpoint, monkeypatch
):
    monkeypatch.setattr(serving, "_BODY_SECONDS", 0.5)
    body, key = sent({"double.ipynb": students.notebook()}), students.keys["ada"]

    def request(**values: Any) -> Request:
        return Request(endpoint, **{"key": key, "body": body} | values)

    wrong = "the signature is wrong"
    assert wrong in refusal(403, request(key="k" * 43).send())
    assert wrong in refusal(403, request(student="eve").send())
    assert wrong in refusal(403, request(student="ben").send())  # ada's key
    assert wrong in refusal(403, request(student="").send())
    assert "isn't signed" in refusal(403, request().send({"X-Gradekit-Student": "ada"}))
    assert "isn't signed" in refusal(403, request(nonce="../" + "0" * 29).send())
    for header, value in (("Student", "ben"), ("Time", "1"), ("Nonce", "0" * 32), ("Digest", "0" * 64)):
        assert wrong in refusal(403, request().send(request().headers() | {f"X-Gradekit-{header}": value}))
    assert wrong in refusal(403, request().send(path=f"{send.PLACE}/{'0' * 40}", method="GET"))
    assert "300 seconds off" not in refusal(403, request(when=time.time() - 400).send())
    assert "seconds off: set it" in refusal(403, request(when=time.time() + 400).send())
    assert "not those that were signed" in refusal(
        403, request().send(body=body.replace(b"double", b"doable"))
    )
    for text in (
        b"{",
        b"[]",
        b'{"assignment": 7}',
        b"\xff" * 20,
        b"[" * 100_000,
        b'{"assignment":"a","files":{"a":"?"}}',
        b'{"assignment":"\\ud800"}',
    ):
        assert "isn't JSON with assignment and files" in refusal(400, request(body=text).send())
    assert "no assignment ../x" in refusal(404, request(body=sent({"a.ipynb": b"{}"}, "../x")).send())
    for name in ("../double.ipynb", "/etc/double.ipynb", "a/double.ipynb", "..\\double.ipynb", ".."):
        assert "is a path: send files by their names only" in refusal(
            400, request(body=sent({name: b"{}"})).send()
        )
    for name in ("a\n.ipynb", "\0.ipynb", ".ipynb", "a" * 300 + ".ipynb"):
        assert "can't be stored: rename it" in refusal(400, request(body=sent({name: b"{}"})).send())
    assert "nbgrader uses" in refusal(
        400, request(body=sent({"double.ipynb": b"{}", "Timestamp.TXT": b"1"})).send()
    )
    assert "the same name" in refusal(400, request(body=sent({"a.ipynb": b"{}", "A.ipynb": b"{}"})).send())
    assert "no notebook" in refusal(400, request(body=sent({"double.py": b""})).send())
    assert "more than 100 files" in refusal(
        400, request(body=sent({f"{n}.ipynb": b"" for n in range(101)})).send()
    )
    assert "more than 1 MB" in refusal(413, request(body=sent({"double.ipynb": b"x" * 1_000_001})).send())
    assert "MB as they are sent" in refusal(413, request(body=b"x" * 3_000_000).send())
    slow = request().headers() | {"Content-Length": str(len(body) + 5)}
    assert "did not arrive within 0.5 seconds" in refusal(408, request().send(slow))
    assert "how long it is" in refusal(
        411, request().send(request().headers() | {"Transfer-Encoding": "chunked"})
    )
    assert students.hand_ins("ada") == []

    good = request()
    code, accepted = good.send()
    assert (code, accepted["state"]) == (202, "accepted")
    assert "was sent before" in refusal(409, good.send())
    ask = {"method": "GET", "path": f"{send.PLACE}/{accepted['id']}", "body": b""}
    assert "no such hand-in" in refusal(404, request(key=students.keys["ben"], student="ben", **ask).send())
    assert "without a body" in refusal(403, request(**ask | {"body": b"x"}).send())
    assert "no such hand-in" in refusal(404, request(**ask | {"path": f"{send.PLACE}/../keys.csv"}).send())
    assert request(**ask).send()[1]["state"] == "waiting"
    for number in range(2):
        large = sent({"double.ipynb": bytes([number]) * 990_000})
        assert request(key=students.keys["ben"], student="ben", body=large).send()[0] == 202
    more = request(
        key=students.keys["ben"], student="ben", body=sent({"double.ipynb": b"y" * 990_000})
    ).send()
    assert "all hand-ins of a student may have 2 MB" in refusal(413, more)
    assert [len(students.hand_ins(name)) for name in ("ada", "ben")] == [1, 2]
    assert not list(students.root.rglob("double.ipynb.*")) and not any(endpoint._sending)


def test_a_flood_is_bounded_and_keeps_no_other_student_out(students, endpoint, monkeypatch):
    monkeypatch.setattr(serving, "_PER_MINUTE", 20)
    monkeypatch.setattr(bounded_http, "SECONDS", 1.0)
    body = sent({"double.ipynb": students.notebook()})
    codes = [Request(endpoint, students.keys["ada"], body=body).send()[0] for _ in range(30)]
    assert codes == [202] * 20 + [429] * 10
    with contextlib.ExitStack() as stack:
        for _ in range(40):  # connections on which nothing comes
            stack.enter_context(socket.create_connection(endpoint.server_address))
        code, end = 503, time.monotonic() + 20
        while code == 503 and time.monotonic() < end:
            time.sleep(0.2)
            with contextlib.suppress(OSError):
                code = Request(endpoint, students.keys["ben"], "ben", body=body).send()[0]
        assert code == 202
    assert [len(students.hand_ins(name)) for name in ("ada", "ben")] == [1, 1]


def test_a_nonce_is_remembered_by_the_next_process(tmp_path, monkeypatch):
    now = int(time.time())
    nonces = Nonces(tmp_path / "nonces")
    assert nonces.use("ada", "1" * 32, now) and not nonces.use("ada", "1" * 32, now)
    assert nonces.use("ben", "1" * 32, now)
    with (tmp_path / "nonces").open("a") as file:
        file.write(f"{now} 12ab")  # killed while it wrote
    monkeypatch.setattr(serving, "_TIDY_AFTER", 3)
    later = Nonces(tmp_path / "nonces")
    assert not later.use("ada", "1" * 32, now)
    for number in range(10):
        assert later.use("ada", f"{number:032x}", now - 10_000)
    assert not later.use("ben", "1" * 32, now)
    assert len((tmp_path / "nonces").read_text().splitlines()) < 7  # those that are too old are forgotten


def test_a_late_hand_in_and_one_whose_page_is_held_are_told_so(students, endpoint, capfd):
    before = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=2)
    with RunningCourse.open(students.root).gradebook() as book:
        book.update_or_create_assignment(NAME, duedate=before)
        book.add_student("ada")

    def state(student: str, grade: bool = False) -> dict[str, Any]:
        request = Request(
            endpoint, students.keys[student], student, body=sent({"double.ipynb": students.notebook()})
        )
        name = request.send()[1]["id"]
        if grade:
            assert students.grade() == 0
        path = f"{send.PLACE}/{name}"
        return Request(endpoint, students.keys[student], student, "GET", path).send()[1]

    late = state("ada", grade=True)
    assert late["state"] == "late" and "after the deadline: your instructor decides" in late["sentence"]
    assert send.say_result(late, NAME) == 3
    assert "gradekit deadline 01_double TIME --student ada" in capfd.readouterr().out
    assert state("ben")["state"] == "waiting"
    attempts, (hand_in,) = Attempts.load(students.root, NAME, "ben"), students.hand_ins("ben")
    due = datetime.now(UTC) + timedelta(hours=1)
    attempts.add(AttemptRecord(hand_in.handed_in, {"double": 10.0}, 10.0, 0.0, {}, due))
    attempts.store()
    held = state("ben")
    assert (held["state"], send.say_result(held, NAME)) == ("held", 0) and "the result comes at " in held[
        "sentence"
    ]


@pytest.mark.thorough
def test_a_notebook_that_can_not_be_graded_has_no_score_and_its_page_is_sent(students):
    with watching(students) as (_, address):
        code, out, errors = done(job(students, address, "ada", b"{"))
    assert (code, errors) == (3, "") and "points" not in out
    assert f"\n{NAME}: it could not be graded: see the page, or ask your instructor\n" in out
    feedback = students.root.parent / "repository of ada" / "feedback"
    result = json.loads((feedback / "result.json").read_text())
    assert is_a_result(result) and (result["score"], result["max-score"], result["tests"]) == (0, 0, [])
    assert "could not be read" in (feedback / "double.html").read_text()


def test_keys_that_others_can_read_or_share_are_not_used(students):
    path = students.root / "keys.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    assert make_keys(path, ["ada", "zoe"]) == 1 and len(read_keys(path, [NAME])[0]) == 3
    with path.open("a") as file:
        file.write(f"eve,{students.keys['ben']}\n..,{'k' * 32}\nleo,short\n")
    keys, bad = read_keys(path, [NAME])
    assert {key.student for key in keys} == {"ada", "zoe"}
    assert [(line, why.partition(" ")[0]) for line, _, why in bad] == [
        (6, "has"),
        (7, "has"),
        (3, "has"),
        (5, "has"),
    ]
    path.write_text(f"student,key,assignment\nada,{'k' * 32},{NAME}\nada,{'l' * 32},02_none\n")
    keys, bad = read_keys(path, [NAME])
    assert [key.assignment for key in keys] == [NAME] and "no assignment of the course" in bad[0][2]
    path.chmod(0o640)
    with pytest.raises(CourseError, match=r"others can read .*chmod 600"):
        read_keys(path, [NAME])


@pytest.mark.slow
def test_a_port_that_is_taken_is_in_the_log_with_the_remedy(students):
    address = re.findall(r"127\.0\.0\.1:\d+", (students.root / "nbgrader_config.py").read_text())[-1]
    with socket.create_server(("127.0.0.1", int(address.partition(":")[2]))):
        source = open_http_way(RunningCourse.open(students.root), students.root / "keys.csv").source
        source.start(once=False)
        try:
            assert source._process.wait(PATIENCE) == 1
            (refused,) = source.look().refused
        finally:
            source.close()
    log = students.root / ".gradekit" / "http" / "fetching.log"
    assert refused.reason == f"can't be taken, since the process for this ended: see {log}"
    assert (
        f"nothing can listen at c.HttpHandIns.listen, {address} (Address already in use)" in log.read_text()
    )


@pytest.mark.parametrize("listen", ["somewhere", "127.0.0.1:99999", "127.0.0.1"])
def test_an_address_without_a_port_is_refused_at_once(students, capfd, listen):
    with (students.root / "nbgrader_config.py").open("a") as file:
        file.write(f"c.HttpHandIns.listen = {listen!r}\n")
    assert students.grade() == 2
    assert "c.HttpHandIns.listen must be an address and a port" in capfd.readouterr().err


def test_the_client_says_what_is_missing_and_sends_nothing_in_the_clear(monkeypatch, capsys, tmp_path):
    for name in ("GRADEKIT_SERVER", "GRADEKIT_STUDENT", "GRADEKIT_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert send.main([NAME, "double.ipynb"]) == 2
    assert "GRADEKIT_SERVER is not set: add it" in capsys.readouterr().err
    monkeypatch.setenv("GRADEKIT_SERVER", "http://grader.example.edu")
    monkeypatch.setenv("GRADEKIT_STUDENT", "ada")
    monkeypatch.setenv("GRADEKIT_KEY", "k" * 32)
    assert send.main([NAME, "double.ipynb"]) == 2
    assert "must begin with https://" in capsys.readouterr().err
    monkeypatch.setenv("GRADEKIT_SERVER", f"http://127.0.0.1:{free_port()}")
    assert send.main([NAME, str(tmp_path / "double.ipynb")]) == 2
    assert "can't be read (No such file or directory)" in capsys.readouterr().err
    assert send._line("a\n::set-env name=x::\x1b[31m") == "a : :set-env name=x: : [31m"
    ast.parse(SEND.read_text(), feature_version=(3, 9))


@pytest.mark.parametrize("name", ["github-action.yml", "gitlab-ci.yml"])
def test_the_templates_call_the_client_as_it_can_be_called(name, monkeypatch):
    text = (Path(__file__).parents[3] / "deploy" / "git" / name).read_text()
    found = yaml.safe_load(text)
    jobs = found.get("jobs", found)
    job = jobs["hand-in"]
    commands = [step["run"] for step in job["steps"] if "run" in step] if "steps" in job else job["script"]
    (command,) = commands
    program, *arguments = command.split()[1:]
    assert program.endswith("/send.py") and text.count(program) == 2
    monkeypatch.delenv("GRADEKIT_SERVER", raising=False)
    assert send.main(arguments) == 2  # the arguments are understood: only the settings are missing
