"""What is handed in by `gradekit lti`: what it refuses, limits, and a disk or a gradebook that fails."""

import contextlib
import os
import socket
import time

import httpx
import pytest

from gradekit_lms.lti.launches import Seals

from .lti_platform import (
    NAME,
    Browser,
    said,
    serving,
    value_of,
)
from .test_lti_launch import lti, refused, stopped

__all__ = ["lti", "stopped"]  # fixtures


def test_a_session_is_for_one_assignment_and_for_some_hours(stopped, monkeypatch):
    now = time.monotonic()
    stopped.settings("c.LtiHandIns.session_hours = 0.01")
    with serving(stopped.service().application(), stopped.port):
        ada = Browser(stopped.lms, "ada")
        page = ada.open()
        session = ada.cookies["gradekit"]
        other = str(page.url).replace(NAME, "02_other")
        refused(httpx.get(other, cookies={"gradekit": session}), 403, "Open the assignment again")
        monkeypatch.setattr(Seals, "now", lambda self: now + 3600.0)
        refused(httpx.get(page.url, cookies={"gradekit": session}), 403, "Your session is over")


def test_too_much_is_refused_and_nothing_stays(lti):
    ada = Browser(lti.lms, "ada")
    page = ada.open()
    refused(ada.hand_in(page, lti.notebook(), ("big.bin", b"\0" * 2_000_000)), 413, "More than 1 MB")

    def endless():
        yield from (b"\0" * 2**16 for _ in range(100))

    boundary = {"Content-Type": "multipart/form-data; boundary=x", "Origin": lti.lms.tool}
    with contextlib.suppress(httpx.TransportError):  # the connection may be cut before the answer comes
        assert ada.post(page.url, content=endless(), headers=boundary).status_code in (400, 413)
    many = [(f"{number}.txt", b"") for number in range(101)]
    assert ada.hand_in(page, lti.notebook(), *many).status_code == 400
    assert lti.uploads() == [] and not any(lti.store.unfinished.glob("*"))


@pytest.mark.slow
def test_an_upload_that_takes_too_long_is_given_up(stopped):
    stopped.settings("c.LtiHandIns.seconds = 1")
    with serving(stopped.service().application(), stopped.port):
        ada = Browser(stopped.lms, "ada")
        page = ada.open()

        head = (
            f"POST {page.url.path} HTTP/1.1",
            f"Host: 127.0.0.1:{stopped.port}",
            f"Cookie: gradekit={ada.cookies['gradekit']}",
            "Content-Type: multipart/form-data; boundary=x",
            "Content-Length: 1000",
            '\r\n--x\r\nContent-Disposition: form-data; name="files"; filename="a.ipynb"\r\n\r\n{',
        )
        with socket.create_connection(("127.0.0.1", stopped.port), timeout=30) as connection:
            connection.sendall("\r\n".join(head).encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 408") and b"took too long" in answer
    assert stopped.uploads() == []


def test_all_hand_ins_of_a_student_have_a_limit(stopped):
    stopped.settings("c.LtiHandIns.max_total_megabytes = 1")
    with serving(stopped.service().application(), stopped.port):
        ada = Browser(stopped.lms, "ada")
        page = ada.open()
        big = ("big.bin", b"\0" * 700_000)
        assert "Handed in" in said(ada.hand_in(page, stopped.notebook(), big))
        refused(ada.hand_in(page, stopped.notebook("x = 1"), big), 413, "may have 1 MB")
    assert len(stopped.uploads()) == 1


def test_a_disk_or_a_gradebook_that_fails_is_said_and_nothing_is_half_there(lti, monkeypatch, capfd):
    ada = Browser(lti.lms, "ada")
    page = ada.open()
    with monkeypatch.context() as patched:
        patched.setattr("gradekit_watch.hand_in_store.os.rename", lambda *_: os.write(-1, b""))
        refused(ada.hand_in(page, lti.notebook()), 503, "nothing was handed in. Try again later")
    assert lti.uploads() == [] and not any(lti.store.unfinished.glob("*"))
    (lti.course.root / "gradebook.db").rename(lti.course.root / "elsewhere.db")
    refused(Browser(lti.lms, "ben").open(), 503, "Try again later")
    assert "Bad file descriptor" in (logged := capfd.readouterr().err) and "gradebook" in logged
    assert "Handed in" in said(ada.hand_in(page, lti.notebook()))


BAD_NAMES = [
    *("../evil.ipynb", "/etc/evil.ipynb", "a/b.ipynb", "..", "a\\b.ipynb", ".hidden.ipynb"),
    *("timestamp.txt", "Submission_Secret.TXT", "a\u202eb.ipynb", "x" * 300 + ".ipynb"),
]


def test_names_that_lead_elsewhere_are_refused(lti):
    ada = Browser(lti.lms, "ada")
    page = ada.open()
    before = {path for path in lti.course.root.parent.rglob("*") if "lti" not in path.parts}
    for name in BAD_NAMES:
        refused(ada.hand_in(page, lti.notebook(), (name, b"x")), 400, "Nothing was handed in: ")
    refused(
        ada.hand_in(page, lti.notebook(), ("a.py", b"1"), ("a.py", b"2")), 400, "two files have the same name"
    )
    assert lti.uploads() == []
    assert {path for path in lti.course.root.parent.rglob("*") if "lti" not in path.parts} == before


def test_what_is_no_hand_in_is_refused_with_the_reason(lti):
    ada = Browser(lti.lms, "ada")
    page = ada.open()
    refused(ada.hand_in(page, ("notes.txt", b"x")), 400, "there is no notebook")
    refused(
        ada.hand_in(page, ("timestamp.txt", b"x")),
        400,
        "timestamp.txt has a name that nbgrader uses itself: rename it",
    )
    nothing = f'--x\r\nContent-Disposition: form-data; name="seal"\r\n\r\n{value_of(page, "seal")}\r\n--x\r\n'
    nothing += 'Content-Disposition: form-data; name="files"; filename=""\r\n\r\n\r\n--x--\r\n'  # as browsers send it
    kind = {"Content-Type": "multipart/form-data; boundary=x", "Origin": lti.lms.tool}
    refused(ada.post(page.url, content=nothing, headers=kind), 400, "no file was chosen")
    refused(ada.hand_in(page), 400, "there is no notebook")
    released = (lti.course.root / "release" / NAME / "double.ipynb").read_bytes()
    refused(ada.hand_in(page, ("double.ipynb", released)), 400, "as it was handed out")
    assert lti.uploads() == []
