"""From push to result: `gradekit watch --git` on the tiny course, with real Git servers on this machine."""

import contextlib
import fcntl
import functools
import hashlib
import hmac
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest

from gradekit.attempts import Attempts
from gradekit.grading.running_course import RunningCourse
from gradekit_git.store import GitStore
from gradekit_git.way import open_way

from ...gradekit.tests.ports import free_port
from ...gradekit.tests.tiny_course import RIGHT
from .git_servers import GitServer, StudentRepository, git, hanging
from .host_contracts import ContractServer

TRIPLE = RIGHT.replace("2 * x", "3 * x")
NAME = "01_double"
#: until something that is waited for has long happened
PATIENCE = 120.0


@dataclass
class Class:
    """The tiny course, its roster, and a server with the students' repositories."""

    course: Any
    server: GitServer
    repositories: dict[str, StudentRepository] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)

    def student(self, name: str) -> StudentRepository:
        found = self.repositories[name] = self.server.repository(name)
        self.row(f"{name},{found.url},{NAME}")
        return found

    def row(self, text: str) -> None:
        self.rows.append(text)
        (self.course.root / "roster.csv").write_text(
            "student,remote,assignment\n" + "\n".join(self.rows) + "\n"
        )

    def push(self, name: str, answer: str = RIGHT) -> str:
        notebook = nbformat.writes(self.course.answer(answer))
        return self.repositories[name].write(double_ipynb=notebook).push()

    def settings(self, *lines: str) -> None:
        with (self.course.root / "nbgrader_config.py").open("a") as file:
            file.write("\n".join(lines) + "\n")

    def watch(self, *options: str) -> int:
        """Fetch everything once and grade it."""
        return self.course.gradekit("watch", "--git", "roster.csv", "--once", "--workers", "1", *options)

    def returned(self, name: str, commit: str) -> Path:
        return self.course.root / "returned" / name / NAME / commit

    def result(self, name: str, commit: str) -> dict[str, Any]:
        return json.loads((self.returned(name, commit) / "result.json").read_text())

    def page(self, name: str, commit: str) -> str:
        return " ".join((self.returned(name, commit) / "double.html").read_text().split())

    def attempts(self, name: str) -> list[Any]:
        return Attempts.load(self.course.root, NAME, name).records

    def score(self, name: str) -> float:
        with RunningCourse.open(self.course.root).gradebook() as book:
            return book.find_submission(NAME, name).score


@pytest.fixture
def students(generated, tmp_path):
    server = GitServer(tmp_path / "server")
    found = Class(generated, server)
    found.settings(
        "c = get_config()", 'c.CourseDirectory.course_id = "tiny"', 'c.GitHandIns.protocols = ["http"]'
    )
    yield found
    server.close()


def is_a_result(document: dict[str, Any]) -> bool:
    """Whether it has the form that Classroom 50 describes in result-v1.schema.json."""
    texts = (
        "schema",
        "classroom",
        "assignment",
        "owner",
        "submission",
        "commit",
        "release",
        "review",
        "datetime",
    )
    numbers = ("score", "max-score")
    moment = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    known = {*texts, *numbers, "assignment_type", "graded_at", "tests", "submitted_by"}

    def whole(found: dict[str, Any]) -> bool:
        return all(type(found[name]) is int for name in numbers) and 0 <= found["score"] <= found["max-score"]

    return (
        set(document) <= known
        and all(isinstance(document[name], str) and document[name] for name in texts)
        and document["schema"] == "classroom50/result/v1"
        and document["assignment_type"] in ("individual", "group")
        and document["submission"].startswith("submit/")
        and all(moment.fullmatch(document[name]) for name in ("datetime", "graded_at"))
        and whole(document)
        and all(
            test["test-name"] and type(test["passed"]) is bool and whole(test) for test in document["tests"]
        )
    )


