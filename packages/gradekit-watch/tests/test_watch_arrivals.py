"""Which hand-ins `gradekit watch` takes from an exchange or a folder, and in which order."""

import errno
import os
import secrets
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gradekit_watch import arrivals
from gradekit_watch.arrivals import Inbound, Submitted
from gradekit_watch.waiting import Queue
from gradekit_watch.ways import HandIn

TIME = "2026-01-10 12:00:00.000000 UTC"


class Exchange:
    """An inbound folder, and what is found in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "inbound"
        self.folder.mkdir()
        self.inbound = Inbound(self.folder, check_owner=False)

    def copy(self, name: str = f"ada+ps1+{TIME}+x") -> Path:
        """The first thing that `nbgrader submit` does."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "ps1.ipynb").write_text("{}")
        return folder

    def hand_in(self, name: str = f"ada+ps1+{TIME}+x", time: str = TIME) -> Path:
        folder = self.copy(name)
        (folder / "timestamp.txt").write_text(time)
        (folder / "submission_secret.txt").write_text("secret")
        return folder

    def found(self) -> list[tuple[str, str]]:
        return [(hand_in.student, hand_in.assignment) for hand_in in self.inbound.look().hand_ins]

    def refusal(self) -> str:
        (refusal,) = self.inbound.look().refused
        return refusal.reason


@pytest.fixture
def exchange(tmp_path):
    return Exchange(tmp_path)


def test_a_hand_in_has_the_names_and_the_time_of_its_folder(exchange):
    folder = exchange.hand_in()
    (hand_in,) = exchange.inbound.look().hand_ins
    assert hand_in == HandIn("ada", "ps1", datetime(2026, 1, 10, 12, tzinfo=UTC), folder, "secret")


@pytest.mark.parametrize("student", ["Zoë van Dijk", "a+b", "[ab]", "o'neill", "李雷"])
def test_a_student_may_have_any_name_that_nbgrader_can_handle(exchange, student):
    exchange.hand_in(f"{student}+ps1+{TIME}+x")
    exchange.hand_in(f"{student}+ps2+{TIME}")
    assert exchange.found() == [(student, "ps1"), (student, "ps2")]


def test_a_hand_in_is_taken_when_nbgrader_has_written_its_last_file(exchange):
    folder = exchange.copy()
    assert exchange.inbound.look().incomplete == [folder]
    (folder / "timestamp.txt").write_text(TIME)
    assert exchange.inbound.changed()
    assert exchange.found() == []
    (folder / "submission_secret.txt").write_text("secret")
    assert exchange.inbound.changed()
    assert exchange.found() == [("ada", "ps1")]


def test_a_hand_in_of_an_old_nbgrader_is_taken_when_its_time_has_not_changed_for_a_while(
    exchange, monkeypatch
):
    folder = exchange.copy()
    (folder / "timestamp.txt").write_text(TIME)
    assert exchange.found() == []
    monkeypatch.setattr(arrivals, "OLD_CLIENT_SECONDS", 0.0)
    assert exchange.found() == [("ada", "ps1")]


def test_a_hand_in_that_stays_incomplete_is_reported(exchange, monkeypatch):
    exchange.copy()
    monkeypatch.setattr(arrivals, "ABANDONED_SECONDS", 0.0)
    assert "has been incomplete" in exchange.refusal()
    exchange.inbound.look()
    assert not exchange.inbound.changed()


def test_polling_sees_what_has_arrived_and_costs_no_look_otherwise(exchange):
    assert exchange.inbound.changed()
    for _ in range(2):
        exchange.inbound.look()
    assert not exchange.inbound.changed()
    exchange.hand_in()
    assert exchange.inbound.changed()
    assert exchange.found() == [("ada", "ps1")]
    exchange.inbound.look()
    assert not exchange.inbound.changed()


def test_a_hand_in_that_was_deleted_is_forgotten(exchange):
    folder = exchange.hand_in()
    assert exchange.found()
    shutil.rmtree(folder)
    assert exchange.found() == []


@pytest.mark.parametrize(
    ("name", "time", "reason"),
    [
        ("ada", TIME, "isn't named"),
        ("ada+ps1+yesterday+x", TIME, "isn't named"),
        (f"..+ps1+{TIME}+x", TIME, "nbgrader can't handle"),
        (f"ada +ps1+{TIME}+x", TIME, "nbgrader can't handle"),
        (f"ada+ps1+{TIME}+x", "2026-01-01 12:00:00 UTC", "has a different time in timestamp.txt"),
        (f"ada+ps1+{TIME}+x", "soon", "has a timestamp.txt that isn't a time"),
    ],
)
def test_a_hand_in_that_nbgrader_has_not_made_is_refused(exchange, name, time, reason):
    exchange.hand_in(name, time)
    assert reason in exchange.refusal()


