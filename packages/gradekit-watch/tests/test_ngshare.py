"""`gradekit watch` with ngshare: its own server and client, and a stand-in for the hub that says whose token it is."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import nbformat
import pytest

from ...gradekit.tests.ports import free_port
from .watching import RIGHT, TRIPLE, until

SETTINGS = """
from ngshare_exchange import configureExchange
c = get_config()
configureExchange(c, "{}")
c.CourseDirectory.course_id = "tiny"
"""


class Hub(BaseHTTPRequestHandler):
    """Says whose token a request has: the token is the name."""

    def do_GET(self) -> None:
        name = self.headers.get("Authorization", "").removeprefix("token ")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"name": name, "admin": False}).encode())

    def log_message(self, *_: object) -> None:
        pass


def install(command: list[str], requirements: str) -> None:
    """Install what a file lists, or skip the test if the index doesn't have it."""
    file = Path(__file__).with_name(requirements)
    arguments = [*command, "--quiet", "--disable-pip-version-check", "--requirement", str(file)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if "No matching distribution found" in done.stderr:
        pytest.skip(f"ngshare: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


class Ngshare:
    """The server, the client, and people who use it.

    Args:
        python: with the server.
        client: the folder with the client.
        folder: for the files of the server and the homes of students.
    """

    def __init__(self, python: Path, client: Path, folder: Path, hub: str) -> None:
        self._python, self._client, self._folder, self._hub = python, client, folder, hub
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}/services/ngshare"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        values = {
            "JUPYTERHUB_API_URL": self._hub,
            "JUPYTERHUB_API_TOKEN": "ngshare",
            "JUPYTERHUB_CLIENT_ID": "service-ngshare",
            "JUPYTERHUB_SERVICE_PREFIX": "/services/ngshare/",
            "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{self._port}",
        }
        database, files = f"sqlite:///{self._folder / 'ngshare.db'}", str(self._folder / "files")
        options = ["--database", database, "--storage", files, "--admins", "admin"]
        with (self._folder / "server.log").open("ab") as log:
            command = [str(self._python), "-m", "ngshare", *options]
            self._process = subprocess.Popen(command, env=os.environ | values, stdout=log, stderr=log)
        until(self._answers)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        assert self._process is not None and self._process.poll() is None
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"{self.url}/healthz", timeout=5).status == 200
        return False

    def post(self, path: str, **values: str) -> None:
        """Do what an administrator does."""
        headers = {"Authorization": "token admin"}
        request = urllib.request.Request(f"{self.url}/{path}", urlencode(values).encode(), headers)
        assert json.load(urllib.request.urlopen(request))["success"]

    def run(self, user: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
        """A command as on the hub."""
        values = {
            "JUPYTERHUB_API_TOKEN": user,
            "JUPYTERHUB_USER": user,
            "JUPYTER_DATA_DIR": str(self._folder / f"data-{user}"),
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(self._client)])),
        }
        script = Path(sys.executable).with_name(command[0])
        return subprocess.run(
            [script, *command[1:]],
            cwd=folder,
            env=os.environ | values,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def ngshare(tmp_path) -> Iterator[Ngshare]:
    server, client = tmp_path / "server", tmp_path / "client"
    pip = [sys.executable, "-m", "pip"]
    install([*pip, "install", "--no-deps", "--target", str(client)], "ngshare-client.txt")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", server], check=True)
    python = server / "bin" / "python"
    install([*pip, "--python", str(python), "install"], "ngshare-server.txt")
    hub = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    found = Ngshare(python, client, tmp_path, f"http://127.0.0.1:{hub.server_port}/hub/api")
    try:
        found.start()
        yield found
    finally:
        found.stop()
        hub.shutdown()


class Class:
    """The tiny course on ngshare, and its students."""

    def __init__(self, course, server: Ngshare, homes: Path) -> None:
        self.course, self._server, self._homes = course, server, homes
        self._settings = SETTINGS.format(server.url)
        with (course.root / "nbgrader_config.py").open("a") as file:
            file.write(self._settings)
        server.post("course/tiny", instructors='["grader"]')
        self._done("grader", course.root, "nbgrader", "release_assignment", "01_double")

    def enroll(self, student: str) -> None:
        self._server.post(f"student/tiny/{student}", first_name="", last_name="", email="")
        self._home(student).mkdir()
        (self._home(student) / "nbgrader_config.py").write_text(self._settings)
        self._done(student, self._home(student), "nbgrader", "fetch_assignment", "01_double", "--course=tiny")

    def submit(self, student: str, answer: str) -> None:
        home = self._home(student)
        nbformat.write(self.course.answer(answer), home / "01_double" / "double.ipynb")
        self._done(student, home, "nbgrader", "submit", "01_double", "--course=tiny")

    def watch(self) -> subprocess.CompletedProcess[str]:
        return self._server.run("grader", self.course.root, "gradekit", "watch", "--once", "--workers", "1")

    def pages(self, student: str) -> list[str]:
        """What `nbgrader fetch_feedback` brings, oldest first, each in one line."""
        home = self._home(student)
        self._done(student, home, "nbgrader", "fetch_feedback", "01_double", "--course=tiny")
        found = sorted((home / "01_double" / "feedback").glob("*/double.html"))
        return [" ".join(path.read_text().split()) for path in found]

    def _home(self, student: str) -> Path:
        return self._homes / f"home-{student}"

    def _done(self, user: str, folder: Path, *command: str) -> None:
        done = self._server.run(user, folder, *command)
        assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_a_class_hands_in_and_gets_its_pages_also_after_the_server_was_away(generated, ngshare, tmp_path):
    students = Class(generated, ngshare, tmp_path)
    students.enroll("ada")
    students.enroll("ben")
    students.submit("ada", TRIPLE)
    watched = students.watch()
    assert watched.returncode == 0, watched.stdout + watched.stderr
    assert "watching ngshare_exchange.collect.ExchangeCollect, asked every 30 seconds" in watched.stdout
    assert "ada 01_double: 3 of 10 points, page on its way to the exchange after" in watched.stdout

    students.submit("ben", RIGHT)
    students.submit("ada", RIGHT)
    ngshare.stop()
    watched = students.watch()
    assert watched.returncode == 1
    (line,) = (line for line in watched.stdout.splitlines() if "can't be asked" in line)
    assert "An error occurred when querying the ngshare endpoint" in line and "ConnectionError" in line
    assert "Traceback" not in watched.stdout + watched.stderr

    ngshare.start()
    watched = students.watch()
    assert watched.returncode == 0, watched.stdout + watched.stderr
    assert watched.stdout.count(" of 10 points, ") == 2
    first, second = students.pages("ada")
    assert "3 of 15 points" in first and "10 of 15 points" in second and "Attempt 2" in second
    (page,) = students.pages("ben")
    assert "10 of 15 points" in page