@pytest.mark.slow
def test_a_push_is_graded_and_its_result_and_page_are_returned(students, capfd):
    ada, ben = students.student("ada"), students.student("ben")
    students.row(f"nobody,{students.server.address}/none.git,{NAME}")
    students.row("..,https://example.edu/r.git," + NAME)
    students.row(f"eve,{ada.url},{NAME}")  # ada's
    students.row(f"zoe,{students.server.repository('zoe').url},{NAME}")
    wrong = students.push("ben", TRIPLE)
    os.symlink("/etc/passwd", ben.clone / "secrets")
    wrong = ben.push()
    assert students.watch() == 1  # five rows are named
    out = capfd.readouterr().out
    assert "ben 01_double: 3 of 10 points, page returned after" in out
    assert len([line for line in out.splitlines() if "refused: " in line]) == 5
    assert "line 5 has a student's name that nbgrader can't handle" in out
    assert "has the same remote as others (ada, eve)" in out
    assert f"nobody 01_double: refused: {students.server.address}/none.git main can't be fetched: " in out
    assert "zoe.git main has no branch main" in out

    document = students.result("ben", wrong)
    assert is_a_result(document)
    assert (document["owner"], document["score"], document["max-score"]) == ("ben", 3, 10)
    assert [test["passed"] for test in document["tests"]] == [False, False, True, True]
    assert document["tests"][0]["output"] == "You took three times the input."
    page = students.page("ben", wrong)
    assert "You took three times the input." in page
    assert "secrets is a link, so it was not fetched." in page
    submitted = students.course.root / "submitted" / "ben" / NAME
    assert sorted(path.name for path in submitted.iterdir()) == ["double.ipynb", "timestamp.txt"]
    assert (submitted / "timestamp.txt").read_text().startswith(f"{datetime.now(UTC):%Y-}")

    (ben.clone / "secrets").unlink()
    right = students.push("ben", RIGHT)
    assert students.watch() == 1
    assert is_a_result(students.result("ben", right)) and students.result("ben", right)["score"] == 10
    assert "Attempt 2" in students.page("ben", right)
    assert students.page("ben", wrong) == page
    assert [record.score for record in students.attempts("ben")] == [3, 10]
    assert students.score("ben") == 10
    capfd.readouterr()
    assert students.watch() == 1
    assert "points" not in capfd.readouterr().out


@pytest.mark.thorough
def test_a_result_shows_no_more_than_the_page(students):
    students.settings('c.AttemptRules.shows = "exercises"', 'c.AttemptRules.counts = "best"')
    students.student("ada")
    right, wrong = students.push("ada", RIGHT), ""
    assert students.watch() == 0
    wrong = students.push("ada", TRIPLE)
    assert students.watch() == 0
    document = students.result("ada", wrong)
    assert is_a_result(document)
    assert [(test["test-name"], test["passed"], test["score"]) for test in document["tests"]] == [
        ("test_double", False, 0)
    ]
    assert document["score"] == 0  # 3 would say that a check passed
    assert "three times" not in json.dumps(document)
    assert students.result("ada", right)["score"] == 10
    assert students.score("ada") == 10  # the best counts, and its files are in submitted/ again
    assert "2 * x" in (students.course.root / "submitted" / "ada" / NAME / "double.ipynb").read_text()
    with RunningCourse.open(students.course.root).gradebook() as book:
        book.update_or_create_assignment(NAME, duedate=datetime.now(UTC).replace(tzinfo=None))
    time.sleep(1.1)
    assert students.watch() == 0
    assert len(students.result("ada", right)["tests"]) == 4  # the attempt that counts, in full
    assert len(students.result("ada", wrong)["tests"]) == 1


@pytest.mark.slow
def test_a_late_push_is_left_to_a_person_and_accepted_as_advised(students, capfd):
    students.student("ada")
    students.push("ada")
    before = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=2)
    with RunningCourse.open(students.course.root).gradebook() as book:
        book.update_or_create_assignment(NAME, duedate=before)
        book.add_student("ada")
    assert students.watch() == 0
    out = capfd.readouterr().out
    assert students.attempts("ada") == []
    (command,) = re.findall(r"`(gradekit deadline [^`]+)`", out)
    later = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d %H:%M}"
    assert (
        students.course.gradekit(*(later if word == "TIME" else word for word in shlex.split(command)[1:]))
        == 0
    )
    assert students.watch() == 0
    assert [record.score for record in students.attempts("ada")] == [10]


