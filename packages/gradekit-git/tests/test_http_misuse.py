"""What a job is told of a hand-in by `gradekit watch --http` when there are many, or nothing in it."""

import re
import shlex
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from gradekit_git.runner import send, serving
from gradekit_git.runner.http_way import STORE
from gradekit_git.store import Fetched, GitStore
from gradekit_watch.status import ListedHandIn, WatchStatus, read_status

from .test_http_watch import NAME, Request, endpoint, refusal, sent, students

__all__ = ["endpoint", "students"]  # fixtures
BEGUN = datetime(2026, 2, 1, tzinfo=UTC)


def keep(students, student: str, number: int, begun: datetime = BEGUN) -> list[str]:
    """Store this many hand-ins, a minute apart, whose notebooks are damaged; returns their names."""
    store, names = GitStore(students.root, STORE), [f"{student}{place}" for place in range(number)]
    for place, name in enumerate(names):
        time = begun + timedelta(minutes=place)
        store.add(Fetched(student, NAME, time, 1, None, name, name, "http", ""), [("double.ipynb", b"{")])
    return names


@pytest.fixture
def told(students, endpoint):
    """What a student is told of a hand-in."""

    def state(name: str) -> str:
        student = name[:3]
        path = f"{send.PLACE}/{name}"
        return Request(endpoint, students.keys[student], student, "GET", path).send()[1]["state"]

    return state


@pytest.mark.slow
def test_only_late_hand_ins_are_told_so_however_many_they_are(students, told):
    with students.course.gradebook() as book:
        book.add_student("ada")
    before, later = (f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d %H:%M} UTC" for days in (-1, 1))
    assert students.course.gradekit("deadline", NAME, before) == 0
    assert students.course.gradekit("deadline", NAME, later, "--student", "ada") == 0
    late = keep(students, "ben", 51, datetime.now(UTC) - timedelta(hours=1))
    students.grade()
    (first,) = keep(students, "ada", 1, datetime.now(UTC))
    assert told(first) == "waiting"  # nobody has looked since
    students.grade()
    assert read_status(students.root).late == 51 and {told(name) for name in late} == {"late"}
    assert told(first) == "failed"


def test_each_hand_in_that_failed_is_told_so_and_no_other(students, told, monkeypatch):
    failed = keep(students, "ada", 3)
    listed = [
        ListedHandIn(f"ada {NAME}", "it is damaged", BEGUN + timedelta(minutes=place)) for place in (0, 1)
    ]
    others = [ListedHandIn(f"ben {NAME}", "handed in at 00:02 UTC", BEGUN)] * 50
    status = WatchStatus(not_graded=listed, late=51, late_ones=others)
    monkeypatch.setattr(serving, "read_status", lambda root: status)
    assert list(map(told, failed)) == ["failed", "failed", "waiting"]


@pytest.mark.slow
def test_a_wrong_name_is_corrected_without_losing_the_only_copy(students, endpoint, capfd):
    with students.course.gradebook() as book:
        book.add_student("ada")
    keys = students.root / "keys.csv"
    keys.write_text(keys.read_text().replace("ada", "Ada"))
    endpoint.read_keys()
    body = sent({"double.ipynb": students.notebook()})
    assert Request(endpoint, students.keys["ada"], "Ada", body=body).send()[0] == 202
    assert students.grade() == 1
    out = capfd.readouterr().out
    assert "correct the name where this one comes from, have it handed in again" in out
    (remedy,) = re.findall(r"and run `(rm -r .*?)` only after that, since this is the only copy", out)
    keys.write_text(keys.read_text().replace("Ada", "ada"))
    endpoint.read_keys()
    assert Request(endpoint, students.keys["ada"], body=body).send()[0] == 202
    assert students.grade() == 1 and len(students.attempts("ada")) == 1
    subprocess.run(shlex.split(remedy), check=True)
    assert students.grade() == 0 and students.hand_ins("Ada") == []


def test_requests_beside_an_untouched_notebook_are_refused_by_name(students, endpoint):
    released = (students.root / "release" / NAME / "double.ipynb").read_bytes()
    body = sent({"double.ipynb": released, "requests (1).txt": b"double::test_value: why?"})
    answer = Request(endpoint, students.keys["ada"], body=body).send()
    assert "requests (1).txt came with the notebook as it was handed out" in refusal(400, answer)