def test_a_file_and_a_link_are_refused(exchange, tmp_path):
    (exchange.folder / f"ada+ps1+{TIME}+file").touch()
    (exchange.folder / f"ada+ps1+{TIME}+link").symlink_to(tmp_path)
    assert [refusal.reason for refusal in exchange.inbound.look().refused] == ["isn't a folder"] * 2


def test_a_pipe_in_place_of_the_time_is_not_read(exchange):
    os.mkfifo(exchange.copy() / "timestamp.txt")
    assert len(exchange.inbound.look().incomplete) == 1


def test_a_hand_in_of_another_user_than_its_name_says_is_refused(exchange):
    exchange.hand_in()
    exchange.inbound = Inbound(exchange.folder, check_owner=True)
    assert "is in the name of ada but belongs to " in exchange.refusal()


def test_a_hand_in_from_the_future_is_refused_until_its_time_has_come(exchange, monkeypatch):
    """The clock may be wrong, and put right later."""
    soon = f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%d %H:%M:%S.%f} UTC"
    exchange.hand_in(f"ada+ps1+{soon}+x", soon)
    assert "which is in the future" in exchange.refusal()
    monkeypatch.setattr(arrivals, "_CLOCKS", timedelta(hours=2))
    assert exchange.found() == [("ada", "ps1")]


def test_a_hand_in_has_arrived_when_its_last_file_was_written(exchange):
    folder = exchange.hand_in()
    time.sleep(0.05)
    before = datetime.now(UTC)
    with (folder / "timestamp.txt").open("r+") as file:  # leaves the folder as it is
        file.write(TIME)
    (found,) = exchange.inbound.look().hand_ins
    assert found.arrived >= before - timedelta(seconds=0.04)


def test_an_exchange_that_is_not_there_raises_an_error(exchange):
    for _ in range(2):
        exchange.inbound.look()
    shutil.rmtree(exchange.folder)
    with pytest.raises(FileNotFoundError):
        exchange.inbound.changed()
    with pytest.raises(FileNotFoundError):
        exchange.inbound.look()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def hand_in(student: str, minute: int, assignment: str = "ps1") -> HandIn:
    return HandIn(
        student, assignment, datetime(2026, 1, 10, 12, minute, tzinfo=UTC), Path(secrets.token_hex(4))
    )


def order(queue: Queue, clock: Clock, waiting: list[HandIn], count: int) -> list[str]:
    """The students of the next hand-ins, each of which takes a second."""
    students = []
    for _ in range(count):
        queue.update(waiting)
        found = queue.first()
        clock.now += 1
        students.append(found.student)
        waiting.remove(found)
        queue.remove(found)
    return students


def test_hand_ins_are_graded_in_the_order_in_which_they_arrived():
    clock = Clock()
    waiting = [hand_in("ben", 1), hand_in("ada", 2), hand_in("cleo", 0)]
    assert order(Queue(clock), clock, waiting, 3) == ["cleo", "ben", "ada"]


def test_hundreds_from_one_student_hold_up_the_others_by_one_at_a_time():
    clock = Clock()
    queue = Queue(clock)
    waiting = [hand_in("ada", minute % 60) for minute in range(300)]
    assert order(queue, clock, waiting, 3) == ["ada"] * 3
    waiting += [hand_in("ben", 0), hand_in("cleo", 1)]
    assert sorted(order(queue, clock, waiting, 3)) == ["ada", "ben", "cleo"]
    waiting += [hand_in("ben", 2)]
    assert "ben" in order(queue, clock, waiting, 2)
    assert order(queue, clock, waiting, 3) == ["ada"] * 3


def test_a_student_s_own_hand_ins_come_oldest_first_one_at_a_time():
    queue = Queue(Clock())
    first, second = hand_in("ada", 1), hand_in("ada", 2)
    queue.update([second, first])
    assert queue.first() == first
    assert queue.first(busy={"ada"}) is None
    queue.remove(first)
    assert queue.first() == second


def test_those_for_one_assignment_can_have_their_turn_together():
    queue = Queue(Clock())
    ada, ben, cleo = hand_in("ada", 1), hand_in("ben", 2, "ps2"), hand_in("cleo", 3)
    own = hand_in("ben", 4)
    queue.update([ada, ben, cleo, own])
    assert queue.first(busy={"ada"}) == ben
    assert queue.first(busy={"ada"}, assignment="ps1") == cleo
    assert queue.first(busy={"ada", "cleo"}, assignment="ps1") is None  # Ben's own wait for each other


def test_an_assignment_on_hold_holds_up_no_other():
    queue = Queue(Clock())
    queue.update([hand_in("ada", 1)])
    assert queue.first(on_hold={"ps1"}) is None
    assert len(queue) == 1