@pytest.mark.slow
def test_a_host_is_told_the_points_of_a_commit(students, capfd):
    host = ContractServer("github")
    (students.course.root / "token").write_text("s3cret\n")
    (students.course.root / "token").chmod(0o600)
    students.settings(
        f'c.GitHandIns.host = "{host.address}"',
        'c.GitHandIns.report = "github"',
        'c.GitHandIns.token_file = "token"',
    )
    students.repositories["ada"] = students.server.repository("course/ada-01")
    students.row(f"ada,{students.repositories['ada'].url},{NAME}")
    students.push("ada", TRIPLE)
    host.broken = [(503, {})]
    assert students.watch() == 0
    assert len(GitStore(students.course.root).outgoing()) == 1
    assert students.watch() == 0  # the next command sends it
    assert [(found["state"], found["description"]) for found in host.statuses] == [
        ("failure", "3 of 10 points")
    ]
    assert [found["body"] for found in host.comments] == [f"{NAME}: 3 of 10 points"]
    unreadable = students.repositories["ada"].write(double_ipynb="{").push()
    assert students.watch() == 1  # nothing could be graded
    assert host.statuses[-1]["description"] == "it could not be graded, see the page"
    document = students.result("ada", unreadable)
    assert is_a_result(document) and (document["score"], document["max-score"]) == (0, 0)
    students.push("ada", RIGHT)
    host.broken = [(404, {"message": "Not Found"})]
    assert students.watch() == 0
    assert students.watch() == 1
    assert "1 result refused by the host: see" in capfd.readouterr().out
    texts = [path.read_bytes() for path in students.course.root.glob(".gradekit/**/*") if path.is_file()]
    assert not any(b"s3cret" in text for text in texts)
    host.close()


@contextlib.contextmanager
def watching(students: Class, **environment: str):
    """`gradekit watch --git` in another process, until the end of the block."""
    command = [Path(sys.executable).with_name("gradekit"), "watch", "--git", "roster.csv", "--workers", "1"]
    with (students.course.root / "out.txt").open("a") as out:
        process = subprocess.Popen(
            command, cwd=students.course.root, stdout=out, stderr=out, env=os.environ | environment
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()


def out_of(students: Class) -> str:
    path = students.course.root / "out.txt"
    return path.read_text() if path.exists() else ""


def until(condition: Any, what: str, students: Class) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what}\n{out_of(students)}"
        time.sleep(0.05)


def hook(port: int, secret: str, url: str) -> int:
    body = json.dumps(
        {"ref": "refs/heads/main", "repository": {"clone_url": url}, "now": time.time()}
    ).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": f"sha256={signature}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status


@pytest.mark.slow
def test_a_webhook_brings_a_push_at_once_past_remotes_that_hang_and_a_flood(students):
    port, secret = free_port(), "0123456789abcdef"
    students.settings(
        "c.GitHandIns.interval = 3600",
        f'c.GitHandIns.webhook = "127.0.0.1:{port}"',
        "c.GitHandIns.seconds = 3",
    )
    ada, flood = students.student("ada"), students.student("flood")
    with contextlib.ExitStack() as stack:
        urls = [stack.enter_context(hanging()) for _ in range(6)]
        for number, url in enumerate(urls):
            students.row(f"hangs{number},{url},{NAME}")
        first = students.push("flood", TRIPLE)
        with watching(students, GRADEKIT_WEBHOOK_SECRET=secret):
            until(lambda: students.returned("flood", first).exists(), "the first push", students)
            for number in range(30):
                flood.write(note_txt=str(number)).push()
                hook(port, secret, flood.url)
            commit = students.push("ada")
            pushed = time.monotonic()
            assert hook(port, secret, ada.url) == 202
            until(lambda: students.returned("ada", commit).exists(), "the push", students)
            assert time.monotonic() - pushed < 60  # not an hour
            newest = git("rev-parse", "HEAD", cwd=flood.clone)
            until(lambda: students.returned("flood", newest).exists(), "the last of the flood", students)
        assert not hang_on(urls)
    assert len(students.attempts("flood")) < 25  # of 31 pushes: what was there when it was fetched
    assert len(students.attempts("ada")) == 1
    table = (students.course.root / ".gradekit" / "git" / "repositories.csv").read_text()
    assert len(re.findall(r"hangs\d,.*did not answer in time", table)) >= 2
    texts = [
        path.read_text(errors="replace")
        for path in students.course.root.glob(".gradekit/**/*")
        if path.is_file()
    ]
    assert not any(secret in text for text in [*texts, (students.course.root / "out.txt").read_text()])


def hang_on(urls: list[str]) -> list[str]:
    """The processes that are still connected to one of these addresses a few seconds later."""
    deadline, left = time.monotonic() + 10, urls
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        left = [line for line in running.splitlines() if any(url in line for url in urls)]
    return left


