"""From a launch to the grade in the LMS: `gradekit lti` and `gradekit watch --lti` on the tiny course."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.responses import JSONResponse, RedirectResponse

from gradekit_lms.lti import lti_store
from gradekit_lms.lti.launches import Connector, Tool
from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_lms.lti.lti_store import Score, Target
from gradekit_lms.lti.scores import GradeSender

from ...gradekit.tests.ports import free_port
from .lti_platform import CLIENT, LEARNER, NAME, TEACHER, Browser, Course, Link, Lms, said

WRONG = "def double(x):\n    return x"
PATIENCE = 120.0


@pytest.fixture
def lti(generated) -> Iterator[Course]:
    port = free_port()
    with Lms(f"http://127.0.0.1:{port}").running() as lms:
        yield Course(generated, lms, port)


def wait_for(happened: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextlib.contextmanager
def service(lti: Course) -> Iterator["subprocess.Popen[str]"]:
    """`gradekit lti`, as somebody starts it."""
    gradekit = Path(sys.executable).with_name("gradekit")
    with subprocess.Popen(
        [gradekit, "lti"], cwd=lti.course.root, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert f"{lti.lms.tool} is served" in process.stdout.readline()
            assert reachable(lti)  # it says so only then
            yield process
        finally:
            process.terminate()
            process.wait(10)


def reachable(lti: Course) -> bool:
    with contextlib.suppress(OSError):
        return Browser(lti.lms, "anybody").get(f"{lti.lms.tool}/keys").status_code == 200
    return False


@pytest.mark.thorough
def test_connections_without_a_request_keep_nobody_out_for_long(lti):
    with service(lti), contextlib.ExitStack() as opened:
        for _ in range(200):
            idle = opened.enter_context(socket.create_connection(("127.0.0.1", lti.port)))
            idle.sendall(b"GET /keys HTTP/1.1\r\n")
        wait_for(lambda: Browser(lti.lms, "ada").get(f"{lti.lms.tool}/keys").status_code == 503)
        wait_for(lambda: reachable(lti))


def watch(lti: Course) -> int:
    return lti.course.gradekit("watch", "--lti", "--once", "--workers", "1")


def status(lti: Course, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capfd.readouterr()
    code = lti.course.gradekit("lti", "--status")
    return code, capfd.readouterr().out


@pytest.mark.slow
def test_from_the_launch_to_the_page_and_the_grade_through_a_failure_and_a_kill(lti, capfd):
    lms = lti.lms
    lti.settings("c.LtiHandIns.retry = 0.2", "c.AttemptRules.counts = 'best'")
    ada = Browser(lms, "ada")
    lms.meddle = lambda path: JSONResponse({}, 503) if path == "/token" else None
    with service(lti) as first:
        assert "Handed in" in said(ada.hand_in(ada.open(), lti.notebook()))
        assert lti.course.gradekit("lti") == 2  # one process for a course
        assert "runs for this course already" in capfd.readouterr().err
        assert watch(lti) == 0
        wait_for(lambda: any(lti.store.troubles.glob("*.json")))
        code, shown = status(lti, capfd)
        assert code == 1 and "grades: 0 at the LMS, 1 waiting" in shown
        assert re.search(r"  ada 01_double: 10 of 15 points, tried .*, again at 20.* 503", shown), shown
        assert f"initiate login: {lms.tool}/login" in shown
        # the grade arrives, and the process is killed before it learns that
        lms.after_score = lambda: os.kill(first.pid, signal.SIGKILL)
        lms.meddle = lambda path: None
        wait_for(lambda: first.poll() is not None)
    lms.after_score = lambda: None
    assert len(lms.changes) == 1 and len(lti.store.outgoing()) == 1
    with service(lti):
        wait_for(lambda: not lti.store.outgoing())
        assert len(lms.received) > 1 and len(lms.changes) == 1  # sent again, not doubled
        (score,) = lms.scores.values()
        assert (score["userId"], score["scoreGiven"], score["scoreMaximum"]) == ("ada", 10, 15)
        assert (score["activityProgress"], score["gradingProgress"]) == ("Completed", "FullyGraded")
        page = ada.open()
        (address,) = re.findall(r'href="([^"]+)"', page.text)
        shown = ada.get(page.url.join(address)).text
        assert "double: 10 of 10 points" in shown
        # a worse attempt gets its page, and the grade stays
        ada.hand_in(page, lti.notebook(WRONG))
        assert watch(lti) == 0
        assert ada.open().text.count("feedback on double") == 2
        time.sleep(1.5)
        assert len(lms.changes) == 1
    assert status(lti, capfd)[0] == 0
    # an instructor changes the points, and has them sent
    with lti.course.gradebook() as book:
        book.find_submission(NAME, "ada").notebooks[0].grades[0].manual_score = 3
        book.db.commit()
        now = book.find_submission(NAME, "ada").score
    assert lti.course.gradekit("lti", "--send", NAME) == 0
    assert lti.course.gradekit("lti", "--send", NAME) == 0
    assert "1 grade to send" in (said_so := capfd.readouterr().out) and "0 grades to send" in said_so
    with served_keys(lti):
        sender_of(lti).send_due()
    assert len(lms.changes) == 2 and lms.changes[-1]["scoreGiven"] == now != 10
    assert lms.changes[-1]["timestamp"] > lms.changes[0]["timestamp"]


def sender_of(lti: Course) -> GradeSender:
    Connector.tokens.clear()
    return GradeSender(Tool(LtiHandIns.of(lti.course.running), lti.store.key), lti.store)


def served_keys(lti: Course):
    """The service answers with the tool's public keys, for the LMS."""
    from .lti_platform import serving

    return serving(lti.service().application(), lti.port)


