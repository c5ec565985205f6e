"""send.py and the keys when something is odd: the exit code 1 is only for points that are missing."""

import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from gradekit.course import CourseError
from gradekit_git.runner import send, serving
from gradekit_git.runner.keys import make_keys, read_keys
from gradekit_git.runner.serving import Nonces

NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
KEY = "k" * 40


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """Run send.py for an address; returns the exit code."""
    monkeypatch.setattr(send.time, "sleep", lambda seconds: None)
    monkeypatch.setenv("GRADEKIT_STUDENT", "ada")
    monkeypatch.setenv("GRADEKIT_KEY", KEY)
    (tmp_path / "double.ipynb").write_text(NOTEBOOK)

    def run(address: str) -> int:
        monkeypatch.setenv("GRADEKIT_SERVER", address)
        return send.main(["01_double", str(tmp_path / "double.ipynb")])

    return run


@pytest.mark.parametrize("body", [b"<html>Log in", b"{}", b"[]", b"\xff", b'{"state": 5}', None], ids=repr)
def test_an_answer_of_something_else_is_no_grade(sent, capsys, body):
    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if body is None:
                self.wfile.write(b"no HTTP\r\n\r\n")
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        assert sent(f"http://127.0.0.1:{server.server_port}") == 2
        server.shutdown()
    assert "can't be reached or understood" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["https://[", "http://localhost:abc", "https://a b", "grader"])
def test_an_odd_address_gets_a_sentence(sent, capsys, address):
    assert sent(address) == 2
    assert capsys.readouterr().err.startswith("Not handed in: ")


def test_two_files_of_one_name_are_not_sent_as_one(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.py").write_text(folder)
    with pytest.raises(send.NotTaken, match="two files have the name model"):
        send.hand_in(
            send.Endpoint("https://x", "ada", KEY), "01", [tmp_path / "a/model.py", tmp_path / "b/model.py"]
        )


def test_a_file_of_keys_without_a_last_line_end_keeps_all_keys(tmp_path):
    path = tmp_path / "keys.csv"
    assert make_keys(path, ["ada", "ada"]) == 1
    path.write_text(path.read_text().rstrip("\n"))
    assert make_keys(path, ["ada", "ben"]) == 1
    found, bad = read_keys(path, [])
    assert ([key.student for key in found], bad) == (["ada", "ben"], [])


@pytest.mark.slow
@pytest.mark.parametrize("text", ["name,key\nx,y\n", "student,key\nada\n", "\ufeffstudent,key\n"])
def test_a_file_of_keys_by_another_program_gets_a_sentence_or_the_key(tmp_path, text):
    path = tmp_path / "keys.csv"
    path.write_text(text)
    path.chmod(0o600)
    command = [sys.executable, "-m", "gradekit_git.runner.keys", str(path), "ben"]
    done = subprocess.run(command, capture_output=True, text=True)
    told = "the first line of" in done.stderr if text.startswith("name") else "1 new key" in done.stdout
    assert told and "Traceback" not in done.stderr


def test_a_file_of_keys_that_others_can_read_gets_no_more(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("student,key\n")
    path.chmod(0o644)
    with pytest.raises(CourseError, match="chmod 600"):
        make_keys(path, ["ada"])


def test_requests_are_taken_again_when_the_disk_was_full(tmp_path, monkeypatch):
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(serving, "_TIDY_AFTER", 2)
    nonces, now = Nonces(tmp_path / "nonces"), int(time.time())
    assert nonces.use("ada", "1", now)
    with monkeypatch.context() as filled:
        filled.setattr(serving, "write_atomically", full)
        with pytest.raises(OSError, match="No space"):
            nonces.use("ada", "2", now)
    assert nonces.use("ada", "3", now) and not nonces.use("ada", "2", now)
    assert not Nonces(tmp_path / "nonces").use("ada", "3", now)


@pytest.mark.parametrize("name", [".", "/", ""])
def test_a_folder_in_place_of_a_file_gets_a_sentence(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    for variable, value in (("SERVER", "http://127.0.0.1:1"), ("STUDENT", "ada"), ("KEY", "k")):
        monkeypatch.setenv(f"GRADEKIT_{variable}", value)
    assert send.main(["01_double", name]) == 2
    assert "can't be read" in capsys.readouterr().err


def test_a_sign_that_the_job_s_log_cannot_show_changes_no_exit_code(tmp_path):
    """As on Windows, whose logs aren't in UTF-8."""
    result = {
        "tests": [{"test-name": "x \u2264 \u03c9", "passed": False, "score": 1, "max-score": 2}],
        "score": 4,
        "max-score": 4,
    }
    answers = {"hand_in": {"state": "accepted", "id": "7"}, "wait": {"state": "graded", "result": result}}
    script = tmp_path / "job.py"
    script.write_text(
        f"import send\nfor name, answer in {answers!r}.items():\n    setattr(send, name, lambda *_, answer=answer: answer)\n"
        "raise SystemExit(send.main(['01_double', 'a.ipynb']))\n"
    )
    names = {f"GRADEKIT_{name}": "http://127.0.0.1:1" for name in ("SERVER", "STUDENT", "KEY")}
    environment = names | {"PYTHONPATH": str(Path(send.__file__).parent), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "") and "x \\u2264" in done.stdout


@pytest.mark.parametrize("name", ["..", "a/b", "a\\b", "", ".x", "a\nb"])
def test_no_key_is_made_for_a_name_that_nobody_can_have(tmp_path, name):
    path = tmp_path / "keys.csv"
    with pytest.raises(CourseError, match="can't handle a student named"):
        make_keys(path, ["ada", name])
    assert not path.exists()
    path.write_text(f'student,key\n"{name}",{"k" * 40}\n')
    path.chmod(0o600)
    assert read_keys(path, [])[0] == []


def test_a_damaged_file_of_nonces_keeps_nobody_out(tmp_path):
    (tmp_path / "nonces").write_bytes(b"\x9d\x00\xff\n" * 50)
    assert Nonces(tmp_path / "nonces").use("ada", "1", int(time.time()))