def is_free(store: GitStore) -> bool:
    with store.lock.open() as lock, contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def has_more(store: GitStore, before: int) -> bool:
    return len(list(store.all())) > before


@pytest.mark.thorough
def test_after_kills_at_any_moment_nothing_is_lost_or_doubled(students):
    students.settings("c.GitHandIns.interval = 1")
    names = ("ada", "ben")
    for name in names:
        students.student(name)
    commits = {name: students.push(name, TRIPLE) for name in names}
    store = GitStore(students.course.root)
    for number, milliseconds in enumerate((0, 500, 1400)):
        before, seen = len(list(students.course.root.glob("returned/*/*/*"))), len(list(store.all()))
        with watching(students) as process:
            until(store.lock.exists, "the start", students)
            if number:  # from the first hand-in of this start on
                commits["ada"] = students.push("ada", f"{RIGHT}  # {number}")
                until(functools.partial(has_more, store, seen), "the fetch", students)
            time.sleep(milliseconds / 1000)
            process.kill()
            process.wait()
        until(functools.partial(is_free, store), "the end of fetching", students)
        assert len(list(students.course.root.glob("returned/*/*/*"))) >= before
    assert students.watch() == 0
    for name in names:
        hand_ins = [fetched for _, fetched in GitStore(students.course.root).of(name, NAME)]
        records = students.attempts(name)
        assert [found.handed_in for found in hand_ins] == [record.handed_in for record in records]
        assert len({found.tree for found in hand_ins}) == len(hand_ins)
        assert hand_ins[-1].commit == commits[name]
        assert all(is_a_result(students.result(name, found.commit)) for found in hand_ins)
    assert (
        len(students.attempts("ada")) >= 2
    )  # the first push may have been replaced before anything was fetched
    assert (students.score("ada"), students.score("ben")) == (10, 3)
    assert not any(GitStore(students.course.root).unfinished.glob("*"))


@pytest.mark.slow
def test_a_process_for_fetching_that_ends_is_named_and_started_again(students, monkeypatch):
    monkeypatch.setattr("gradekit_watch.way_process.AGAIN_SECONDS", 0.2)
    students.student("ada")
    source = open_way(
        RunningCourse.open(students.course.root), students.course.root / "roster.csv", {}
    ).source
    source.start(once=False)
    try:
        os.kill(source._process.pid, signal.SIGKILL)
        until(lambda: source._process.poll() is not None, "the end", students)
        assert source.changed()
        assert "the process for this ended" in source.look().refused[-1].reason
        until(lambda: source.changed() and source._process.poll() is None, "the next", students)
        assert not any("process" in refusal.reason for refusal in source.look().refused)
    finally:
        ended = source._process
        source.close()
    assert ended.poll() is not None


@pytest.mark.slow
def test_settings_that_can_not_work_are_named_before_anything_is_fetched(students, capfd):
    students.student("ada")
    for line, words in {
        "c.GitHandIns.intervall = 5": "there is no setting c.GitHandIns.intervall. Did you mean `interval`?",
        "c.GitHandIns.interval = 0": "c.GitHandIns: The value of the 'interval' trait",
        'c.GitHandIns.report = "github"': "needs the host that the token is for",
        'c.GitHandIns.returned = "../elsewhere"': "must be a folder of the course",
        'c.GitHandIns.webhook = "127.0.0.1:1"': "needs a secret of at least 16 characters",
        'c.GitHandIns.webhook = "8765"': "c.GitHandIns.webhook must be an address and a port",
    }.items():
        config = students.course.root / "nbgrader_config.py"
        before = config.read_text()
        students.settings(line)
        assert students.watch() == 2
        assert words in capfd.readouterr().err
        config.write_text(before)
    (students.course.root / "token").write_text("s3cret")
    (students.course.root / "token").chmod(0o644)
    students.settings('c.GitHandIns.host = "https://git.example.edu"', 'c.GitHandIns.token_file = "token"')
    assert students.watch() == 2
    assert "others can read" in capfd.readouterr().err
    assert students.server.requests == []


@pytest.mark.thorough
def test_who_follows_the_page_sees_what_it_says(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "git.md").read_text(encoding="utf-8")
    part = page.partition("## Try it")[2].partition("\n## ")[0]
    commands = re.findall(r"^\$ (.+)", part, re.M)
    script = "set -e\n" + "\n".join(commands)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ada 01_first: 90 of 90 points, page returned after" in done.stdout
    assert "first.html\nresult.json\n" in done.stdout
