"""What a job is told of a hand-in by `gradekit watch --http` when there are many, or nothing in it."""

from datetime import UTC, datetime, timedelta

import pytest

from gradekit.watch.status import ListedHandIn, WatchStatus
from gradekit_lms.git.store import Fetched, GitStore
from gradekit_lms.runner import send, serving
from gradekit_lms.runner.http_way import STORE

from .test_http_watch import NAME, Request, endpoint, refusal, sent, students

__all__ = ["endpoint", "students"]  # fixtures
BEGUN = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.fixture
def told(students, endpoint, monkeypatch):
    """What ada is told of each of her hand-ins, if `gradekit watch` has this status."""

    def states(number: int, status: WatchStatus) -> list[str]:
        monkeypatch.setattr(serving, "read_status", lambda root: status)
        store, names = GitStore(students.root, STORE), [f"{place:040x}" for place in range(number)]
        for place, name in enumerate(names):
            time = BEGUN + timedelta(minutes=place)
            store.add(Fetched("ada", NAME, time, 1, None, name, name, "http", ""), [("double.ipynb", b"{")])
        paths = [f"{send.PLACE}/{name}" for name in names]
        return [
            Request(endpoint, students.keys["ada"], "ada", "GET", path).send()[1]["state"] for path in paths
        ]

    return states


def test_late_hand_ins_are_told_so_though_the_status_lists_only_the_last(told):
    last = [ListedHandIn(f"ada {NAME}", "handed in at 00:02 UTC on 1 February")]
    assert told(3, WatchStatus(late=3, late_ones=last)) == ["late"] * 3


def test_a_hand_in_that_waits_is_not_told_of_the_failure_of_an_earlier_one(told):
    failed = [ListedHandIn(f"ada {NAME}", "its notebook is damaged")]
    assert told(2, WatchStatus(not_graded=failed)) == ["waiting"] * 2


def test_a_hand_in_that_failed_is_told_so(told):
    failed = [ListedHandIn(f"ada {NAME}", "its notebook is damaged")]
    assert told(1, WatchStatus(not_graded=failed)) == ["failed"]


def test_requests_beside_an_untouched_notebook_are_refused_by_name(students, endpoint):
    released = (students.root / "release" / NAME / "double.ipynb").read_bytes()
    body = sent({"double.ipynb": released, "requests (1).txt": b"double::test_value: why?"})
    answer = Request(endpoint, students.keys["ada"], body=body).send()
    assert "requests (1).txt came with the notebook as it was handed out" in refusal(400, answer)