def score(
    lti: Course, user: str, points: float = 5.0, column: str = "1", pending: bool = False, **target: str
) -> Score:
    values = {"lineitem": f"{lti.lms.address}/lineitems/{column}"} | target
    return Score(user, NAME, points, 15.0, pending, Target(lti.lms.address, CLIENT, user, **values))


def told(lti: Course) -> list[tuple[str, float]]:
    return [(each["userId"], each["scoreGiven"]) for each in lti.lms.changes]


def test_one_grade_that_is_refused_keeps_no_other_from_being_sent(lti):
    lms, store = lti.lms, lti.store
    for user in ("ada", "ben"):
        store.send(score(lti, user, column=user, pending=user == "ben"))
    with served_keys(lti):
        lms.meddle = lambda path: JSONResponse({}, 404) if "ada" in path else None
        sender = sender_of(lti)
        sender.send_due()
        assert lms.changes[0]["gradingProgress"] == "PendingManual"
        assert told(lti) == [("ben", 5.0)] and [each.student for _, each in store.outgoing()] == ["ada"]
        ((path, _),) = store.outgoing()
        trouble = store.trouble(path)
        assert trouble.tries == 1 and "404" in trouble.reason
        assert 5 < (trouble.next - datetime.now(UTC)).total_seconds() <= 10
        sender.send_due()  # too early
        assert store.trouble(path).tries == 1
        store.note(path, lti_store.Trouble(3, "", datetime.now(UTC)))
        sender.send_due()
        assert 60 < (store.trouble(path).next - datetime.now(UTC)).total_seconds() <= 80
        lms.meddle = lambda path: None
        store.note(path, lti_store.Trouble(30, "", datetime.now(UTC)))
        sender.send_due()
    assert told(lti) == [("ben", 5.0), ("ada", 5.0)] and not any(store.troubles.glob("*"))


def test_a_platform_that_fails_is_asked_once_and_not_for_each_grade(lti):
    for user in ("ada", "ben", "eve"):
        lti.store.send(score(lti, user))
    asked: list[str] = []

    def fail(path: str) -> JSONResponse:
        asked.append(path)
        return JSONResponse({}, 500)

    lti.lms.meddle = fail
    sender = sender_of(lti)
    sender.send_due()
    sender.send_due()
    assert asked == ["/token"] and len(lti.store.outgoing()) == 3


def test_a_redirect_gets_no_token(lti):
    lti.store.send(score(lti, "ada"))
    lti.lms.meddle = lambda path: RedirectResponse("https://evil.example", 307)
    sender_of(lti).send_due()
    ((path, _),) = lti.store.outgoing()
    assert "leads elsewhere" in lti.store.trouble(path).reason