def test_a_submission_in_a_folder_is_complete_when_nothing_in_it_changes(tmp_path, monkeypatch):
    def folders():
        yield "ada", "ps1", tmp_path / "ada"

    (tmp_path / "ada").mkdir()
    notebook = tmp_path / "ada" / "ps1.ipynb"
    place = Submitted(folders)
    assert not place.look().hand_ins
    notebook.write_text("{}")
    assert len(place.look().incomplete) == 1
    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", -1.0)
    (found,) = place.look().hand_ins
    assert found.handed_in.timestamp() == pytest.approx(notebook.stat().st_mtime)
    (again,) = place.look().hand_ins
    assert again == found
    notebook.write_text("{ }")
    (changed,) = place.look().hand_ins
    assert changed != found
    (tmp_path / "ada" / "data").mkdir()
    (before,) = place.look().hand_ins
    (tmp_path / "ada" / "data" / "table.csv").write_text("1,2")
    (between,) = place.look().hand_ins
    (tmp_path / "ada" / "data" / "table.csv").write_text("1,2,3")
    (after,) = place.look().hand_ins
    assert before != between != after


def test_many_files_in_a_folder_don_t_hide_the_notebook(tmp_path, monkeypatch):
    monkeypatch.setattr(arrivals, "_MOST_BELOW", 3)
    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", -1.0)
    (tmp_path / ".venv").mkdir()
    for number in range(9):
        (tmp_path / ".venv" / str(number)).touch()
    (tmp_path / "ps1.ipynb").write_text("{}")
    assert len(Submitted(lambda: iter([("ada", "ps1", tmp_path)])).look().hand_ins) == 1


def test_a_submission_that_was_complete_long_ago_is_taken_at_once(tmp_path, monkeypatch):
    (tmp_path / "ps1.ipynb").write_text("{}")
    (tmp_path / "timestamp.txt").write_text(TIME)
    monkeypatch.setattr(arrivals, "CLOCK_SECONDS", -arrivals.FOLDER_SECONDS)
    (found,) = Submitted(lambda: iter([("ada", "ps1", tmp_path)])).look().hand_ins
    assert found.handed_in == datetime(2026, 1, 10, 12, tzinfo=UTC)


def test_a_submission_that_can_t_be_read_holds_up_no_other(tmp_path, monkeypatch):
    for name in ("ada", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ps1.ipynb").write_text("{}")
    scandir = os.scandir

    def refuse(path):
        if path == tmp_path / "ada":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", -1.0)
    monkeypatch.setattr(os, "scandir", refuse)
    look = Submitted(lambda: iter([(name, "ps1", tmp_path / name) for name in ("ada", "ben")])).look()
    assert [found.student for found in look.hand_ins] == ["ben"]
    assert [refusal.reason for refusal in look.refused] == ["can't be read (Permission denied)"]


def test_a_folder_whose_name_nbgrader_can_t_handle_is_refused(tmp_path):
    (tmp_path / "ps1.ipynb").write_text("{}")
    (refusal,) = Submitted(lambda: iter([("a\udcffda", "ps1", tmp_path)])).look().refused
    assert refusal.reason == "has a name that nbgrader can't handle: rename the folder"


def test_looking_at_a_folder_takes_a_hundredth_of_the_time_at_most(tmp_path):
    clock = Clock()

    def slow():
        clock.now += 0.1
        yield "ada", "ps1", tmp_path

    place = Submitted(slow, clock)
    place.look()
    clock.now += 9
    assert not place.changed()
    clock.now += 2
    assert place.changed()


def test_a_folder_that_takes_long_to_look_at_is_looked_at_again_when_a_hand_in_may_be_complete(tmp_path):
    """`gradekit watch --folder --once` waits for a hand-in that has just been copied, but not for half a minute."""
    clock = Clock()
    (tmp_path / "ps1.ipynb").write_text("{}")

    def slow():
        clock.now += 1
        yield "ada", "ps1", tmp_path

    place = Submitted(slow, clock)
    assert place.look().incomplete
    clock.now += arrivals.FOLDER_SECONDS
    assert place.changed()


@pytest.mark.parametrize(
    ("handed_in", "arrived", "seconds"),
    [(-3, -2, 2), (-400 * 86400, -5, 5), (-4, None, 4), (60, -5, 5), (60, None, 0), (-5, 60, 5)],
)
def test_a_hand_in_waits_since_it_arrived_whatever_its_time_says(tmp_path, handed_in, arrived, seconds):
    now = datetime(2026, 11, 25, 12, tzinfo=UTC)
    when = now + timedelta(seconds=handed_in)
    came = None if arrived is None else now + timedelta(seconds=arrived)
    assert HandIn("ada", "a1", when, tmp_path, arrived=came).waited(now) == seconds
    assert HandIn("ada", "a1", when, tmp_path, copied=came).waited(now) == seconds
