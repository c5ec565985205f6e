"""The endpoint for webhooks: what is signed makes the watcher look, and nothing else does anything."""

import hashlib
import hmac
import http.client
import json
import socket
import time
from urllib.parse import urlencode

import pytest

from gradekit_git.fetching import listen
from gradekit_watch import bounded_http

SECRET = "0123456789abcdef"
BODY = json.dumps({"repository": {"clone_url": "https://git.example.edu/ada.git", "ssh_url": 7}}).encode()


@pytest.fixture
def pushed():
    return []


@pytest.fixture
def endpoint(pushed):
    def note(addresses):
        pushed.append(addresses)
        return any("ada" in address for address in addresses)

    server = listen("127.0.0.1:0", SECRET, note)
    yield server
    server.shutdown()
    server.server_close()


def signed(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def send(endpoint, body: bytes = BODY, method: str = "POST", **headers: str) -> int:
    return answer_to(endpoint, body, method, **headers)[0]


def answer_to(endpoint, body: bytes = BODY, method: str = "POST", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.server_address[1], timeout=20)
    connection.request(method, "/", body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


@pytest.mark.parametrize(
    "header",
    [{"X_Hub_Signature_256": "sha256="}, {"X_Forgejo_Signature": ""}, {"X_Gitea_Signature": ""}],
    ids=str,
)
def test_a_signed_push_makes_it_look_once(endpoint, pushed, header):
    ((name, prefix),) = header.items()
    for _ in range(3):
        assert send(endpoint, **{name: prefix + signed(BODY)}) == 202
    assert pushed == [["https://git.example.edu/ada.git"]]


def test_a_form_is_read_as_well_since_github_sends_one_unless_told_otherwise(endpoint, pushed):
    form = urlencode({"payload": BODY.decode()}).encode()
    assert send(endpoint, form, X_Hub_Signature_256="sha256=" + signed(form)) == 202
    assert pushed == [["https://git.example.edu/ada.git"]]


def test_the_answer_which_hosts_show_says_what_came_of_it(endpoint):
    other = BODY.replace(b"ada", b"bob")
    for body, secret, said in [
        (BODY, "another secret!!", b"the signature is not that of this body"),
        (BODY, SECRET, b"looked at soon"),
        (BODY, SECRET, b"received before"),
        (other, SECRET, b"names no repository of the list"),
    ]:
        _, answer = answer_to(endpoint, body, X_Hub_Signature_256="sha256=" + signed(body, secret))
        assert said in answer


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        f"sha256={signed(BODY, 'another secret!!')}",
        f"sha256={signed(BODY + b' ')}",
        "sha256=\xe9",
        "none",
    ],
)
def test_what_is_not_signed_by_the_secret_is_refused(endpoint, pushed, signature):
    assert send(endpoint, X_Hub_Signature_256=signature) == 403
    assert pushed == []


def test_requests_without_or_beyond_a_size_are_refused_unread(endpoint, pushed):
    assert send(endpoint, Content_Length="2000000000") == 413
    assert send(endpoint, Content_Length="-1") == 411
    assert send(endpoint, Transfer_Encoding="chunked") == 411
    assert send(endpoint, method="GET") == 501
    assert pushed == []


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"\xff", b'{"repository": 5}', b"[" * 100_000], ids=range(6)
)
def test_a_signed_body_of_another_form_does_nothing(endpoint, pushed, body):
    assert send(endpoint, body, X_Hub_Signature_256=f"sha256={signed(body)}") == 202
    assert pushed in ([], [[]])


def test_slow_and_idle_senders_keep_nobody_out_for_long(endpoint, pushed, monkeypatch):
    monkeypatch.setattr(bounded_http, "SECONDS", 0.5)
    idle = [socket.create_connection(endpoint.server_address[:2]) for _ in range(40)]
    for number, each in enumerate(idle[:16]):
        each.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n" + b"\r\nx" * (number % 2))
    deadline = time.monotonic() + 20
    while not pushed:
        assert time.monotonic() < deadline
        try:
            send(endpoint, X_Hub_Signature_256=f"sha256={signed(BODY)}")
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
    for each in idle:
        each.close()