def test_a_newer_grade_replaces_one_that_waits_and_is_later_whatever_the_clock_says(lti, monkeypatch):
    lms, store = lti.lms, lti.store
    assert store.send(score(lti, "ada", 5)) and store.send(score(lti, "ada", 7))
    assert not store.send(score(lti, "ada", 7))
    ((_, waiting),) = store.outgoing()

    class Earlier(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(days=1)

    with served_keys(lti):
        sender = sender_of(lti)
        sender.send_due()
        assert not store.send(score(lti, "ada", 7))  # it is there
        monkeypatch.setattr(lti_store, "datetime", Earlier)
        assert store.send(score(lti, "ada", 9))
        ((_, later),) = store.outgoing()
        assert later.at > waiting.at
        sender.send_due()
        assert told(lti) == [("ada", 7.0), ("ada", 9.0)]
        # the instructor's LMS has a later grade: that one stays
        key = ("1", "ada")
        lms.scores[key] = lms.scores[key] | {"timestamp": "2999-01-01T00:00:00.000+00:00", "scoreGiven": 1.0}
        assert store.send(score(lti, "ada", 11))
        sender.send_due()
    assert lms.scores[key]["scoreGiven"] == 1.0 and store.outgoing() == []


@pytest.mark.slow
def test_a_grade_that_was_not_taken_is_named_until_it_replaces_the_later_one_of_the_lms(lti, capfd):
    lms, store = lti.lms, lti.store
    with served_keys(lti):
        ada = Browser(lms, "ada")
        ada.hand_in(ada.open(), lti.notebook())
        assert watch(lti) == 0
        ((_, found),) = store.outgoing()
        key = ("1", "ada")
        lms.scores[key] = {"timestamp": f"{found.at + timedelta(seconds=1):%Y-%m-%dT%H:%M:%S.%f%z}"}
        sender_of(lti).send_due()
        code, shown = status(lti, capfd)
        assert code == 0 and "grades: 0 at the LMS, 0 waiting, 1 not taken\n" in shown
        assert "ada 01_double: 10 of 15 points, not taken: the LMS has a later grade" in shown
        assert not store.send(found)  # nothing replaces a person's grade by itself
        (command,) = re.findall("`gradekit ([^`]+)`", shown)
        time.sleep(1)
        assert lti.course.gradekit(*command.split()) == 0
        sender_of(lti).send_due()
    assert lms.scores[key]["scoreGiven"] == 10
    assert "grades: 1 at the LMS, 0 waiting\n" in status(lti, capfd)[1]


@pytest.mark.thorough
def test_a_port_that_is_taken_is_said_and_another_one_works(lti, capfd):
    with socket.create_server(("127.0.0.1", lti.port)):
        assert lti.course.gradekit("lti") == 2
    out, err = capfd.readouterr()
    assert "is served" not in out
    assert f"nothing can listen at c.LtiHandIns.listen, 127.0.0.1:{lti.port} (Address already" in err
    assert "choose another port there" in err
    other = free_port()
    lti.settings(f"c.LtiHandIns.listen = '127.0.0.1:{other}'")
    lti.lms.tool = f"http://127.0.0.1:{other}"
    lti.settings(f"c.LtiHandIns.address = {lti.lms.tool!r}")
    with service(lti):
        assert reachable(lti)


def test_a_grade_that_is_replaced_while_it_is_sent_is_followed_by_the_new_one(lti):
    lti.store.send(score(lti, "ada", 5))
    lti.lms.after_score = lambda: lti.store.send(score(lti, "ada", 7)) and None
    with served_keys(lti):
        sender = sender_of(lti)
        sender.send_due()
        assert [each.points for _, each in lti.store.outgoing()] == [7]
        sender.send_due()
    assert told(lti) == [("ada", 5.0), ("ada", 7.0)] and lti.store.outgoing() == []


def test_a_column_is_found_or_made_if_the_link_has_none(lti):
    lti.lms.links["1"] = Link(column=False)
    with served_keys(lti):
        for user in ("ada", "ben"):
            lti.store.send(score(lti, user, lineitem="", lineitems=f"{lti.lms.address}/lineitems"))
        sender_of(lti).send_due()
    (made,) = lti.lms.columns.values()
    assert (made["tag"], made["label"], made["scoreMaximum"]) == (NAME, NAME, 15.0)
    assert sorted(lti.lms.scores) == [("made-0", "ada"), ("made-0", "ben")]


@pytest.mark.slow
def test_the_roster_of_the_lms_fills_the_gradebook_once(lti, enrol, capfd):
    enrol("jane", first_name="Jane", last_name="Doe", lms_user_id="41")
    enrol("44", first_name="Somebody", last_name="Else")
    learner, inactive = {"roles": [LEARNER]}, {"status": "Inactive"}
    lti.lms.members = [
        {"user_id": "41", "name": "J. Doe"} | learner,
        {"user_id": "42", "given_name": "Ada", "family_name": "Abel", "email": "ada@example.edu"} | learner,
        {"user_id": "43", "name": "Gone"} | learner | inactive,
        {"user_id": "44", "name": "Ben"} | learner,
        {"user_id": "1", "name": "Tina", "roles": [TEACHER]},
    ]
    assert lti.course.gradekit("lti", "--roster") == 1
    assert "no assignment has been opened" in capfd.readouterr().out
    with served_keys(lti):
        Browser(lti.lms, "42").open()
        assert not lti.store.classes.exists()  # a student may open last year's course
        Browser(lti.lms, "1", TEACHER).open()
        assert [lti.course.gradekit("lti", "--roster") for _ in range(2)] == [0, 0]
    shown = capfd.readouterr().out
    assert shown.count("Transformers: 5 members, 1 of them new in the gradebook") == 1
    assert shown.count("Transformers: 5 members, 0 of them new") == 1
    assert "Ben was not added: the gradebook has a student 44" in shown
    for members, told in (
        (None, "no roster: "),
        (["x"], "no roster: "),
        ([{"name": "Nobody"} | learner], "Nobody was not added: the LMS doesn't say who this is"),
    ):
        answer = JSONResponse({"members": members})
        lti.lms.meddle = lambda path, answer=answer: answer if path == "/members" else None
        with served_keys(lti):
            assert lti.course.gradekit("lti", "--roster") == int(told == "no roster: ")
        assert f"Transformers: {told}" in capfd.readouterr().out
    with lti.course.gradebook() as book:
        found = {each.id: (each.last_name, each.email, each.lms_user_id) for each in book.students}
    assert found == {
        "jane": ("Doe", None, "41"),
        "42": ("Abel", "ada@example.edu", "42"),
        "44": ("Else", None, None),
    }


def test_an_upload_is_collected_with_the_time_at_which_it_came_and_can_be_accepted_late(lti, enrol, capfd):
    enrol("ada", lms_user_id="ada")
    with served_keys(lti):
        ada = Browser(lti.lms, "ada")
        ada.hand_in(ada.open(), lti.notebook())
    ((_, kept),) = lti.store.of("ada", NAME)
    source = lti_way_of(lti)
    (hand_in,) = source.look().hand_ins
    assert (hand_in.student, hand_in.handed_in) == ("ada", kept.handed_in) and not source.changed()
    assert "`gradekit deadline 01_double TIME --student ada`" in source.accepting(hand_in)
    assert lti.course.gradekit("deadline", NAME, "2020-01-01 12:00 UTC") == 0
    assert watch(lti) == 0 and "to accept it, set a later deadline" in capfd.readouterr().out
    assert lti.course.gradekit("deadline", NAME, "2030-01-01 12:00 UTC", "--student", "ada") == 0
    source.collect(hand_in)
    submitted = lti.course.root / "submitted" / "ada" / NAME
    assert sorted(path.name for path in submitted.iterdir()) == ["double.ipynb", "timestamp.txt"]
    time_of = (submitted / "timestamp.txt").read_text()
    assert time_of == f"{kept.handed_in:%Y-%m-%d %H:%M:%S.%f} UTC"


def lti_way_of(lti: Course):
    from gradekit_lms.lti.lti_way import open_lti_way

    return open_lti_way(lti.course.running).source


@pytest.mark.parametrize("token", [[], None, "x", {"access_token": "x", "expires_in": None}], ids=repr)
def test_an_odd_answer_of_a_platform_leaves_the_grade_waiting(lti, token):
    lti.lms.meddle = lambda path: JSONResponse(token) if path == "/token" else None
    target = Target(lti.lms.address, CLIENT, "ada", f"{lti.lms.address}/lineitems/1")
    lti.store.send(Score("ada", NAME, 1.0, 15.0, False, target))
    sender_of(lti).send_due()
    ((path, _),) = lti.store.outgoing()
    assert lti.store.trouble(path).tries == 1


@pytest.mark.slow
def test_a_notebook_that_could_not_be_graded_gets_no_0_in_the_lms(lti, capfd):
    with served_keys(lti):
        ada = Browser(lti.lms, "ada")
        ada.hand_in(ada.open(), ("double.ipynb", b"{"))
        watch(lti)
        assert "feedback on double" in ada.open().text
    assert lti.store.outgoing() == []
    assert lti.course.gradekit("lti", "--send", NAME) == 1
    assert "nothing is graded yet: ada" in capfd.readouterr().out


@pytest.mark.slow
def test_points_that_a_person_gave_stay_when_a_worse_attempt_comes(lti):
    lti.settings("c.AttemptRules.counts = 'best'")
    with served_keys(lti):
        ada = Browser(lti.lms, "ada")
        page = ada.open()
        ada.hand_in(page, lti.notebook())
        assert watch(lti) == 0
        with lti.course.gradebook() as book:
            book.find_submission(NAME, "ada").notebooks[0].grades[0].manual_score = 12
            book.db.commit()
        assert lti.course.gradekit("lti", "--send", NAME) == 0
        ada.hand_in(page, lti.notebook(WRONG))
        assert watch(lti) == 0
    assert [score.points for _, score in lti.store.outgoing()] == [12]
